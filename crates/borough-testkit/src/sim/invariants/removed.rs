//! A life that is over for the cluster stays so: a removed incarnation is never a member again.

use std::collections::{BTreeMap, BTreeSet};

use borough_protocol::incarnation::Uid;
use borough_protocol::table::{Cluster, Table};

use crate::sim::violation::Violation;

/// Who was removed from each cluster, and at which place of its log. It outlasts what the tables remember.
#[derive(Debug, Default)]
pub(super) struct Removed {
    places: BTreeMap<(Cluster, Uid), u64>,
    uids: BTreeSet<Uid>,
}

impl Removed {
    /// The table of `by` has another version.
    pub(super) fn moves(&mut self, by: Uid, table: &Table) -> Result<(), Violation> {
        let cluster = table.cluster();
        for (uid, removed) in table.removed() {
            self.places.entry((cluster, *uid)).or_insert(removed.version.index);
            self.uids.insert(*uid);
        }
        let version = table.version();
        let is_back =
            |uid: &&Uid| self.places.get(&(cluster, **uid)).is_some_and(|place| *place <= version.index);
        match table.members().keys().find(is_back) {
            Some(uid) => {
                let text = format!("{uid:?} is a member again in {by:?}'s table at {version:?}");
                Err(Violation::Safety("removed", text))
            }
            None => Ok(()),
        }
    }

    /// Whether anybody knows of its removal. A life is of one cluster at most.
    pub(super) fn contains(&self, uid: Uid) -> bool {
        self.uids.contains(&uid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::invariants::samples::{admit, forget, free, remove, table, uid};

    #[test]
    fn a_life_that_comes_back_after_it_was_forgotten_is_found() {
        let entries = [(1, admit(1)), (1, remove(1)), (1, free(1)), (1, forget(1)), (1, admit(1))];
        let mut rule = Removed::default();
        for length in 1..5 {
            assert_eq!(rule.moves(uid(9), &table(&entries[..length])), Ok(()));
        }
        assert!(rule.moves(uid(9), &table(&entries)).is_err());
    }

    #[test]
    fn somebody_who_does_not_know_of_the_removal_yet_passes() {
        let entries = [(1, admit(1)), (1, remove(1))];
        let mut rule = Removed::default();
        assert_eq!(rule.moves(uid(8), &table(&entries)), Ok(()));
        assert_eq!(rule.moves(uid(9), &table(&entries[..1])), Ok(()));
    }
}
