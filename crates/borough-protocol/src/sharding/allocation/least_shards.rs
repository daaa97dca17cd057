//! Each node hosts as many shards as the others, or one more.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{HostLoad, Spread, Strategy, budget};
use crate::incarnation::Uid;

/// A new shard goes to the node with the fewest. When nodes come or go, so many move as must, not one more: from those that have too
/// many, to those that have too few. Loads that differ by one are balanced.
#[derive(Clone, Copy, Debug)]
pub struct LeastShards {
    /// At most so many of a type move at once; 0: no such limit.
    pub absolute: u32,
    /// At most so many hundredths of a type's shards move at once, at least one.
    pub percent: u8,
}

impl Strategy for LeastShards {
    fn allocate(&self, _: u32, hosts: &[HostLoad]) -> Option<Uid> {
        least(hosts)
    }

    fn rebalance(&self, spread: &Spread<'_>) -> Vec<(u32, Uid)> {
        let mut excess = excess(spread.hosts);
        let mut movable = by_owner(spread);
        let mut moves = Vec::new();
        for _ in 0..budget(spread, self.absolute, self.percent) {
            let taker = excess.iter().filter(|(_, by)| **by < 0).min_by_key(|(_, by)| **by);
            let giver = excess.iter().filter(|(uid, by)| **by > 0 && movable.contains_key(*uid));
            let giver = giver.max_by_key(|(_, by)| **by);
            let (Some((&to, _)), Some((&from, _))) = (taker, giver) else { break };
            let Some(shard) = movable.get_mut(&from).and_then(Vec::pop) else { break };
            if movable.get(&from).is_some_and(Vec::is_empty) {
                movable.remove(&from);
            }
            *excess.entry(to).or_default() += 1;
            *excess.entry(from).or_default() -= 1;
            moves.push((shard, to));
        }
        moves
    }
}

/// The host with the fewest shards of the type; of several the one with the fewest of all types.
pub(super) fn least(hosts: &[HostLoad]) -> Option<Uid> {
    hosts.iter().min_by_key(|host| (host.shards, host.total, host.uid)).map(|host| host.uid)
}

/// By how many shards each host has more than its share. Shares differ by one at most, and the larger ones are of those that have the
/// most already: so nothing moves between two that are balanced.
fn excess(hosts: &[HostLoad]) -> BTreeMap<Uid, i64> {
    let all: usize = hosts.iter().map(|host| host.shards).sum();
    let (share, larger) = (all / hosts.len().max(1), all % hosts.len().max(1));
    let mut by_load: Vec<&HostLoad> = hosts.iter().collect();
    by_load.sort_by_key(|host| (core::cmp::Reverse(host.shards), host.uid));
    let signed = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    (0..)
        .zip(by_load)
        .map(|(rank, host)| (host.uid, signed(host.shards) - signed(share + usize::from(rank < larger))))
        .collect()
}

/// The shards that may move, by who has them; those of the lowest numbers come last, to be taken first.
fn by_owner(spread: &Spread<'_>) -> BTreeMap<Uid, Vec<u32>> {
    let mut by_owner: BTreeMap<Uid, Vec<u32>> = BTreeMap::new();
    for (shard, owner) in spread.places.iter().rev() {
        by_owner.entry(*owner).or_default().push(*shard);
    }
    by_owner
}
