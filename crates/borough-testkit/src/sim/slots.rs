//! Addresses, and the lives that run at them one after another.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use borough_protocol::formation::Memory;
use borough_protocol::incarnation::{Address, Uid};
use borough_protocol::random::Random;
use borough_protocol::table::Cluster;
use borough_protocol::voters::VoterId;

use super::birth::{self, number_of};
use super::cuts::SlotIndex;
use super::life::Life;
use super::moment::{Moment, Nanos};

/// All slots of a run, and whose uid every life there ever was had.
#[derive(Debug)]
pub(super) struct Slots {
    list: Vec<Slot>,
    by_address: BTreeMap<Address, SlotIndex>,
    births: Vec<(Uid, SlotIndex)>,
    voters: BTreeMap<VoterId, SlotIndex>,
    by_life: BTreeMap<Uid, VoterId>,
    /// Those whose address another slot has by now.
    replaced: BTreeSet<SlotIndex>,
}

/// Whether the one who has a cluster begun anew is right that it cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Right,
    Mistaken,
}

/// An address.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) address: Address,
    /// Who runs here, or stands still.
    pub(super) life: Option<Life>,
    /// How many faults keep it from taking its part.
    pub(super) hurt: u32,
    /// Until when something is, or was, wrong with it or with its ways.
    pub(super) troubled_until: Moment,
    /// Whether it ever ran: those that did are all to run in the end.
    pub(super) was_used: bool,
    /// Whether the last life here gave itself up.
    pub(super) gave_up: bool,
    /// When a node that leaves is followed by another.
    pub(super) back_after: Option<Nanos>,
    /// By how many seconds the wall clock of its machine is off.
    pub(super) wall_clock_off: i32,
    /// The cluster of the last life here, if that is over and had one, and since when the slot is empty.
    pub(super) emptied: Option<(Option<Cluster>, Moment)>,
    /// Whether the next life here runs in the same process as the last: that one ended by itself. What a process remembers is for it.
    pub(super) is_same_process: bool,
    /// Since when nothing has paused whoever runs here.
    pub(super) awake_since: Moment,
    /// The cluster that the next life here begins anew, and how right the operator is who wants that.
    pub(super) recovers: Option<(Cluster, Operator)>,
    /// What the process that runs here remembers of the life before.
    pub(super) memory: Option<Arc<Memory>>,
    /// The cluster that the life before yielded to.
    pub(super) prefers: Option<Cluster>,
}

