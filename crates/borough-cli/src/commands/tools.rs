//! `sim` and `bench`: tools that live in the repository and are not part of this program.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A tool, as cargo runs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tool {
    name: &'static str,
    command: &'static [&'static str],
}

/// The cluster simulator.
pub(super) const SIM: Tool =
    Tool { name: "sim", command: &["run", "--quiet", "--package", "xtask", "--", "sim"] };
/// The measurements.
pub(super) const BENCH: Tool =
    Tool { name: "bench", command: &["run", "--quiet", "--release", "--package", "borough-bench", "--"] };

/// Runs it with these arguments. Fails as it fails.
pub(super) fn run(tool: Tool, arguments: &[String]) -> Result<()> {
    let here = std::env::current_dir().context("the current folder cannot be read")?;
    let Some(root) = repository(&here) else {
        bail!(
            "`borough {}` runs a tool of Borough's repository, and {} is not inside it; \
             git clone https://github.com/borough-rs/borough, and start it there",
            tool.name,
            here.display()
        );
    };
    let status = Command::new("cargo").args(tool.command).args(arguments).current_dir(root).status();
    let status = status.context("cargo does not start; install Rust from https://rustup.rs")?;
    if !status.success() {
        bail!("{} ended with {status}", tool.name);
    }
    Ok(())
}

/// The nearest folder above that is the repository's root.
fn repository(here: &Path) -> Option<PathBuf> {
    let is_root = |folder: &&Path| {
        ["Cargo.toml", "xtask/Cargo.toml", "bench/Cargo.toml", "crates/borough-protocol/Cargo.toml"]
            .iter()
            .all(|file| folder.join(file).is_file())
    };
    here.ancestors().find(is_root).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_found_from_any_folder_in_it_and_from_nowhere_else() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = here.ancestors().nth(2).expect("two folders above");
        assert_eq!(repository(&here.join("src")).as_deref(), Some(root));
        assert_eq!(repository(Path::new("/")), None);
    }
}
