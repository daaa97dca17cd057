//! The table for those who have no log: each member names a voter that sends it what is committed.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::log::Entry;
use crate::table::{Change, Table};
use crate::version::Version;

/// A committed entry, and where it stands.
pub type Placed = (Version, Entry<Change>);

/// Committed entries for those who have no log.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Feed {
    /// These, in order.
    Entries(#[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::shared"))] Arc<[Placed]>),
    /// All of it.
    Whole(Arc<Table>),
}

/// What a node can send on.
#[derive(Debug, Default)]
pub(super) struct Feeder {
    recent: VecDeque<Placed>,
    /// The last answers, since many ask for the same.
    entries: Option<Arc<[Placed]>>,
    whole: Option<Arc<Table>>,
}

impl Feeder {
    /// An entry was applied; `most` of them are kept for those who are behind.
    pub(super) fn keep(&mut self, version: Version, entry: Entry<Change>, most: usize) {
        if self.recent.back().is_some_and(|(last, _)| last.index + 1 != version.index) {
            self.recent.clear();
        }
        if self.recent.len() >= most {
            self.recent.pop_front();
        }
        self.recent.push_back((version, entry));
    }

    /// What somebody at that version lacks.
    pub(super) fn feed(&mut self, from: Version, table: &Table) -> Feed {
        let first = self.recent.front().map_or(u64::MAX, |(version, _)| version.index);
        if from.index + 1 < first {
            return Feed::Whole(self.whole(table));
        }
        let last = table.version();
        let same = |entries: &&Arc<[Placed]>| {
            entries.first().is_some_and(|(version, _)| version.index == from.index + 1)
                && entries.last().is_some_and(|(version, _)| *version == last)
        };
        if let Some(entries) = self.entries.as_ref().filter(same) {
            return Feed::Entries(entries.clone());
        }
        let entries: Vec<_> =
            self.recent.iter().filter(|(version, _)| version.index > from.index).cloned().collect();
        let entries: Arc<[_]> = entries.into();
        self.entries = Some(entries.clone());
        Feed::Entries(entries)
    }

    /// All of the table.
    pub(super) fn whole(&mut self, table: &Table) -> Arc<Table> {
        match &self.whole {
            Some(whole) if whole.version() == table.version() => whole.clone(),
            Some(_) | None => self.whole.insert(Arc::new(table.clone())).clone(),
        }
    }
}
