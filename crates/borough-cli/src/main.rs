//! The `borough` program: a demo cluster in one command, and windows into any cluster.
//!
//! ```text
//! arguments  what can be asked for, as clap reads it
//! client/    one node's management over HTTP or HTTPS, and what an error there means to a person
//! commands/  one file a subject: asks the client, shows a table or JSON
//! output     the one way in which anything is printed
//! scene/     a living picture of a cluster, for `top` and `demo`
//! demo/      a cluster of real processes
//! ```
#![warn(clippy::print_stdout, clippy::print_stderr, reason = "they panic when nobody reads: see `output`")]

mod arguments;
mod client;
mod commands;
mod demo;
mod output;
mod scene;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::Arguments;
use crate::output::ReaderGone;

fn main() -> ExitCode {
    // Clap ends the process with 2 where the words make no sense.
    let arguments = Arguments::parse();
    match commands::run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<ReaderGone>() => ExitCode::SUCCESS,
        Err(error) => {
            output::remark(format_args!("borough: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
