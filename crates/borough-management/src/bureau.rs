//! What all parts of one node's management share.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use borough_cluster::NodeHandle;
use tokio::sync::{Semaphore, watch};

use crate::chronicle::Chronicle;
use crate::look::StatsDesk;
use crate::neighbours::Neighbours;

/// How many may listen to events at once. Each costs a connection and nothing more.
pub(crate) const LISTENERS: usize = 64;

/// See the module.
pub(crate) struct Bureau {
    pub(crate) node: NodeHandle,
    /// Where this management is reached.
    pub(crate) told: String,
    pub(crate) chronicle: Chronicle,
    pub(crate) neighbours: Neighbours,
    pub(crate) stats: StatsDesk,
    pub(crate) listeners: Arc<Semaphore>,
    /// Whether management ends.
    pub(crate) closing: watch::Receiver<bool>,
}

impl Bureau {
    pub(crate) fn new(node: NodeHandle, told: String, closing: watch::Receiver<bool>) -> Arc<Self> {
        Arc::new(Self {
            chronicle: Chronicle::new(node.node_id().to_string(), node.uid()),
            node,
            told,
            neighbours: Neighbours::default(),
            stats: StatsDesk::default(),
            listeners: Arc::new(Semaphore::new(LISTENERS)),
            closing,
        })
    }

    /// What this node is called.
    pub(crate) fn name(&self) -> String {
        self.node.node_id().to_string()
    }

    /// Whether this node has a data directory, as then all nodes of its cluster have.
    pub(crate) fn is_durable(&self) -> bool {
        self.node.data_directory().is_some()
    }

    /// Ready once management ends.
    pub(crate) async fn closed(&self) {
        // Whoever would say so is gone: it has ended too.
        let _ = self.closing.clone().wait_for(|closing| *closing).await;
    }
}

/// What time it is, in milliseconds since 1970.
pub(crate) fn now_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
