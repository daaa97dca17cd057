//! A second cluster comes to be while the first one works: its seeds start again where they reach nobody else, or an operator is mistaken.

use std::collections::BTreeSet;

use borough_protocol::node::Command;
use borough_protocol::table::Cluster;

use super::faults::Lift;
use super::{Happening, World};
use crate::sim::cuts::SlotIndex;
use crate::sim::fault::Target;
use crate::sim::life::Life;
use crate::sim::moment::{MILLISECOND, Moment, Nanos, SECOND};
use crate::sim::plan::Mode;
use crate::sim::slots::Operator;
use crate::sim::violation::Violation;

/// How often it is looked whether the second cluster works, and whether an operator may be mistaken.
const PACE: Nanos = 50 * MILLISECOND;
/// How long the seeds take to start again, at most.
const BACK_WITHIN: Nanos = SECOND;

/// A member that is cut off with the seeds once those are a cluster.
#[derive(Debug)]
pub(super) struct Follow {
    slot: SlotIndex,
    cluster: Cluster,
    seeds: Vec<SlotIndex>,
    until: Moment,
}

impl World {
    /// All seeds that count for a founding in that slot crash, and start again cut off from a quorum that works. Once they are a cluster, a member of the
    /// first one is cut off with them, if one is to follow.
    pub(super) fn cut_seeds_off(
        &mut self,
        of: SlotIndex,
        lasts: Nanos,
        is_followed: bool,
    ) -> Result<(), Violation> {
        let seeds = self.seeds_behind(of);
        let rest: Vec<SlotIndex> = (0..self.slots.len()).filter(|slot| !seeds.contains(slot)).collect();
        let Some(cluster) = self.working_within(&rest).filter(|_| self.may_be_two()) else { return Ok(()) };
        self.note_strike();
        let seeds: Vec<SlotIndex> = seeds.into_iter().collect();
        let stays =
            |slot: SlotIndex| rest.iter().copied().filter(move |other| *other != slot).collect::<Vec<_>>();
        let can_go =
            |slot: &SlotIndex| self.takes_part(*slot) && self.working_within(&stays(*slot)) == Some(cluster);
        let follower = rest.iter().copied().rfind(can_go).filter(|_| is_followed);
        let others = rest.iter().copied().filter(|slot| Some(*slot) != follower);
        let ways = others.flat_map(|other| ways_between(&seeds, other)).collect();
        self.cut(ways, seeds.clone(), lasts);
        let until = self.now.after(lasts);
        if let Some(slot) = follower {
            for (from, to) in ways_between(&seeds, slot) {
                self.network.cuts.cut(from, to);
            }
            let follow = Follow { slot, cluster, seeds: seeds.clone(), until };
            self.queue.plan(self.now.after(PACE), Happening::Follow(follow));
        }
        for (place, slot) in seeds.iter().enumerate() {
            let delay = BACK_WITHIN * (place as u64 + 1) / seeds.len() as u64;
            if self.slots[*slot].life.is_some() {
                self.crash_now(*slot, Some(delay))?;
            } else {
                self.queue.plan(self.now.after(delay), Happening::Start { slot: *slot, uid: None });
            }
        }
        Ok(())
    }

    /// The member is cut off from its cluster and reaches the second one, as soon as that works; or the cut ends.
    pub(super) fn follow(&mut self, follow: Follow) {
        let Follow { slot, cluster, seeds, until } = &follow;
        let is_other = |life: &Life| {
            life.node.cluster().is_some_and(|of| of != *cluster) && life.node.may_run(life.local(self.now))
        };
        let works = seeds.iter().any(|seed| self.slots[*seed].life.as_ref().is_some_and(is_other));
        let is_over = self.is_healing || self.now.after(2 * SECOND) >= *until;
        if !works && !is_over {
            self.queue.plan(self.now.after(PACE), Happening::Follow(follow));
            return;
        }
        let rest: Vec<SlotIndex> =
            (0..self.slots.len()).filter(|other| other != slot && !seeds.contains(other)).collect();
        let (slot, lasts) = (*slot, until.since(self.now));
        self.lift(&Lift::Cuts { ways: ways_between(seeds, slot), hurt: Vec::new() });
        if !is_over {
            self.cut(ways_between(&rest, slot), vec![slot], lasts);
        }
    }

