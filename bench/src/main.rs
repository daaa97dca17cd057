//! Measures Borough beside its peers and the raw limits, in one run: `cargo run --release -p borough-bench -- local`.
//!
//! Every measured program is a process of its own: a peer's is built from `bench/peers/`, ours and the raw limits are
//! this binary again (`run <program> <workload> <count>`). What the workloads are and what is fair about them is in
//! `bench/README.md`.

mod borough;
mod busy;
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::needless_pass_by_value,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "counts stay far below 2^53, and printing is how a measured program answers"
)]
mod driver;
mod goals;
mod harness;
mod programs;
mod raw;
mod report;
mod row;
mod samples;
mod workloads;

use clap::{Args, Parser, Subcommand};
use std::process::ExitCode;
use workloads::Workload;

#[derive(Parser)]
#[command(about = "Measures Borough beside its peers and the raw limits, in one run.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Local actors: tells, asks, spawning, memory.
    Local(Options),
    /// One measured run, as the harness starts it.
    #[command(hide = true)]
    Run {
        /// `borough` or one of the raw limits.
        program: String,
        /// The workload and its count.
        job: Vec<String>,
    },
}

/// How to measure.
#[derive(Args, Debug, Clone)]
pub(crate) struct Options {
    /// Measured runs of each program under each workload; the table shows their median and range.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeats: u32,
    /// Only these workloads (repeatable).
    #[arg(long, value_parser = Workload::parse)]
    pub(crate) only: Vec<Workload>,
    /// One short run of everything: shows that it works, says nothing about speed.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Every program on one core (`taskset -c 0`); the goals are for two, so none is judged.
    #[arg(long, conflicts_with = "check")]
    pub(crate) pinned: bool,
    /// Exit with 1 when a goal is missed.
    #[arg(long)]
    pub(crate) check: bool,
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Local(options) => harness::local(&options),
        Command::Run { program, job } => run(&program, driver::Job::from_args(job.into_iter())),
    }
}

fn run(program: &str, job: Option<driver::Job>) -> ExitCode {
    if program == programs::BOROUGH {
        return borough::run(job);
    }
    raw::run(program, job).unwrap_or_else(|| driver::refuse("no such program"))
}
