//! Many seeds on several threads. What comes out does not depend on how many.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::guard::guarded;
use super::moment::Nanos;
use super::plan::{Plan, Wish};
use super::rare::Met;
use super::run::Outcome;
use super::sharding::Situations;
use super::violation::Violation;

/// Which seeds to run.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The first seed.
    pub from: u64,
    /// How many.
    pub seeds: u64,
    /// How many threads share them.
    pub threads: usize,
    /// What is asked of each run.
    pub wish: Wish,
    /// After so many failing seeds no further one is begun.
    pub failures_max: usize,
}

/// What became of them.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// How many seeds ran.
    pub seeds: u64,
    /// How many inputs the machines handled.
    pub handled: u64,
    /// The trace hashes of all runs in one number.
    pub trace_hash: u64,
    /// How many runs turned wild; few, or the faults are not what they are meant to be.
    pub turned_wild: u64,
    /// How often each rare situation came up.
    pub met: Met,
    /// How many messages to entities were sent, handled, refused and lost.
    pub tally: [usize; 4],
    /// How often each situation of shards came up.
    pub situations: Situations,
    /// How long each healing took, shortest first.
    pub healed_after: Vec<Nanos>,
    /// What failed, by seed.
    pub failures: Vec<(u64, Violation)>,
}

impl Batch {
    /// Runs them.
    pub fn run(&self) -> Summary {
        let next = AtomicU64::new(self.from);
        let summary = Mutex::new(Summary::default());
        thread::scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(|| self.work(&next, &summary));
            }
        });
        let mut summary = summary.into_inner().unwrap_or_default();
        summary.failures.sort_by_key(|(seed, _)| *seed);
        summary.healed_after.sort_unstable();
        summary
    }

    fn work(&self, next: &AtomicU64, summary: &Mutex<Summary>) {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= self.from + self.seeds {
                return;
            }
            let plan = Plan::draw(seed, &self.wish);
            let outcome = guarded(&plan, None);
            let Ok(mut summary) = summary.lock() else { return };
            summary.add(seed, outcome);
            if summary.failures.len() >= self.failures_max {
                return;
            }
        }
    }
}

impl Summary {
    fn add(&mut self, seed: u64, outcome: Outcome) {
        self.seeds += 1;
        self.handled += outcome.handled;
        // A sum, so that the order in which threads finish does not count.
        self.trace_hash = self.trace_hash.wrapping_add(outcome.trace_hash);
        self.turned_wild += u64::from(outcome.turned_wild);
        self.met.add(&outcome.met);
        self.situations.add(&outcome.situations);
        for (sum, count) in self.tally.iter_mut().zip(outcome.tally) {
            *sum += count;
        }
        match outcome.violation {
            Some(violation) => self.failures.push((seed, violation)),
            None => self.healed_after.push(outcome.healed_after),
        }
    }
}
