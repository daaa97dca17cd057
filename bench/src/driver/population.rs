//! Many actors: how fast they come to run, and what an idle one weighs.

use super::Subject;
use super::figure::{Figure, sum_below};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const START_LIMIT: Duration = Duration::from_secs(60);

static STARTED: AtomicU64 = AtomicU64::new(0);

/// To be called by each actor when it begins to run.
pub(crate) fn started() {
    STARTED.fetch_add(1, Ordering::Relaxed);
}

/// Waits until so many actors run in this process.
pub(crate) async fn all_started(count: u64) {
    let limit = Instant::now() + START_LIMIT;
    while STARTED.load(Ordering::Relaxed) < count {
        assert!(Instant::now() < limit, "the actors do not start");
        tokio::task::yield_now().await;
    }
}

/// From the first call until all handles are held and all actors run. The answers are gathered after the clock stops.
pub(super) async fn spawn<S: Subject>(subject: &S, count: u64) -> Figure {
    let begin = Instant::now();
    let actors = spawn_all(subject, count, |number| number).await;
    let elapsed = begin.elapsed();
    Figure::rate(count, elapsed, sum_of::<S>(&actors).await, sum_below(count))
}

/// Growth of the resident set for each running idle actor and the one handle that keeps it.
pub(super) async fn memory<S: Subject>(subject: &S, count: u64) -> Figure {
    let _first_use_pays_for_globals = spawn_all(subject, 1, |_| 0).await;
    let before = resident_bytes();
    let actors = spawn_all(subject, count, |number| number).await;
    let grown = resident_bytes().saturating_sub(before);
    Figure::bytes_each(grown, count, sum_of::<S>(&actors).await, sum_below(count))
}

pub(super) async fn spawn_all<S: Subject>(subject: &S, count: u64, sum: impl Fn(u64) -> u64) -> Vec<S::Ref> {
    let running = STARTED.load(Ordering::Relaxed) + count;
    let mut actors = Vec::with_capacity(count as usize);
    for number in 0..count {
        actors.push(subject.spawn(sum(number)).await);
    }
    all_started(running).await;
    actors
}

pub(super) async fn sum_of<S: Subject>(actors: &[S::Ref]) -> u64 {
    let mut sum = 0;
    for actor in actors {
        sum += S::ask(actor).await;
    }
    sum
}

/// The memory of this process that is in RAM.
pub(crate) fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.expect("Linux tells the resident set") * 1024
}
