//! What a run may do to its cluster, if the cluster is to outlive it.
//!
//! Outside of [`Mode::Wild`] a fault is passed over if after it no quorum of the voters' lists in force would live and hear each
//! other. Lists in force are those in the logs that are not behind: also a list that is appended and not committed counts.

use std::collections::BTreeSet;

use borough_protocol::log::Log;
use borough_protocol::table::Cluster;
use borough_protocol::version::Version;
use borough_protocol::voters::{VoterId, Voters};

use super::World;
use crate::sim::cuts::SlotIndex;
use crate::sim::life::Life;
use crate::sim::moment::Nanos;
use crate::sim::plan::{Mode, nanos};

impl World {
    /// Whether a quorum is left without that slot.
    pub(super) fn bears_loss_of(&self, slot: SlotIndex) -> bool {
        self.bears_loss_of_all(&[slot])
    }

    /// The first of the two sides without which a quorum is left.
    pub(super) fn bears_loss_of_one<'a>(&self, sides: [&'a [SlotIndex]; 2]) -> Option<&'a [SlotIndex]> {
        let borne = sides.into_iter().find(|side| self.is_borne_by_rest(side));
        borne.or(self.strikes_anyway().then_some(sides[0]))
    }

    /// Whether the cluster outlives a storm of that length. It may cost anybody its lease: nothing else may be wrong.
    pub(super) fn bears_storm(&self, lasts: Nanos) -> bool {
        let all_are_well = || self.seed_slots().into_iter().all(|slot| self.takes_part(slot));
        // Twice as long without any lease, and a node gives itself up.
        let longest = nanos(self.settings.timing().give_up_after) / 2;
        self.strikes_anyway() || self.mode == Mode::Wild || lasts <= longest && all_are_well()
    }

    /// Looks whether a quorum of every list in force is still able to take part, whatever it was that the faults hit.
    ///
    /// A fault can strike just before a change of the voters begins towards those it struck. That stops the cluster, as the
    /// rules say it may: from then on the run is as good as wild.
    pub(super) fn watch_quorum(&mut self) {
        if self.mode != Mode::Safe {
            return;
        }
        let is_able = |voter: VoterId| {
            let slot = self.slots.slot_of_voter(voter).filter(|slot| self.slots[*slot].hurt == 0);
            slot.is_some() && self.slots.life_of_voter(voter).is_some()
        };
        if !self.lists_in_force().into_iter().all(|voters| voters.quorum(is_able)) {
            self.mode = Mode::Wild;
        }
    }

    /// Whether the cluster goes on when that slot leaves. The last one to leave takes it along, and a leave that comes while
    /// others are hurt is as bad as a loss.
    pub(super) fn bears_leave_of(&self, slot: SlotIndex) -> bool {
        let others = || self.slots.running().filter(|(other, _)| *other != slot);
        let all_are_well = || others().all(|(other, _)| self.takes_part(other));
        self.strikes_anyway()
            || self.mode == Mode::Wild
            || others().count() > 0 && (all_are_well() || self.bears_loss_of(slot))
    }

    /// The slots of the first voters that are a quorum of the newest list; none while there is none.
    pub(super) fn fewest_voters(&self) -> Vec<SlotIndex> {
        let lists = self.lists_in_force();
        let Some(voters) = lists.into_iter().max_by_key(|voters| voters.id) else { return Vec::new() };
        let all: Vec<VoterId> = voters.all().collect();
        let fewest = (1..=all.len()).find(|count| voters.quorum(|voter| all[..*count].contains(&voter)));
        let side: BTreeSet<SlotIndex> =
            all[..fewest.unwrap_or(0)].iter().filter_map(|voter| self.slots.slot_of_voter(*voter)).collect();
        // A cut needs another side.
        if side.len() < self.slots.len() { side.into_iter().collect() } else { Vec::new() }
    }

    /// How many of the newest voters are in these slots.
    pub(super) fn voters_within(&self, slots: &[SlotIndex]) -> usize {
        let Some(voters) = self.lists_in_force().into_iter().max_by_key(|voters| voters.id) else { return 0 };
        let within =
            |voter: &VoterId| self.slots.slot_of_voter(*voter).is_some_and(|slot| slots.contains(&slot));
        voters.all().filter(within).count()
    }

    /// The lists by which a quorum may be counted now.
    pub(super) fn lists_in_force(&self) -> Vec<&Voters> {
        let tables = self.slots.running().filter_map(|(_, life)| life.node.table());
        let newest: Option<(Cluster, Version)> =
            tables.map(|table| (table.cluster(), table.voters().id)).max();
        let Some((cluster, id)) = newest else { return Vec::new() };
        let of_cluster = self.slots.running().filter(|(_, life)| life.node.cluster() == Some(cluster));
        let lists = of_cluster.filter_map(|(_, life)| life.node.log()).map(Log::voters);
        lists.filter(|voters| voters.id >= id).collect()
    }

    pub(super) fn bears_loss_of_all(&self, lost: &[SlotIndex]) -> bool {
        self.strikes_anyway() || self.is_borne_by_rest(lost)
    }

    /// Whether the fault under way is one that another run bore.
    fn strikes_anyway(&self) -> bool {
        self.is_forced && self.striking.is_some()
    }

    fn is_borne_by_rest(&self, lost: &[SlotIndex]) -> bool {
        if self.mode == Mode::Wild {
            return true;
        }
        let is_left = |voter: VoterId| {
            let slot = self.slots.slot_of_voter(voter).filter(|slot| !lost.contains(slot));
            slot.is_some_and(|slot| self.slots.life_of_voter(voter).is_some() && self.takes_part(slot))
        };
        let lists = self.lists_in_force();
        // While a cluster forms, whoever may be founding it is needed.
        !lists.is_empty() && self.network.is_fair() && lists.into_iter().all(|voters| voters.quorum(is_left))
    }

    /// The slots that somebody names as a seed.
    fn seed_slots(&self) -> BTreeSet<SlotIndex> {
        let named = self.seeds.iter().flatten();
        named.filter_map(|address| self.slots.slot_at(address)).collect()
    }

    /// Whether a member runs there that stays, and that no fault keeps from taking its part.
    pub(super) fn takes_part(&self, slot: SlotIndex) -> bool {
        // Who was removed may not know it yet.
        let stays = |life: &Life| !life.is_leaving && !self.rules.is_removed(life.uid());
        self.slots[slot].hurt == 0
            && self.slots.is_member(slot)
            && self.slots[slot].life.as_ref().is_some_and(stays)
    }
}