    /// A node is cut off from a quorum that works, and as soon as it may be, it is told to begin the cluster without that quorum.
    pub(super) fn mistake(&mut self, whom: Target, lasts: Nanos) {
        let Some(slot) = self.whom(whom).filter(|slot| self.slots.is_member(*slot)) else { return };
        let rest: Vec<SlotIndex> = (0..self.slots.len()).filter(|other| *other != slot).collect();
        let Some(cluster) = self.working_within(&rest).filter(|_| self.may_be_two()) else { return };
        self.note_strike();
        self.cut(ways_between(&rest, slot), vec![slot], lasts);
        let until = self.now.after(lasts);
        self.queue.plan(self.now.after(PACE), Happening::Mistake { slot, cluster, until });
    }

    /// The mistaken operator tries, and tries again.
    pub(super) fn recover_by_mistake(
        &mut self,
        slot: SlotIndex,
        cluster: Cluster,
        until: Moment,
    ) -> Result<(), Violation> {
        // It has to have acted before it meets the one that works.
        if self.is_healing || self.now.after(4 * SECOND) >= until {
            return Ok(());
        }
        let Some(life) = self.slots[slot].life.as_ref() else { return Ok(()) };
        if life.node.cluster() != Some(cluster) {
            return Ok(());
        }
        let may_be_told = life.pause.is_none() && life.node.recovery(life.local(self.now)).is_ok();
        let rest: Vec<SlotIndex> = (0..self.slots.len()).filter(|other| *other != slot).collect();
        if !may_be_told || self.working_within(&rest) != Some(cluster) {
            self.queue.plan(self.now.after(PACE), Happening::Mistake { slot, cluster, until });
            return Ok(());
        }
        self.slots[slot].recovers = Some((cluster, Operator::Mistaken));
        self.command(slot, Command::Recover)
    }

    /// Whether the rules of this run leave room for a second cluster.
    fn may_be_two(&self) -> bool {
        self.mode == Mode::Wild && !self.settings.durable
    }

    /// That slot, the seeds that it names, those that they name, and so on: together they may found.
    fn seeds_behind(&self, of: SlotIndex) -> BTreeSet<SlotIndex> {
        let mut all = self.listed(of);
        loop {
            let named: BTreeSet<SlotIndex> = all.iter().flat_map(|slot| self.listed(*slot)).collect();
            if named.is_subset(&all) {
                return all;
            }
            all.extend(named);
        }
    }

    /// The cluster of which a quorum of the voters is in these slots, where somebody has a lease.
    fn working_within(&self, slots: &[SlotIndex]) -> Option<Cluster> {
        let lives = slots.iter().filter_map(|slot| self.slots[*slot].life.as_ref());
        let mut working =
            lives.filter(|life| life.pause.is_none() && life.node.may_run(life.local(self.now)));
        working.find_map(|life| {
            let cluster = life.node.cluster()?;
            let voters = self.newest_voters(cluster)?;
            let is_there = |voter| {
                self.is_of(voter, cluster)
                    && self.slots.slot_of_voter(voter).is_some_and(|slot| slots.contains(&slot))
            };
            voters.quorum(is_there).then_some(cluster)
        })
    }
}

/// Both ways between each of these slots and that one.
fn ways_between(slots: &[SlotIndex], other: SlotIndex) -> Vec<(SlotIndex, SlotIndex)> {
    slots.iter().flat_map(|slot| [(*slot, other), (other, *slot)]).collect()
}
