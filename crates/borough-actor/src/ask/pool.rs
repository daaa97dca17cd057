//! Answer slots at rest, kept by each thread for its next ask of the same type.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::sync::{Arc, Weak};

use super::slot::AnswerSlot;
use super::table::AskTable;

/// How many slots of one type a thread keeps.
const KEPT: usize = 1024;

/// A slot in the table, in one ask's hands.
pub(super) struct Registered<T> {
    pub(super) slot: Arc<AnswerSlot<T>>,
    pub(super) index: u32,
}

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
    slots: Vec<(Arc<dyn Any + Send + Sync>, u32)>,
}

impl Drop for Shelf {
    fn drop(&mut self) {
        if let Some(table) = self.table.upgrade() {
            self.slots.drain(..).for_each(|(_, index)| table.unregister(index));
        }
    }
}

/// A slot for an ask; `None` if the table is full.
pub(super) fn take<T: Send + 'static>(table: &AskTable) -> Option<Registered<T>> {
    let rested = POOL.try_with(|pool| pool.borrow_mut().shelf(Label::new::<T>(table))?.slots.pop());
    if let Ok(Some((slot, index))) = rested
        && let Ok(slot) = slot.downcast()
    {
        return Some(Registered { slot, index });
    }
    let slot = Arc::new(AnswerSlot::idle());
    let index = table.register(slot.clone())?;
    Some(Registered { slot, index })
}

/// Gives a slot back after its ask has ended. It rests here if nobody else has a hold on it but the table.
pub(super) fn put<T: Send + 'static>(table: &Arc<AskTable>, registered: Registered<T>) {
    table.ended(registered.index);
    if Arc::strong_count(&registered.slot) > 2 {
        return table.unregister(registered.index);
    }
    let Registered { slot, index } = registered;
    // Refused only while the thread ends.
    let kept = POOL.try_with(|pool| {
        let mut pool = pool.borrow_mut();
        let label = Label::new::<T>(table);
        let shelf = match pool.shelf(label) {
            Some(shelf) => shelf,
            None => pool.add_shelf(label, table),
        };
        let room = shelf.slots.len() < KEPT;
        if room {
            shelf.slots.push((slot, index));
        }
        room
    });
    if !matches!(kept, Ok(true)) {
        table.unregister(index);
    }
}
