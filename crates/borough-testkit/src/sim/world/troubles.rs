//! The rule of needless removals: two members are told apart only while something is between them.

use borough_protocol::incarnation::Uid;

use super::World;
use crate::sim::cuts::SlotIndex;
use crate::sim::moment::{Nanos, SECOND};
use crate::sim::violation::Violation;

/// How long it may take until two that hear each other again have said so to everybody.
const FORGIVEN: Nanos = 8 * SECOND;

impl World {
    /// Something is wrong with that slot, or with its ways, for so long.
    pub(super) fn trouble(&mut self, slot: SlotIndex, lasts: Nanos) {
        let until = self.now.after(lasts);
        self.slots[slot].troubled_until = self.slots[slot].troubled_until.max(until);
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
