//! How much there is, and how much happens.

use serde::{Deserialize, Serialize};

use super::losses::StateLossCount;

/// What lives and happens on each node: `GET /api/stats`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Which node answers.
    pub seen_by: String,
    /// When the nodes were asked, in milliseconds since 1970 by its clock: rates are made of two answers.
    pub at_millis: u64,
    /// Each node that answered, by name.
    pub nodes: Vec<NodeStats>,
    /// Each node that did not, and why.
    pub missing: Vec<Count<String>>,
}

/// Of one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeStats {
    /// Which.
    pub node: String,
    /// Each type that was started there, by name.
    pub kinds: Vec<KindStats>,
    /// What it dropped, since its process started, because it gave up its part in a cluster; the reasons that occurred.
    #[serde(default)]
    pub state_losses: Vec<StateLossCount>,
    /// How its data directory does; `None` if it has none.
    #[serde(default)]
    pub data_directory: Option<DataDirectory>,
}

/// The data directory of one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataDirectory {
    /// Where it is.
    pub path: String,
    /// Whether it takes writes: `works`, `stuck` (the disk neither answers nor fails) or `failed` (a write failed).
    pub state: String,
    /// What is wrong, and what to do, if it does not take writes.
    pub trouble: Option<String>,
    /// How long ago the disk last took a write, in milliseconds. A disk that works takes one every 2 s.
    pub silent_millis: u64,
    /// How long the last write took, with its sync, in nanoseconds.
    pub last_write_nanos: u64,
    /// How long the longest write took, with its sync, since the process started.
    pub longest_write_nanos: u64,
    /// How often the disk was stuck since the process started.
    pub stalls: u64,
}

/// Of one type on one node. Counts go on from the start of its process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindStats {
    /// The type.
    pub kind: String,
    /// Whether its entities can live there.
    pub hosts: bool,
    /// How many shards live there.
    pub shards: u64,
    /// How many entities live there.
    pub entities: u64,
    /// Messages that entities there have handled.
    pub handled: u64,
    /// Messages that wait there for a way, now.
    pub held: u64,
    /// Messages sent on from there, because their shard had moved.
    pub forwarded: u64,
    /// What waits there to be sent on, now: messages and barriers whose shard has moved, and parts of shards that move.
    #[serde(default)]
    pub forwards_waiting: u64,
    /// Messages refused there, by reason.
    pub refused: Vec<Count<u64>>,
    /// Messages dropped there, by reason.
    pub dropped: Vec<Count<u64>>,
    /// What moved.
    pub moves: Moves,
    /// How long turns took there of late.
    #[serde(default)]
    pub turns: Turns,
    /// How often a worker there did not answer for 15 s.
    #[serde(default)]
    pub wedged: u64,
    /// Handlers there that ran on for longer than `max_pause` after the lease was over.
    #[serde(default)]
    pub overran: u64,
}

/// How long turns took, each from its beginning to its end: in the last 10 to 20 s, by samples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turns {
    /// How many were timed. If none was, the others are zero.
    pub samples: u64,
    /// Half of all turns took no longer, in nanoseconds; at most a quarter too long.
    pub p50_nanos: u64,
    /// 99 of 100 turns took no longer; at most a quarter too long.
    pub p99_nanos: u64,
    /// The longest that was timed.
    pub longest_nanos: u64,
}

/// Shards that came and went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moves {
    /// To this node.
    pub arrived: u64,
    /// From it.
    pub departed: u64,
    /// Not, after all.
    pub called_off: u64,
    /// How long the longest took, in milliseconds.
    pub longest_millis: u64,
}

/// A value with a name: a reason and how often, a node and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count<T> {
    /// The name.
    pub name: String,
    /// The value.
    pub value: T,
}
