//! `cargo xtask verify`: every check in order, the cheap ones first, stopping at the first failure.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::msrv::{self, Oldest};
use crate::{needs, sim, tidy};

/// Set to 1, nothing may be skipped: what cannot be tested is a failure.
const REQUIRE_ALL: &str = "BOROUGH_REQUIRE_ALL";
/// What the tests are told then.
const REQUIRED: [(&str, &str); 2] = [("BOROUGH_REQUIRE_CHROMIUM", "1"), ("BOROUGH_REQUIRE_NETNS", "1")];

/// A check that is one run of cargo.
struct Step {
    name: &'static str,
    arguments: &'static str,
    environment: Option<(&'static str, &'static str)>,
    /// The oldest cargo that can do it, as the number behind `1.`.
    cargo: u32,
}

/// Whatever compiles the workspace can do most of it.
const ANY: u32 = 0;

const STEPS: [Step; 8] = [
    Step { name: "fmt", arguments: "fmt --all --check", environment: None, cargo: ANY },
    Step {
        name: "clippy",
        arguments: "clippy --workspace --all-targets -- -D warnings",
        environment: None,
        cargo: ANY,
    },
    Step {
        name: "rustdoc",
        arguments: "doc --workspace --no-deps",
        environment: Some(("RUSTDOCFLAGS", "-D warnings")),
        cargo: ANY,
    },
    // With all that is optional; the steps before and the oldest toolchain go without.
    Step {
        name: "tests",
        arguments: "test --workspace --features borough/json,borough/message-pack,borough/metrics",
        environment: None,
        cargo: ANY,
    },
    // Each rule broken on purpose: the tests that would notice do.
    Step {
        name: "flaws",
        arguments: "test -p borough-protocol --features flaws --tests",
        environment: None,
        cargo: ANY,
    },
    // Every decoder under bytes that nobody wrote.
    Step {
        name: "bytes",
        arguments: "test -p borough-wire --all-features",
        environment: Some(("BOROUGH_FUZZ_SECONDS", "10")),
        cargo: ANY,
    },
    Step { name: "fuzz", arguments: "check --manifest-path fuzz/Cargo.toml", environment: None, cargo: ANY },
    // What was tested is what is packed; building it once more from the package would find little and take long.
    Step {
        name: "publish",
        arguments: "publish --workspace --dry-run --no-verify --allow-dirty",
        environment: None,
        // The first that publishes several packages at once.
        cargo: 90,
    },
];

/// Runs every step; the error names the step that failed and the command that repeats it.
pub(crate) fn run(root: &Path) -> Result<()> {
    let (oldest, cargo) = (Oldest::find(root)?, msrv::output("cargo", "--version")?);
    let minor = minor(&cargo)?;
    let mut missing = needs::provide();
    missing.extend(STEPS.iter().filter_map(|step| step.missing(minor)));
    missing.extend(oldest.missing());
    for missing in &missing {
        println!("verify: {missing}");
    }
    let is_all_required = std::env::var_os(REQUIRE_ALL).is_some_and(|value| value == "1");
    refuse_skipping(&missing, is_all_required)?;
    for step in STEPS.iter().filter(|step| step.cargo <= minor) {
        timed(step.name, &step.command_line(), || step.run(root, is_all_required))?;
    }
    timed("tidy", "cargo xtask tidy", || tidy::run(root))?;
    for arguments in sim::SMOKE {
        timed("simulation", &format!("cargo xtask sim {}", arguments.join(" ")), || {
            sim::smoke(root, arguments)
        })?;
    }
    if oldest.missing().is_none() {
        timed("msrv", msrv::COMMAND, || oldest.check(root))?;
    }
    println!("verify: every step is done, none failed{}", skipped(&missing));
    Ok(())
}

