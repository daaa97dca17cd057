//! The sharded workloads inside one process, written once: every measured program, peer or ours, includes these files beside
//! the `driver` and brings only its own node with its own entity ([`Host`]). So ids, checks and the places where the clock starts and
//! stops are the same for everybody, while the loops that send are each library's own code.
//!
//! An entity has a 16-byte id and a state of 16 bytes ([`Resident`]); 64 shards. Uses `std` and `tokio` alone, because the peers include it too
//! (`#[path]`), outside our workspace.

mod ask;
mod handled;
mod ids;
mod population;
mod resident;
mod tell;

pub(crate) use ids::{Id, Ids};
pub(crate) use resident::Resident;

use crate::driver::{self, Breath, Figure, Job};
use std::future::Future;
use std::ops::Range;
use std::process::ExitCode;

/// Shards of the one type of entities, in every program.
pub(crate) const SHARDS: u32 = 64;

const THOUSAND: u64 = 1_000;
const MILLION: u64 = 1_000_000;

/// What a program must bring: one node that hosts one type of entities, each a [`Resident`].
pub(crate) trait Host: Clone + Send + Sync + 'static {
    /// Starts it; ready to be told and asked.
    fn start() -> impl Future<Output = Self> + Send;

    /// Tells each number to the id that `ids` gives it; a sender that never waits takes the breaths offered. `None` if the
    /// library has no tell for entities.
    fn flood(&self, ids: Ids, numbers: Range<u64>, breath: Breath)
    -> Option<impl Future<Output = ()> + Send>;

    /// Asks an entity with a number; the answer is that number, from [`Resident::answer`].
    fn ask(&self, id: Id, number: u64) -> impl Future<Output = u64> + Send;

    /// Asks an entity for the sum of all it was told and asked, answered after everything the asker told before.
    fn sum(&self, id: Id) -> impl Future<Output = u64> + Send;
}

/// Runs the job on a runtime of two workers.
pub(crate) fn run<H: Host>(job: Option<Job>) -> ExitCode {
    driver::on_two_workers(job, async move |job: Job| measure::<H>(&job).await)
}

/// `None` if the program has no workload of this name.
async fn measure<H: Host>(job: &Job) -> Option<Figure> {
    let host = H::start().await;
    let count = job.count;
    match job.workload.as_str() {
        "sharded_tell" => tell::flood(&host, Ids::shuffled(THOUSAND), 1, count).await,
        "sharded_tell_1m" => tell::flood(&host, Ids::shuffled(MILLION), 1, count).await,
        "sharded_tell_1m_2" => tell::flood(&host, Ids::shuffled(MILLION), 2, count).await,
        "sharded_tell_10m" => tell::flood(&host, Ids::shuffled(10 * MILLION), 1, count).await,
        "sharded_ask1" => Some(ask::one_at_a_time(&host, Ids::shuffled(THOUSAND), count).await),
        "sharded_ask1_1m" => Some(ask::one_at_a_time(&host, Ids::shuffled(MILLION), count).await),
        "sharded_ask1000" => Some(ask::at_once(&host, Ids::shuffled(THOUSAND), count).await),
        "activation" => Some(population::activate(&host, count).await),
        "sharded_memory" | "sharded_memory_10m" => Some(population::memory(&host, count).await),
        _ => None,
    }
}
