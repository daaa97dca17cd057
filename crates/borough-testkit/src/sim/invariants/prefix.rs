//! Committed versions of one cluster's table are prefixes of one another.
//!
//! Whoever comes to a place of the log finds the same there: the same term, and the same table. A node may skip places, so
//! tables are compared wherever two nodes stopped; and nobody's table goes back.

use std::collections::BTreeMap;

use borough_protocol::incarnation::Uid;
use borough_protocol::table::{Cluster, Removal, State, Table};
use borough_protocol::version::Version;

use crate::sim::trace::mix;
use crate::sim::violation::Violation;

/// What is known of each place of each cluster's log.
#[derive(Debug, Default)]
pub(super) struct Prefix {
    places: BTreeMap<Cluster, BTreeMap<u64, Seen>>,
}

/// What somebody had at a place.
#[derive(Clone, Copy, Debug)]
struct Seen {
    version: Version,
    table: u64,
    by: Uid,
}

impl Prefix {
    /// The table of `uid`, which was at `before`, has another version.
    pub(super) fn moves(
        &mut self,
        uid: Uid,
        before: Option<(Cluster, Version)>,
        table: &Table,
    ) -> Result<(), Violation> {
        let (cluster, version) = (table.cluster(), table.version());
        if let Some((same, older)) = before
            && same == cluster
            && (older.index > version.index || older.term > version.term)
        {
            return Err(broken(format!("{uid:?}'s table went back from {older:?} to {version:?}")));
        }
        let places = self.places.entry(cluster).or_default();
        let seen = Seen { version, table: hash(table), by: uid };
        match places.get(&version.index) {
            Some(known) if known.version != version => {
                let Seen { version: other, by, .. } = known;
                Err(broken(format!("{uid:?} committed {version:?} where {by:?} committed {other:?}")))
            }
            Some(known) if known.table != seen.table => {
                Err(broken(format!("{uid:?} and {:?} have different tables at {version:?}", known.by)))
            }
            Some(_) => Ok(()),
            None => {
                let below = places.range(..version.index).next_back();
                let above = places.range(version.index..).next();
                if below.is_some_and(|(_, below)| below.version.term > version.term)
                    || above.is_some_and(|(_, above)| above.version.term < version.term)
                {
                    return Err(broken(format!("{uid:?} committed {version:?}, out of the order of terms")));
                }
                places.insert(version.index, seen);
                Ok(())
            }
        }
    }
}

fn broken(text: String) -> Violation {
    Violation::Safety("prefix", text)
}

/// A number that differs for different tables.
fn hash(table: &Table) -> u64 {
    let mut hash = mix(u64::from(table.is_closing()), table.version().index);
    let mut note = |number: u64| hash = mix(hash, number);
    let voters = table.voters();
    note(voters.id.index);
    voters.now.iter().chain(&voters.next).for_each(|uid| note(uid.get()));
    note(voters.now.len() as u64);
    for (uid, member) in table.members() {
        note(uid.get());
        note(member.admission.index);
        note(match member.state {
            State::Active => 1,
            State::Draining => 2,
        });
    }
    note(table.members().len() as u64);
    for (uid, removed) in table.removed() {
        note(uid.get());
        note(removed.version.index << 1 | u64::from(removed.freed));
        note(match removed.why {
            Removal::Quiet => 1,
            Removal::Goodbye => 2,
            Removal::Replaced => 3,
            Removal::Operator => 4,
            Removal::CutOff => 5,
        });
    }
    for kind in table.kinds() {
        kind.hosts().iter().for_each(|uid| note(uid.get()));
        kind.shards().keys().for_each(|shard| note(u64::from(*shard)));
        note((kind.hosts().len() + kind.shards().len()) as u64);
    }
    note(table.kinds().len() as u64);
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::invariants::samples::{admit, table, uid};

    #[test]
    fn the_same_entries_in_the_same_order_pass() {
        let mut prefix = Prefix::default();
        for by in [1, 2] {
            let mut before = None;
            for length in 1..4 {
                let table = table(&[(1, admit(1)), (1, admit(2)), (2, admit(3))][..length]);
                assert_eq!(prefix.moves(uid(by), before, &table), Ok(()));
                before = Some((table.cluster(), table.version()));
            }
        }
    }

    #[test]
    fn another_table_at_the_same_version_is_found() {
        let mut prefix = Prefix::default();
        assert_eq!(prefix.moves(uid(1), None, &table(&[(1, admit(1))])), Ok(()));
        let found = prefix.moves(uid(2), None, &table(&[(1, admit(2))]));
        assert_eq!(found.expect_err("the tables differ").rule(), "prefix");
    }

    #[test]
    fn another_term_at_the_same_place_is_found() {
        let mut prefix = Prefix::default();
        assert_eq!(prefix.moves(uid(1), None, &table(&[(1, admit(1))])), Ok(()));
        assert!(prefix.moves(uid(2), None, &table(&[(2, admit(1))])).is_err());
    }

    #[test]
    fn a_table_that_goes_back_is_found() {
        let mut prefix = Prefix::default();
        let long = table(&[(1, admit(1)), (1, admit(2))]);
        let short = table(&[(1, admit(1))]);
        assert!(prefix.moves(uid(1), Some((long.cluster(), long.version())), &short).is_err());
    }

    #[test]
    fn terms_that_fall_along_the_log_are_found() {
        let mut prefix = Prefix::default();
        assert_eq!(prefix.moves(uid(1), None, &table(&[(3, admit(1))])), Ok(()));
        assert!(prefix.moves(uid(2), None, &table(&[(2, admit(1)), (2, admit(2))])).is_err());
    }
}
