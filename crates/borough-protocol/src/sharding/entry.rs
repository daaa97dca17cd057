//! What the table says of one shard, and the steps that change it.

use alloc::sync::Arc;

use super::shard::{Epoch, ShardId};
use crate::incarnation::Uid;

/// Who owns a shard. `issued >= epoch >= lineage`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Entry {
    /// Who hosts it. One that was removed is an orphan's owner until its lease is over and another is named.
    pub owner: Uid,
    /// Since which epoch.
    pub epoch: Epoch,
    /// The highest epoch ever handed out for it, also to moves that were called off.
    pub issued: Epoch,
    /// The epoch at which its state began anew; a planned move keeps it.
    pub lineage: Epoch,
    /// To whom it is moving, and at which epoch that one will own it.
    pub moving: Option<(Uid, Epoch)>,
}

/// Something that is decided of one shard. Each names the epoch it hands out or speaks of, so that one which no longer fits changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Step {
    /// It has an owner and begins anew: it had none, or its owner was removed and is freed.
    Own(Uid, Epoch),
    /// It is to move there, and will be owned at that epoch.
    Move(Uid, Epoch),
    /// The one it moved to at that epoch owns it now.
    Settle(Epoch),
    /// The move of that epoch does not take place.
    CallOff(Epoch),
    /// Its owner has it at that epoch from now on, with the state it has: a store refused the epoch before. A move under way does not take place.
    Raise(Epoch),
}

/// Steps decided at once.
pub type Steps = Arc<[(ShardId, Step)]>;
