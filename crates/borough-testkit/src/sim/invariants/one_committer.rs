//! In one term of one cluster one voter commits, at most, and in one life of its node.
//!
//! A voter that starts again has its vote on its disk, and is elected in a later term only.

use std::collections::BTreeMap;

use borough_protocol::incarnation::Uid;
use borough_protocol::table::Cluster;
use borough_protocol::version::Term;
use borough_protocol::voters::VoterId;

use crate::sim::violation::Violation;

/// Who committed in each term.
#[derive(Debug, Default)]
pub(super) struct OneCommitter {
    offices: BTreeMap<(Cluster, Term), (Uid, VoterId)>,
}

impl OneCommitter {
    /// That node acts as the coordinator of that term.
    pub(super) fn takes_office(
        &mut self,
        office: (Cluster, Term),
        (uid, voter): (Uid, VoterId),
    ) -> Result<(), Violation> {
        let (holder, _) = *self.offices.entry(office).or_insert((uid, voter));
        if holder == uid {
            return Ok(());
        }
        let text = format!("{holder:?} and {uid:?} both act in {:?} of {:?}", office.1, office.0);
        Err(Violation::Safety("one_committer", text))
    }

    /// The voter that acted as the coordinator of that term.
    pub(super) fn holder(&self, office: (Cluster, Term)) -> Option<VoterId> {
        self.offices.get(&office).map(|(_, voter)| *voter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::invariants::samples::{CLUSTER, uid, voter};

    #[test]
    fn two_in_one_term_are_found() {
        let mut rule = OneCommitter::default();
        assert_eq!(rule.takes_office((CLUSTER, Term::new(1)), (uid(1), voter(1))), Ok(()));
        assert_eq!(rule.takes_office((CLUSTER, Term::new(1)), (uid(1), voter(1))), Ok(()));
        assert_eq!(rule.takes_office((CLUSTER, Term::new(2)), (uid(2), voter(2))), Ok(()));
        assert!(rule.takes_office((CLUSTER, Term::new(1)), (uid(2), voter(2))).is_err());
    }
}
