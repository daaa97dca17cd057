//! The workloads, written once: every measured program, peer or ours, includes these files and brings only its own
//! actor ([`Subject`]). So the clock starts and stops at the same places for everybody, while the loops that send
//! are each library's own code.
//!
//! Uses `std` and `tokio` alone, because the peers include it too (`#[path]`), outside our workspace.

mod ask;
mod breath;
mod figure;
mod population;
mod tell;

pub(crate) use breath::Breath;
pub(crate) use figure::{Figure, Job, refuse, report, sum_below};
pub(crate) use population::{all_started, resident_bytes, started};

use std::future::Future;
use std::ops::Range;
use std::process::ExitCode;

/// What a program must bring: one actor with a `u64` sum, in the library's usual way of writing it.
pub(crate) trait Subject: Send + Sync + 'static {
    /// The handle of an actor; the actor lives at least as long as the handle.
    type Ref: Clone + Send + Sync + 'static;

    /// Makes an actor whose sum begins at `sum` and which calls [`started`] once it runs.
    fn spawn(&self, sum: u64) -> impl Future<Output = Self::Ref> + Send;

    /// Tells every number, in turn round the actors; a sender that never waits takes the breaths offered.
    fn flood(actors: &[Self::Ref], numbers: Range<u64>, breath: Breath) -> impl Future<Output = ()> + Send;

    /// Tells every number to one actor, from a thread outside the runtime, which never yields on its own.
    fn flood_from_thread(actor: &Self::Ref, numbers: Range<u64>);

    /// Asks for the sum; answered after everything the asker told before.
    fn ask(actor: &Self::Ref) -> impl Future<Output = u64> + Send;
}

/// Runs the job on a runtime of two workers, as every program on tokio does. Prints the figure and ends the process
/// at once: taking down a million actors is not measured.
pub(crate) fn run_on_two_workers<S: Subject>(
    job: Option<Job>,
    make: impl FnOnce() -> S + Send + 'static,
) -> ExitCode {
    on_two_workers(job, async move |job: Job| run(&make(), &job).await)
}

/// As [`run_on_two_workers`], for a program with workloads of its own.
pub(crate) fn on_two_workers<F>(job: Option<Job>, work: impl FnOnce(Job) -> F + Send + 'static) -> ExitCode
where
    F: Future<Output = Option<Figure>> + Send,
{
    let Some(job) = job else { return refuse("usage: <workload> <count>") };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let Ok(runtime) = runtime else { return refuse("the runtime does not start") };
    // A spawned task, so that the sender runs on a worker as a user's code does, not on the thread of `block_on`.
    let ran = runtime.block_on(async move { tokio::spawn(async move { work(job).await }).await });
    match ran {
        Ok(figure) => report(figure),
        Err(panicked) => refuse(&panicked.to_string()),
    }
}

/// Runs the job inside the runtime of the caller; `None` if no workload has its name.
pub(crate) async fn run<S: Subject>(subject: &S, job: &Job) -> Option<Figure> {
    let count = job.count;
    Some(match job.workload.as_str() {
        "tell1" => tell::in_turn(subject, 1, count).await,
        "tell4" => tell::from_tasks(subject, count).await,
        "tell4_threads" => tell::from_threads(subject, count).await,
        "round_robin" => tell::in_turn(subject, 1000, count).await,
        "ask1" => ask::one_at_a_time(subject, count).await,
        "ask1000" => ask::at_once(subject, count).await,
        "spawn" => population::spawn(subject, count).await,
        "memory" => population::memory(subject, count).await,
        _ => return None,
    })
}
