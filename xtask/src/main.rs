//! The house rules as programs: `cargo xtask verify` is the whole check, `cargo xtask tidy` the rules
//! that no other tool knows.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program speaks on them")]

mod chaos;
mod guide;
mod msrv;
mod needs;
mod settings;
mod sim;
mod tidy;
mod tree;
mod verify;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

const USAGE: &str = "\
usage: cargo xtask <command>
  verify   formatting, lints, documentation, tests, planted flaws, house rules, simulation, oldest toolchain
  tidy     the house rules alone
  guide    the pages of docs/ as a book, in target/guide
  settings docs/settings.md, from the table in the source
  sim      the cluster simulator: `cargo xtask sim --help` says how
  chaos    real processes under real faults: `cargo xtask chaos network --help` says how; so for `sharding`, `failover` and `measure`
  soak     hours of full load on real processes: `cargo xtask soak --hours 1`";

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["verify"] => verify::run(&workspace_root()?)?,
        ["tidy"] => tidy::run(&workspace_root()?)?,
        ["guide"] => guide::run(&workspace_root()?)?,
        ["settings"] => settings::run(&workspace_root()?)?,
        // What the simulator found is in its exit code.
        ["sim", ref arguments @ ..] => return sim::run(&workspace_root()?, arguments),
        ["chaos", ref arguments @ ..] | ref arguments @ ["soak", ..] => {
            return chaos::run(&workspace_root()?, arguments);
        }
        _ => bail!("{USAGE}"),
    }
    Ok(ExitCode::SUCCESS)
}

/// The folder above this crate, as cargo names it at run time: a path fixed at compile time would be
/// wrong in a clone that shares its target folder.
fn workspace_root() -> Result<PathBuf> {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").context("start me as `cargo xtask`")?;
    let root = PathBuf::from(here).parent().context("xtask has no folder above it")?.to_path_buf();
    Ok(root)
}
