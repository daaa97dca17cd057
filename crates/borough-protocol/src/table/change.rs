//! What can be written into the table.

use alloc::sync::Arc;

use crate::incarnation::{Facts, Incarnation, Uid};
use crate::sharding::{Kind, KindId, Steps};

/// One decision. Applying one that no longer fits changes nothing: everybody who applies it sees the same.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Change {
    /// The node is a member from here on; its age is the version of this entry.
    Admit(Arc<Admission>),
    /// The node wants to leave.
    Drain(Uid),
    /// The node is no member any more, and never will be again in this life.
    Remove(Uid, Removal),
    /// The removed node's lease is over by any clock: what it owned may have new owners.
    Free(Uid),
    /// These lives ended so long ago that nothing of them can still arrive.
    Forget(#[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::shared"))] Arc<[Uid]>),
    /// The whole cluster is shutting down: nobody is removed, nothing moves any more.
    Close,
    /// There is a type of entities of this name, and this is what all nodes must agree upon.
    Declare(Arc<Kind>),
    /// That member can host shards of that type.
    Host(Uid, KindId),
    /// That member, which owns no shard of that type, hosts it no more.
    EndHosting(Uid, KindId),
    /// Who owns shards, and which of them move.
    Shards(#[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::shared"))] Steps),
}

/// Who is admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Admission {
    /// Which life of which address.
    pub incarnation: Incarnation,
    /// What it says of itself.
    pub facts: Arc<Facts>,
}

/// Why a node is no member any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Removal {
    /// A quorum of the voters has not heard it.
    Quiet,
    /// It left, and had dropped everything before.
    Goodbye,
    /// A newer life of its address joined.
    Replaced,
    /// Somebody asked for it.
    Operator,
    /// It and other members cannot hear each other, and without it fewest are lost.
    CutOff,
}
