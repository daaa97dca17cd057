//! Who hosts what.

use serde::{Deserialize, Serialize};

/// The shards of every type, by the table of the node that answers: `GET /api/shards`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shards {
    /// Which node answers.
    pub seen_by: String,
    /// Each type, by name.
    pub kinds: Vec<ShardMap>,
}

/// The shards of one type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardMap {
    /// The type.
    pub kind: String,
    /// How many shards it has.
    pub shards: u32,
    /// Which nodes host it.
    pub hosts: Vec<String>,
    /// Each shard that has ever had an owner, by number.
    pub places: Vec<Place>,
}

/// Where one shard is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Its number.
    pub shard: u32,
    /// Who owns it; `None` while its last owner's lease is waited for.
    pub owner: Option<String>,
    /// Since which epoch; text in JSON.
    #[serde(with = "super::digits")]
    pub epoch: u64,
    /// To whom it is moving.
    pub moving_to: Option<String>,
}
