//! What all nodes must agree upon of a type of entities.

use alloc::sync::Arc;

/// A type of entities, as the first node that started it declared it. Every other node must say the same.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Kind {
    /// What it is called.
    pub name: Arc<str>,
    /// How many shards it has, for ever.
    pub shards: u32,
    /// How ids are mapped to shards.
    pub hashing: Hashing,
    /// Only members of this role host it.
    pub role: Option<Arc<str>>,
    /// So many nodes must host it before any of its shards is given to one.
    pub min_hosts: u32,
    /// Where its shards go.
    pub allocation: Allocation,
    /// The number of the codec that its messages and states are written in. Which that is, is the wire's business: here it is only compared.
    pub codec: u8,
}

impl Kind {
    /// No type has more shards: ten for each of some thousands of nodes.
    pub const SHARDS_MAX: u32 = 1 << 16;
    /// Names of types and roles are no longer, in bytes.
    pub const NAME_MAX: usize = 255;
    /// No codec has a higher number, nor the number 0: frames have four bits for it.
    pub const CODEC_MAX: u8 = 15;

    /// Whether a table may hold it: it has a name, shards and a codec, and neither too long a name nor too many shards.
    pub fn is_sound(&self) -> bool {
        let is_name = |text: &str| (1..=Self::NAME_MAX).contains(&text.len());
        is_name(&self.name)
            && self.role.as_deref().is_none_or(is_name)
            && (1..=Self::SHARDS_MAX).contains(&self.shards)
            && (1..=Self::CODEC_MAX).contains(&self.codec)
    }
}

/// How ids are mapped to shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Hashing {
    /// xxh3 of the id's bytes, modulo the number of shards.
    Xxh3,
    /// The first four bytes of its MD5 sum, the greatest first, modulo the number of shards.
    Md5,
    /// A function of the user's, known by what it says of a few ids.
    Custom(u64),
}

/// By which rule shards are given to nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Allocation {
    /// To the node that hosts the fewest; moved when nodes come, at most so many at once.
    LeastShards {
        /// At most so many shards of the type move at once; 0: no such limit.
        absolute: u32,
        /// At most so many hundredths of its shards move at once.
        percent: u8,
    },
    /// To the node that the shard's number and the node's name hash to; nodes that come or go move only their own share.
    Rendezvous,
    /// As somebody says by name; a shard of which nobody said anything goes to the node with the fewest, and stays there.
    External,
    /// By a function of the user's on the coordinator's node; where that has none, as [`Allocation::External`].
    Custom,
}
