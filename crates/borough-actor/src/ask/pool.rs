//! Answer slots at rest, kept by each thread for its next ask of the same type.

use std::any::TypeId;
use std::cell::RefCell;
use std::sync::{Arc, Weak};

use super::slot::{AnswerSlot, AnySlot};
use super::table::AskTable;

/// How many slots of one type a thread keeps.
const KEPT: usize = 1024;

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool { shelves: Vec::new() }) };
}

/// Shelves, those in use towards the front: a thread asks for few types at a time.
struct Pool {
    shelves: Vec<Shelf>,
}

impl Pool {
    #[inline]
    fn shelf(&mut self, of: Label) -> Option<&mut Shelf> {
        if self.shelves.first().is_some_and(|shelf| shelf.label == of) {
            return self.shelves.first_mut();
        }
        let at = self.shelves.iter().position(|shelf| shelf.label == of)?;
        self.shelves.swap(at, at / 2);
        self.shelves.get_mut(at / 2)
    }

    fn add_shelf(&mut self, label: Label, table: &Arc<AskTable>) -> &mut Shelf {
        self.shelves.retain(|shelf| shelf.table.strong_count() > 0);
        self.shelves.insert(0, Shelf { label, table: Arc::downgrade(table), slots: Vec::new() });
        &mut self.shelves[0]
    }
}

/// What is on a shelf: slots of one table, for one type of answer.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Label {
    table: u64,
    answer: TypeId,
}

impl Label {
    #[inline]
    fn new<T: 'static>(table: &AskTable) -> Self {
        Self { table: table.number, answer: TypeId::of::<T>() }
    }
}

struct Shelf {
    label: Label,
    table: Weak<AskTable>,
    slots: Vec<Resting>,
}

/// A slot at rest, of the type its shelf's label says.
type Resting = Arc<dyn AnySlot>;

/// The thread ends, or the table is gone.
impl Drop for Shelf {
    fn drop(&mut self) {
        if let Some(table) = self.table.upgrade() {
            self.slots.drain(..).for_each(|slot| table.unregister(slot.index()));
        }
    }
}

/// A slot for an ask; `None` if the table is full.
#[inline]
pub(super) fn take<T: Send + 'static>(table: &AskTable) -> Option<Arc<AnswerSlot<T>>> {
    let rested = POOL.try_with(|pool| pool.borrow_mut().shelf(Label::new::<T>(table))?.slots.pop());
    match rested.ok().flatten().map(|slot| slot.into_any().downcast()) {
        Some(Ok(slot)) => Some(slot),
        Some(Err(_)) | None => table.register(AnswerSlot::idle),
    }
}

/// Gives a slot back after its ask has ended. It rests here if nobody else has a hold on it but the table.
#[inline]
pub(super) fn put<T: Send + 'static>(table: &Arc<AskTable>, slot: Arc<AnswerSlot<T>>) {
    let index = slot.index();
    if Arc::strong_count(&slot) > 2 {
        return table.unregister(index);
    }
    let kept = POOL.try_with(|pool| {
        let mut pool = pool.borrow_mut();
        let label = Label::new::<T>(table);
        let shelf = match pool.shelf(label) {
            Some(shelf) => shelf,
            None => pool.add_shelf(label, table),
        };
        let room = shelf.slots.len() < KEPT;
        if room {
            shelf.slots.push(slot);
        }
        room
    });
    // No room, or the thread is ending.
    if !matches!(kept, Ok(true)) {
        table.unregister(index);
    }
}
