//! Each shard goes to the node for which a hash of both is the greatest.

use alloc::vec::Vec;

use super::{HostLoad, Spread, Strategy, budget};
use crate::incarnation::{NodeId, Uid};

/// How many hundredths of a type's shards move at once.
const PERCENT: u8 = 10;

/// Where a shard is to be follows from its number and the names of the nodes alone: a node that comes takes only its own share, what a
/// node had that goes is spread over the others, and a node that comes back under its name gets what it had. Shares differ by chance.
#[derive(Clone, Copy, Debug)]
pub struct Rendezvous;

impl Strategy for Rendezvous {
    fn allocate(&self, shard: u32, hosts: &[HostLoad]) -> Option<Uid> {
        hosts.iter().max_by_key(|host| (weight(shard, &host.name), host.uid)).map(|host| host.uid)
    }

    fn rebalance(&self, spread: &Spread<'_>) -> Vec<(u32, Uid)> {
        let better = spread.places.iter().filter_map(|(shard, owner)| {
            self.allocate(*shard, spread.hosts).filter(|to| to != owner).map(|to| (*shard, to))
        });
        better.take(budget(spread, 0, PERCENT)).collect()
    }
}

/// The same on every node and in every version: FNV-1a over the name, then the number mixed in (the finalizer of `splitmix64`).
fn weight(shard: u32, name: &NodeId) -> u64 {
    let name = name.as_str().bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    mix(name ^ mix(u64::from(shard)))
}

fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}
