//! What waits for an entity: how much that may be, who is told when it is too much, and when it is over.

use std::mem;
use std::sync::atomic::Ordering;

use borough_actor::{Actor, EntityId};

use super::busy::{Doing, Waits, busy};
use super::floor::{Floor, Home};
use super::table::Body;
use super::turns::Turns;

/// How many messages wait for one entity before its senders stand in line, and when they are let in again.
pub(super) const CROWDED: usize = 1024;
const ROOMY: usize = CROWDED / 2;
/// Senders on other nodes learn of it later, and what they have sent by then is taken all the same: so many wait for one entity at the most, and what comes
/// from other nodes beyond is refused. More than several nodes can have under way, with what one of them held before there was a way.
const OVERFULL: usize = CROWDED * 256;

impl<A: Actor, T: Turns<A>> Floor<A, T> {
    /// Whether no turn is to begin now.
    #[inline]
    pub(super) fn is_halted(&self) -> bool {
        self.halt.load(Ordering::Relaxed)
    }

    /// Has something wait for the entity in that slot until turns may begin again.
    #[cold]
    pub(super) fn put_off(&mut self, home: &mut Home<A, T>, slot: u32, waits: Waits<A::Msg>) {
        self.enqueue(home, slot, waits);
        self.again.push((home.number, slot));
    }

    /// Whether no more of what other nodes send is to wait for the entity in that slot.
    #[inline]
    pub(super) fn is_overfull(home: &Home<A, T>, slot: u32) -> bool {
        matches!(&home.table.peek(slot).body, Body::Busy(busy) if busy.queue.len() >= OVERFULL)
    }

    /// Has something wait for the entity in that slot, behind all that does.
    pub(super) fn enqueue(&mut self, home: &mut Home<A, T>, slot: u32, waits: Waits<A::Msg>) {
        let (number, crowd) = (home.number, &self.shared.crowd);
        let place = home.table.slot(slot);
        let busy = busy(&mut place.body);
        busy.queue.push_back(waits);
        if busy.queue.len() >= CROWDED {
            // Each time: those that stood in line may have been sent on because the shard was about to move.
            busy.is_crowded = true;
            crowd.begin(number, &place.id);
        }
    }

    /// Lets in those that stand in line for a crowded entity.
    pub(super) fn let_in(&mut self, home: &mut Home<A, T>, slot: u32) {
        let place = home.table.slot(slot);
        let Body::Busy(busy) = &mut place.body else { return };
        if !busy.is_crowded || busy.queue.len() > ROOMY {
            return;
        }
        let room = CROWDED - busy.queue.len();
        busy.is_crowded = self.admit(home.number, &place.id, room);
    }

    /// Lets so many in that stand in line for that entity, here and on other nodes. Whether it is crowded still.
    pub(super) fn admit(&self, shard: u32, id: &EntityId, room: usize) -> bool {
        let admitted = self.shared.crowd.admit(shard, id, room);
        self.around.say_room(shard, id, &admitted);
        admitted.is_crowded
    }

    /// Nothing waits for the entity in that slot any more.
    pub(super) fn calm(&mut self, home: &mut Home<A, T>, slot: u32) {
        let place = home.table.slot(slot);
        let busy = match mem::replace(&mut place.body, Body::Lent) {
            Body::Busy(busy) => busy,
            other => return place.body = other,
        };
        self.stays(busy.leaves);
        if busy.is_crowded {
            // Nobody would remember those that still stand in line.
            self.admit(home.number, &place.id, usize::MAX);
        }
        match busy.doing {
            Doing::Idle(actor) => place.body = Body::Live(actor),
            _ => self.vacate(home, slot),
        }
    }

    /// An entity that was to end has, or lives on.
    pub(super) fn stays(&mut self, leaves: bool) {
        self.leaving = self.leaving.saturating_sub(usize::from(leaves));
    }

    /// How many entities the lane has, but for those that are ending because they were idle, or there were too many.
    #[inline]
    pub(super) fn staying(&self) -> usize {
        self.population.saturating_sub(self.leaving)
    }
}
