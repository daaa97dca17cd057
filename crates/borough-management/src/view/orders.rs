//! What a node can be told to do, and what it says to that.

use serde::{Deserialize, Serialize};

/// Where a shard is to live: the body of `POST /api/move`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveOrder {
    /// The type.
    pub kind: String,
    /// Which of its shards.
    pub shard: u32,
    /// The node it is to live on.
    pub node: String,
}

/// An order was taken, with status 202: what happens now. It is not done yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// In one sentence.
    pub accepted: String,
}

/// Why something was not answered, or not done: the body of every status from 400 on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// For programs: one of a few fixed words, as `unknown-node`.
    pub error: String,
    /// What is wrong, in a sentence.
    pub what: String,
    /// What to do about it.
    #[serde(rename = "try")]
    pub advice: String,
}
