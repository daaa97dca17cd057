//! The answer slots of a system: what sweeps deadlines, and what knows whether an ask was given up.
//!
//! Promise: an ask ends, by an answer, by its asker, or by its deadline, which comes never early and
//! at most two sweeps late. A message whose asker gave up is known as such.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::task::Waker;
use std::time::Duration;

use borough_wire::codec::CodecId;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::AskId;
use super::answer_room::AnswerRoom;
use super::given_up::GivenUp;
use super::id::SLOTS;
use super::slot::{AnswerSlot, AnySlot, Lost, Origin, Served, Swept};
use super::turn::Turn;
use crate::id::ActorId;

/// The longest time that another node's ask may have left, in milliseconds: 24 days.
const LONGEST_ABROAD: u32 = u32::MAX / 2;

pub(crate) struct AskTable {
    /// Tells this table from any other there ever was in this process.
    pub(crate) number: u32,
    slots: RwLock<Slots>,
    given_up: Arc<GivenUp>,
    /// Which ways to other nodes have no room for answers.
    pub(super) answer_room: AnswerRoom,
    /// Whether the sweeper is about; whoever opens an ask while it is not calls it.
    sweeping: AtomicBool,
    /// Set when the system is gone: the sweeper then ends with the last ask.
    closed: AtomicBool,
    pub(super) call_sweeper: Notify,
    /// The origin of the clock by which asks of other nodes end.
    began: Instant,
}

#[derive(Default)]
struct Slots {
    places: Vec<Place>,
    free: Vec<u32>,
    /// The places that have a slot, in no order: what a burst of asks left empty is not swept.
    taken: Vec<u32>,
}

#[derive(Default)]
struct Place {
    slot: Option<Arc<dyn AnySlot>>,
    /// How far the slots that were here before have counted, so that no two asks ever have one name.
    generation: u32,
    /// Where this place stands among those that are taken.
    among_taken: usize,
}

impl Slots {
    fn vacant(&mut self) -> Option<u32> {
        self.free.pop().or_else(|| {
            let index = u32::try_from(self.places.len()).ok().filter(|index| (*index as usize) < SLOTS)?;
            self.places.push(Place::default());
            Some(index)
        })
    }

    fn vacate(&mut self, index: u32) -> Option<Arc<dyn AnySlot>> {
        let place = &mut self.places[index as usize];
        let slot = place.slot.take()?;
        place.generation = slot.generation();
        let gap = place.among_taken;
        self.taken.swap_remove(gap);
        if let Some(moved) = self.taken.get(gap) {
            self.places[*moved as usize].among_taken = gap;
        }
        self.free.push(index);
        Some(slot)
    }

    fn iter(&self) -> impl Iterator<Item = &Arc<dyn AnySlot>> {
        self.taken.iter().filter_map(|index| self.places[*index as usize].slot.as_ref())
    }
}

