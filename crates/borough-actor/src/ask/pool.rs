//! Answer slots at rest, kept by each thread for its next ask of the same type.

use std::any::Any;
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
    /// The number of the table whose slots these are.
    number: u32,
    table: Weak<AskTable>,
    shelf: Box<dyn Any>,
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
    /// Does something at the shelf for these slots, if there is one.
    #[inline]
    fn at_shelf<T: Send + 'static, R>(
        &mut self,
        table: &AskTable,
        act: impl FnOnce(&mut Shelf<T>) -> R,
    ) -> Option<R> {
        if let Some(first) = self.shelves.first_mut()
            && let Some(shelf) = first.shelf_of(table)
        {
            return Some(act(shelf));
        }
        self.bring_forward(table).map(act)
    }

    #[cold]
    fn bring_forward<T: Send + 'static>(&mut self, table: &AskTable) -> Option<&mut Shelf<T>> {
        let at = self.shelves.iter_mut().position(|other| other.shelf_of::<T>(table).is_some())?;
        self.shelves.swap(at, at / 2);
        self.shelves.get_mut(at / 2)?.shelf_of(table)
    }

    #[cold]
    fn add_shelf<T: Send + 'static>(
        &mut self,
        table: &Arc<AskTable>,
        first: &mut Option<Arc<AnswerSlot<T>>>,
    ) {
        self.shelves.retain(|labelled| labelled.table.strong_count() > 0);
        let number = table.number;
        let table = Arc::downgrade(table);
        let slots = first.take().into_iter().collect();
        let filled = Shelf::<T> { table: table.clone(), slots };
        self.shelves.insert(0, Labelled { number, table, shelf: Box::new(filled) });
    }
}

impl Labelled {
    #[inline]
    fn shelf_of<T: Send + 'static>(&mut self, table: &AskTable) -> Option<&mut Shelf<T>> {
        if self.number == table.number { self.shelf.downcast_mut() } else { None }
    }
}

/// A slot for an ask; `None` if the table is full.
#[inline]
pub(super) fn take<T: Send + 'static>(table: &AskTable) -> Option<Arc<AnswerSlot<T>>> {
    let rested = POOL.try_with(|pool| pool.borrow_mut().at_shelf(table, |shelf| shelf.slots.pop()));
    rested.ok().flatten().flatten().or_else(|| table.register(AnswerSlot::idle))
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
        if pool.at_shelf(table, |shelf| shelf.add(&mut slot)).is_none() {
            pool.add_shelf(table, &mut slot);
        }
    });
    slot
}
