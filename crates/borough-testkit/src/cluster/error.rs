//! What can go wrong with the cluster of a test.

use borough_cluster::{LeaveError, ShardError, StartError};

/// Why the cluster of a test is not as it should be. The nodes that run go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TestClusterError {
    /// It was to have no nodes.
    #[error("a cluster has at least one node")]
    Empty,
    /// A node could not be started.
    #[error("node {node} does not start: {source}")]
    Start {
        /// Which.
        node: usize,
        /// Why.
        source: StartError,
    },
    /// A type of entities could not be started on a node.
    #[error("a type does not start on node {node}: {source}")]
    Shard {
        /// Which node.
        node: usize,
        /// Why.
        source: ShardError,
    },
    /// There is no such node, or it has crashed or left.
    #[error("there is no node {node} now: start it with `restart`, or one more with `join`")]
    NotRunning {
        /// Which.
        node: usize,
    },
    /// A node did not leave in order; it is gone all the same, as if it had crashed.
    #[error("node {node} did not leave in order: {source}")]
    Leave {
        /// Which.
        node: usize,
        /// Why.
        source: LeaveError,
    },
    /// The nodes that run did not become one cluster in two minutes: the network is cut, or too many were lost at once.
    #[error("the nodes did not form one cluster within two minutes: {why}")]
    NotFormed {
        /// Who sees what.
        why: String,
    },
}
