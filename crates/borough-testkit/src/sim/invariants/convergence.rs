//! Who is said to have seen a version of the document has had it.

use std::collections::BTreeSet;

use borough_protocol::gossip::Document;
use borough_protocol::incarnation::Uid;

use crate::sim::violation::Violation;

/// Every version that anybody ever had.
#[derive(Debug, Default)]
pub(super) struct Convergence {
    had: BTreeSet<(u64, Uid)>,
}

impl Convergence {
    /// That node has this version now.
    pub(super) fn has(&mut self, uid: Uid, version: u64) {
        self.had.insert((version, uid));
    }

    /// The document of `by` says that all have seen it.
    pub(super) fn is_converged(&self, by: Uid, document: &Document) -> Result<(), Violation> {
        let version = document.version_hash();
        match document.seen().find(|uid| !self.had.contains(&(version, *uid))) {
            Some(uid) => {
                let text = format!("{by:?} believes that {uid:?} has seen a version it never had");
                Err(Violation::Safety("convergence", text))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::invariants::samples::{document, uid};

    #[test]
    fn a_version_that_somebody_never_had_is_found() {
        let mut known = document(&[1, 2]);
        known.see(uid(2));
        let mut rule = Convergence::default();
        rule.has(uid(1), known.version_hash());
        assert!(rule.is_converged(uid(1), &known).is_err());
        rule.has(uid(2), known.version_hash());
        assert_eq!(rule.is_converged(uid(1), &known), Ok(()));
    }
}
