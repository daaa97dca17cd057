//! What a node tells of its cluster: plain values, written and read as JSON.
//!
//! Fields are added, never renamed and never given another meaning; who reads ignores fields it does not know. Nodes are named as people
//! name them, by their node ids; a uid is there where two lives of one node must be told apart.

mod digits;
mod entities;
mod events;
mod health;
mod losses;
mod members;
mod orders;
mod recovery;
mod settings;
mod shards;
mod stats;

pub use entities::{BusyEntity, Entities, EntityIds, Location, SlowEntity};
pub use events::{ClusterEvent, EventKind};
pub use health::Health;
pub use losses::{StateLoss, StateLossCount};
pub use members::{Member, Members};
pub use orders::{Accepted, MoveOrder, Problem};
pub use recovery::{RecoverOrder, Recovery, RecoveryMember};
pub use settings::{Setting, Settings};
pub use shards::{Place, ShardMap, Shards};
pub use stats::{Count, DataDirectory, KindStats, Moves, NodeStats, Stats, Turns};
