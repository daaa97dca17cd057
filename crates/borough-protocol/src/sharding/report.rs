//! What a node's region says to the coordinator.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::kind::Kind;
use super::shard::{Epoch, KindId, ShardId};
use crate::incarnation::Uid;

/// Everything a region wants the coordinator to know, as it is at the moment: the newest says it all.
///
/// It is repeated until the table shows what it asks for; a new coordinator hears it like the one before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ShardReport {
    /// Which report of that node this is: an older one that comes late says nothing.
    pub seq: u64,
    /// Types it hosts, or knows as a proxy (`false`), and that the table does not show so yet.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::list"))]
    pub kinds: Vec<(Arc<Kind>, bool)>,
    /// Types it hosts no more.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::list"))]
    pub ended: Vec<KindId>,
    /// Shards that somebody there sends to and that have no owner.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::list"))]
    pub wanted: Vec<ShardId>,
    /// What it has frozen and sent away, by the epoch of the move.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::list"))]
    pub frozen: Vec<(ShardId, Epoch)>,
    /// What it has taken in whole, by the epoch of the move.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::list"))]
    pub installed: Vec<(ShardId, Epoch)>,
    /// Moves that cannot be: state that cannot be captured or read, a turn that does not end in time.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::list"))]
    pub impossible: Vec<(ShardId, Epoch)>,
    /// What the table says to be owned there, of types it hosts no more, and was dropped because no other hosts them: the epochs it ran at.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::list"))]
    pub dropped: Vec<(ShardId, Epoch)>,
    /// Where somebody wants shards to be.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::list"))]
    pub places: Vec<(ShardId, Uid)>,
    /// What it owns and no turn of which runs because a store refused it: the epoch that was refused, and the highest one that the store has seen.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::list"))]
    pub refused: Vec<(ShardId, Epoch, Epoch)>,
    /// What lives there is about to be dropped: shards whose move was called off rest no longer.
    pub is_forcing: bool,
}

impl ShardReport {
    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
            && self.ended.is_empty()
            && self.wanted.is_empty()
            && self.frozen.is_empty()
            && self.installed.is_empty()
            && self.impossible.is_empty()
            && self.dropped.is_empty()
            && self.places.is_empty()
            && self.refused.is_empty()
            && !self.is_forcing
    }
}
