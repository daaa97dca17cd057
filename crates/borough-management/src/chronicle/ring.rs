//! The last events, by number.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use borough_cluster::Uid;
use tokio::sync::watch;

use super::words;
use crate::bureau::now_millis;
use crate::view::{ClusterEvent, EventKind, StateLoss};

/// How many events are kept.
pub(crate) const KEPT: usize = 1000;

/// What is new, before it has a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct News {
    pub(crate) what: EventKind,
    pub(crate) node: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) shard: Option<u32>,
    pub(crate) loss: Option<StateLoss>,
    pub(crate) text: String,
}

impl News {
    /// About no node, type or shard.
    pub(crate) fn new(what: EventKind, text: String) -> Self {
        Self { what, node: None, kind: None, shard: None, loss: None, text }
    }
}

/// How many there were in this process.
static EDITIONS: AtomicU64 = AtomicU64::new(0);

/// See the module above.
pub(crate) struct Chronicle {
    seen_by: String,
    /// Which of all chronicles: numbers begin anew with each process, and with each management in it.
    edition: String,
    ring: Mutex<VecDeque<ClusterEvent>>,
    /// The number of the newest event; 0 before the first.
    newest: watch::Sender<u64>,
}

impl Chronicle {
    /// An empty one, told by that life of that node.
    pub(crate) fn new(seen_by: String, uid: Uid) -> Self {
        let edition = format!("{uid}.{}", EDITIONS.fetch_add(1, Ordering::Relaxed));
        Self { seen_by, edition, ring: Mutex::default(), newest: watch::Sender::new(0) }
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

    /// What the event of that number is called among all events of all nodes.
    pub(crate) fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.edition)
    }

    /// The number in such a name, or in one that is a number alone; `None` if it is of another chronicle, or cannot be of this one.
    pub(crate) fn number_of(&self, id: &str) -> Option<u64> {
        let number = match id.rsplit_once('-') {
            Some((edition, number)) if edition == self.edition => number,
            Some(_) => return None,
            None => id,
        };
        number.parse().ok().filter(|number| *number <= self.newest())
    }

    /// The word to one who has heard events of another chronicle: what was between that and this one nobody has written down.
    pub(crate) fn beginning(&self) -> ClusterEvent {
        self.event(0, words::of_beginning(&self.seen_by))
    }

    /// The event after that number, and after some that are gone the word that they are; waits for it. Cancel safe.
    pub(crate) async fn after(&self, number: u64) -> ClusterEvent {
        let mut newest = self.newest.subscribe();
        // The sender lives as long as this.
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
        let News { what, node, kind, shard, loss, text } = news;
        let (at_millis, seen_by) = (now_millis(), self.seen_by.clone());
        ClusterEvent { number, at_millis, seen_by, what, node, kind, shard, loss, text }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<ClusterEvent>> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
