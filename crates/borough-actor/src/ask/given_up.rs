//! The asks whose asker gave up while the reply handle lives on: in a mailbox, a stash, or a handler's hands.
//!
//! As long as there are none, which is nearly always, no handler need look any further.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::AskId;
use crate::sync::{Mutex, lock};

#[derive(Debug, Default)]
pub(super) struct GivenUp {
    count: AtomicUsize,
    asks: Mutex<HashSet<AskId>>,
}

impl GivenUp {
    /// Whether this ask was given up, and its reply handle lives.
    #[inline]
    pub(super) fn contains(&self, ask: AskId) -> bool {
        self.count.load(Ordering::Relaxed) != 0 && lock(&self.asks).contains(&ask)
    }

    pub(super) fn insert(&self, ask: AskId) {
        let mut asks = lock(&self.asks);
        asks.insert(ask);
        self.count.store(asks.len(), Ordering::Relaxed);
    }

    pub(super) fn remove(&self, ask: AskId) {
        let mut asks = lock(&self.asks);
        asks.remove(&ask);
        self.count.store(asks.len(), Ordering::Relaxed);
    }
}
