//! `cargo xtask sim`: the cluster simulator, built with optimisation.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

/// What `verify` runs: a few hundred seeds of each scenario, half of them with disks, and each planted flaw until a seed notices.
pub(crate) const SMOKE: [&[&str]; 4] = [
    &["--seeds", "400"],
    &["--scenario", "sharding", "--seeds", "200"],
    &["--planted"],
    &["--planted", "--scenario", "sharding"],
];

/// Runs the simulator with these arguments and exits as it does.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<ExitCode> {
    let status = command(root, arguments, are_planted(arguments)).status().context("cargo does not start")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}

/// Runs a few seeds; fails if one does, or if a planted flaw is not found. All of it by one build: flaws that are not planted change nothing, and a
/// second build takes longer than all these runs.
pub(crate) fn smoke(root: &Path, arguments: &[&str]) -> Result<()> {
    let status = command(root, arguments, true).status().context("cargo does not start")?;
    ensure!(status.success(), "{status}");
    Ok(())
}

/// Whether flaws are planted by these arguments.
fn are_planted(arguments: &[&str]) -> bool {
    arguments.contains(&"--planted")
}

/// Flaws can be planted only in a build made for it.
fn command(root: &Path, arguments: &[&str], with_flaws: bool) -> Command {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--release", "--package", "borough-testkit", "--bin", "sim"]);
    // Without whole nodes the simulator needs few crates, and builds in a fraction of the time.
    if !arguments.contains(&"--shells") {
        command.arg("--no-default-features");
    }
    if with_flaws {
        command.args(["--features", "flaws"]);
    }
    command.arg("--").args(arguments).current_dir(root);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(arguments: &[&str]) -> Vec<String> {
        let command = command(Path::new("."), arguments, are_planted(arguments));
        command.get_args().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn arguments_reach_the_simulator() {
        let words = words(&["--seed", "7"]);
        assert_eq!(words[words.len() - 3..], ["--", "--seed", "7"]);
        assert!(words.contains(&"--release".to_owned()));
        assert!(!words.contains(&"--features".to_owned()));
    }

    #[test]
    fn whole_nodes_are_built_only_for_runs_of_them() {
        let without = "--no-default-features".to_owned();
        assert!(words(&["--seeds", "7"]).contains(&without));
        assert!(!words(&["--shells", "--seeds", "7"]).contains(&without));
    }

    /// The scenarios that `verify` runs; none is the usual one.
    fn scenarios(is_planted: bool) -> Vec<Option<&'static str>> {
        let runs = SMOKE.iter().filter(|run| are_planted(run) == is_planted);
        runs.map(|run| Some(run[run.iter().position(|word| *word == "--scenario")? + 1])).collect()
    }

    #[test]
    fn flaws_are_planted_in_every_scenario_that_verify_runs() {
        assert_eq!(scenarios(true), scenarios(false));
    }

    #[test]
    fn planted_flaws_need_their_own_build() {
        assert!(words(&["--planted"]).windows(2).any(|pair| pair == ["--features", "flaws"]));
    }
}
