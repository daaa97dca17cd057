//! Says which settings are of types that nobody has started. A name that is misspelt would otherwise leave no trace: the type begins with its defaults.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::{Node, NodeHandle};
use crate::topology::{Standing, TopologySnapshot};

/// How long a node is a member before it looks: types may be started late, and on other nodes.
const PATIENCE: Duration = Duration::from_secs(60);

impl Node {
    /// Has it looked for them, once, when the node has been a member for a while.
    pub(super) fn look_for_strays(&self) {
        if self.ledger.strays(&[]).is_empty() {
            return;
        }
        let (node, ended) = (self.node_handle(), self.shared.ending());
        tokio::spawn(async move {
            tokio::select! {
                () = ended => {}
                () = look(&node) => {}
            }
        });
    }
}

async fn look(node: &NodeHandle) {
    let is_member = |topology: &TopologySnapshot| topology.standing == Standing::Member;
    // Who is no member any more does not know what others have started.
    while node.topology().wait_until(is_member).await.is_ok() {
        sleep(PATIENCE).await;
        if is_member(&node.topology().current()) {
            let started: Vec<Arc<str>> = node.shard_maps().into_iter().map(|map| map.kind).collect();
            for stray in node.ledger.strays(&started) {
                tracing::warn!("settings without a type: {stray}");
            }
            return;
        }
    }
}
