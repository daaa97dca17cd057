//! `cargo xtask chaos`: real processes under real faults, built with optimisation.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

/// Builds the program under test and the harness, plays what the arguments say, and exits as the harness does.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<ExitCode> {
    let built = build(root).status().context("cargo does not start")?;
    ensure!(built.success(), "{built}");
    let status = play(root, arguments).status().context("cargo does not start")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}

/// All programs of the package: running one builds only that one.
fn build(root: &Path) -> Command {
    let mut command = Command::new("cargo");
    command.args(["build", "--quiet", "--release", "--package", "borough-chaos"]).current_dir(root);
    command
}

fn play(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--release", "--package", "borough-chaos", "--bin", "chaos", "--"]);
    command.args(arguments).current_dir(root);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &Command) -> Vec<String> {
        command.get_args().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn arguments_reach_the_harness() {
        let words = words(&play(Path::new("."), &["network", "--quick"]));
        assert_eq!(words[words.len() - 3..], ["--", "network", "--quick"]);
    }

    #[test]
    fn the_program_under_test_is_built_as_the_harness_is() {
        assert!(words(&build(Path::new("."))).contains(&"--release".to_owned()));
        assert!(words(&play(Path::new("."), &[])).contains(&"--release".to_owned()));
    }
}