impl Slots {
    /// So many, all empty.
    pub(super) fn empty(count: usize) -> Self {
        let list: Vec<Slot> = (0..count).map(Slot::new).collect();
        let by_address = list.iter().enumerate().map(|(slot, it)| (it.address.clone(), slot)).collect();
        Self {
            list,
            by_address,
            births: Vec::new(),
            voters: BTreeMap::new(),
            by_life: BTreeMap::new(),
            replaced: BTreeSet::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The uid of a new life in that slot.
    pub(super) fn draw_uid(&mut self, slot: SlotIndex, random: &mut Random) -> Uid {
        let uid = birth::draw_uid(self.births.len(), random);
        self.births.push((uid, slot));
        uid
    }

    /// Where that life runs, or ran; none if there was no such life.
    pub(super) fn slot_of(&self, uid: Uid) -> Option<SlotIndex> {
        let (known, slot) = self.births.get(number_of(uid))?;
        (*known == uid).then_some(*slot)
    }

    /// A life that votes as that one runs in that slot from now on.
    pub(super) fn is_voter(&mut self, (uid, voter): (Uid, VoterId), slot: SlotIndex) {
        self.voters.insert(voter, slot);
        self.by_life.insert(uid, voter);
    }

    /// The identity of that life as a voter.
    pub(super) fn voter_of(&self, uid: Uid) -> Option<VoterId> {
        self.by_life.get(&uid).copied()
    }

    /// Where the node of that voter runs, or ran last; none if there was no such voter.
    pub(super) fn slot_of_voter(&self, voter: VoterId) -> Option<SlotIndex> {
        self.voters.get(&voter).copied()
    }

    /// The life of that voter, if one runs.
    pub(super) fn life_of_voter(&self, voter: VoterId) -> Option<&Life> {
        self.list[self.slot_of_voter(voter)?].life.as_ref().filter(|life| life.node.voter() == voter)
    }

    /// The slot of that address.
    pub(super) fn slot_at(&self, address: &Address) -> Option<SlotIndex> {
        self.by_address.get(address).copied()
    }

    /// That life, if it is not over.
    pub(super) fn life(&self, uid: Uid) -> Option<&Life> {
        self.list[self.slot_of(uid)?].life.as_ref().filter(|life| life.uid() == uid)
    }

    /// Another machine has the address of that slot from now on: the first one where nobody ever ran. Whoever runs in that slot still has it, too.
    pub(super) fn replace(&mut self, slot: SlotIndex) -> Option<SlotIndex> {
        let is_unused = |by: &SlotIndex| !self.list[*by].was_used && self.list[*by].life.is_none();
        let by = (0..self.list.len()).find(|by| is_unused(by) && !self.is_replaced(*by))?;
        let address = self.list[slot].address.clone();
        self.by_address.insert(address.clone(), by);
        self.list[by].address = address;
        self.replaced.insert(slot);
        self.list[slot].was_used = false;
        Some(by)
    }

    /// Whether another slot has the address of that one by now: nobody starts there any more.
    pub(super) fn is_replaced(&self, slot: SlotIndex) -> bool {
        self.replaced.contains(&slot)
    }

    /// The lives that are not over, with their slots.
    pub(super) fn running(&self) -> impl Iterator<Item = (SlotIndex, &Life)> {
        self.list.iter().enumerate().filter_map(|(slot, it)| Some((slot, it.life.as_ref()?)))
    }

    /// Whether somebody belongs to another cluster than that.
    pub(super) fn has_other_cluster(&self, cluster: Cluster) -> bool {
        self.running().any(|(_, life)| life.node.cluster().is_some_and(|other| other != cluster))
    }

    /// Whether a member of a cluster runs there.
    pub(super) fn is_member(&self, slot: SlotIndex) -> bool {
        let is_member =
            |life: &Life| life.node.table().is_some_and(|table| table.member(life.uid()).is_some());
        self.list[slot].life.as_ref().is_some_and(is_member)
    }

    /// A slot that ought to be in use and is not.
    pub(super) fn first_deserted(&self) -> Option<SlotIndex> {
        self.list.iter().position(|slot| slot.was_used && slot.life.is_none())
    }
}

impl Index<SlotIndex> for Slots {
    type Output = Slot;

    fn index(&self, slot: SlotIndex) -> &Slot {
        &self.list[slot]
    }
}

impl IndexMut<SlotIndex> for Slots {
    fn index_mut(&mut self, slot: SlotIndex) -> &mut Slot {
        &mut self.list[slot]
    }
}

impl Slot {
    fn new(slot: SlotIndex) -> Self {
        Self {
            // Of one width, so that the order of addresses is the order of slots.
            address: Address::new(format!("n{slot:04}:1")),
            life: None,
            hurt: 0,
            troubled_until: Moment::START,
            was_used: false,
            gave_up: false,
            back_after: None,
            recovers: None,
            memory: None,
            prefers: None,
            wall_clock_off: 0,
            emptied: None,
            is_same_process: false,
            awake_since: Moment::START,
        }
    }

    /// Takes the life out of here. The machine of one that ended by itself has no cluster any more.
    pub(super) fn empty(&mut self, now: Moment) -> Option<Life> {
        let life = self.life.take()?;
        self.emptied = Some((life.node.cluster(), now));
        Some(life)
    }

    /// The life here, if it is the one of that number.
    pub(super) fn life_numbered(&mut self, number: usize) -> Option<&mut Life> {
        self.life.as_mut().filter(|life| life.number == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uid_leads_back_to_its_slot() {
        let mut slots = Slots::empty(3);
        let mut random = Random::seeded(1);
        let uids: Vec<Uid> = [2, 0, 2].map(|slot| slots.draw_uid(slot, &mut random)).to_vec();
        assert_eq!(
            uids.iter().map(|uid| slots.slot_of(*uid)).collect::<Vec<_>>(),
            [Some(2), Some(0), Some(2)]
        );
        assert_eq!(slots.slot_of(Uid::new(uids[0].get() ^ 1 << 40).expect("not 0")), None);
    }

    #[test]
    fn addresses_sort_as_slots_do() {
        let slots = Slots::empty(1200);
        assert!((1..1200).all(|slot| slots[slot - 1].address < slots[slot].address));
        assert_eq!(slots.slot_at(&slots[1100].address), Some(1100));
    }
}
