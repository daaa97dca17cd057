//! Who is there: what a node knows of its cluster, as snapshots that never change, pushed to whoever listens.
//!
//! Promise: whoever listens has the newest snapshot in the end. One who is slow misses what was between, never the last.

mod failure;
mod handle;
mod publisher;
mod snapshot;
mod subscription;
mod survey;
mod suspicions;
#[cfg(test)]
mod tests;

pub use self::failure::Failure;
pub use self::handle::{Ended, Topology};
pub(crate) use self::publisher::Publisher;
pub use self::snapshot::{Member, MemberState, Standing, TopologySnapshot};
