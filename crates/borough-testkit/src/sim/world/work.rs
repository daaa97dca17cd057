//! What a node is there for: turns of its residents. The rules about leases are about nothing else.
//!
//! A few times a second a node looks at its lease as a shard does before a batch, and if it has one is in a turn for a while:
//! never longer than a healthy node may be in one, unless it is made to stand still in the middle.

use borough_protocol::node::Command;

use super::{Happening, World};
use crate::sim::cuts::SlotIndex;
use crate::sim::life::Turn;
use crate::sim::moment::{MILLISECOND, Nanos};
use crate::sim::plan::nanos;
use crate::sim::violation::Violation;

impl World {
    /// Plans the first look at the lease.
    pub(super) fn plan_work(&mut self, slot: SlotIndex) {
        let Some(life) = self.slots[slot].life.as_ref().map(|life| life.number) else { return };
        let delay = self.random.between(MILLISECOND, 400 * MILLISECOND);
        self.queue.plan(self.now.after(delay), Happening::Work { slot, life });
    }

    /// A look at the lease; a turn, if there is one.
    pub(super) fn work(&mut self, slot: SlotIndex, life: usize) -> Result<(), Violation> {
        let now = self.now;
        let length = self.draw_turn();
        let Some(it) = self.slots[slot].life_numbered(life) else { return Ok(()) };
        if it.is_drained {
            return Ok(());
        }
        // Who stands still looks at nothing; who was made to stand still in a turn is still in it.
        if it.pause.is_none() && it.turn_at(now).is_none() && it.node.may_run(it.local(now)) {
            it.turn = Some(Turn { since: now, until: now.after(length) });
            self.rules.turn_begins(now, it, &mut self.met)?;
            self.runs_alone(slot)?;
        }
        let turn = self.slots[slot].life.as_ref().and_then(|life| life.turn);
        let free = turn.map_or(now, |turn| turn.until).max(now);
        let idle = self.random.between(MILLISECOND, 300 * MILLISECOND);
        self.queue.plan(free.after(idle), Happening::Work { slot, life });
        Ok(())
    }

    /// Mostly short; sometimes as long as one may be.
    fn draw_turn(&mut self) -> Nanos {
        let longest = nanos(self.settings.max_pause);
        match self.random.below(8) {
            0 => longest,
            1 => self.random.between(longest / 2, longest),
            _ => self.random.between(MILLISECOND, 20 * MILLISECOND),
        }
    }

    /// Plans when everything that lives there has moved away.
    pub(super) fn plan_drained(&mut self, slot: SlotIndex) {
        let Some(life) = self.slots[slot].life.as_ref().map(|life| life.number) else { return };
        let delay = self.random.between(MILLISECOND, 3000 * MILLISECOND);
        self.queue.plan(self.now.after(delay), Happening::Drained { slot, life });
    }

    /// Everything has moved away, once the turn it is in is over.
    pub(super) fn drained(&mut self, slot: SlotIndex, life: usize) -> Result<(), Violation> {
        let now = self.now;
        let Some(it) = self.slots[slot].life_numbered(life) else { return Ok(()) };
        if let Some(turn) = it.turn_at(now) {
            self.queue.plan(turn.until, Happening::Drained { slot, life });
            return Ok(());
        }
        it.is_drained = true;
        self.command(slot, Command::Drained)
    }
}
