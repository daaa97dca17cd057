//! Nobody comes back from the dead: who is buried in a node's document is never a member of it again, unless gossip alone had buried it and the table admits it.
//!
//! Tombstones outlive every run here, so there is no "as long as the tombstone lasts" to look after.

use std::collections::BTreeMap;

use borough_protocol::gossip::Document;
use borough_protocol::incarnation::Uid;
use borough_protocol::vector_clock::Author;

use crate::sim::violation::Violation;

/// Whom one node has buried, and whether the table had removed it.
#[derive(Debug, Default)]
pub(super) struct Buried {
    uids: BTreeMap<Uid, bool>,
}

impl Buried {
    /// The document of `by` has changed.
    pub(super) fn changes(&mut self, by: Uid, document: &Document) -> Result<(), Violation> {
        for member in document.members().filter(|member| member.is_admitted()) {
            if self.uids.get(&member.uid()) == Some(&false) {
                self.uids.remove(&member.uid());
            }
        }
        if document.tombstone_count() != self.uids.len() {
            let stones = document.tombstones();
            self.uids.extend(stones.map(|(uid, stone)| (uid, stone.dot.author == Author::Table)));
        }
        match document.uids().find(|uid| self.uids.contains_key(uid)) {
            Some(uid) => {
                let text = format!("{uid:?} is a member of {by:?}'s document again, which had buried it");
                Err(Violation::Safety("resurrection", text))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::invariants::samples::{document, uid};
    use borough_protocol::gossip::Gone;
    use borough_protocol::time::Timestamp;

    #[test]
    fn a_member_that_was_buried_is_found() {
        let mut buried = Buried::default();
        let mut known = document(&[1, 2]);
        assert_eq!(buried.changes(uid(1), &known), Ok(()));
        known.bury(uid(1), uid(2), Gone::Vanished, Timestamp::ZERO);
        assert_eq!(buried.changes(uid(1), &known), Ok(()));
        assert!(buried.changes(uid(1), &document(&[1, 2])).is_err());
    }
}
