//! What a type of entities is set to, as data.

use std::time::Duration;

use borough_protocol::sharding::{Allocation, Hashing};
use borough_wire::codec::CodecId;

use crate::sharding::{
    DEFAULT_HANDOFF_TIMEOUT, DEFAULT_HOLD_BYTES, DEFAULT_HOLD_LIMIT, DEFAULT_SHARDS,
    DEFAULT_TRANSFER_TIMEOUT, Passivation,
};

/// See the module. Its default is the documented one.
#[derive(Clone, Debug)]
pub(crate) struct KindOptions {
    pub(crate) shards: u32,
    pub(crate) role: Option<String>,
    pub(crate) hash: Hashing,
    pub(crate) allocation: Allocation,
    pub(crate) min_regions: u32,
    /// Unset, that of the node.
    pub(crate) codec: Option<CodecId>,
    pub(crate) hold_limit: usize,
    pub(crate) hold_bytes: usize,
    pub(crate) passivate_after: Option<Duration>,
    pub(crate) max_entities: Option<usize>,
    pub(crate) passivation: Passivation,
    pub(crate) handoff_timeout: Duration,
    pub(crate) transfer_timeout: Duration,
}

impl Default for KindOptions {
    fn default() -> Self {
        Self {
            shards: DEFAULT_SHARDS,
            role: None,
            hash: Hashing::Xxh3,
            allocation: Allocation::LeastShards { absolute: 0, percent: 10 },
            min_regions: 1,
            codec: None,
            hold_limit: DEFAULT_HOLD_LIMIT,
            hold_bytes: DEFAULT_HOLD_BYTES,
            passivate_after: None,
            max_entities: None,
            passivation: Passivation::default(),
            handoff_timeout: DEFAULT_HANDOFF_TIMEOUT,
            transfer_timeout: DEFAULT_TRANSFER_TIMEOUT,
        }
    }
}
