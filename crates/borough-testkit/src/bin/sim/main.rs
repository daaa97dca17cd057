//! The simulator as a program; `cargo xtask sim` builds it with optimisation and runs it.
//!
//! It exits with 0 if every rule held, with 1 if a machine panicked, with 2 if a safety rule was broken, with 3 if a cluster
//! did not heal in time, and with 4 if it was asked for something it does not know or proved less than it should.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program speaks on them")]

mod arguments;
#[cfg(feature = "flaws")]
mod planted;
mod replay;
mod resume;
mod scale;
mod seeds;
#[cfg(feature = "nodes")]
mod shells;

use std::process::ExitCode;

use self::arguments::{Arguments, Task};

/// Nothing was broken, but something was not proved either.
const UNPROVED: u8 = 4;

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(wrong) => {
            eprintln!("sim: {wrong}\n{}", arguments::USAGE);
            return ExitCode::from(UNPROVED);
        }
    };
    let code = match &arguments.task {
        Task::Seeds => seeds::run(&arguments),
        Task::Replay(seed) => replay::run(*seed, &with_flaw(&arguments)),
        Task::Plan(path) => replay::run_file(path, &arguments),
        Task::Planted => planted(&arguments),
        Task::Scale => scale::run(&arguments),
        Task::Shells(seed) => shells(*seed, &arguments),
    };
    ExitCode::from(code)
}

/// The run in which all nodes have the flaw that was named.
#[cfg(feature = "flaws")]
fn with_flaw(arguments: &Arguments) -> Arguments {
    let wish = arguments.flaw.map(|flaw| borough_testkit::sim::planted::wish_for(flaw, &arguments.wish));
    Arguments { wish: wish.unwrap_or_else(|| arguments.wish.clone()), ..arguments.clone() }
}

#[cfg(not(feature = "flaws"))]
fn with_flaw(arguments: &Arguments) -> Arguments {
    arguments.clone()
}

#[cfg(feature = "flaws")]
fn planted(arguments: &Arguments) -> u8 {
    planted::run(arguments)
}

#[cfg(not(feature = "flaws"))]
fn planted(_: &Arguments) -> u8 {
    eprintln!(
        "sim: flaws can be planted only in a build with the feature `flaws`: use `cargo xtask sim --planted`"
    );
    UNPROVED
}

#[cfg(feature = "nodes")]
fn shells(seed: Option<u64>, arguments: &Arguments) -> u8 {
    match seed {
        None => shells::run(arguments),
        Some(seed) => shells::replay(seed, arguments),
    }
}

#[cfg(not(feature = "nodes"))]
fn shells(_: Option<u64>, _: &Arguments) -> u8 {
    eprintln!("sim: this build has no whole nodes: use `cargo xtask sim --shells`");
    UNPROVED
}
