//! A machine that is cut off runs on, while another one has its address: what listens there proves nothing of the first one.

use super::{Happening, World};
use crate::sim::cuts::SlotIndex;
use crate::sim::fault::Target;
use crate::sim::moment::{MILLISECOND, Nanos};
use crate::sim::violation::Violation;

impl World {
    /// Nothing gets from that machine to others, nor back, until it ends; another process starts at its address.
    pub(super) fn replace(&mut self, whom: Target, back_after: Nanos, lasts: Nanos) {
        let Some(slot) = self.whom(whom).filter(|slot| self.bears_loss_of(*slot)) else { return };
        let Some(by) = self.slots.replace(slot) else { return };
        self.note_strike();
        self.seeds[by] = self.seeds[slot].clone();
        let others = (0..self.slots.len()).filter(|other| *other != slot);
        let ways = others.flat_map(|other| [(slot, other), (other, slot)]).collect();
        self.cut(ways, vec![slot], lasts);
        self.queue.plan(self.now.after(lasts.saturating_sub(MILLISECOND)), Happening::Retire { slot });
        self.queue.plan(self.now.after(back_after), Happening::Start { slot: by, uid: None });
    }

    /// The machine that was replaced ends for good.
    pub(super) fn retire(&mut self, slot: SlotIndex) -> Result<(), Violation> {
        if self.slots[slot].life.is_some() { self.crash_now(slot, None) } else { Ok(()) }
    }
}
