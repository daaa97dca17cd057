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
///
/// A store that has seen a higher epoch of the shard, or the same one of another owner, refuses with [`EpochRefused`]. That happens when another
/// cluster of the same name wrote to it, or when a cluster was founded by a clock that was set back. The cluster then gives the shard an epoch above the
/// one that the store has seen, and the fence is called again, with that epoch, before the next turn. The owner and the entities stay the same. A store that refuses with any
/// other error is called with the same epoch until it accepts it.
///
/// An epoch more than ten years in the future is taken for an error of a clock or of the store. It is not followed, but logged at ERROR once a minute: the shard
/// handles nothing until the epoch in the store is corrected.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::pin::Pin;
/// use std::sync::{Mutex, PoisonError};
///
/// use borough_actor::Fault;
/// use borough_cluster::{Epoch, EpochRefused, Fence, Fenced};
///
/// #[derive(Default)]
/// struct Store(Mutex<BTreeMap<u32, Epoch>>);
///
/// impl Fence for Store {
///     fn fence<'a>(&'a self, fenced: Fenced<'a>) -> Pin<Box<dyn Future<Output = Result<(), Fault>> + Send + 'a>> {
///         Box::pin(async move {
///             let mut newest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
///             let seen = newest.entry(fenced.shard).or_insert(fenced.epoch);
///             if *seen > fenced.epoch {
///                 return Err(EpochRefused { seen: *seen }.into());
///             }
///             *seen = fenced.epoch;
///             Ok(())
///         })
///     }
/// }
/// ```
pub trait Fence: Send + Sync + 'static {
    /// The shard belongs to that owner since that epoch. [`EpochRefused`] if the store has seen a higher one.
    fn fence<'a>(
        &'a self,
        fenced: Fenced<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), Fault>> + Send + 'a>>;
}

/// A store refuses an epoch of a shard because it has seen a higher one, or the same one of another owner; see [`Fence`].
///
/// A [`Fence`] returns it, and so may a handler whose write was refused: then the shard stops, is fenced again above that epoch, and goes on. The entity
/// itself fails as with any other error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the store has seen epoch {seen} of the shard")]
pub struct EpochRefused {
    /// The highest epoch of the shard that the store has seen.
    pub seen: Epoch,
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
