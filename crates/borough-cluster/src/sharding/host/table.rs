//! The entities of one shard: found by id, in slots that never move.

use std::collections::HashMap;

use borough_actor::resident::{Belongings, IdView};
use borough_actor::{Actor, EntityId};

use super::alarms::{Alarm, Alarms};
use super::busy::Busy;
use super::index::Index;
use super::turns::{Call, Turns};

/// How many slots are made at a time: so many rows of so many.
const CHUNK: usize = ROWS * ROW;
const ROWS: usize = 8;
const ROW: usize = 8;

/// See the module.
pub(super) struct Table<A: Actor, T: Turns<A>> {
    index: Index,
    chunks: Vec<Box<[Row<A, T>; ROWS]>>,
    free: Vec<u32>,
    /// How many entities have a slot.
    len: usize,
    /// What few entities have, by slot.
    pub(super) owned: HashMap<u32, Owned<A::Msg>>,
    /// How many entities are in a turn that awaits.
    pub(super) turning: usize,
}

/// Slots that begin where a line of cache does, whatever their size: one of 64 bytes is a line then, and not half of two.
#[repr(align(64))]
struct Row<A: Actor, T: Turns<A>>([Slot<A, T>; ROW]);

/// A place for one entity. 64 bytes for a state of 16, so that it is one line of cache.
pub(super) struct Slot<A: Actor, T: Turns<A>> {
    pub(super) id: EntityId,
    /// When it was used last, by the lane's clock.
    pub(super) stamp: u32,
    /// Whether it has an entry among those that own something.
    pub(super) owns: bool,
    pub(super) body: Body<A, T>,
}

/// What is in a slot.
pub(super) enum Body<A: Actor, T: Turns<A>> {
    /// Nobody.
    Vacant,
    /// An entity between two turns, with nothing waiting.
    Live(A),
    /// Any other.
    Busy(Box<Busy<A, T>>),
    /// It is being looked at.
    Lent,
}

/// What an entity has beside its state.
pub(super) struct Owned<M: Send + 'static> {
    pub(super) belongings: Belongings<M>,
    /// What the lane's clock was set to for it.
    pub(super) alarm: Option<Alarm>,
    /// How it is told that its own mailbox has something.
    pub(super) call: Option<Call<M>>,
}

impl<A: Actor, T: Turns<A>> Default for Table<A, T> {
    fn default() -> Self {
        Self {
            index: Index::default(),
            chunks: Vec::new(),
            free: Vec::new(),
            len: 0,
            owned: HashMap::new(),
            turning: 0,
        }
    }
}

/// The part of a hash by which the index tells ids apart.
#[inline]
pub(super) const fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32
}

