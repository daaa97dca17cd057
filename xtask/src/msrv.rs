//! The oldest supported toolchain: checked where it can be had, and said plainly where it cannot.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// What a person types to repeat the check.
pub(crate) const COMMAND: &str = "cargo +<rust-version> check --workspace --all-targets";

/// Checks the workspace with the toolchain named by `rust-version` in the root manifest.
///
/// A toolchain that is not installed is not a failure: the run says that nothing was tested.
pub(crate) fn run(root: &Path) -> Result<()> {
    let manifest =
        fs::read_to_string(root.join("Cargo.toml")).context("the root Cargo.toml is not readable")?;
    let oldest = rust_version(&manifest)?;
    if is_release_of(compiler_version(&output("rustc", "--version")?), &oldest) {
        println!("msrv: rust-version is {oldest}: this run is the MSRV run");
        return Ok(());
    }
    // No rustup is like no such toolchain: the compiler came from somewhere else.
    let installed = output("rustup", "toolchain list").unwrap_or_default();
    let Some(toolchain) = toolchain_for(&installed, &oldest) else {
        println!("msrv: NOT TESTED here: rust-version is {oldest} and that toolchain is not installed");
        return Ok(());
    };
    println!("msrv: checking with {toolchain}");
    let status = Command::new("rustup")
        .args(["run", toolchain, "cargo", "check", "--workspace", "--all-targets"])
        .current_dir(root)
        .status()
        .context("rustup does not start")?;
    ensure!(status.success(), "{status}");
    Ok(())
}

fn rust_version(manifest: &str) -> Result<String> {
    #[derive(Deserialize)]
    struct Manifest {
        workspace: Workspace,
    }
    #[derive(Deserialize)]
    struct Workspace {
        package: Package,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    struct Package {
        rust_version: String,
    }
    let manifest: Manifest =
        toml::from_str(manifest).context("the root Cargo.toml has no workspace.package.rust-version")?;
    Ok(manifest.workspace.package.rust_version)
}

fn output(program: &str, arguments: &str) -> Result<String> {
    let output = Command::new(program)
        .args(arguments.split_whitespace())
        .output()
        .with_context(|| format!("{program} does not start"))?;
    ensure!(output.status.success(), "{program} {arguments}: {}", output.status);
    String::from_utf8(output.stdout).with_context(|| format!("{program} {arguments}: not UTF-8"))
}

/// `rustc 1.95.0 (...)` gives `1.95.0`.
fn compiler_version(line: &str) -> &str {
    line.split_whitespace().nth(1).unwrap_or_default()
}

/// The installed toolchain, by its full name, that is a release of `version`.
fn toolchain_for<'a>(installed: &'a str, version: &str) -> Option<&'a str> {
    installed
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .find(|name| is_release_of(name.split('-').next().unwrap_or_default(), version))
}

/// `1.95.0` and `1.95` are releases of `1.95`; `1.9` and `1.950` are not.
fn is_release_of(release: &str, version: &str) -> bool {
    release.strip_prefix(version).is_some_and(|patch| patch.is_empty() || patch.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_the_workspace() {
        let manifest = "[workspace.package]\nrust-version = \"1.95\"\n";
        assert_eq!(rust_version(manifest).unwrap(), "1.95");
        assert!(rust_version("[package]\nname = \"x\"\n").is_err());
    }

    #[test]
    fn a_patch_release_is_the_same_version_and_a_longer_number_is_not() {
        assert!(is_release_of("1.95.0", "1.95"));
        assert!(is_release_of("1.95", "1.95"));
        assert!(!is_release_of("1.950.0", "1.95"));
        assert!(!is_release_of("1.9.0", "1.95"));
        assert_eq!(compiler_version("rustc 1.95.0 (59807616e 2026-04-14)"), "1.95.0");
    }

    #[test]
    fn the_toolchain_is_found_by_either_name() {
        let installed =
            "stable-x86_64-unknown-linux-gnu (active, default)\n1.95.0-x86_64-unknown-linux-gnu\n";
        assert_eq!(toolchain_for(installed, "1.95"), Some("1.95.0-x86_64-unknown-linux-gnu"));
        assert_eq!(toolchain_for(installed, "1.88"), None);
    }
}
