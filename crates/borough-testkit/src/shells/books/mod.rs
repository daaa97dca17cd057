//! The books: what was told, handled, given back, lost and watched. The rules are checked as they are written.

mod audit;
mod houses;
mod streams;
mod watches;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::houses::HousePage;
use self::streams::Stream;
pub(super) use self::streams::Told;
use self::watches::Watch;
use super::trace::Trace;
use crate::sim::Violation;

/// The books of one run. Clones are the same books.
#[derive(Clone, Debug)]
pub(super) struct Books(Arc<Mutex<Pages>>);

/// What is in them.
#[derive(Debug)]
pub(super) struct Pages {
    pub(super) trace: Trace,
    pub(super) tally: Tally,
    violation: Option<Violation>,
    houses: Vec<HousePage>,
    streams: Vec<Stream>,
    watches: Vec<Watch>,
    actors: u32,
}

/// How much of everything there was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Messages that were sent, asks included.
    pub told: u64,
    /// Messages that were handled.
    pub handled: u64,
    /// Messages that were given back.
    pub given_back: u64,
    /// Messages that were accepted and lost, each counted as a dead letter.
    pub lost: u64,
    /// Asks that were answered.
    pub answered: u64,
    /// Asks that failed.
    pub failed: u64,
    /// Watches that fired.
    pub fired: u64,
    /// Lives of nodes, one after the other at an address or in a process.
    pub lives: u64,
    /// 1 if there were two clusters in the end, because a majority of the seeds had begun anew behind a cut.
    pub two_clusters: u64,
}

impl Books {
    pub(super) fn new(trace: Trace) -> Self {
        Self(Arc::new(Mutex::new(Pages {
            trace,
            tally: Tally::default(),
            violation: None,
            houses: Vec::new(),
            streams: Vec::new(),
            watches: Vec::new(),
            actors: 0,
        })))
    }

    pub(super) fn open(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    /// A rule was broken; the first one counts.
    pub(super) fn blame(&mut self, violation: Violation) {
        if self.violation.is_none() {
            self.trace.note(format_args!("{violation}"));
            self.violation = Some(violation);
        }
    }

    pub(super) fn violation(&self) -> Option<Violation> {
        self.violation.clone()
    }

    /// The number of an actor that begins.
    pub(super) fn actor(&mut self) -> u32 {
        self.actors += 1;
        self.actors
    }
}
