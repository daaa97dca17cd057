//! What a lane is told to do, and what it says.

use std::sync::Arc;
use std::time::Duration;

use borough_actor::EntityId;
use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::Epoch;
use borough_protocol::sharding::region::Dropped;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::parcel::Barrier;
use super::spread::Spread;
use super::surroundings::Sight;
use crate::sharding::listing::EntityPage;

/// An order to the lane of a shard; see the effects of the region. Orders are done in order, before messages that came after them.
#[derive(Debug)]
pub(crate) enum Order {
    Start {
        shard: u32,
        epoch: Epoch,
    },
    Freeze {
        shard: u32,
        epoch: Epoch,
        to: Uid,
        next: Epoch,
    },
    Transfer {
        shard: u32,
        epoch: Epoch,
        to: Uid,
        next: Epoch,
    },
    Resume {
        shard: u32,
        epoch: Epoch,
    },
    Run {
        shard: u32,
        epoch: Epoch,
    },
    Raise {
        shard: u32,
        epoch: Epoch,
        next: Epoch,
    },
    Discard {
        shard: u32,
        epoch: Epoch,
    },
    Release {
        shard: u32,
        epoch: Epoch,
        to: Uid,
        next: Epoch,
    },
    Drop {
        shard: u32,
        epoch: Epoch,
        why: Dropped,
    },
    Forget {
        shard: u32,
        epoch: Epoch,
    },
    /// Starts an entity that has no message.
    Wake {
        shard: u32,
        id: EntityId,
        say: oneshot::Sender<Woken>,
    },
    /// The table is newer: what waits for that is looked at again.
    Look(Arc<dyn Sight>),
    /// From now on a turn of a shard that is to move is ended by force after a few seconds.
    Force,
    /// This life of the node is over: everything goes, what waits is refused.
    DropAll,
    /// Says which entities of a shard live here.
    List {
        shard: u32,
        after: Option<EntityId>,
        say: oneshot::Sender<EntityPage>,
    },
    /// Says what lives here.
    Stats(Depth, oneshot::Sender<LaneStats>),
}

impl Order {
    /// Whether it only asks what there is, which may be said without a lease.
    pub(super) fn is_question(&self) -> bool {
        matches!(self, Self::Stats(..) | Self::List { .. })
    }

    /// Which shard it is about; `None` if it is about all of the lane.
    pub(crate) fn shard(&self) -> Option<u32> {
        match self {
            Self::Start { shard, .. }
            | Self::Freeze { shard, .. }
            | Self::Transfer { shard, .. }
            | Self::Resume { shard, .. }
            | Self::Run { shard, .. }
            | Self::Raise { shard, .. }
            | Self::Discard { shard, .. }
            | Self::Release { shard, .. }
            | Self::Drop { shard, .. }
            | Self::Forget { shard, .. }
            | Self::Wake { shard, .. }
            | Self::List { shard, .. } => Some(*shard),
            Self::Look(_) | Self::Force | Self::DropAll | Self::Stats(..) => None,
        }
    }
}

/// What a lane has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneReport {
    /// The shard is not frozen yet, because much of others is on its way to the same node.
    PutOff { shard: u32, epoch: Epoch },
    /// The shard begins to freeze.
    Freezing { shard: u32, epoch: Epoch },
    /// So many parts of the transfer of that epoch have come from that node.
    Taken { from: Uid, shard: u32, epoch: Epoch, parts: u32 },
    /// The shard is frozen, and its transfer of that epoch is on its way.
    Froze { shard: u32, epoch: Epoch },
    /// The move of that epoch cannot be.
    Impossible { shard: u32, epoch: Epoch },
    /// The whole transfer of that epoch was taken in.
    Installed { shard: u32, epoch: Epoch },
    /// What lived here at that epoch was dropped, as ordered, and the last of its entities has ended.
    Dropped { shard: u32, epoch: Epoch },
    /// The store refused the shard at that epoch, and has seen a higher one.
    Refused { shard: u32, epoch: Epoch, seen: Epoch },
    /// The store that had refused the shard takes it.
    Fenced { shard: u32, epoch: Epoch },
    /// Everything before the barrier is here: its origin is to be told.
    Done(Barrier),
    /// The barrier can go no further. `hop` is the next one, if that is lost.
    Broken { barrier: Barrier, hop: Option<Uid> },
}

/// What became of an entity that was to be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Woken {
    /// It lives.
    Lives,
    /// It failed or ended as it began.
    Failed,
    /// Its shard does not run here, or it is just about to end: try again.
    Elsewhere,
}

/// How closely a lane is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// What is counted anyway.
    Counts,
    /// Each entity, for those with the most messages waiting and the slowest: it takes as long as there are many.
    Entities,
}

/// What lives in a lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LaneStats {
    /// Each shard that runs here or is frozen: its number, since which epoch, and how many entities it has.
    pub(crate) shards: Vec<(u32, Epoch, usize)>,
    /// Entities that have messages waiting, those with the most first, and how many those are.
    pub(crate) busiest: Vec<(String, usize)>,
    /// Entities whose turns took longest of late or have not ended yet, the slowest first, and how long that was.
    pub(crate) slowest: Vec<(String, Duration)>,
    /// How long turns took of late.
    pub(crate) turns: Spread,
    /// How many messages were handled so far.
    pub(crate) handled: u64,
    /// How often turns so far held up the lane for more than 10 ms, of those that were timed.
    pub(crate) long_turns: u64,
    /// How many alarms the lane's clock is set to.
    pub(crate) alarms: usize,
}
