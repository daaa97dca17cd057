//! Sharding: which node hosts which shard, how a shard moves, and how a message finds it.
//!
//! The [table](crate::table) says who owns what; nobody is commanded. The coordinator ([`office`](crate::office)) allocates and
//! plans moves; each node's region follows the committed table as a host (what lives here) and as a sender (which way messages go).
//!
//! Promise: an entity lives in at most one place; per process life of a sender and entity, handled order is a subsequence of sent
//! order, across any moves and crashes; planned moves lose nothing.

pub mod allocation;
mod entry;
pub mod hash;
mod kind;
pub mod passivation;
pub mod region;
mod report;
mod shard;
pub mod stance;

pub use self::entry::{Entry, Step, Steps};
pub use self::kind::{Allocation, Hashing, Kind};
pub use self::report::ShardReport;
pub use self::shard::{Epoch, KindId, ShardId};
