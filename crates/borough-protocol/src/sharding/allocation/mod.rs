//! Where shards go: strategies as pure functions of who hosts how much.
//!
//! A strategy knows nothing of time, of messages or of the log. The [coordinator](crate::office) asks it, looks whether what it says
//! can be, and writes that into the table; a strategy that says nonsense moves nothing.
//!
//! The promise: what is balanced is left alone, and a move that is asked for is one that brings the balance nearer.

mod app_version;
mod custom;
mod external;
mod least_shards;
mod rendezvous;
#[cfg(test)]
mod tests;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

pub use self::app_version::compare_versions;
pub use self::custom::{Custom, Strategies};
pub use self::external::External;
pub use self::least_shards::LeastShards;
pub use self::rendezvous::Rendezvous;
use super::kind::Allocation;
use crate::incarnation::{NodeId, Uid};

/// A node that can be given shards of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostLoad {
    /// Which life of which node.
    pub uid: Uid,
    /// What people call it: the same over many lives.
    pub name: NodeId,
    /// How many shards of the type are its own or on their way to it.
    pub shards: usize,
    /// How many shards of all types.
    pub total: usize,
}

/// How the shards of a type lie at the moment.
#[derive(Clone, Copy, Debug)]
pub struct Spread<'a> {
    /// Those that can be given shards, in the order of uids.
    pub hosts: &'a [HostLoad],
    /// Where each shard is that may move now; what moves already is not among them.
    pub places: &'a BTreeMap<u32, Uid>,
    /// How many shards of the type are moving.
    pub moving: usize,
    /// How many shards the type has.
    pub shards: u32,
}

/// A rule by which shards are given to nodes.
///
/// It is asked on the coordinator's thread, often: it must be quick, and must not block. What it says depends on its arguments alone, or
/// two coordinators would undo each other's work.
pub trait Strategy: Send + Sync {
    /// To whom a shard goes that nobody owns, or whose owner leaves; `None`: to nobody yet, ask again later. An answer that is not among
    /// the hosts counts as `None`.
    fn allocate(&self, shard: u32, hosts: &[HostLoad]) -> Option<Uid>;

    /// Which shards are to move now, and where to. Asked once a second at most, and only while all hosts are well and of one version.
    ///
    /// Whoever wants a limit on how many move at once keeps it here: [`Spread::moving`] says how many do.
    fn rebalance(&self, spread: &Spread<'_>) -> Vec<(u32, Uid)>;
}

/// The strategy of that rule. `custom` is the user's function, where there is one.
pub(crate) fn with_strategy<T>(
    allocation: Allocation,
    custom: Option<&dyn Strategy>,
    ask: impl FnOnce(&dyn Strategy) -> T,
) -> T {
    match (allocation, custom) {
        (Allocation::LeastShards { absolute, percent }, _) => ask(&LeastShards { absolute, percent }),
        (Allocation::Rendezvous, _) => ask(&Rendezvous),
        (Allocation::Custom, Some(custom)) => ask(custom),
        (Allocation::External, _) | (Allocation::Custom, None) => ask(&External),
    }
}

/// How many more may begin to move: at least one of all at a time.
fn budget(spread: &Spread<'_>, absolute: u32, percent: u8) -> usize {
    let part = u64::from(spread.shards) * u64::from(percent) / 100;
    let most = if absolute == 0 { part } else { part.min(u64::from(absolute)) };
    usize::try_from(most.max(1)).unwrap_or(usize::MAX).saturating_sub(spread.moving)
}
