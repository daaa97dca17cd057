//! Which way the messages of each shard go: what senders read without a lock.
//!
//! Promise: a way that was replaced is used by nobody once [`is_unused`] says so: every sender that read it has let it go, and every release of held
//! messages by it has ended. Only then may a barrier follow.
//!
//! Each shard has a place of its own: to change one way costs the same however many shards the type has.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};

use arc_swap::{ArcSwap, Guard};
use borough_actor::remote::{Carrier, Message};
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

/// Where the ways of all shards of a type are published.
pub(super) struct Board<M>(Box<[ArcSwap<Way<M>>]>);

/// A way that was replaced, and that somebody may still send by.
pub(super) type Replaced = Arc<dyn Any + Send + Sync>;

impl<M: Message> Board<M> {
    /// No shard has a way.
    pub(super) fn new(holds: &[Arc<Hold<M>>]) -> Self {
        Self(holds.iter().map(|hold| ArcSwap::from_pointee(Way::Held(hold.clone()))).collect())
    }

    /// The way of that shard. As long as the guard is kept, no barrier follows what is sent by it.
    #[inline]
    pub(super) fn read(&self, shard: u32) -> Guard<Arc<Way<M>>> {
        self.0[shard as usize].load()
    }

    /// The shard has that way from now on; gives the one before.
    pub(super) fn publish(&self, shard: u32, way: Arc<Way<M>>) -> Arc<Way<M>> {
        self.0[shard as usize].swap(way)
    }
}

/// Whether nobody uses a way any more that was replaced.
pub(super) fn is_unused(way: &Replaced) -> bool {
    let is_unused = Arc::strong_count(way) == 1;
    // What was done before a sender let it go is seen after this.
    fence(Ordering::Acquire);
    is_unused
}