impl AskTable {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            slots: RwLock::default(),
            given_up: Arc::default(),
            answer_room: AnswerRoom::default(),
            sweeping: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            call_sweeper: Notify::new(),
            began: Instant::now(),
        }
    }

    /// Takes in the slot that `make` makes for its place; `None` if there are sixteen million.
    pub(super) fn register<S: AnySlot + 'static>(&self, make: impl FnOnce(Origin) -> S) -> Option<Arc<S>> {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let index = slots.vacant()?;
        let among_taken = slots.taken.len();
        slots.taken.push(index);
        let place = &mut slots.places[index as usize];
        place.among_taken = among_taken;
        let slot = Arc::new(make(Origin {
            index,
            generation: place.generation,
            given_up: Some(self.given_up.clone()),
        }));
        place.slot = Some(slot.clone());
        Some(slot)
    }

    pub(super) fn unregister(&self, index: u32) {
        let slot = self.slots.write().unwrap_or_else(PoisonError::into_inner).vacate(index);
        drop(slot);
    }

    /// Takes the slot of that ask out, for whoever drops it; none if its place is another's by now.
    pub(super) fn vacate(&self, ask: AskId) -> Option<Arc<dyn AnySlot>> {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.places.get(ask.slot() as usize)?.slot.as_ref()?;
        if slot.generation() == ask.generation() { slots.vacate(ask.slot()) } else { None }
    }

    /// Whether the asker gave up.
    #[inline]
    pub(crate) fn is_given_up(&self, ask: AskId) -> bool {
        match ask.deadline_abroad() {
            None => self.given_up.contains(ask),
            Some(deadline) => Self::is_past(deadline, self.clock()),
        }
    }

    /// Names the ask of another node, of that one if it is known, that arrived then, by [`AskTable::clock`], and is given up so long after.
    pub(crate) fn name_abroad(arrived: u32, left: Duration, uid: Option<u64>) -> AskId {
        let left = u32::try_from(left.as_millis()).unwrap_or(u32::MAX).min(LONGEST_ABROAD);
        AskId::abroad(arrived.wrapping_add(left), uid)
    }

    /// Whether that is over by [`AskTable::clock`] at `now`.
    #[inline]
    pub(crate) fn is_past(deadline: u32, now: u32) -> bool {
        // The clock goes round in 49 days; half of that is the past.
        now.wrapping_sub(deadline) <= LONGEST_ABROAD
    }

    /// Milliseconds since the table began, as far as they fit.
    #[expect(clippy::cast_possible_truncation, reason = "the clock goes round")]
    pub(crate) fn clock(&self) -> u32 {
        self.began.elapsed().as_millis() as u32
    }

    /// How long it is until then; nothing, if it is past.
    pub(crate) fn until(&self, deadline: u32) -> Duration {
        let left = deadline.wrapping_sub(self.clock());
        Duration::from_millis(if left > LONGEST_ABROAD { 0 } else { left.into() })
    }

    /// Whether that is a slot of this table.
    pub(super) fn owns(&self, given_up: &Arc<GivenUp>) -> bool {
        Arc::ptr_eq(&self.given_up, given_up)
    }

    fn slot(&self, ask: AskId) -> Option<Arc<dyn AnySlot>> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        slots.places.get(ask.slot() as usize)?.slot.clone()
    }

    /// The slot at which the answer to this ask is awaited, for a reply handle that comes home.
    ///
    /// Whoever has the slot keeps it from being used again; so it is looked at only once it is held.
    pub(super) fn awaited<T: Send + 'static>(&self, ask: AskId) -> Option<Arc<AnswerSlot<T>>> {
        let slot = self.slot(ask)?.into_any().downcast::<AnswerSlot<T>>().ok()?;
        slot.awaits(ask).then_some(slot)
    }

    /// An answer came from another node. Gives who is to be woken, if somebody waits for it.
    pub(crate) fn answer_encoded(&self, ask: AskId, codec: CodecId, answer: &[u8]) -> Option<Waker> {
        let served = self.slot(ask)?.answer_encoded(ask, codec, answer);
        self.tidy(served)
    }

    /// Another node says that there will be no answer.
    pub(crate) fn lose(&self, ask: AskId, why: Lost) {
        let served = self.slot(ask).map(|slot| slot.lose_abroad(ask, why));
        served.and_then(|served| self.tidy(served)).into_iter().for_each(Waker::wake);
    }

    fn tidy(&self, served: Served) -> Option<Waker> {
        match served {
            Served::Nobody => None,
            Served::Asker(asker) => Some(asker),
            Served::Slot(ask) => {
                drop(self.vacate(ask));
                None
            }
        }
    }

    /// The way by which these messages went is lost, and so are their answers.
    pub(crate) fn carriers_lost(&self, is_lost: &dyn Fn(u32) -> bool) {
        let slots: Vec<_> = {
            let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
            slots.iter().cloned().collect()
        };
        for slot in slots {
            self.tidy(slot.carrier_lost(is_lost)).into_iter().for_each(Waker::wake);
        }
    }

    /// Sees to it that the sweeper is about. To be called after a slot was opened: a sweeper that leaves
    /// meanwhile has seen it, or is called back here.
    #[inline]
    pub(super) fn expect_sweeper(&self) {
        if !self.sweeping.load(Ordering::Acquire) && !self.sweeping.swap(true, Ordering::AcqRel) {
            self.call_sweeper.notify_one();
        }
    }

    /// The actors that are deaf until `turn` ends, nearest first: its own, the one whose ask it
    /// handles, the one whose ask that one handles, and so on.
    pub(super) fn waiting_on(&self, turn: Turn) -> impl Iterator<Item = ActorId> + '_ {
        std::iter::successors(Some(turn), |turn| turn.ask.and_then(|ask| self.awaited_in(ask)))
            .map(|turn| turn.actor)
    }

    /// The turn in which an ask is awaited, if it is under way and awaited in one.
    pub(crate) fn awaited_in(&self, id: AskId) -> Option<Turn> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        slots.places.get(id.slot() as usize)?.slot.as_ref()?.turn_of(id)
    }

    /// Ends what is due. Gives how many asks are left.
    pub(super) fn sweep(&self, now: Instant) -> usize {
        let mut left = 0;
        let mut due = Vec::new();
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        for slot in slots.iter() {
            match slot.sweep(now) {
                Swept::Idle => {}
                Swept::Waiting => left += 1,
                Swept::Due(asker) => due.push(asker),
            }
        }
        drop(slots);
        due.into_iter().for_each(Waker::wake);
        left
    }

    /// The sweeper leaves, unless an ask came in meanwhile.
    pub(super) fn sweeper_may_leave(&self) -> bool {
        self.sweeping.store(false, Ordering::Release);
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        let idle = !slots.iter().any(|slot| slot.is_open());
        drop(slots);
        if !idle {
            self.sweeping.store(true, Ordering::Release);
        }
        idle
    }

    /// The system is gone.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.call_sweeper.notify_one();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registered(table: &AskTable) -> (Arc<AnswerSlot<u64>>, AskId) {
        let slot = table.register(AnswerSlot::<u64>::idle).unwrap();
        let ask = slot.open(Waker::noop(), Duration::from_secs(1), None);
        (slot, ask)
    }

    #[test]
    fn whoever_takes_an_ask_out_that_is_gone_takes_no_other_out() {
        let table = AskTable::new();
        let (_gone, gone) = registered(&table);
        assert!(table.vacate(gone).is_some());
        let (_next, next) = registered(&table);
        assert_eq!(next.slot(), gone.slot(), "the place is used again");
        assert!(table.vacate(gone).is_none());
        assert!(table.slot(next).is_some());
        assert!(table.vacate(next).is_some());
    }
}
