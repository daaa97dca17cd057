//! `cargo xtask settings`: the page of all settings, from the table in the source. A test of `borough-cluster` says when it is not current.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

const PAGE: &str = "docs/settings.md";

/// Writes the page anew.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--package", "borough-cluster", "--example", "settings_page"]);
    // What cargo has to say is for whoever waits.
    let made = command.current_dir(root).stderr(std::process::Stdio::inherit()).output();
    let made = made.context("cargo does not start")?;
    ensure!(made.status.success() && !made.stdout.is_empty(), "the page was not made: {}", made.status);
    fs::write(root.join(PAGE), &made.stdout).with_context(|| format!("cannot write {PAGE}"))?;
    println!("settings: {PAGE}");
    Ok(())
}
