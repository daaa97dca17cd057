//! Reads a snapshot off the machine.

use borough_protocol::incarnation::NodeId;
use borough_protocol::node;

use super::snapshot::{Member, Standing, TopologySnapshot};

/// What the machine knows at the moment.
pub(super) fn survey(
    machine: &node::Node,
    node_id: &NodeId,
    standing: Standing,
    before: &TopologySnapshot,
) -> TopologySnapshot {
    let mut snapshot = TopologySnapshot::alone(node_id.clone(), before.incarnation.clone());
    snapshot.standing = standing;
    let (Some(table), Some(document)) = (machine.table(), machine.document()) else { return snapshot };
    snapshot.cluster = Some(table.cluster());
    snapshot.version = table.version();
    snapshot.voters = table.voters().clone();
    snapshot.coordinator = machine.coordinator();
    // Who is shown as waiting for a coordinator is a matter of taste; where none is known to this node, that says little.
    snapshot.members = document
        .view(true)
        .into_iter()
        .map(|listed| Member {
            incarnation: listed.member.incarnation.clone(),
            state: listed.shown,
            is_reachable: !listed.unreachable,
            admission: listed.member.is_admitted().then_some(listed.member.admission),
            facts: listed.member.facts.clone(),
        })
        .collect();
    snapshot.members.sort_by_key(|member| (member.admission.is_none(), member.admission, member.uid()));
    snapshot
}
