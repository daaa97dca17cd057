//! How an entity ends: its last turn, what it leaves behind, and the slot that it gives up.

use std::mem;

use borough_actor::{Actor, DeadLetterReason, EntityId, StopReason, resident};

use super::busy::{Doing, Waits, busy};
use super::floor::{Floor, Home};
use super::table::Body;
use super::turns::{Purpose, Turns};

impl<A: Actor, T: Turns<A>> Floor<A, T> {
    /// The last turn of an entity; the slot is lent.
    pub(super) fn end(&mut self, home: &mut Home<A, T>, slot: u32, actor: A, reason: StopReason) {
        self.other(home, slot, Purpose::End(reason), |ctx| resident::end(actor, ctx, reason));
    }

    /// The entity is gone. What was stashed starts its next life, before what waits; but after a fault all of it is buried.
    pub(super) fn ended(&mut self, home: &mut Home<A, T>, slot: u32, reason: StopReason) {
        let mut belongings = home.table.take_belongings(slot);
        let stashed = belongings.close(reason);
        self.forget_owned(home, slot);
        let place = home.table.slot(slot);
        let busy = busy(&mut place.body);
        busy.doing = Doing::Ended;
        for (message, ask) in stashed.into_iter().rev() {
            busy.queue.push_front(Waits::Message(message, ask));
        }
        if reason == StopReason::Fault {
            let (id, queue) = (place.id.clone(), mem::take(&mut busy.queue));
            self.bury_all(&id, queue);
        }
    }

    /// Nothing of what the entity in that slot had is left.
    pub(super) fn forget_owned(&mut self, home: &mut Home<A, T>, slot: u32) {
        home.table.slot(slot).owns = false;
        let Some(owned) = home.table.owned.remove(&slot) else { return };
        if let Some(call) = owned.call {
            self.calls.remove(&call.bell.token);
        }
        if let Some(alarm) = owned.alarm {
            self.alarms.cancel(alarm);
        }
    }

    pub(super) fn vacate(&mut self, home: &mut Home<A, T>, slot: u32) {
        if let Some(ranks) = &mut self.ranks {
            ranks.gone(home.number, slot);
        }
        if home.table.peek(slot).owns {
            self.forget_owned(home, slot);
        }
        home.table.slot(slot).body = Body::Vacant;
        self.vacated.push((home.number, slot));
    }

    pub(super) fn bury(&self, id: &EntityId, message: A::Msg, is_ask: bool, reason: DeadLetterReason) {
        self.around.dropped(reason);
        self.station.bury(message, is_ask, || self.path(id), reason);
    }

    pub(super) fn bury_all(&self, id: &EntityId, queue: impl IntoIterator<Item = Waits<A::Msg>>) {
        for waits in queue {
            if let Waits::Message(message, ask) = waits {
                self.bury(id, message, ask.is_some(), DeadLetterReason::Unhandled);
            }
        }
    }
}
