//! `cargo xtask verify`: every check in order, the cheap ones first, stopping at the first failure.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::{msrv, needs, sim, tidy};

/// A check that is one run of cargo.
struct Step {
    name: &'static str,
    arguments: &'static str,
    environment: Option<(&'static str, &'static str)>,
}

const STEPS: [Step; 10] = [
    Step { name: "fmt", arguments: "fmt --all --check", environment: None },
    Step { name: "clippy", arguments: "clippy --workspace --all-targets -- -D warnings", environment: None },
    Step {
        name: "rustdoc",
        arguments: "doc --workspace --no-deps",
        environment: Some(("RUSTDOCFLAGS", "-D warnings")),
    },
    Step { name: "tests", arguments: "test --workspace", environment: None },
    // Each rule broken on purpose: the tests that would notice do.
    Step { name: "flaws", arguments: "test -p borough-protocol --features flaws --tests", environment: None },
    // Every decoder under bytes that nobody wrote, and the codecs that are not built in by default.
    Step {
        name: "bytes",
        arguments: "test -p borough-wire --all-features",
        environment: Some(("BOROUGH_FUZZ_SECONDS", "10")),
    },
    Step {
        name: "codecs",
        arguments: "test -p borough-cluster --features json,message-pack --test nodes --test sharding -- talking codecs",
        environment: None,
    },
    Step {
        name: "metrics",
        arguments: "test -p borough-cluster --features metrics --lib --test sharding metric",
        environment: None,
    },
    Step { name: "fuzz", arguments: "check --manifest-path fuzz/Cargo.toml", environment: None },
    // What was tested is what is packed; building it once more from the package would find little and take long.
    Step {
        name: "publish",
        arguments: "publish --workspace --dry-run --no-verify --allow-dirty",
        environment: None,
    },
];

/// Runs every step; the error names the step that failed and the command that repeats it.
pub(crate) fn run(root: &Path) -> Result<()> {
    let missing = needs::provide();
    for missing in &missing {
        println!("verify: {missing}");
    }
    for step in &STEPS {
        timed(step.name, &step.command_line(), || step.run(root))?;
    }
    timed("tidy", "cargo xtask tidy", || tidy::run(root))?;
    for arguments in sim::SMOKE {
        timed("simulation", &format!("cargo xtask sim {}", arguments.join(" ")), || {
            sim::smoke(root, arguments)
        })?;
    }
    timed("msrv", msrv::COMMAND, || msrv::run(root))?;
    println!("verify: every step is done, none failed{}", skipped(&missing));
    Ok(())
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

    fn run(&self, root: &Path) -> Result<()> {
        let status = Command::new("cargo")
            .args(self.arguments.split_whitespace())
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
