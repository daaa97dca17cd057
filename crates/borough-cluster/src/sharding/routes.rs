//! Which way the messages of each shard go: a snapshot that senders read without a lock.
//!
//! Promise: a way that was closed is used by nobody once [`Board::is_quiet`] says so: every snapshot in which it was open has been let
//! go by every sender that read it, and every release of held messages by it has ended. Only then may a barrier follow.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::{ArcSwap, Guard};
use borough_actor::remote::Carrier;
use borough_protocol::sharding::Epoch;

use super::hold::Hold;
use super::host::Lane;

/// The way of one shard's messages.
pub(super) enum Way<M> {
    /// Into a lane of this node.
    Here { lane: Lane<M>, tag: Epoch, used: Used },
    /// To another node.
    There { carrier: Arc<dyn Carrier>, tag: Epoch, used: Used },
    /// There is none at the moment.
    Held(Arc<Hold<M>>),
}

/// Whether anything ever went by a way.
#[derive(Clone, Default)]
pub(super) struct Used(Arc<AtomicBool>);

impl Used {
    #[inline]
    pub(super) fn mark(&self) {
        if !self.0.load(Ordering::Relaxed) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn is_marked(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl<M> Way<M> {
    /// Whether anything went by it; `None` if it is no way.
    pub(super) fn used(&self) -> Option<Used> {
        match self {
            Self::Here { used, .. } | Self::There { used, .. } => Some(used.clone()),
            Self::Held(_) => None,
        }
    }
}

impl<M> Clone for Way<M> {
    fn clone(&self) -> Self {
        match self {
            Self::Here { lane, tag, used } => {
                Self::Here { lane: lane.clone(), tag: *tag, used: used.clone() }
            }
            Self::There { carrier, tag, used } => {
                Self::There { carrier: carrier.clone(), tag: *tag, used: used.clone() }
            }
            Self::Held(hold) => Self::Held(hold.clone()),
        }
    }
}

/// The ways of all shards of a type at one moment.
pub(super) type Routes<M> = Box<[Way<M>]>;

/// Where they are published.
pub(super) struct Board<M> {
    newest: ArcSwap<Routes<M>>,
    retired: Mutex<Retired<M>>,
}

/// Snapshots that somebody may still be using, the oldest first.
struct Retired<M> {
    snapshots: VecDeque<Arc<Routes<M>>>,
    /// How many there were before those.
    before: u64,
}

impl<M> Retired<M> {
    /// Forgets the oldest ones as far as nobody uses them.
    fn let_go(&mut self) {
        while self.snapshots.front().is_some_and(|oldest| Arc::strong_count(oldest) == 1) {
            self.snapshots.pop_front();
            self.before += 1;
        }
    }
}

impl<M> Board<M> {
    /// No shard has a way.
    pub(super) fn new(holds: &[Arc<Hold<M>>]) -> Self {
        let routes: Routes<M> = holds.iter().map(|hold| Way::Held(hold.clone())).collect();
        let retired = Mutex::new(Retired { snapshots: VecDeque::new(), before: 0 });
        Self { newest: ArcSwap::from_pointee(routes), retired }
    }

    /// The newest snapshot. As long as the guard is kept, no barrier follows what is sent by it.
    #[inline]
    pub(super) fn read(&self) -> Guard<Arc<Routes<M>>> {
        self.newest.load()
    }

    /// Publishes a snapshot in which these shards have these ways; gives the number for [`is_quiet`](Self::is_quiet).
    pub(super) fn publish(&self, ways: impl IntoIterator<Item = (u32, Way<M>)>) -> u64 {
        let mut retired = self.lock();
        let mut routes: Routes<M> = self.newest.load().iter().cloned().collect();
        for (shard, way) in ways {
            if let Some(place) = routes.get_mut(shard as usize) {
                *place = way;
            }
        }
        let old = self.newest.swap(Arc::new(routes));
        retired.snapshots.push_back(old);
        retired.let_go();
        retired.before + retired.snapshots.len() as u64
    }

    /// Whether nobody uses any of the first `number` snapshots any more.
    pub(super) fn is_quiet(&self, number: u64) -> bool {
        let mut retired = self.lock();
        retired.let_go();
        // What was done before a snapshot was let go is seen by whoever finds it so.
        fence(Ordering::Acquire);
        retired.before >= number
    }

    fn lock(&self) -> MutexGuard<'_, Retired<M>> {
        self.retired.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
