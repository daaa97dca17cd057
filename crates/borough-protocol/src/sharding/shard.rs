//! What shards and the times of their ownership are called.

use core::fmt;

/// Which type of entities: its place in the table's list of types. A type never leaves the list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KindId(pub u16);

impl fmt::Debug for KindId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "k{}", self.0)
    }
}

/// One shard of one type of entities.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ShardId {
    /// Of which type.
    pub kind: KindId,
    /// Its number, below the type's number of shards.
    pub number: u32,
}

impl fmt::Debug for ShardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}/{}", self.kind, self.number)
    }
}

/// Counts the owners of a shard, over all eras of its cluster: it rises with every owner and is never given out twice. It also rises when a store
/// refuses the owner because it has seen a higher one.
///
/// It is in every routed message, transfer and store write.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Epoch(#[cfg_attr(feature = "serde", serde(with = "crate::wire::fixed"))] u64);

impl Epoch {
    /// Before any owner.
    pub const ZERO: Self = Self(0);

    /// The first one of an era.
    pub const fn first(era: u32) -> Self {
        Self::before(era).next()
    }

    /// Below all of an era, and at least as high as any of the eras before it.
    pub const fn before(era: u32) -> Self {
        Self((era as u64) << 32)
    }

    /// The one of that number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The era it is of.
    pub const fn era(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The next one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.era(), self.0 & 0xFFFF_FFFF)
    }
}

impl fmt::Debug for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e{self}")
    }
}
