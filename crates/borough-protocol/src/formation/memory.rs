//! What a process remembers of the cluster that it was in last.

use alloc::sync::Arc;

use crate::incarnation::{Address, Incarnation, Uid};
use crate::table::{Ancestors, Cluster};
use crate::voters::Voters;

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
    pub places: Arc<[Incarnation]>,
}

impl Memory {
    /// Where its voters listen.
    pub fn addresses(&self) -> impl Iterator<Item = &Address> {
        self.places.iter().map(|voter| &voter.address)
    }

    /// Whether those voters together could go on with the cluster.
    pub fn can_go_on(&self, have: impl Fn(Uid) -> bool) -> bool {
        self.voters.quorum(have)
    }

    /// The founding itself and those it succeeded, for one that succeeds it.
    pub fn lineage(&self) -> impl Iterator<Item = Cluster> + '_ {
        self.ancestors.iter().chain([self.cluster])
    }
}
