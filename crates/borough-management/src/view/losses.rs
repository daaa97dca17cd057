//! What a node dropped because it gave up its part in a cluster.

use serde::{Deserialize, Serialize};

/// One loss, as an event has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateLoss {
    /// `yielded` to another cluster of its name, `voters-gone`, `removed`, `recovered` by order, or `other`.
    pub reason: String,
    /// The cluster that the node yielded to, as its log has it; `None` for any other reason.
    pub yielded_to: Option<String>,
    /// How many shards the node dropped.
    pub shards: u64,
    /// How many entities it dropped; `None` if they could not be counted in time.
    pub entities: Option<u64>,
}

/// All losses of one node for one reason, since its process started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateLossCount {
    /// As in [`StateLoss::reason`].
    pub reason: String,
    /// How often.
    pub times: u64,
    /// How many shards, all together.
    pub shards: u64,
    /// How many entities, all together, of those that were counted in time.
    pub entities: u64,
    /// How often the entities could not be counted in time: then there were more.
    pub uncounted: u64,
}
