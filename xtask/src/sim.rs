//! `cargo xtask sim`: the cluster simulator, built with optimisation.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

/// A few hundred seeds of each scenario: what `verify` runs.
pub(crate) const SMOKE: [&[&str]; 2] = [&["--seeds", "400"], &["--scenario", "sharding", "--seeds", "200"]];

/// Runs the simulator with these arguments and exits as it does.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<ExitCode> {
    let status = command(root, arguments).status().context("cargo does not start")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}

/// Runs a few seeds; fails if one does.
pub(crate) fn smoke(root: &Path, arguments: &[&str]) -> Result<()> {
    let status = command(root, arguments).status().context("cargo does not start")?;
    ensure!(status.success(), "{status}");
    Ok(())
}

/// Flaws can be planted only in a build made for it.
fn command(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--release", "--package", "borough-testkit", "--bin", "sim"]);
    if arguments.contains(&"--planted") {
        command.args(["--features", "flaws"]);
    }
    command.arg("--").args(arguments).current_dir(root);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(arguments: &[&str]) -> Vec<String> {
        let command = command(Path::new("."), arguments);
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
    fn planted_flaws_need_their_own_build() {
        assert!(words(&["--planted"]).windows(2).any(|pair| pair == ["--features", "flaws"]));
    }
}
