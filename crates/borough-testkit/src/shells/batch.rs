//! Many seeds.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::{Plan, run};
use crate::sim::Violation;

/// Seeds one after the other, on some threads.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// The first seed.
    pub from: u64,
    /// How many.
    pub seeds: u64,
    /// On how many threads.
    pub threads: usize,
    /// After so many failures no further seed is begun.
    pub failures_max: usize,
}

/// What came of them.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// How many seeds were run.
    pub seeds: u64,
    /// How much was seen.
    pub events: u64,
    /// How many messages were sent.
    pub told: u64,
    /// How many lives nodes lived.
    pub lives: u64,
    /// How many runs ended with two clusters.
    pub two_clusters: u64,
    /// Of all runs, whatever their order.
    pub trace_hash: u64,
    /// The longest that healing took.
    pub healed_within: Duration,
    /// Which seeds broke a rule.
    pub failures: Vec<(u64, Violation)>,
}

impl Batch {
    /// Runs them.
    pub fn run(&self) -> Summary {
        let (next, summary) = (AtomicU64::new(0), Mutex::new(Summary::default()));
        thread::scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(|| self.work(&next, &summary));
            }
        });
        let mut summary = summary.into_inner().unwrap_or_else(PoisonError::into_inner);
        summary.failures.sort_by_key(|(seed, _)| *seed);
        summary
    }

    fn work(&self, next: &AtomicU64, summary: &Mutex<Summary>) {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let is_enough = {
                let summary = summary.lock().unwrap_or_else(PoisonError::into_inner);
                summary.failures.len() >= self.failures_max
            };
            if number >= self.seeds || is_enough {
                return;
            }
            let seed = self.from + number;
            let outcome = run(&Plan::draw(seed), None);
            let mut summary = summary.lock().unwrap_or_else(PoisonError::into_inner);
            summary.seeds += 1;
            summary.events += outcome.events;
            summary.told += outcome.tally.told;
            summary.lives += outcome.tally.lives;
            summary.two_clusters += outcome.tally.two_clusters;
            summary.trace_hash = summary.trace_hash.wrapping_add(outcome.trace_hash);
            summary.healed_within = summary.healed_within.max(outcome.healed_after);
            summary.failures.extend(outcome.violation.map(|violation| (seed, violation)));
        }
    }
}
