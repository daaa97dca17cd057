//! A document is bounded by who is in it: no author, no report and no accusation outlives its member.

use borough_protocol::gossip::Document;
use borough_protocol::incarnation::Uid;

use crate::sim::violation::Violation;

/// The document of `by` has changed.
pub(super) fn changes(by: Uid, document: &Document) -> Result<(), Violation> {
    let members = document.member_count();
    // The table is an author too.
    let authors = document.clock().len();
    let reports = document.reports().count();
    if authors > members + 1 || reports > members {
        let text =
            format!("{by:?}'s document has {members} members, {authors} authors and {reports} reports");
        return Err(Violation::Safety("size", text));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::invariants::samples::{document, uid};

    #[test]
    fn a_document_of_members_and_what_they_say_passes() {
        let mut known = document(&[1, 2, 3]);
        known.set_unreachable(uid(1), uid(2), true);
        known.reflect(7);
        assert_eq!(changes(uid(1), &known), Ok(()));
    }
}
