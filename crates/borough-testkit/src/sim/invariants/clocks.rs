//! A node never forgets what it knew: its vector clock goes back for nobody but authors that are gone.

use std::sync::Arc;

use borough_protocol::gossip::Document;
use borough_protocol::incarnation::Uid;
use borough_protocol::vector_clock::{Author, VectorClock};

use crate::sim::violation::Violation;

/// The clock of one node's document as it was last seen.
#[derive(Debug, Default)]
pub(super) struct Known {
    clock: Arc<VectorClock>,
}

impl Known {
    /// The document of `by` has changed.
    pub(super) fn changes(&mut self, by: Uid, document: &Document) -> Result<(), Violation> {
        let (before, after) = (&self.clock, document.clock());
        let is_gone = |author: Author| match author {
            Author::Table => false,
            Author::Node(uid) => !document.is_member(uid),
        };
        let lost = before.iter().find(|(author, count)| after.count(*author) < *count && !is_gone(*author));
        if let Some((author, count)) = lost {
            let now = after.count(author);
            let text = format!("{by:?} knew {count} changes of {author:?}, and now {now}");
            return Err(Violation::Safety("clocks", text));
        }
        self.clock = after.clone();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::invariants::samples::{document, uid};
    use borough_protocol::gossip::Gone;
    use borough_protocol::time::Timestamp;

    #[test]
    fn a_clock_that_goes_back_is_found() {
        let mut known = Known::default();
        let mut newer = document(&[1, 2]);
        newer.set_unreachable(uid(1), uid(2), true);
        assert_eq!(known.changes(uid(1), &newer), Ok(()));
        assert!(known.changes(uid(1), &document(&[1, 2])).is_err());
    }

    #[test]
    fn authors_that_are_gone_may_be_forgotten() {
        let mut known = Known::default();
        let mut both = document(&[1, 2]);
        assert_eq!(known.changes(uid(1), &both), Ok(()));
        both.bury(uid(1), uid(2), Gone::Vanished, Timestamp::ZERO);
        assert_eq!(known.changes(uid(1), &both), Ok(()));
    }
}
