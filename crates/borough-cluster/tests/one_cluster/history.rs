//! What the entities of all nodes did, in one order, written down outside of the nodes.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use borough_cluster::Uid;
use tokio::time::Instant;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// An entity was made, from nothing or from the state that moved with it.
    Began { id: String, activation: u64, place: Place },
    /// It handled a message, and its counter is `value` since.
    Handled { id: String, activation: u64, place: Place, value: u64 },
    /// The answer `value` came back. The question was asked when the history was `asked` events long.
    Acknowledged { id: String, value: u64, asked: usize },
    /// What entities have on that node may be lost from here on: it crashed, or it is cut off from the quorum.
    Lost { node: usize },
    /// From here on that holds no longer.
    Back { node: usize },
}

/// Which life of which node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) node: usize,
    pub(crate) uid: Uid,
}

/// An event and when it was, on the simulated clock since the beginning.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) at: Duration,
    pub(crate) event: Event,
}

/// A history that grows. Clones are the same one.
#[derive(Clone, Debug)]
pub(crate) struct History {
    begun: Instant,
    written: Arc<Mutex<Written>>,
}

#[derive(Debug, Default)]
struct Written {
    entries: Vec<Entry>,
    activations: u64,
}

impl History {
    pub(crate) fn new() -> Self {
        Self { begun: Instant::now(), written: Arc::default() }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    pub(crate) fn add(&self, event: Event) {
        self.written().entries.push(Entry { at: self.begun.elapsed(), event });
    }

    /// A number that no other activation has.
    pub(crate) fn next_activation(&self) -> u64 {
        let mut written = self.written();
        written.activations += 1;
        written.activations
    }

    /// How many events there are.
    pub(crate) fn len(&self) -> usize {
        self.written().entries.len()
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.written().entries.clone()
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap()
    }
}
