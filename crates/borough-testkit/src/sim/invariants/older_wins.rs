//! A node of a cluster that works yields only to an older cluster.
//!
//! What the younger of two has acknowledged is less than what the older has. A cluster that an operator had begun anew by mistake yields as well.

use crate::sim::meeting::Meeting;
use crate::sim::violation::Violation;

/// The node yields.
pub(super) fn yields(meeting: &Meeting) -> Result<(), Violation> {
    let Meeting { uid, ours, works, theirs } = meeting;
    if !works || theirs.cluster < *ours {
        return Ok(());
    }
    let text =
        format!("{uid:?} has a lease of {ours:?} and yields to {:?}, which is younger", theirs.cluster);
    Err(Violation::Safety("older_wins", text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::invariants::samples::{CLUSTER, meeting};

    #[test]
    fn a_working_node_yields_to_an_older_cluster_only() {
        let (older, younger) = (meeting(CLUSTER.era - 1, true), meeting(CLUSTER.era + 1, true));
        assert!(yields(&older).is_ok());
        assert!(matches!(yields(&younger), Err(Violation::Safety("older_wins", _))));
        assert!(yields(&meeting(CLUSTER.era + 1, false)).is_ok());
    }
}
