//! Recovery of a cluster when most of its voters are lost for good: a dry run, and the order.

use std::time::Duration;

use borough_protocol::incarnation::{Address, Incarnation, NodeId};
use borough_protocol::node::{Command, NoRecovery};
use borough_protocol::table::Cluster;
use tokio::time::timeout;

use super::{Node, RecoverError};
use crate::topology::{Standing, TopologySnapshot};

/// How long the next life may take to begin. It waits for nobody but its discovery, and for that not long.
const BEGIN_BOUND: Duration = Duration::from_secs(8);

/// What [`Node::recover`] would do: the dry run.
///
/// Whoever orders it vouches that the nodes in [`given_up`](Self::given_up) are dead and stay dead, and that no others of this cluster live where this
/// node cannot hear them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecoveryPlan {
    /// The node that would recover the cluster, as its one voter.
    pub node_id: NodeId,
    /// Which life it lives now: that ends, and all it hosts with it.
    pub incarnation: Incarnation,
    /// How it stands: suspended, or seeking because it has given up since.
    pub standing: Standing,
    /// The founding that cannot decide any more; `None` if this process never was a member of one, and then nothing below is known of it.
    pub cluster: Option<Cluster>,
    /// The era that would begin, at least: higher than any this node knows of.
    pub era: u32,
    /// Other members that answered when they were last asked: each drops what it hosts and joins, as a new life.
    pub kept: Vec<RecoveryMember>,
    /// Other members that did not, or were not asked: all of them, if this node fell out of a cluster that went on.
    pub given_up: Vec<RecoveryMember>,
    /// How many voters there were, this node among them if it was one.
    pub voters: usize,
    /// How many of them did not answer.
    pub voters_lost: usize,
    /// Whether the voters keep their votes in data directories: then one that is started again with its directory counts as before. Where they do not, it does not,
    /// and the nodes that are left drop their state for the cluster that is founded instead.
    pub durable: bool,
    /// While this node is in no cluster: addresses that it waits for and that do not answer.
    pub silent: Vec<Address>,
    /// How many shards had an owner: every one of them begins anew, wherever it lived.
    pub shards: usize,
    /// How long nothing works after it has begun: until every lease of the cluster before is over.
    pub wait: Duration,
    /// How many members there must be before the first of them works, as in any founding.
    pub minimum_members: usize,
}

/// A member that would be kept or given up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecoveryMember {
    /// What people call it; its address, if this node knows it from its data directory alone.
    pub node_id: NodeId,
    /// Where it listened.
    pub address: Address,
    /// Whether it is one of the voters.
    pub is_voter: bool,
}

impl Node {
    /// What [`recover`](Self::recover) would do now, as this node knows it; nothing is changed.
    ///
    /// Refused with the reason while there is nothing to recover: this node has its lease, a majority of the voters answers it, or it has only begun to
    /// look for its cluster.
    pub fn recovery_plan(&self) -> Result<RecoveryPlan, RecoverError> {
        let now = self.shared.topology.current();
        let refused = |why| RecoverError::Refused { node_id: now.node_id.clone(), why };
        self.shared.outlook.plan(&now).map_err(refused)
    }

