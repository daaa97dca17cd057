//! The entity beside yours: it shows whether Borough kept its own promises in a run.
//!
//! Each message to one of your entities goes with a note to the witness of the same id, from the same sender. In one process all witnesses write to one
//! ledger, whatever node they are on, at the moment they run.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use borough_actor::{Actor, Context, Fault};
use borough_cluster::{Node, ShardBuilder};
use serde::{Deserialize, Serialize};

use crate::shells::Trace;

/// What the type of witnesses is called.
pub(super) const KIND: &str = "borough-witness";
/// Few, so that each has several entities.
const SHARDS: u32 = 16;

thread_local! {
    /// That of the run on this thread: a witness that came from another node finds it here.
    static LEDGER: RefCell<Option<Ledger>> = const { RefCell::new(None) };
}

/// One message of one sender.
#[derive(Serialize, Deserialize)]
pub(super) struct Note {
    pub(super) sender: u32,
    /// Rises with each message of all senders.
    pub(super) number: u64,
}

/// What all witnesses of a run have seen.
#[derive(Clone)]
pub(super) struct Ledger(Arc<Mutex<Seen>>);

pub(super) struct Seen {
    pub(super) trace: Trace,
    pub(super) handled: BTreeSet<u64>,
    /// The last number of each sender at each entity.
    last: BTreeMap<(u32, String), u64>,
    /// The newest epoch at which each entity ran.
    epochs: BTreeMap<String, u64>,
    pub(super) broken: Option<String>,
}

impl Ledger {
    /// That of a new run on this thread.
    pub(super) fn begin(trace: Trace) -> Self {
        let (handled, last, epochs) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        let ledger = Self(Arc::new(Mutex::new(Seen { trace, handled, last, epochs, broken: None })));
        LEDGER.set(Some(ledger.clone()));
        ledger
    }

    pub(super) fn open(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn take(&mut self, id: &str, epoch: u64, note: &Note) {
        self.trace.note(format_args!("{id} gets {} of {} at {epoch}", note.number, note.sender));
        let newest = self.epochs.entry(id.to_owned()).or_insert(epoch);
        if epoch < *newest {
            let newest = *newest;
            self.break_promise(format_args!(
                "two owners: {id} ran at epoch {epoch} after it ran at {newest}"
            ));
        } else {
            *newest = epoch;
        }
        let last = self.last.insert((note.sender, id.to_owned()), note.number);
        if let Some(last) = last.filter(|last| *last >= note.number) {
            let (number, sender) = (note.number, note.sender);
            self.break_promise(format_args!("order: {id} got {number} of sender {sender} after its {last}"));
        }
        self.handled.insert(note.number);
    }

    fn break_promise(&mut self, what: fmt::Arguments<'_>) {
        self.broken.get_or_insert_with(|| what.to_string());
    }
}

/// It moves with its state, as entities do whose moves matter.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Witness {
    notes: u64,
}

impl Actor for Witness {
    type Msg = Note;

    async fn receive(&mut self, note: Note, ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.notes += 1;
        let id = ctx
            .entity_id()
            .map(|id| String::from_utf8_lossy(&id.as_bytes()).into_owned())
            .unwrap_or_default();
        let epoch = ctx.epoch().unwrap_or(0);
        if let Some(ledger) = LEDGER.with_borrow(Clone::clone) {
            ledger.open().take(&id, epoch, &note);
        }
        Ok(())
    }
}

/// How witnesses are started on a node.
pub(super) fn witnesses(node: &Node) -> ShardBuilder<Witness> {
    node.shard(KIND, |_| Witness::default()).shards(SHARDS).migrate_state()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said to be broken after these notes, each an epoch, a sender and a number.
    fn broken(notes: &[(u64, u32, u64)]) -> Option<String> {
        let ledger = Ledger::begin(Trace::new(0, None));
        for &(epoch, sender, number) in notes {
            ledger.open().take("x", epoch, &Note { sender, number });
        }
        ledger.open().broken.clone()
    }

    #[test]
    fn notes_in_order_break_nothing_whoever_else_sends() {
        assert_eq!(broken(&[(1, 1, 1), (1, 2, 4), (1, 1, 3), (2, 2, 5)]), None);
    }

    #[test]
    fn a_note_after_a_later_one_of_its_sender_breaks_the_order() {
        let broken = broken(&[(1, 1, 2), (1, 1, 1)]).unwrap();
        assert_eq!(broken, "order: x got 1 of sender 1 after its 2");
    }

    #[test]
    fn a_note_that_comes_twice_breaks_the_order() {
        assert!(broken(&[(1, 1, 2), (1, 1, 2)]).unwrap().starts_with("order: "));
    }

    #[test]
    fn an_older_owner_that_runs_after_a_newer_one_is_found() {
        let broken = broken(&[(1, 1, 1), (3, 1, 2), (1, 2, 3)]).unwrap();
        assert_eq!(broken, "two owners: x ran at epoch 1 after it ran at 3");
    }
}
