//! The last events, by number.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::words;
use crate::bureau::now_millis;
use crate::view::{ClusterEvent, EventKind};

/// How many events are kept.
pub(crate) const KEPT: usize = 1000;

/// What is new, before it has a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct News {
    pub(crate) what: EventKind,
    pub(crate) node: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) shard: Option<u32>,
    pub(crate) text: String,
}

/// See the module above.
pub(crate) struct Chronicle {
    seen_by: String,
    ring: Mutex<VecDeque<ClusterEvent>>,
    /// The number of the newest event; 0 before the first.
    newest: watch::Sender<u64>,
}

impl Chronicle {
    pub(crate) fn new(seen_by: String) -> Self {
        Self { seen_by, ring: Mutex::default(), newest: watch::Sender::new(0) }
    }

    /// Writes down what happened.
    pub(crate) fn write(&self, news: News) {
        let mut ring = self.lock();
        let number = ring.back().map_or(0, |event| event.number) + 1;
        if ring.len() == KEPT {
            ring.pop_front();
        }
        ring.push_back(self.event(number, news));
        // Under the lock: who is woken finds it, and numbers never go back.
        self.newest.send_replace(number);
    }

    /// The number of the newest event.
    pub(crate) fn newest(&self) -> u64 {
        *self.newest.borrow()
    }

    /// The event after that number, and after some that are gone the word that they are; waits for it. Cancel safe.
    pub(crate) async fn after(&self, number: u64) -> ClusterEvent {
        let mut newest = self.newest.subscribe();
        // A listener that comes from an earlier process may be ahead.
        let _ = newest.wait_for(|newest| *newest > number).await;
        let ring = self.lock();
        let first = ring.front().map_or(1, |event| event.number);
        if number + 1 < first {
            return self.event(first - 1, words::of_missed(first - 1 - number));
        }
        let place = usize::try_from(number + 1 - first).unwrap_or(usize::MAX);
        match ring.get(place) {
            Some(event) => event.clone(),
            None => unreachable!("the newest number is published after its event is in the ring"),
        }
    }

    fn event(&self, number: u64, news: News) -> ClusterEvent {
        let News { what, node, kind, shard, text } = news;
        let (at_millis, seen_by) = (now_millis(), self.seen_by.clone());
        ClusterEvent { number, at_millis, seen_by, what, node, kind, shard, text }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<ClusterEvent>> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
