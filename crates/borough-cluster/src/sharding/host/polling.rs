//! The moments in which user code runs on the thread of a lane, for others to see; and whether it ran on for too long.
//!
//! Promise: a handler that returns after the lease has been over for longer than `max_pause` is counted and named. By then another node may have run
//! the same entity.

use std::sync::atomic::Ordering;

use borough_actor::Actor;

use super::floor::{Floor, Home};
use super::turns::Turns;

impl<A: Actor, T: Turns<A>> Floor<A, T> {
    /// User code of that entity is about to run.
    #[inline]
    pub(super) fn enter(&mut self, home: &Home<A, T>, slot: u32) {
        self.began_halted = self.halt.load(Ordering::Relaxed);
        self.probe.enter(&home.table.peek(slot).id);
    }

    /// It returned.
    #[inline]
    pub(super) fn leave(&mut self, home: &Home<A, T>, slot: u32) {
        self.probe.leave();
        if self.halt.load(Ordering::Relaxed) || self.lapses.load(Ordering::Relaxed) != self.lapses_seen {
            self.look_at_lease(home, slot);
        }
    }

    /// The lease holds: what was before says nothing of turns that begin now.
    #[inline]
    pub(super) fn see_lease(&mut self) {
        self.lapses_seen = self.lapses.load(Ordering::Relaxed);
    }

    /// There is no lease, or there was none for a while: whether the turn that returned just now outlasted it.
    #[cold]
    fn look_at_lease(&mut self, home: &Home<A, T>, slot: u32) {
        let lapses = self.lapses.load(Ordering::Acquire);
        if self.began_halted {
            // What ends with a life that is over is dropped without a lease, and on purpose.
            self.lapses_seen = lapses;
            return;
        }
        if std::mem::replace(&mut self.lapses_seen, lapses) != lapses || self.around.is_overdue() {
            let is_new = self.probe.count_once(self.probe.last());
            self.around.outlasted(&home.table.peek(slot).id, is_new);
        }
    }
}
