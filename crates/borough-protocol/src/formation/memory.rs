//! What a process remembers of the cluster that it was in last.

use alloc::sync::Arc;

use crate::incarnation::{Address, Uid};
use crate::table::{Ancestors, Cluster, Table};
use crate::voters::{VoterId, Voters};

/// A cluster as one that was in it remembers it: which founding, and the newest list of its voters that was seen there.
///
/// It lives as long as the process. A process that remembers nothing is *fresh*.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Memory {
    /// Which founding.
    pub cluster: Cluster,
    /// The foundings that it succeeded.
    pub ancestors: Ancestors,
    /// The newest lists of voters.
    pub voters: Voters,
    /// Where these voters listen, as far as it is known.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::shared"))]
    pub places: Arc<[(VoterId, Address)]>,
    /// Whether its voters keep their votes and logs over restarts: then it can go on as long as their disks are not lost.
    pub durable: bool,
}

impl Memory {
    /// Of the cluster of that table.
    pub fn of_table(table: &Table, durable: bool) -> Self {
        let voters = table.voters().clone();
        let place = |voter| Some((voter, table.member_of(voter)?.incarnation.address.clone()));
        Self {
            cluster: table.cluster(),
            ancestors: table.ancestors().clone(),
            places: voters.all().filter_map(place).collect(),
            voters,
            durable,
        }
    }

    /// Where its voters listen.
    pub fn addresses(&self) -> impl Iterator<Item = &Address> {
        self.places.iter().map(|(_, address)| address)
    }

    /// Whether those lives together could go on with the cluster.
    pub fn can_go_on(&self, lives: impl Fn(Uid) -> bool) -> bool {
        self.durable || self.voters.quorum(|voter| Uid::new(voter.get()).is_some_and(&lives))
    }

    /// The founding itself and those it succeeded, for one that succeeds it.
    pub fn lineage(&self) -> impl Iterator<Item = Cluster> + '_ {
        self.ancestors.iter().chain([self.cluster])
    }
}
