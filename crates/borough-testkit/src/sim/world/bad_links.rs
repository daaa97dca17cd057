//! Links between several pairs that are bad for long: what is asked then is in the rules `fewest_go`, `old_voters` and `kept_out`.

use std::collections::BTreeSet;

use super::World;
use crate::sim::cuts::SlotIndex;
use crate::sim::moment::Nanos;
use crate::sim::violation::Violation;

impl World {
    /// Nothing passes on any of these ways for so long. Whoever hears too few others for it is removed as one that is lost.
    pub(super) fn break_links(&mut self, ways: Vec<(SlotIndex, SlotIndex)>, lasts: Nanos) {
        self.note_strike();
        let pairs: BTreeSet<_> = ways.iter().map(|(one, other)| (*one.min(other), *one.max(other))).collect();
        self.rules.links_break(pairs, self.slots.len());
        self.cut(ways, Vec::new(), lasts);
    }

    /// The life in that slot is admitted.
    pub(super) fn is_admitted_again(&mut self, slot: SlotIndex) -> Result<(), Violation> {
        let Some(life) = &self.slots[slot].life else { return Ok(()) };
        let Some(table) = life.node.table() else { return Ok(()) };
        let mut members: Vec<_> =
            table.members().iter().map(|(uid, member)| (member.admission, *uid)).collect();
        members.sort_unstable();
        let members = members.into_iter().filter_map(|(_, uid)| self.slots.slot_of(uid)).collect();
        let cuts = &self.network.cuts;
        let is_bad =
            |(one, other): &(SlotIndex, SlotIndex)| cuts.is_cut(*one, *other) || cuts.is_cut(*other, *one);
        self.rules.admitted((life.uid(), slot), members, is_bad)
    }
}
