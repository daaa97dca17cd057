//! What a run may do to its cluster, if the cluster is to outlive it.
//!
//! Outside of [`Mode::Wild`] a fault is passed over if after it no quorum of the voters' lists in force would live and hear each
//! other. Lists in force are those in the logs that are not behind: also a list that is appended and not committed counts.

use borough_protocol::incarnation::Uid;
use borough_protocol::log::Log;
use borough_protocol::table::{Cluster, State};
use borough_protocol::version::Version;
use borough_protocol::voters::Voters;

use super::{World, number_of};
use crate::sim::cuts::SlotIndex;
use crate::sim::life::Life;
use crate::sim::moment::{Nanos, SECOND};
use crate::sim::plan::Mode;

/// The longest storm that leases outlive: after as long without any a node gives itself up.
const STORM_MAX: Nanos = 5 * SECOND;

impl World {
    /// Whether a quorum is left without that slot.
    pub(super) fn bears_loss_of(&self, slot: SlotIndex) -> bool {
        self.bears_loss_of_all(&[slot])
    }

    /// The first of the two sides without which a quorum is left.
    pub(super) fn bears_loss_of_one<'a>(&self, sides: [&'a [SlotIndex]; 2]) -> Option<&'a [SlotIndex]> {
        sides.into_iter().find(|side| self.bears_loss_of_all(side))
    }

    /// Whether the cluster outlives a storm of that length.
    pub(super) fn bears_storm(&self, lasts: Nanos) -> bool {
        self.mode == Mode::Wild || lasts <= STORM_MAX
    }

    /// Whether somebody is left to go on when that slot leaves: the last one to leave takes the cluster with it.
    pub(super) fn bears_leave_of(&self, slot: SlotIndex) -> bool {
        let stays = |(other, life): (SlotIndex, &Life)| {
            let table = life.node.table();
            let state = table.and_then(|table| table.member(life.uid())).map(|member| member.state);
            other != slot && self.slots[other].hurt == 0 && !life.is_drained && state == Some(State::Active)
        };
        self.mode == Mode::Wild || self.keeps_seeds(&[slot]) && self.running().any(stays)
    }

    fn bears_loss_of_all(&self, lost: &[SlotIndex]) -> bool {
        if self.mode == Mode::Wild {
            return true;
        }
        let is_left = |uid: Uid| {
            self.births.get(number_of(uid)).is_some_and(|(_, slot)| {
                let it = &self.slots[*slot];
                it.hurt == 0 && !lost.contains(slot) && it.life.as_ref().is_some_and(|life| life.uid() == uid)
            })
        };
        let lists = self.lists_in_force();
        // While a cluster forms, whoever may be founding it is needed.
        !lists.is_empty() && self.keeps_seeds(lost) && lists.into_iter().all(|voters| voters.quorum(is_left))
    }

    /// Whether enough seeds stay members without those lost: a majority that is in no cluster founds another one, rightly so.
    fn keeps_seeds(&self, lost: &[SlotIndex]) -> bool {
        let seeds = self.seeds.len();
        let stays =
            |slot: &SlotIndex| self.slots[*slot].hurt == 0 && !lost.contains(slot) && self.is_member(*slot);
        (0..seeds).filter(stays).count() >= seeds.div_ceil(2)
    }

    /// How many of the newest voters are in these slots.
    pub(super) fn voters_within(&self, slots: &[SlotIndex]) -> usize {
        let Some(voters) = self.lists_in_force().into_iter().max_by_key(|voters| voters.id) else { return 0 };
        let within = |uid: Uid| self.births.get(number_of(uid)).is_some_and(|(_, slot)| slots.contains(slot));
        voters.all().filter(|uid| within(*uid)).count()
    }

    /// The lists by which a quorum may be counted now.
    pub(super) fn lists_in_force(&self) -> Vec<&Voters> {
        let newest: Option<(Cluster, Version)> = self
            .running()
            .filter_map(|(_, life)| life.node.table())
            .map(|table| (table.cluster(), table.voters().id))
            .max();
        let Some((cluster, id)) = newest else { return Vec::new() };
        let of_cluster = self.running().filter(|(_, life)| life.node.cluster() == Some(cluster));
        of_cluster
            .filter_map(|(_, life)| life.node.log())
            .map(Log::voters)
            .filter(|voters| voters.id >= id)
            .collect()
    }
}
