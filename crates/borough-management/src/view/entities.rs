//! Single entities.

use serde::{Deserialize, Serialize};

/// The entities that have most to do, and those that take longest: `GET /api/entities`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entities {
    /// Which node answers.
    pub seen_by: String,
    /// The busiest first.
    pub busiest: Vec<BusyEntity>,
    /// The slowest first.
    #[serde(default)]
    pub slowest: Vec<SlowEntity>,
}

/// One that has much to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusyEntity {
    /// Its type.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// Where it lives.
    pub node: String,
    /// How many messages wait for it.
    pub waiting: u64,
}

/// One of which a turn took long in the last minute, or takes long now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowEntity {
    /// Its type.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// Where that was.
    pub node: String,
    /// How long its longest turn took, or has taken so far, in nanoseconds.
    pub took_nanos: u64,
}

/// Where one entity lives, and why there: `GET /api/explain/{type}/{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// Its type.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// The shard of its id.
    pub shard: u32,
    /// Where it lives, or would; `None` if its shard has no owner now.
    pub node: Option<String>,
    /// Since which epoch that node owns the shard; text in JSON.
    #[serde(with = "super::digits")]
    pub epoch: u64,
    /// For how long, as the answering node saw it, in milliseconds.
    pub since_millis: Option<u64>,
    /// Why it is there, in words.
    pub why: String,
}

/// Which entities live in one shard, a thousand at a time: `GET /api/entities/{type}/{shard}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityIds {
    /// Their type.
    pub kind: String,
    /// The number of the shard.
    pub shard: u32,
    /// Since which epoch the shard lives where the answer is from, as text in JSON; 0 if it never had an owner.
    #[serde(with = "super::digits")]
    pub epoch: u64,
    /// The ids as they are written everywhere, in the order of their bytes.
    pub ids: Vec<String>,
    /// Where the next thousand begin, for `?after=`; `None` if there are no more.
    pub next: Option<String>,
}
