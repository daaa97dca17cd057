//! Somebody outside says where shards are to be.

use alloc::vec::Vec;

use super::least_shards::least;
use super::{HostLoad, Spread, Strategy};
use crate::incarnation::Uid;

/// A shard of which nobody said anything goes to the node with the fewest, and stays there. What somebody says comes with the
/// reports ([`ShardReport::places`](crate::sharding::ShardReport)), not from here.
#[derive(Clone, Copy, Debug)]
pub struct External;

impl Strategy for External {
    fn allocate(&self, _: u32, hosts: &[HostLoad]) -> Option<Uid> {
        least(hosts)
    }

    fn rebalance(&self, _: &Spread<'_>) -> Vec<(u32, Uid)> {
        Vec::new()
    }
}