/// Before anything is run: what is missing is known by then.
fn refuse_skipping(missing: &[String], is_all_required: bool) -> Result<()> {
    ensure!(
        missing.is_empty() || !is_all_required,
        "verify: nothing may be skipped ({REQUIRE_ALL}=1){}",
        skipped(missing)
    );
    Ok(())
}

/// `cargo 1.95.0 (...)` gives 95.
fn minor(line: &str) -> Result<u32> {
    let release = msrv::release(line);
    let minor = release.strip_prefix("1.").and_then(|rest| rest.split('.').next()?.parse().ok());
    minor.with_context(|| format!("cargo says that it is {release:?}, which is no release of 1"))
}

/// How much was not tested, for the last line.
fn skipped(missing: &[String]) -> String {
    match missing {
        [] => "; nothing was skipped".to_owned(),
        some => format!("; {} skipped: {}", some.len(), some.join("; ")),
    }
}

fn timed(name: &str, command_line: &str, step: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("verify: {name}: {command_line}");
    let started = Instant::now();
    let outcome = step();
    let seconds = started.elapsed().as_secs_f64();
    outcome.with_context(|| format!("verify: step {name} failed after {seconds:.1} s: {command_line}"))?;
    println!("verify: {name}: done in {seconds:.1} s");
    Ok(())
}

impl Step {
    /// What a person types to repeat the step alone.
    fn command_line(&self) -> String {
        let environment =
            self.environment.map(|(name, value)| format!("{name}='{value}' ")).unwrap_or_default();
        format!("{environment}cargo {}", self.arguments)
    }

    /// What is skipped because this cargo cannot do it.
    fn missing(&self, minor: u32) -> Option<String> {
        let Self { cargo, name, .. } = self;
        (minor < *cargo)
            .then(|| format!("cargo 1.{cargo} (this is 1.{minor}) is missing: not tested: the step {name}"))
    }

    fn run(&self, root: &Path, is_all_required: bool) -> Result<()> {
        let required = REQUIRED.into_iter().filter(|_| is_all_required);
        let status = Command::new("cargo")
            .args(self.arguments.split_whitespace())
            .envs(required)
            .envs(self.environment)
            .current_dir(root)
            .status()
            .context("cargo does not start")?;
        ensure!(status.success(), "{status}");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts_what_was_skipped() {
        assert_eq!(skipped(&[]), "; nothing was skipped");
        assert_eq!(skipped(&["a".to_owned(), "b".to_owned()]), "; 2 skipped: a; b");
    }

    #[test]
    fn what_would_be_skipped_is_a_failure_where_nothing_may_be() {
        let missing = ["a loom is missing".to_owned()];
        assert!(refuse_skipping(&missing, false).is_ok());
        assert!(refuse_skipping(&[], true).is_ok());
        let refused = refuse_skipping(&missing, true).expect_err("something is skipped").to_string();
        assert!(refused.ends_with("; 1 skipped: a loom is missing"), "{refused}");
    }

    #[test]
    fn a_step_that_this_cargo_cannot_do_is_counted_as_skipped() {
        let skipped = |line: &str| {
            let minor = minor(line).unwrap();
            STEPS.iter().filter_map(|step| step.missing(minor)).collect::<Vec<_>>()
        };
        assert_eq!(skipped("cargo 1.90.0 (840b83a10 2025-07-30)"), [""; 0]);
        let expected = "cargo 1.90 (this is 1.88) is missing: not tested: the step publish";
        assert_eq!(skipped("cargo 1.88.0 (873a06493 2025-05-10)"), [expected]);
    }

    #[test]
    fn a_failure_names_the_step_and_the_command() {
        let error = timed("rustdoc", &STEPS[2].command_line(), || anyhow::bail!("exit status: 101"))
            .expect_err("the step failed");
        let shown = format!("{error:#}");
        assert!(shown.starts_with("verify: step rustdoc failed after "), "{shown}");
        assert!(
            shown.ends_with("RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps: exit status: 101")
        );
    }
}
