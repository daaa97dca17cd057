//! Nobody comes back from the dead: who is buried in a node's document is never a member of it again.
//!
//! Tombstones outlive every run here, so there is no "as long as the tombstone lasts" to look after.

use std::collections::BTreeSet;

use borough_protocol::gossip::Document;
use borough_protocol::incarnation::Uid;

use crate::sim::violation::Violation;

/// Whom one node has buried.
#[derive(Debug, Default)]
pub(super) struct Buried {
    uids: BTreeSet<Uid>,
}

impl Buried {
    /// The document of `by` has changed.
    pub(super) fn changes(&mut self, by: Uid, document: &Document) -> Result<(), Violation> {
        if document.tombstone_count() != self.uids.len() {
            self.uids.extend(document.tombstones().map(|(uid, _)| uid));
        }
        match document.uids().find(|uid| self.uids.contains(uid)) {
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
