//! A member's state only goes forward in one node's eyes: Joining, Up, Leaving, Exiting.

use std::collections::BTreeMap;

use borough_protocol::gossip::{Document, Status};
use borough_protocol::incarnation::Uid;

use crate::sim::violation::Violation;

/// The states one node last saw.
#[derive(Debug, Default)]
pub(super) struct Seen {
    states: BTreeMap<Uid, Status>,
}

impl Seen {
    /// The document of `by` has changed.
    pub(super) fn changes(&mut self, by: Uid, document: &Document) -> Result<(), Violation> {
        for member in document.members() {
            let (uid, status) = (member.uid(), member.status);
            let before = self.states.insert(uid, status);
            if before.is_some_and(|before| before > status) {
                let text = format!("{uid:?} went back from {before:?} to {status:?} in {by:?}'s document");
                return Err(Violation::Safety("status", text));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::invariants::samples::{document, uid};

    #[test]
    fn a_state_that_goes_back_is_found() {
        let mut seen = Seen::default();
        let mut exiting = document(&[1]);
        assert_eq!(seen.changes(uid(1), &exiting), Ok(()));
        exiting.mark_exiting(uid(1));
        assert_eq!(seen.changes(uid(1), &exiting), Ok(()));
        assert!(seen.changes(uid(1), &document(&[1])).is_err());
    }
}
