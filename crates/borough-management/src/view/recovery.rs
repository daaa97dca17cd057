//! What a recovery of the cluster means.

use serde::{Deserialize, Serialize};

/// What the node that answers would do, if it were told to recover the cluster: `GET /api/recover`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    /// The node that would be the one voter of what it begins; all that lives there now ends.
    pub node: String,
    /// How it stands: `suspended`, or `seeking` if it has given up since.
    pub standing: String,
    /// The era of the cluster that cannot decide any more; `None` if the node was never a member of it, and then it knows of nothing that would be lost.
    pub era: Option<u32>,
    /// The era that would begin, or a later one.
    pub next_era: u32,
    /// How many voters there were.
    pub voters: usize,
    /// How many of them did not answer.
    pub voters_lost: usize,
    /// Other members that answered: they drop what they host, and join.
    pub kept: Vec<RecoveryMember>,
    /// Other members that did not: the operator confirms by the order that they are dead.
    pub given_up: Vec<RecoveryMember>,
    /// Whether the voters have data directories, so that one that is started again counts as before.
    pub durable: bool,
    /// Addresses that the node waits for and that do not answer, while it is in no cluster.
    pub silent: Vec<String>,
    /// How many shards begin anew: all that had an owner.
    pub shards: usize,
    /// How long nothing works after it has begun.
    pub wait_millis: u64,
    /// How many members must be there before anything works.
    pub minimum_members: usize,
    /// What the operator confirms by the order, in words.
    pub vouch: String,
}

/// A member that would be kept or given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryMember {
    /// What people call it; its address, if the node knows it from its data directory alone.
    pub node: String,
    /// Where it listens.
    pub address: String,
    /// Whether it is one of the voters.
    pub is_voter: bool,
}

/// The order to begin anew: the body of `POST /api/recover`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoverOrder {
    /// The node ids of those that are dead: at least all that would be given up.
    pub dead: Vec<String>,
}
