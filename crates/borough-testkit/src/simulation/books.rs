//! What was sent in a run, and what may have become of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use borough_protocol::random::Random;

use super::Workload;
use super::history::{Fate, History, Sent};

/// Shared by all who send.
#[derive(Clone, Default)]
pub(super) struct Books(Arc<Mutex<Vec<Entry>>>);

/// One message, and the note to the witness that went with it.
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) sender: u32,
    /// From which it was drawn, and can be again: messages need not be copied.
    drawn_from: Random,
    pub(super) fate: Fate,
    /// What may have become of the note.
    pub(super) note: Fate,
}

impl Books {
    pub(super) fn open(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message is about to be sent; its number.
    pub(super) fn begin(&self, id: &str, sender: u32, drawn_from: Random) -> usize {
        let mut entries = self.open();
        let (id, fate) = (id.to_owned(), Fate::Sure);
        entries.push(Entry { id, sender, drawn_from, fate, note: fate });
        entries.len() - 1
    }

    /// Whatever was sent so far may be lost.
    pub(super) fn doubt_all(&self) {
        for entry in self.open().iter_mut() {
            for fate in [&mut entry.fate, &mut entry.note] {
                if *fate == Fate::Sure {
                    *fate = Fate::InDoubt;
                }
            }
        }
    }

    /// What was sent to each entity.
    pub(super) fn histories<M>(&self, workload: &Workload<M>) -> Vec<History<M>> {
        let mut histories: BTreeMap<String, Vec<Sent<M>>> = BTreeMap::new();
        for entry in self.open().iter() {
            let (_, message) = workload(&mut entry.drawn_from.clone());
            let sent = Sent { message, sender: entry.sender, fate: entry.fate };
            histories.entry(entry.id.clone()).or_default().push(sent);
        }
        histories.into_iter().map(|(id, sent)| History { id, sent }).collect()
    }
}
