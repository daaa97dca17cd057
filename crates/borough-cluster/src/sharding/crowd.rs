//! Entities that have as many messages waiting as they may, and the senders that stand in line for each.
//!
//! Promise: while an entity is crowded its senders wait, first come, first served; those to others do not. Whoever may go on goes by the way there is
//! then. What was on its way as the entity became crowded is taken all the same.
//!
//! A type has one on each node. Of entities that live there its lanes say when they are crowded, and which nodes are to be warned; of entities of other nodes
//! their hosts do ([`abroad`](super::abroad)).

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use borough_actor::EntityId;
use borough_actor::remote::Carrier;

/// See the module.
pub(crate) struct Crowd<I> {
    /// One bit for one shard in 64: set if any of their entities is crowded. Nearly always none is, and senders to the other shards never look further.
    shards: AtomicU64,
    state: Mutex<State<I>>,
}

struct State<I> {
    entities: HashMap<(u32, EntityId), Line>,
    /// How many of them each bit stands for.
    counts: [u32; 64],
    waiting: HashMap<u64, Waits<I>>,
    next_ticket: u64,
    closed: bool,
}

/// How many messages a crowded entity may send to itself, which nobody else may: its turn would wait for its own end.
const OWN: usize = 1024;

/// Who waits for one entity.
#[derive(Default)]
struct Line {
    /// How many it sent to itself meanwhile.
    own: usize,
    tickets: VecDeque<u64>,
    /// The ways to nodes that were told that it is crowded, and have their own lines.
    warned: Vec<Arc<dyn Carrier>>,
}

struct Waits<I> {
    entity: (u32, EntityId),
    item: I,
    waker: Waker,
    /// Its entity has room.
    goes_on: bool,
}

/// What came of an entity's having room.
pub(crate) struct Admitted {
    /// Whether it is crowded still.
    pub(super) is_crowded: bool,
    /// The ways to nodes that were told that it is crowded, and are to be told that it has room.
    pub(super) warned: Vec<Arc<dyn Carrier>>,
    /// For how many messages of each of them.
    pub(super) room: usize,
}

impl<I> Default for Crowd<I> {
    fn default() -> Self {
        let (entities, waiting, counts) = (HashMap::new(), HashMap::new(), [0; 64]);
        let state = Mutex::new(State { entities, counts, waiting, next_ticket: 0, closed: false });
        Self { shards: AtomicU64::new(0), state }
    }
}

impl<I> Crowd<I> {
    fn lock(&self) -> MutexGuard<'_, State<I>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether any entity of that shard may be crowded.
    #[inline]
    pub(super) fn may_be_in(&self, shard: u32) -> bool {
        self.shards.load(Ordering::Relaxed) & bit(shard) != 0
    }

    /// Whether that entity's senders are to wait.
    #[inline]
    pub(super) fn is_crowded(&self, shard: u32, id: &EntityId) -> bool {
        self.may_be_in(shard) && self.knows(shard, id)
    }

    #[cold]
    fn knows(&self, shard: u32, id: &EntityId) -> bool {
        self.lock().entities.contains_key(&(shard, id.clone()))
    }

    /// The crowded ones.
    pub(super) fn all(&self) -> Vec<(u32, EntityId)> {
        let is_any = self.shards.load(Ordering::Relaxed) != 0;
        if is_any { self.lock().entities.keys().cloned().collect() } else { Vec::new() }
    }

    /// How many those are.
    pub(super) fn len(&self) -> usize {
        self.lock().entities.len()
    }

