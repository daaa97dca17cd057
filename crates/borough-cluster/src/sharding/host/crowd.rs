//! Entities that have as many messages waiting as they may, and the senders that stand in line for each.
//!
//! Promise: while an entity is crowded its senders wait, first come, first served; those to others do not notice. Whoever may go on enters by the lane's
//! mailbox, behind what the same sender sent before. What was in the mailbox as the entity became crowded is taken all the same.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use borough_actor::EntityId;

use super::parcel::Item;

/// See the module.
pub(super) struct Crowd<M> {
    /// How many entities are crowded: nearly always none.
    count: AtomicUsize,
    state: Mutex<State<M>>,
}

struct State<M> {
    entities: HashMap<(u32, EntityId), VecDeque<u64>>,
    waiting: HashMap<u64, Waits<M>>,
    next_ticket: u64,
    closed: bool,
}

struct Waits<M> {
    item: Item<M>,
    waker: Waker,
    /// Its entity has room.
    goes_on: bool,
}

impl<M> Default for Crowd<M> {
    fn default() -> Self {
        let (entities, waiting) = (HashMap::new(), HashMap::new());
        let state = Mutex::new(State { entities, waiting, next_ticket: 0, closed: false });
        Self { count: AtomicUsize::new(0), state }
    }
}

impl<M> Crowd<M> {
    fn lock(&self) -> MutexGuard<'_, State<M>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether that entity's senders are to wait.
    #[inline]
    pub(super) fn is_crowded(&self, shard: u32, id: &EntityId) -> bool {
        self.count.load(Ordering::Relaxed) != 0 && self.knows(shard, id)
    }

    #[cold]
    fn knows(&self, shard: u32, id: &EntityId) -> bool {
        self.lock().entities.contains_key(&(shard, id.clone()))
    }

    /// That entity has as many as it may.
    pub(super) fn begin(&self, shard: u32, id: &EntityId) {
        let mut state = self.lock();
        if !state.closed {
            state.entities.entry((shard, id.clone())).or_default();
        }
        self.count.store(state.entities.len(), Ordering::Relaxed);
    }

    /// It has room again: up to `room` of those that wait go on into the lane's mailbox, behind what they sent before. Whether it is crowded still.
    pub(super) fn admit(&self, shard: u32, id: &EntityId, room: usize) -> bool {
        let mut state = self.lock();
        let State { entities, waiting, .. } = &mut *state;
        let key = (shard, id.clone());
        let Some(line) = entities.get_mut(&key) else { return false };
        let mut wakers = Vec::new();
        while wakers.len() < room
            && let Some(ticket) = line.pop_front()
        {
            // Whoever left has no place any more.
            let Some(waits) = waiting.get_mut(&ticket) else { continue };
            waits.goes_on = true;
            wakers.push(waits.waker.clone());
        }
        let is_crowded = !line.is_empty();
        if !is_crowded {
            entities.remove(&key);
            self.count.store(entities.len(), Ordering::Relaxed);
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        is_crowded
    }

    /// Stands in line; gives the item back if its entity has room.
    pub(super) fn join(&self, item: Item<M>, waker: &Waker) -> Result<u64, Item<M>> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return Err(item);
        }
        let Item::Message(stowed) = &item else { return Err(item) };
        let key = (stowed.shard, stowed.id.clone());
        let mut state = self.lock();
        let ticket = state.next_ticket;
        let Some(line) = state.entities.get_mut(&key) else { return Err(item) };
        line.push_back(ticket);
        state.next_ticket += 1;
        state.waiting.insert(ticket, Waits { item, waker: waker.clone(), goes_on: false });
        Ok(ticket)
    }

    /// Gives the item back once its entity has room, or the lane is gone.
    pub(super) fn poll(&self, ticket: u64, waker: &Waker) -> Poll<Option<Item<M>>> {
        let mut state = self.lock();
        let is_closed = state.closed;
        match state.waiting.get_mut(&ticket) {
            Some(waits) if !is_closed && !waits.goes_on => {
                waits.waker.clone_from(waker);
                Poll::Pending
            }
            Some(_) | None => Poll::Ready(state.waiting.remove(&ticket).map(|waits| waits.item)),
        }
    }

    /// Leaves the line; gives the item.
    pub(super) fn withdraw(&self, ticket: u64) -> Option<Item<M>> {
        self.lock().waiting.remove(&ticket).map(|waits| waits.item)
    }

    /// The lane is gone.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.entities.clear();
        self.count.store(0, Ordering::Relaxed);
        let wakers: Vec<_> = state.waiting.values().map(|waits| waits.waker.clone()).collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}
