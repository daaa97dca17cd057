//! The house rules as programs: `cargo xtask verify` is the whole check, `cargo xtask tidy` the rules
//! that no other tool knows.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program speaks on them")]

mod msrv;
mod tidy;
mod tree;
mod verify;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

const USAGE: &str = "\
usage: cargo xtask <command>
  verify   formatting, lints, documentation, tests, house rules, oldest toolchain
  tidy     the house rules alone";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["verify"] => verify::run(&workspace_root()?),
        ["tidy"] => tidy::run(&workspace_root()?),
        _ => bail!("{USAGE}"),
    }
}

/// The folder above this crate, as cargo names it at run time: a path fixed at compile time would be
/// wrong in a clone that shares its target folder.
fn workspace_root() -> Result<PathBuf> {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").context("start me as `cargo xtask`")?;
    let root = PathBuf::from(here).parent().context("xtask has no folder above it")?.to_path_buf();
    Ok(root)
}
