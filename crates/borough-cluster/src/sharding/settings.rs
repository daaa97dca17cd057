//! What a type of entities can be set to.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use borough_actor::Fault;
use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::{Epoch, Hashing};

/// Gives a number for an id; its remainder is the shard.
pub(super) type ShardFunction = Arc<dyn Fn(&[u8]) -> u64 + Send + Sync>;

/// Says which shard an id belongs to.
pub(super) enum ShardBy {
    Hash(Hashing),
    Function(ShardFunction),
}

impl ShardBy {
    #[inline]
    pub(super) fn shard_of(&self, id: &[u8], shards: u32) -> u32 {
        match self {
            Self::Hash(hashing) => hashing.shard_of(id, shards).unwrap_or(0),
            #[expect(clippy::cast_possible_truncation, reason = "a remainder of a u32")]
            Self::Function(function) => (function(id) % u64::from(shards)) as u32,
        }
    }
}

/// Stands before a store that other nodes write to as well.
///
/// It is called before the first turn of a shard at its new owner, and no turn runs until it says `Ok`. The store must refuse from then on what
/// carries a lower epoch of that shard: so an owner that lost its shard without knowing can change nothing any more, however late it is. Entities
/// read the epoch from their context and give it to the store with every write.
///
/// If it fails it is tried again every second; messages wait meanwhile, up to a bound.
pub trait Fence: Send + Sync + 'static {
    /// The shard belongs to that owner since that epoch.
    fn fence<'a>(
        &'a self,
        fenced: Fenced<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), Fault>> + Send + 'a>>;
}

/// What is fenced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fenced<'a> {
    /// The type of the entities.
    pub kind: &'a str,
    /// Which of its shards.
    pub shard: u32,
    /// The owner's epoch: higher than that of every owner before.
    pub epoch: Epoch,
    /// The owner.
    pub owner: Uid,
}

impl fmt::Debug for ShardBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hash(hashing) => write!(f, "{hashing:?}"),
            Self::Function(_) => f.write_str("a function"),
        }
    }
}