    /// Recovers the cluster on this node, after most of its voters were lost for good. For operators, and a last resort: bring the voters back if they can be.
    ///
    /// Whoever calls it vouches that the members named `dead` are. Every member that [`recovery_plan`](Self::recovery_plan) gives up must be named; others may be.
    /// This life of the node ends, and all it hosts with it; the next founds the cluster as its one voter, in a higher era. It works once every lease of the cluster
    /// before is over. Members that are left meet it, drop what they host and join. No state in memory outlives it, on any node.
    ///
    /// If a member that was called dead lives, nothing runs twice as long as it belongs to no majority, for then it has no lease. If it does, it is the cluster: where this node
    /// can reach it in time the new founding yields to it before it works. Where it cannot, both work until they meet, and then the new founding yields; what checks epochs, as a store
    /// with a [`Fence`](crate::Fence), takes the newer alone.
    ///
    /// Gives the plan it went by, once the new founding has begun. Fails with the reason if it has not; then nothing was changed, but for the last two errors. Cancel safe: once
    /// ordered it goes on.
    pub async fn recover<D: AsRef<str>>(&self, dead: &[D]) -> Result<RecoveryPlan, RecoverError> {
        let plan = self.recovery_plan()?;
        let is_named =
            |member: &&RecoveryMember| dead.iter().any(|name| name.as_ref() == member.node_id.as_str());
        if let Some(member) = plan.given_up.iter().find(|member| !is_named(member)) {
            return Err(RecoverError::Unvouched { node_id: member.node_id.clone() });
        }
        self.command(Command::Recover).await.map_err(|()| RecoverError::Stopped)?;
        let is_decided = |now: &TopologySnapshot| outcome(&plan, now).is_some();
        let decided = timeout(BEGIN_BOUND, self.shared.topology.wait_until(is_decided)).await;
        let now = decided.map_err(|_| RecoverError::NotBegun)?.map_err(|_| RecoverError::Stopped)?;
        outcome(&plan, &now).unwrap_or(Err(RecoverError::NotBegun)).map(|()| plan)
    }
}

/// What became of the order that was given by that plan; nothing yet, if it cannot be told.
fn outcome(plan: &RecoveryPlan, now: &TopologySnapshot) -> Option<Result<(), RecoverError>> {
    let me = now.incarnation.uid;
    if me == plan.incarnation.uid {
        // It had its lease again before the order came: the life that the plan speaks of goes on, whoever founded its cluster.
        let why = NoRecovery::Runs;
        let refused = RecoverError::Refused { node_id: plan.node_id.clone(), why };
        return (now.standing == Standing::Member).then_some(Err(refused));
    }
    let is_ours = now.cluster?.founder == me;
    Some(if is_ours { Ok(()) } else { Err(RecoverError::Lives) })
}

#[cfg(test)]
mod tests {
    use borough_protocol::incarnation::Uid;

    use super::*;

    fn life(uid: u64, standing: Standing, founder: Option<u64>) -> TopologySnapshot {
        let incarnation = Incarnation { address: Address::new("a:1"), uid: Uid::new(uid).unwrap() };
        let mut now = TopologySnapshot::alone(NodeId::new("a"), incarnation);
        now.standing = standing;
        now.cluster = founder.map(|founder| Cluster { name: 7, era: 9, founder: Uid::new(founder).unwrap() });
        now
    }

    fn plan() -> RecoveryPlan {
        let TopologySnapshot { node_id, incarnation, standing, cluster, .. } =
            life(1, Standing::Suspended, Some(1));
        RecoveryPlan {
            node_id,
            incarnation,
            standing,
            cluster,
            era: 10,
            kept: Vec::new(),
            given_up: Vec::new(),
            voters: 2,
            voters_lost: 1,
            durable: false,
            silent: Vec::new(),
            shards: 0,
            wait: Duration::ZERO,
            minimum_members: 1,
        }
    }

    #[test]
    fn a_founder_that_had_its_lease_again_before_the_order_came_recovered_nothing() {
        let refused = outcome(&plan(), &life(1, Standing::Member, Some(1)));
        assert!(
            matches!(refused, Some(Err(RecoverError::Refused { why: NoRecovery::Runs, .. }))),
            "{refused:?}"
        );
    }

    #[test]
    fn the_next_life_tells_by_whose_cluster_it_is_in() {
        assert_eq!(outcome(&plan(), &life(1, Standing::Suspended, Some(1))), None);
        assert_eq!(outcome(&plan(), &life(2, Standing::Seeking, None)), None);
        assert_eq!(outcome(&plan(), &life(2, Standing::Joining, Some(2))), Some(Ok(())));
        assert_eq!(outcome(&plan(), &life(2, Standing::Joining, Some(3))), Some(Err(RecoverError::Lives)));
    }
}
