//! A bare task: a number kept across one await, with no queue and no handle. It cannot be told or asked anything, so
//! only `spawn` and `memory` exist for it, and the sum is what the tasks added when they began.

use crate::driver::{self, Figure, Job};
use std::future::pending;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

static SUM: AtomicU64 = AtomicU64::new(0);

pub(super) async fn run(job: Job) -> Option<Figure> {
    let Job { workload, count } = job;
    let expected = count * (count - 1) / 2;
    let before = driver::resident_bytes();
    let begin = Instant::now();
    for number in 0..count {
        tokio::spawn(idle(number));
    }
    driver::all_started(count).await;
    let elapsed = begin.elapsed();
    let grown = driver::resident_bytes().saturating_sub(before);
    let sum = SUM.load(Ordering::Relaxed);
    match workload.as_str() {
        "spawn" => Some(Figure::rate(count, elapsed, sum, expected)),
        "memory" => Some(Figure::bytes_each(grown, count, sum, expected)),
        _ => None,
    }
}

async fn idle(number: u64) {
    SUM.fetch_add(number, Ordering::Relaxed);
    driver::started();
    pending::<()>().await;
    // Used after the await, so that the task has to keep it.
    black_box(number);
}
