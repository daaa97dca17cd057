//! The rule of needless removals: two members are told apart only while something is between them.

use borough_protocol::incarnation::Uid;
use borough_protocol::settings::Strategy;
use borough_protocol::table::Removal;

use super::World;
use crate::sim::cuts::SlotIndex;
use crate::sim::moment::{Nanos, SECOND};
use crate::sim::plan::nanos;
use crate::sim::violation::Violation;

/// How long it may take until two that hear each other again have said so to everybody.
const FORGIVEN: Nanos = 8 * SECOND;

impl World {
    /// Something is wrong with that slot, or with its ways, for so long.
    pub(super) fn trouble(&mut self, slot: SlotIndex, lasts: Nanos) {
        let until = self.now.after(lasts);
        self.slots[slot].troubled_until = self.slots[slot].troubled_until.max(until);
    }

    /// Somebody was removed. One that runs, is cut off from nobody, and has a majority of the voters in the same state, stays.
    pub(super) fn is_healthy_removed(&mut self, uid: Uid, why: Removal) -> Result<(), Violation> {
        // Where ordinary messages may be later than a suspicion takes, silence is no fault of the rules.
        let is_prompt = self.network.late_max() < nanos(self.settings.timing().suspect_after);
        let is_judged = match why {
            Removal::Quiet | Removal::CutOff => self.settings.strategy != Strategy::DownAll && is_prompt,
            Removal::Goodbye | Removal::Replaced | Removal::Operator => false,
        };
        let Some(life) = self.slots.life(uid).filter(|_| is_judged) else { return Ok(()) };
        let Some(cluster) = life.node.cluster().filter(|_| !life.is_leaving) else { return Ok(()) };
        let voters = self.lists_of(cluster).into_iter().max_by_key(|voters| voters.id);
        let is_quorum_well = voters.is_some_and(|voters| {
            voters
                .quorum(|voter| self.slots.life_of_voter(voter).is_some_and(|life| self.is_well(life.uid())))
        });
        if !is_quorum_well || !self.is_well(uid) {
            return Ok(());
        }
        let text = format!("{uid:?} was removed as {why:?}; nothing was wrong with it, nor with most voters");
        Err(Violation::Safety("healthy", text))
    }

    /// Whether that life has run for a while without any fault.
    fn is_well(&self, uid: Uid) -> bool {
        let Some((slot, life)) = self.slots.slot_of(uid).zip(self.slots.life(uid)) else { return false };
        let since = self.slots[slot].troubled_until.max(life.born);
        self.slots[slot].hurt == 0 && self.network.is_fair() && self.now > since.after(FORGIVEN)
    }

    /// Somebody was removed because it and an older member cannot hear each other.
    pub(super) fn is_cut_off(&mut self, uid: Uid) -> Result<(), Violation> {
        let Some(slot) = self.slots.slot_of(uid).filter(|_| self.cut_off.insert(uid)) else { return Ok(()) };
        let since = self.slots[slot].troubled_until;
        if self.now <= since.after(FORGIVEN) {
            return Ok(());
        }
        let text = format!("{uid:?} was removed as cut off, and nothing has been cut there since {since}");
        Err(Violation::Safety("cut_off", text))
    }
}
