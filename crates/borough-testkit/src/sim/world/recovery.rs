//! Most voters die, and an operator who knows it has one that is left recover it.

use std::collections::BTreeSet;

use borough_protocol::incarnation::Address;
use borough_protocol::log::Log;
use borough_protocol::node::Command;
use borough_protocol::table::Cluster;
use borough_protocol::voters::{VoterId, Voters};

use super::{Happening, World};
use crate::sim::cuts::SlotIndex;
use crate::sim::fault::Target;
use crate::sim::life::Life;
use crate::sim::moment::{MILLISECOND, Nanos};
use crate::sim::plan::Mode;
use crate::sim::slots::Operator;
use crate::sim::violation::Violation;

/// How often the operator tries.
const PACE: Nanos = 10 * MILLISECOND;
/// How many times: until the node has given up, and has looked for others in vain.
const TRIES: u32 = 3000;

impl World {
    /// As many die of those who vote in that node's cluster as leave no quorum of any list that anybody alive goes by.
    pub(super) fn bereave(&mut self, whom: Target, back_after: Nanos, lasts: Nanos) -> Result<(), Violation> {
        let is_wild = self.mode == Mode::Wild;
        let Some(slot) = self.whom(whom).filter(|slot| is_wild && self.slots.is_member(*slot)) else {
            return Ok(());
        };
        let Some(life) = &self.slots[slot].life else { return Ok(()) };
        let (me, Some(cluster)) = (life.node.voter(), life.node.cluster()) else { return Ok(()) };
        self.note_strike();
        let voters = self.lists_of(cluster);
        let mut left: BTreeSet<VoterId> = self.lives_of(cluster).map(|life| life.node.voter()).collect();
        let others: BTreeSet<VoterId> =
            voters.iter().flat_map(Voters::all).filter(|voter| *voter != me).collect();
        for other in others {
            if !voters.iter().any(|list| list.quorum(|voter| left.contains(&voter))) {
                break;
            }
            if left.remove(&other)
                && let Some(slot) = self.slots.slot_of_voter(other)
            {
                self.crash(Target::Slot(slot), Some(back_after))?;
            }
        }
        let others = (0..self.slots.len()).filter(|other| *other != slot);
        let ways = others.flat_map(|other| [(slot, other), (other, slot)]).collect();
        self.cut(ways, vec![slot], lasts);
        self.queue.plan(self.now.after(PACE), Happening::Recover { slot, cluster, tries: TRIES });
        Ok(())
    }

    /// The operator tries, and will try again, unless the node belongs to another cluster by now. Nobody is called dead who lives.
    pub(super) fn recover(&mut self, slot: SlotIndex, cluster: Cluster, tries: u32) -> Result<(), Violation> {
        let life = self.slots[slot].life.as_ref();
        let is_elsewhere = life.and_then(|life| life.node.cluster()).is_some_and(|other| other != cluster);
        let is_done = if self.settings.durable { self.is_recorded(slot, cluster) } else { is_elsewhere };
        // Once the operator has given up the disks of a quorum, nothing but the order helps, and it is repeated until it is kept.
        let is_needed =
            self.settings.durable && self.lineages.is_without(cluster, |voter| self.disks.has(voter));
        if is_done || !is_needed && (self.is_healing || tries == 0) {
            return Ok(());
        }
        self.queue
            .plan(self.now.after(PACE), Happening::Recover { slot, cluster, tries: tries.saturating_sub(1) });
        if !is_elsewhere && life.is_some_and(|life| life.pause.is_none() && self.is_right(life, cluster)) {
            self.slots[slot].recovers = Some((cluster, Operator::Right));
            self.give_up_the_dead(cluster);
            return self.command(slot, Command::Recover);
        }
        Ok(())
    }

    /// Whether the disk of that node says that it belongs to another cluster than that one. Until then a crash takes an order back.
    fn is_recorded(&self, slot: SlotIndex, cluster: Cluster) -> bool {
        let record = self.disks.of(slot).image.record.as_ref();
        record.is_some_and(|record| record.memory.cluster != cluster)
    }

    /// The operator vouches that those who are gone are gone for good: their disks never come back, and no other cluster that needs them does.
    fn give_up_the_dead(&mut self, recovered: Cluster) {
        for slot in 0..self.slots.len() {
            if self.slots[slot].life.is_none() {
                self.disks.replace(slot);
            }
        }
        if !self.settings.durable {
            return;
        }
        let is_gone = |cluster: &Cluster| self.lineages.is_without(*cluster, |voter| self.disks.has(voter));
        let others = self.founding.acted().filter(|cluster| **cluster != recovered);
        let gone: Vec<Cluster> = others.copied().filter(is_gone).collect();
        for cluster in gone {
            self.lineages.end(cluster);
        }
    }

    /// Whether a node may be told, and the operator who does it is right: all that it gives up are dead, no quorum lives, and no other cluster of the
    /// name works or is about to.
    fn is_right(&self, life: &Life, cluster: Cluster) -> bool {
        let Ok(remains) = life.node.recovery(life.local(self.now)) else { return false };
        // A node that lost its disk, and that nobody told of the cluster, would begin another one: those that are left would not know that theirs has ended.
        let succeeds_it = remains.as_ref().is_some_and(|remains| remains.cluster == cluster);
        if self.settings.durable && !succeeds_it {
            return false;
        }
        let mut others = self.slots.running().filter(|(_, other)| other.uid() != life.uid());
        if others.any(|(_, other)| other.node.cluster().is_some_and(|of| of != cluster)) {
            return false;
        }
        let left: BTreeSet<VoterId> = self.slots.running().map(|(_, life)| life.node.voter()).collect();
        let mut given_up = remains.iter().flat_map(|remains| &remains.others).filter(|other| !other.is_heard);
        // Another process in the place of a dead one may be about to found a cluster, unless a seed that is left forbids it.
        let is_empty = |address: &Address| {
            let mut there = self.slots.running().filter(|(slot, _)| self.slots[*slot].address == *address);
            there.all(|(slot, _)| self.settings.durable && self.disks.is_lost(slot))
        };
        // Machines that come back without their disks must find the new cluster by their seeds.
        let find_it =
            !self.settings.durable || self.seeds_bear_loss_of(|slot| self.slots[slot].life.is_none());
        find_it && given_up.all(|other| is_empty(&other.address)) && !self.decides(cluster, &left)
    }

    /// Whether those that are left are a quorum of any list of voters that anybody alive goes by; with disks, of any that may be in force: a voter that
    /// started again knows older ones, too.
    fn decides(&self, cluster: Cluster, left: &BTreeSet<VoterId>) -> bool {
        if self.settings.durable {
            return !self.lineages.is_without(cluster, |voter| left.contains(&voter));
        }
        self.lists_of(cluster).iter().any(|voters| voters.quorum(|voter| left.contains(&voter)))
    }

    fn lives_of(&self, cluster: Cluster) -> impl Iterator<Item = &Life> {
        let of_cluster = move |life: &&Life| life.node.cluster() == Some(cluster);
        self.slots.running().map(|(_, life)| life).filter(of_cluster)
    }

    /// Every list of voters that somebody alive has, committed or not.
    pub(super) fn lists_of(&self, cluster: Cluster) -> Vec<Voters> {
        let lists = self.lives_of(cluster).flat_map(|life| {
            let appended = life.node.log().map(|log| log.voters().clone());
            let committed = life.node.table().map(|table| table.voters().clone());
            appended.into_iter().chain(committed)
        });
        lists.collect()
    }
}