    /// That entity has as many as it may.
    pub(super) fn begin(&self, shard: u32, id: &EntityId) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        let State { entities, counts, .. } = &mut *state;
        if let Entry::Vacant(place) = entities.entry((shard, id.clone())) {
            place.insert(Line::default());
            counts[place_of(shard)] += 1;
            self.shards.fetch_or(bit(shard), Ordering::Relaxed);
        }
    }

    /// Whether the node that sends by that way is to be told that the entity is crowded: it was not told since.
    #[cold]
    pub(super) fn warn(&self, shard: u32, id: &EntityId, way: &Arc<dyn Carrier>) -> bool {
        let mut state = self.lock();
        state.entities.get_mut(&(shard, id.clone())).is_some_and(|line| line.warn(way))
    }

    /// Somebody stands in line on the node that way leads to. Whether the entity has room; otherwise that node is told once it has.
    pub(super) fn enlist(&self, shard: u32, id: &EntityId, way: &Arc<dyn Carrier>) -> bool {
        let mut state = self.lock();
        let line = state.entities.get_mut(&(shard, id.clone()));
        line.map(|line| line.warn(way)).is_none()
    }

    /// It has room again: some of those that wait go on, behind what they sent before, and the others have their share on nodes that were warned.
    pub(super) fn admit(&self, shard: u32, id: &EntityId, room: usize) -> Admitted {
        let mut state = self.lock();
        let State { entities, counts, waiting, .. } = &mut *state;
        let key = (shard, id.clone());
        let Some(line) = entities.get_mut(&key) else {
            return Admitted { is_crowded: false, warned: Vec::new(), room: 0 };
        };
        line.own = 0;
        let warned = std::mem::take(&mut line.warned);
        let for_each = (room / (warned.len() + 1)).max(1);
        let here = room.saturating_sub(for_each.saturating_mul(warned.len())).max(1);
        let mut wakers = Vec::new();
        while wakers.len() < here
            && let Some(ticket) = line.tickets.pop_front()
        {
            let Some(waits) = waiting.get_mut(&ticket) else { continue };
            waits.goes_on = true;
            wakers.push(waits.waker.clone());
        }
        let is_crowded = !line.tickets.is_empty();
        if !is_crowded {
            entities.remove(&key);
            counts[place_of(shard)] -= 1;
            if counts[place_of(shard)] == 0 {
                self.shards.fetch_and(!bit(shard), Ordering::Relaxed);
            }
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        Admitted { is_crowded, warned, room: for_each }
    }

    /// Stands in line; gives the item back if its entity has room.
    pub(super) fn join(&self, shard: u32, id: &EntityId, item: I, waker: &Waker) -> Result<u64, I> {
        let mut state = self.lock();
        let (ticket, entity) = (state.next_ticket, (shard, id.clone()));
        let Some(line) = state.entities.get_mut(&entity) else { return Err(item) };
        line.tickets.push_back(ticket);
        state.next_ticket += 1;
        state.waiting.insert(ticket, Waits { entity, item, waker: waker.clone(), goes_on: false });
        Ok(ticket)
    }

    /// Whether that entity may send a message to itself although it is crowded; counts it.
    pub(super) fn take_own(&self, shard: u32, id: &EntityId) -> bool {
        let mut state = self.lock();
        let Some(line) = state.entities.get_mut(&(shard, id.clone())) else { return true };
        line.own += 1;
        line.own <= OWN
    }

    /// For which entity's room that ticket waits, until it may go on.
    pub(super) fn awaited(&self, ticket: u64) -> Option<EntityId> {
        let state = self.lock();
        let waits = state.waiting.get(&ticket).filter(|waits| !waits.goes_on && !state.closed);
        waits.map(|waits| waits.entity.1.clone())
    }

    /// Gives the item back once its entity has room, or nobody is let in any more.
    pub(super) fn poll(&self, ticket: u64, waker: &Waker) -> Poll<Option<I>> {
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
    pub(super) fn withdraw(&self, ticket: u64) -> Option<I> {
        let mut state = self.lock();
        let Waits { entity, item, .. } = state.waiting.remove(&ticket)?;
        if let Some(line) = state.entities.get_mut(&entity)
            && let Ok(place) = line.tickets.binary_search(&ticket)
        {
            line.tickets.remove(place);
        }
        Some(item)
    }

    /// Nobody is let in any more.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.entities.clear();
        state.counts = [0; 64];
        self.shards.store(0, Ordering::Relaxed);
        let wakers: Vec<_> = state.waiting.values().map(|waits| waits.waker.clone()).collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

fn place_of(shard: u32) -> usize {
    (shard % 64) as usize
}

fn bit(shard: u32) -> u64 {
    1 << (shard % 64)
}

impl Line {
    /// Whether it is news to the node that way leads to.
    fn warn(&mut self, way: &Arc<dyn Carrier>) -> bool {
        let is_news = self.warned.iter().all(|warned| warned.uid() != way.uid());
        if is_news {
            self.warned.push(way.clone());
        }
        is_news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> EntityId {
        EntityId::new(text.as_bytes()).unwrap()
    }

    /// A crowd of one crowded entity, and the tickets of so many that stand in line for it.
    fn crowd(in_line: u32) -> (Crowd<u32>, Vec<u64>) {
        let crowd = Crowd::default();
        crowd.begin(1, &id("a"));
        let tickets =
            (0..in_line).map(|item| crowd.join(1, &id("a"), item, Waker::noop()).unwrap()).collect();
        (crowd, tickets)
    }

    fn went_on(crowd: &Crowd<u32>, tickets: &[u64]) -> Vec<u32> {
        let polled = tickets.iter().map(|ticket| crowd.poll(*ticket, Waker::noop()));
        polled.filter_map(|polled| if let Poll::Ready(item) = polled { item } else { None }).collect()
    }

    #[test]
    fn those_in_line_go_on_in_turn_as_far_as_there_is_room() {
        let (crowd, tickets) = crowd(5);
        assert!(
            crowd.is_crowded(1, &id("a")) && !crowd.is_crowded(2, &id("a")) && !crowd.is_crowded(1, &id("b"))
        );
        assert!(crowd.admit(1, &id("a"), 2).is_crowded);
        assert_eq!(went_on(&crowd, &tickets), [0, 1]);
        assert!(!crowd.admit(1, &id("a"), 3).is_crowded);
        assert_eq!(went_on(&crowd, &tickets[2..]), [2, 3, 4]);
        assert!(!crowd.may_be_in(1));
        assert_eq!(crowd.join(1, &id("a"), 9, Waker::noop()), Err(9));
    }

    #[test]
    fn shards_that_share_a_bit_are_told_apart_and_the_last_of_them_clears_it() {
        let crowd = Crowd::<u32>::default();
        let entities = [(1, id("a")), (1, id("b")), (65, id("a"))];
        for (shard, id) in &entities {
            crowd.begin(*shard, id);
            crowd.begin(*shard, id);
        }
        assert!(crowd.may_be_in(129) && !crowd.is_crowded(129, &id("a")) && !crowd.is_crowded(65, &id("b")));
        assert!(!crowd.may_be_in(2));
        assert_eq!(crowd.len(), 3);
        for (shard, id) in &entities {
            assert!(crowd.is_crowded(*shard, id));
            crowd.admit(*shard, id, usize::MAX);
            assert!(!crowd.is_crowded(*shard, id));
        }
        assert!(!crowd.may_be_in(1));
    }

    #[test]
    fn whoever_leaves_the_line_leaves_nothing_behind() {
        let (crowd, tickets) = crowd(1000);
        let left: Vec<_> = tickets.iter().rev().filter_map(|ticket| crowd.withdraw(*ticket)).collect();
        assert_eq!(left.len(), 1000);
        let state = crowd.lock();
        assert!(state.waiting.is_empty() && state.entities[&(1, id("a"))].tickets.is_empty());
    }

    #[test]
    fn a_closed_crowd_lets_everybody_go() {
        let (crowd, tickets) = crowd(3);
        crowd.close();
        assert_eq!(went_on(&crowd, &tickets), [0, 1, 2]);
        crowd.begin(1, &id("a"));
        assert!(!crowd.may_be_in(1) && crowd.all().is_empty());
    }
}
