//! What lives of a type on this node, counted.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use borough_actor::EntityId;
use borough_actor::remote::Message;

use super::host::{Depth, LaneStats, SLOWEST, Spread, TurnTimes};
use super::kind::KindCore;
use super::queries::{KindStats, ShardStats};
use super::shell::Shell;

/// How many of the busiest entities are named.
const BUSIEST: usize = 10;

impl<M: Message> KindCore<M> {
    /// What lives here of the type.
    pub(super) async fn take_stats(&self, depth: Depth) -> KindStats {
        let refusals = self.counts.refusals();
        let refused = refusals.by_reason().iter().map(|(_, count)| count).sum::<u64>();
        let mut stats = KindStats {
            name: self.kind.name.to_string(),
            hosts: self.hosts(),
            shards: Vec::new(),
            handled: 0,
            long_turns: 0,
            held: self.budget.held(),
            held_for: self.budget.held_for(),
            refused: usize::try_from(refused).unwrap_or(usize::MAX),
            refusals,
            dead_letters: self.counts.dead_letters(),
            moves: self.sharding.chronicle().moves(&self.kind.name),
            forwarded: self.counts.forwarded.load(Ordering::Relaxed),
            forwards_waiting: self.forwards.waiting(),
            busiest: Vec::new(),
            turns: TurnTimes::default(),
            slowest: Vec::new(),
            wedged: self.counts.wedged.load(Ordering::Relaxed),
            overran: self.counts.overran.load(Ordering::Relaxed),
        };
        let mut all_turns = Spread::default();
        for lane in self.lanes() {
            let LaneStats { shards, busiest, slowest, turns, handled, long_turns, .. } =
                lane.stats(depth).await;
            all_turns.merge(&turns);
            stats.handled += handled;
            stats.long_turns += long_turns;
            stats.shards.extend(shards.into_iter().map(|(number, epoch, entities)| ShardStats {
                number,
                epoch: epoch.get(),
                entities,
            }));
            stats.busiest.extend(busiest);
            stats.slowest.extend(slowest);
        }
        stats.shards.sort_by_key(|shard| shard.number);
        stats.busiest.sort_by_key(|(_, waiting)| Reverse(*waiting));
        stats.busiest.truncate(BUSIEST);
        stats.slowest.sort_by_key(|(_, took)| Reverse(*took));
        stats.slowest.truncate(SLOWEST);
        stats.turns = all_turns.times();
        stats
    }

    /// Asks for owners of the shards of these entities, as if somebody had sent to them.
    pub(super) fn want_all<'a>(&self, ids: impl IntoIterator<Item = &'a EntityId>) {
        let shards: BTreeSet<u32> = ids.into_iter().map(|id| self.shard_of(id)).collect();
        for shard in shards {
            self.holds[shard as usize].lock().expect_one();
            self.want(shard);
        }
    }
}
