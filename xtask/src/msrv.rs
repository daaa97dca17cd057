//! The oldest supported toolchain: checked where it can be had, and counted as skipped where it cannot.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// What a person types to repeat the check.
pub(crate) const COMMAND: &str = "cargo +<rust-version> check --workspace --all-targets";

/// The toolchain named by `rust-version` in the root manifest, as this machine has it.
#[derive(Debug, PartialEq)]
pub(crate) enum Oldest {
    /// All of this run is by it.
    Running { version: String },
    /// Beside the one of this run, by its full name.
    Installed { toolchain: String },
    /// Not at all.
    Absent { version: String },
}

impl Oldest {
    /// Looks for it.
    pub(crate) fn find(root: &Path) -> Result<Self> {
        let manifest =
            fs::read_to_string(root.join("Cargo.toml")).context("the root Cargo.toml is not readable")?;
        let running = output("rustc", "--version")?;
        // No rustup is like no such toolchain: the compiler came from somewhere else.
        let installed = output("rustup", "toolchain list").unwrap_or_default();
        Ok(Self::among(rust_version(&manifest)?, &running, &installed))
    }

    fn among(version: String, running: &str, installed: &str) -> Self {
        if is_release_of(release(running), &version) {
            return Self::Running { version };
        }
        match toolchain_for(installed, &version) {
            Some(toolchain) => Self::Installed { toolchain: toolchain.to_owned() },
            None => Self::Absent { version },
        }
    }

    /// What is skipped if it is not there.
    pub(crate) fn missing(&self) -> Option<String> {
        let Self::Absent { version } = self else { return None };
        Some(format!(
            "Rust {version} (rustup toolchain install {version}) is missing: not tested: that it is enough"
        ))
    }

    /// Checks the workspace with it, if it is there.
    pub(crate) fn check(&self, root: &Path) -> Result<()> {
        let toolchain = match self {
            Self::Installed { toolchain } => toolchain,
            Self::Running { version } => {
                println!("msrv: rust-version is {version}: this run is the MSRV run");
                return Ok(());
            }
            Self::Absent { .. } => return Ok(()),
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

pub(crate) fn output(program: &str, arguments: &str) -> Result<String> {
    let output = Command::new(program)
        .args(arguments.split_whitespace())
        .output()
        .with_context(|| format!("{program} does not start"))?;
    ensure!(output.status.success(), "{program} {arguments}: {}", output.status);
    String::from_utf8(output.stdout).with_context(|| format!("{program} {arguments}: not UTF-8"))
}

/// `rustc 1.95.0 (...)` gives `1.95.0`.
pub(crate) fn release(line: &str) -> &str {
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
        assert_eq!(release("rustc 1.95.0 (59807616e 2026-04-14)"), "1.95.0");
    }

    #[test]
    fn the_toolchain_is_found_by_either_name() {
        let installed =
            "stable-x86_64-unknown-linux-gnu (active, default)\n1.95.0-x86_64-unknown-linux-gnu\n";
        assert_eq!(toolchain_for(installed, "1.95"), Some("1.95.0-x86_64-unknown-linux-gnu"));
        assert_eq!(toolchain_for(installed, "1.88"), None);
    }

    #[test]
    fn an_oldest_toolchain_that_is_not_there_is_counted_as_skipped() {
        let among =
            |version: &str| Oldest::among(version.to_owned(), "rustc 1.95.0 (59807616e)", "1.90-x86_64\n");
        assert_eq!(among("1.95").missing(), None);
        assert_eq!(among("1.90").missing(), None);
        let missing = "Rust 1.88 (rustup toolchain install 1.88) is missing: not tested: that it is enough";
        assert_eq!(among("1.88").missing().as_deref(), Some(missing));
    }
}
