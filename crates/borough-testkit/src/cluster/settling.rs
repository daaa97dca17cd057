//! Whether those who vote are chosen.
//!
//! New members do not vote at once, and until they do the loss of a single node may stop a cluster. A test that crashes nodes must not begin before.

use std::collections::BTreeSet;
use std::time::Duration;

use borough_cluster::{Node, VoterId};
use tokio::time::Instant;

use super::TestCluster;

/// Those who vote do not change any more after so long: members are chosen to vote after five seconds, unless it is set otherwise.
const UNCHANGED: Duration = Duration::from_secs(8);
/// The most who vote, unless it is set otherwise.
const VOTERS_MAX: usize = 5;

/// Who voted when it was last looked, and since when.
pub(super) struct Settling {
    voters: BTreeSet<VoterId>,
    since: Instant,
}

impl Settling {
    pub(super) fn new() -> Self {
        Self { voters: BTreeSet::new(), since: Instant::now() }
    }

    /// Why those who vote in a whole cluster are not chosen yet. As many as there should be by default are enough; with other settings they must have been
    /// the same for long.
    pub(super) fn not_settled(&mut self, cluster: &TestCluster) -> Option<String> {
        let running: BTreeSet<_> = cluster.nodes.iter().flatten().map(Node::uid).collect();
        let mut agreed = None;
        for (number, node) in
            cluster.nodes.iter().enumerate().filter_map(|(n, node)| Some((n, node.as_ref()?)))
        {
            let topology = node.topology().current();
            let voters = &topology.voters;
            let runs = |voter: &VoterId| {
                let member = topology.members.iter().find(|member| member.voter() == *voter);
                member.is_some_and(|member| running.contains(&member.incarnation.uid))
            };
            let is_under_way = !voters.next.is_empty() || !voters.now.iter().all(runs);
            if is_under_way || *agreed.get_or_insert_with(|| voters.now.clone()) != voters.now {
                return Some(format!("node-{number} sees a change of those who vote"));
            }
        }
        let voters = agreed.unwrap_or_default();
        if voters != self.voters {
            self.voters = voters;
            self.since = Instant::now();
        }
        let odd = |count: usize| count.saturating_sub((count + 1) % 2);
        let is_full = self.voters.len() == odd(running.len().min(VOTERS_MAX));
        let is_old = self.since.elapsed() >= UNCHANGED;
        (!is_full && !is_old).then(|| format!("{} of {} vote", self.voters.len(), running.len()))
    }
}