impl<A: Actor, T: Turns<A>> Table<A, T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// How many slots there are, taken or not.
    pub(super) fn slots(&self) -> u32 {
        u32::try_from(self.chunks.len() * CHUNK).unwrap_or(u32::MAX)
    }

    #[inline]
    pub(super) fn slot(&mut self, slot: u32) -> &mut Slot<A, T> {
        let slot = slot as usize;
        &mut self.chunks[slot / CHUNK][slot % CHUNK / ROW].0[slot % ROW]
    }

    #[inline]
    pub(super) fn peek(&self, slot: u32) -> &Slot<A, T> {
        let slot = slot as usize;
        &self.chunks[slot / CHUNK][slot % CHUNK / ROW].0[slot % ROW]
    }

    /// Has the memory fetched in which the slot of that hash is looked up. What it gives means nothing; it is there to be waited for, together
    /// with others.
    #[inline]
    pub(super) fn touch_index(&self, hash: u64) -> u64 {
        self.index.touch(tag(hash))
    }

    /// Has the memory of that slot fetched, as [`Table::touch_index`].
    #[inline]
    pub(super) fn touch_slot(&self, slot: u32) -> u64 {
        let place = self.peek(slot);
        // Both ends of one that takes more than a line.
        place.id.len() as u64 ^ u64::from(place.stamp)
    }

    /// The slot that is most likely the one of that hash; nothing of it is looked at.
    #[inline]
    pub(super) fn candidate(&self, hash: u64) -> Option<u32> {
        self.index.candidate(tag(hash))
    }

    /// Whether that is the slot of that id.
    #[inline]
    pub(super) fn is(&self, slot: u32, id: IdView<'_>) -> bool {
        id.is(&self.peek(slot).id)
    }

    pub(super) fn find(&self, hash: u64, id: &EntityId) -> Option<u32> {
        self.index.find(tag(hash), |slot| self.is(slot, IdView::of(id)))
    }

    /// The slot of that id, a vacant one if it has none yet.
    pub(super) fn find_or_add(&mut self, hash: u64, id: EntityId) -> u32 {
        if let Some(slot) = self.find(hash, &id) {
            return slot;
        }
        let slot = self.free.pop().unwrap_or_else(|| self.add_chunk());
        self.index.insert(tag(hash), slot);
        self.len += 1;
        self.slot(slot).id = id;
        slot
    }

    #[cold]
    fn add_chunk(&mut self) -> u32 {
        let first = self.slots();
        let vacant = |_| Slot { id: EntityId::default(), stamp: 0, owns: false, body: Body::Vacant };
        // Row by row: a chunk of large entities is too much for the stack.
        let rows: Box<[_]> = (0..ROWS).map(|_| Row(std::array::from_fn(vacant))).collect();
        self.chunks.extend(<Box<[_; ROWS]>>::try_from(rows).ok());
        let others = first + 1..self.slots();
        self.free.extend(others.rev());
        first
    }

    /// Takes a vacant slot out, if it still is; it owns nothing any more.
    pub(super) fn remove_vacant(&mut self, slot: u32, hash: impl FnOnce(&EntityId) -> u64) {
        let place = self.slot(slot);
        if !matches!(place.body, Body::Vacant) || place.id == EntityId::default() {
            return;
        }
        let id = std::mem::take(&mut place.id);
        debug_assert!(!place.owns, "what it owned went with its last life");
        self.index.remove(tag(hash(&id)), slot);
        self.free.push(slot);
        self.len -= 1;
    }

    /// The slots that are taken.
    pub(super) fn taken(&self) -> impl Iterator<Item = u32> + use<A, T> {
        let taken: Vec<u32> = (0..)
            .zip(self.chunks.iter().flat_map(|rows| rows.iter()).flat_map(|row| &row.0))
            .filter(|(_, slot)| !slot.is_vacant())
            .map(|(n, _)| n)
            .collect();
        taken.into_iter()
    }

    /// What that slot's entity owns, taken out to be lent to its turn.
    #[inline]
    pub(super) fn take_belongings(&mut self, slot: u32) -> Belongings<A::Msg> {
        if !self.peek(slot).owns {
            return Belongings::default();
        }
        self.owned.get_mut(&slot).map(|owned| std::mem::take(&mut owned.belongings)).unwrap_or_default()
    }

    /// Gives it back; whether there is something that the lane's clock or bell is to know of. The clock is told of what is no more.
    #[inline]
    pub(super) fn put_belongings(
        &mut self,
        slot: u32,
        belongings: Belongings<A::Msg>,
        alarms: &mut Alarms,
    ) -> bool {
        if belongings.is_empty() && !self.peek(slot).owns {
            return false;
        }
        self.keep_belongings(slot, belongings, alarms)
    }

    #[cold]
    fn keep_belongings(&mut self, slot: u32, belongings: Belongings<A::Msg>, alarms: &mut Alarms) -> bool {
        let owns = !belongings.is_empty();
        self.slot(slot).owns = owns;
        if owns {
            let owned = self.owned.entry(slot);
            owned
                .or_insert_with(|| Owned { belongings: Belongings::default(), alarm: None, call: None })
                .belongings = belongings;
        } else if let Some(alarm) = self.owned.remove(&slot).and_then(|owned| owned.alarm) {
            alarms.cancel(alarm);
        }
        owns
    }
}

impl<A: Actor, T: Turns<A>> Slot<A, T> {
    pub(super) fn is_vacant(&self) -> bool {
        matches!(self.body, Body::Vacant) && self.id == EntityId::default()
    }
}

#[cfg(test)]
mod tests {
    use borough_actor::Context;

    use super::super::turns::turns;
    use super::*;

    /// An entity with a state of 16 bytes.
    struct Small {
        _state: [u64; 2],
    }

    impl Actor for Small {
        type Msg = u64;

        async fn receive(&mut self, _: u64, _: &mut Context<Self>) -> Result<(), borough_actor::Fault> {
            Ok(())
        }
    }

    fn table<A: Actor, T: Turns<A>>(_: &T) -> Table<A, T> {
        Table::default()
    }

    #[test]
    fn the_slot_of_a_small_entity_is_one_line_of_cache() {
        let mut table = table::<Small, _>(&turns::<Small>());
        for number in 0..3 * CHUNK as u64 {
            let id = EntityId::new(&number.to_le_bytes()).unwrap();
            let slot = table.find_or_add(number << 32, id);
            let place = table.peek(slot);
            assert_eq!((size_of_val(place), std::ptr::from_ref(place).addr() % 64), (64, 0));
        }
    }
}
