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
        let last = table.version();
        let first = self.recent.front().map_or(u64::MAX, |(version, _)| version.index);
        // This node may have taken a whole table since: the entries that led to it are not there.
        let is_passed_over = self.recent.back().is_none_or(|(newest, _)| *newest != last);
        if from.index + 1 < first || is_passed_over && from.index < last.index {
            return Feed::Whole(self.whole(table));
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incarnation::Uid;
    use crate::table::Cluster;
    use crate::version::Term;

    fn version(index: u64) -> Version {
        Version { term: Term::new(1), index }
    }

    /// A table at that version, and the feeder of a node that applied all its entries.
    fn applied(last: u64) -> (Table, Feeder) {
        let mut table = Table::new(Cluster { name: 7, era: 1, founder: Uid::STORE });
        let mut feeder = Feeder::default();
        for index in 1..=last {
            table.apply(version(index), &Entry::Nothing);
            feeder.keep(version(index), Entry::Nothing, 3);
        }
        (table, feeder)
    }

    #[test]
    fn who_is_behind_gets_what_it_lacks() {
        let (table, mut feeder) = applied(5);
        let Feed::Entries(entries) = feeder.feed(version(3), &table) else { panic!("entries are there") };
        assert_eq!(entries.iter().map(|(version, _)| version.index).collect::<Vec<_>>(), [4, 5]);
        assert!(matches!(feeder.feed(version(1), &table), Feed::Whole(_)), "entry 2 is not kept");
    }

    /// Seed 453421 of the simulator: a voter took a whole table, and fed nothing to a member at the version before it, for good.
    #[test]
    fn a_table_that_was_taken_whole_is_fed_whole() {
        let (newer, _) = applied(6);
        let (_, mut feeder) = applied(5);
        for behind in 3..=5 {
            assert!(matches!(feeder.feed(version(behind), &newer), Feed::Whole(_)), "{behind}");
        }
        assert!(matches!(feeder.feed(version(6), &newer), Feed::Entries(entries) if entries.is_empty()));
    }
}
