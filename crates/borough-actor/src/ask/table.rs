//! The answer slots of a system: what sweeps deadlines, and what knows whether an ask is still under way.
//!
//! Promise: an ask ends, by an answer, by its asker, or by its deadline, which comes never early and
//! at most one sweep late. A message whose ask has ended is known as such.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::AskId;
use super::generations::Generations;
use super::id::SLOTS;
use super::slot::{AnySlot, GivenUp};
use super::turn::Turn;
use crate::id::ActorId;

pub(crate) struct AskTable {
    /// Tells this table from any other there ever was in this process.
    pub(super) number: u64,
    slots: RwLock<Slots>,
    generations: Generations,
    given_up: Arc<GivenUp>,
    /// Whether the sweeper is about; whoever opens an ask while it is not calls it.
    sweeping: AtomicBool,
    pub(crate) call_sweeper: Notify,
}

#[derive(Default)]
struct Slots {
    slots: Vec<Option<Arc<dyn AnySlot>>>,
    free: Vec<u32>,
}

impl Slots {
    fn vacant(&mut self) -> Option<u32> {
        self.free.pop().or_else(|| {
            let index = u32::try_from(self.slots.len()).ok().filter(|index| (*index as usize) < SLOTS)?;
            self.slots.push(None);
            Some(index)
        })
    }
}

impl AskTable {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            slots: RwLock::default(),
            generations: Generations::default(),
            given_up: Arc::default(),
            sweeping: AtomicBool::new(false),
            call_sweeper: Notify::new(),
        }
    }

    /// Takes in the slot that `make` makes for the place it is told; `None` if there are sixteen million.
    pub(super) fn register<S: AnySlot + 'static>(
        &self,
        make: impl FnOnce(u32, Arc<GivenUp>) -> S,
    ) -> Option<Arc<S>> {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let index = slots.vacant()?;
        let slot = Arc::new(make(index, self.given_up.clone()));
        slots.slots[index as usize] = Some(slot.clone());
        Some(slot)
    }

    pub(super) fn unregister(&self, index: u32) {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.slots[index as usize].take();
        slots.free.push(index);
        drop(slots);
        drop(slot);
    }

    /// The name of the ask for which a slot is about to be used.
    #[inline]
    pub(super) fn name(&self, index: u32) -> AskId {
        AskId::new(index, self.generations.current(index))
    }

    /// The ask for which a slot was used has ended.
    #[inline]
    pub(super) fn ended(&self, index: u32) {
        self.generations.advance(index);
    }

    /// Whether nobody waits for the answer any more.
    #[inline]
    pub(crate) fn is_over(&self, id: AskId) -> bool {
        self.given_up.is_any() && !self.is_open(id)
    }

    fn is_open(&self, id: AskId) -> bool {
        self.generations.current(id.slot()) == id.generation()
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
    fn awaited_in(&self, id: AskId) -> Option<Turn> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        let turn = slots.slots.get(id.slot() as usize)?.as_ref()?.turn();
        turn.filter(|_| self.is_open(id))
    }

    /// Ends what is due. Gives how many asks are left.
    pub(super) fn sweep(&self, now: Instant) -> usize {
        self.slots().filter(|slot| slot.sweep(now)).count()
    }

    /// The sweeper leaves, unless an ask came in meanwhile.
    pub(super) fn sweeper_may_leave(&self) -> bool {
        self.sweeping.store(false, Ordering::Release);
        let idle = !self.slots().any(|slot| slot.is_open());
        if !idle {
            self.sweeping.store(true, Ordering::Release);
        }
        idle
    }

    /// The slots there are now. Not under the lock: an asker that is woken may want it.
    fn slots(&self) -> impl Iterator<Item = Arc<dyn AnySlot>> + '_ {
        let slots: Vec<_> = {
            let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
            slots.slots.iter().flatten().cloned().collect()
        };
        slots.into_iter()
    }
}
