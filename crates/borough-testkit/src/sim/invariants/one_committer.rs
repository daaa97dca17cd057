//! In one term of one cluster one node commits, at most.

use std::collections::BTreeMap;

use borough_protocol::incarnation::Uid;
use borough_protocol::table::Cluster;
use borough_protocol::version::Term;

use crate::sim::violation::Violation;

/// Who committed in each term.
#[derive(Debug, Default)]
pub(super) struct OneCommitter {
    offices: BTreeMap<(Cluster, Term), Uid>,
}

impl OneCommitter {
    /// That node acts as the coordinator of that term.
    pub(super) fn takes_office(&mut self, office: (Cluster, Term), uid: Uid) -> Result<(), Violation> {
        let holder = *self.offices.entry(office).or_insert(uid);
        if holder == uid {
            return Ok(());
        }
        let text = format!("{holder:?} and {uid:?} both act in {:?} of {:?}", office.1, office.0);
        Err(Violation::Safety("one_committer", text))
    }

    /// Who acted as the coordinator of that term.
    pub(super) fn holder(&self, office: (Cluster, Term)) -> Option<Uid> {
        self.offices.get(&office).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::invariants::samples::{CLUSTER, uid};

    #[test]
    fn two_in_one_term_are_found() {
        let mut rule = OneCommitter::default();
        assert_eq!(rule.takes_office((CLUSTER, Term::new(1)), uid(1)), Ok(()));
        assert_eq!(rule.takes_office((CLUSTER, Term::new(1)), uid(1)), Ok(()));
        assert_eq!(rule.takes_office((CLUSTER, Term::new(2)), uid(2)), Ok(()));
        assert!(rule.takes_office((CLUSTER, Term::new(1)), uid(2)).is_err());
    }
}
