//! The raw limits: what the same work costs with no actor library at all: a task and a queue, or a stream.
//!
//! They keep no promise an actor keeps (no supervision, no dead letters, two of them no bound): a floor, not a rival.

mod batch;
mod channel;
mod table;
mod task;
mod tcp;

use crate::driver::{self, Job};
use crate::remote::{self, Role};
use crate::sharded;
use std::process::ExitCode;
use tokio::sync::oneshot;

/// Runs one raw limit; `None` if none has this name.
pub(crate) fn run(name: &str, job: Option<Job>) -> Option<ExitCode> {
    Some(match name {
        "raw-batch" => driver::run_on_two_workers(job, || batch::Batch),
        "raw-bounded" => driver::run_on_two_workers(job, || channel::Bounded),
        "raw-unbounded" => driver::run_on_two_workers(job, || channel::Unbounded),
        "raw-table" => sharded::run::<table::Table>(job),
        "raw-task" => driver::on_two_workers(job, task::run),
        _ => return None,
    })
}

/// Plays one role of a raw limit between two processes; `None` if none has this name.
pub(crate) fn run_remote(name: &str, role: Option<Role>) -> Option<ExitCode> {
    (name == "raw-tcp").then(|| remote::run::<tcp::Tcp>(role))
}

/// What a raw task is told.
enum Msg {
    Add(u64),
    Sum(oneshot::Sender<u64>),
}

impl Msg {
    fn apply(self, sum: &mut u64) {
        match self {
            Self::Add(number) => *sum += number,
            // The asker is gone only when the whole run is.
            Self::Sum(reply) => drop(reply.send(*sum)),
        }
    }
}
