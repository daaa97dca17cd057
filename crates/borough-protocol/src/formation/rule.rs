//! When a node may found a cluster: what its owner says of its list of seeds.

use core::time::Duration;

/// How long a discovered list must stay the same before a node founds by it.
pub(super) const DISCOVERED_FOR: Duration = Duration::from_secs(5);

/// How many addresses of the list must answer that they are in no cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FoundWith {
    /// Every address of the list.
    #[default]
    All,
    /// More than half of them. Two parts of a cluster that cannot reach each other may then run at the same time.
    Majority,
    /// The node never founds. It only joins.
    Never,
}

/// When a node may found a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FoundingRule {
    /// How many addresses must answer.
    pub with: FoundWith,
    /// The list is discovered, and nobody knows whether it is complete: so many nodes, this one included, must answer that they are in no
    /// cluster, and the list must have been the same for 5 s.
    pub expect: Option<usize>,
    /// Nobody else can know the node's address: with no other address in its list it founds, and acts, at once.
    pub unknown_to_others: bool,
}
