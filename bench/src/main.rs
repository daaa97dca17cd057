//! Measures Borough beside its peers and the raw limits, in one run: `cargo run --release -p borough-bench -- local`, or
//! `remote` for two processes, or `sharding` for entities and clusters.
//!
//! Every measured program is a process of its own: a peer's is built from `bench/peers/`, ours and the raw limits are
//! this binary again (`run <program> <workload> <count>`, `play <program> <role>`). What the workloads are and what is fair about them is in
//! `bench/README.md`.

mod borough;
mod borough_remote;
mod borough_sharded;
mod busy;
mod cluster;
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
#[allow(
    clippy::print_stderr,
    clippy::cast_precision_loss,
    reason = "beside the figure, it says what else there is to know"
)]
mod many;
mod pair;
mod programs;
mod raw;
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::print_stdout,
    dead_code,
    unused_imports,
    reason = "counts stay far below 2^53, printing is how a measured program answers, and the peers use all of it"
)]
mod remote;
mod report;
mod row;
mod samples;
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    dead_code,
    reason = "counts stay far below 2^53, and the peers use all of it"
)]
mod sharded;
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    dead_code,
    unused_imports,
    reason = "counts stay far below 2^53, and the programs to come use all of it"
)]
mod sharded_pair;
mod suite;
mod workloads;

use clap::{Args, Parser, Subcommand};
use std::process::ExitCode;
use suite::Choice;

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
    /// Two processes over loopback TCP: tells, asks.
    Remote(Options),
    /// Entities by id, in one process, between two, and on clusters that are harmed: tells, asks, starts, memory, silence.
    Sharding {
        #[command(flatten)]
        options: Options,
        #[command(flatten)]
        times: cluster::Times,
    },
    /// One measured run, as the harness starts it.
    #[command(hide = true)]
    Run {
        /// `borough` or one of the raw limits.
        program: String,
        /// The workload and its count.
        job: Vec<String>,
    },
    /// One of the two processes of a measured run with entities, as the harness starts it.
    #[command(hide = true)]
    PlaySharded {
        /// `borough`.
        program: String,
        /// `server`, or `client` with the address, the workload and its count.
        role: Vec<String>,
    },
    /// One of the two processes of a measured run, as the harness starts it.
    #[command(hide = true)]
    Play {
        /// `borough` or a raw limit.
        program: String,
        /// `server`, or `client` with the address, the workload and its count.
        role: Vec<String>,
    },
}

/// How to measure.
#[derive(Args, Debug, Clone)]
pub(crate) struct Options {
    /// Measured runs of each program under each workload; the table shows their median and range.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeats: u32,
    /// Only these workloads and measurements (repeatable).
    #[arg(long, value_parser = Choice::parse)]
    pub(crate) only: Vec<Choice>,
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
        Command::Local(options) => harness::run(&suite::LOCAL, &options, None),
        Command::Remote(options) => harness::run(&suite::REMOTE, &options, None),
        Command::Sharding { options, times } => harness::run(&suite::SHARDING, &options, Some(times)),
        Command::Run { program, job } => run(&program, driver::Job::from_args(job.into_iter())),
        Command::PlaySharded { program, role } if program == programs::BOROUGH => {
            borough_sharded::play(remote::Role::from_args(role.into_iter()))
        }
        Command::PlaySharded { .. } => driver::refuse("no such program"),
        Command::Play { program, role } => play(&program, remote::Role::from_args(role.into_iter())),
    }
}

fn run(program: &str, job: Option<driver::Job>) -> ExitCode {
    if program == programs::BOROUGH {
        if job.as_ref().is_some_and(|job| many::has(&job.workload)) {
            return many::run(job);
        }
        let is_sharded = job
            .as_ref()
            .is_some_and(|job| job.workload.starts_with("sharded_") || job.workload == "activation");
        return if is_sharded { borough_sharded::run(job) } else { borough::run(job) };
    }
    raw::run(program, job).unwrap_or_else(|| driver::refuse("no such program"))
}

fn play(program: &str, role: Option<remote::Role>) -> ExitCode {
    if program == programs::BOROUGH {
        return borough_remote::play(role);
    }
    raw::run_remote(program, role).unwrap_or_else(|| driver::refuse("no such program"))
}
