//! Answer slots at rest, kept by each thread for its next ask of the same type.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::sync::{Arc, Weak};

use super::slot::AnswerSlot;
use super::table::AskTable;

/// How many slots of one type a thread keeps.
const KEPT: usize = 1024;

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool { shelves: Vec::new() }) };
}

/// Shelves, those in use towards the front: a thread asks for few types at a time.
struct Pool {
    shelves: Vec<Labelled>,
}

/// A shelf of some type.
struct Labelled {
    label: Label,
    table: Weak<AskTable>,
    shelf: Box<dyn Any>,
}

/// What is on a shelf: slots of one table, for one type of answer.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Label {
    table: u32,
    answer: TypeId,
}

struct Shelf<T: Send + 'static> {
    table: Weak<AskTable>,
    slots: Vec<Arc<AnswerSlot<T>>>,
}

impl<T: Send + 'static> Shelf<T> {
    /// Takes the slot, if there is room.
    #[inline]
    fn add(&mut self, slot: &mut Option<Arc<AnswerSlot<T>>>) {
        if self.slots.len() < KEPT
            && let Some(slot) = slot.take()
        {
            self.slots.push(slot);
        }
    }
}

/// The thread ends, or the table is gone.
impl<T: Send + 'static> Drop for Shelf<T> {
    fn drop(&mut self) {
        if let Some(table) = self.table.upgrade() {
            self.slots.drain(..).for_each(|slot| table.unregister(slot.index()));
        }
    }
}

impl Pool {
    #[inline]
    fn shelf<T: Send + 'static>(&mut self, table: &AskTable) -> Option<&mut Shelf<T>> {
        let label = Label { table: table.number, answer: TypeId::of::<T>() };
        let at = match self.shelves.first() {
            Some(first) if first.label == label => 0,
            _ => self.bring_forward(label)?,
        };
        self.shelves[at].shelf.downcast_mut()
    }

    #[cold]
    fn bring_forward(&mut self, label: Label) -> Option<usize> {
        let at = self.shelves.iter().position(|other| other.label == label)?;
        self.shelves.swap(at, at / 2);
        Some(at / 2)
    }

    #[cold]
    fn add_shelf<T: Send + 'static>(&mut self, table: &Arc<AskTable>) {
        self.shelves.retain(|labelled| labelled.table.strong_count() > 0);
        let label = Label { table: table.number, answer: TypeId::of::<T>() };
        let table = Arc::downgrade(table);
        let empty = Shelf::<T> { table: table.clone(), slots: Vec::new() };
        self.shelves.insert(0, Labelled { label, table, shelf: Box::new(empty) });
    }
}

/// A slot for an ask; `None` if the table is full.
#[inline]
pub(super) fn take<T: Send + 'static>(table: &AskTable) -> Option<Arc<AnswerSlot<T>>> {
    let rested = POOL.try_with(|pool| pool.borrow_mut().shelf::<T>(table)?.slots.pop());
    rested.ok().flatten().or_else(|| table.register(AnswerSlot::idle))
}

/// Gives a slot back after its ask has ended. It rests here if nobody else has a hold on it but the table.
#[inline]
pub(super) fn put<T: Send + 'static>(table: &Arc<AskTable>, slot: Arc<AnswerSlot<T>>) {
    let refused = if Arc::strong_count(&slot) == 2 { keep(table, slot) } else { Some(slot) };
    if let Some(slot) = refused {
        table.unregister(slot.index());
    }
}

/// Puts a slot on its shelf; gives it back if there is no room, or no pool because the thread ends.
#[inline]
fn keep<T: Send + 'static>(table: &Arc<AskTable>, slot: Arc<AnswerSlot<T>>) -> Option<Arc<AnswerSlot<T>>> {
    let mut slot = Some(slot);
    let _ = POOL.try_with(|pool| {
        let mut pool = pool.borrow_mut();
        if let Some(shelf) = pool.shelf::<T>(table) {
            return shelf.add(&mut slot);
        }
        pool.add_shelf::<T>(table);
        if let Some(shelf) = pool.shelf::<T>(table) {
            shelf.add(&mut slot);
        }
    });
    slot
}
