//! What happens in the cluster, as this node sees it: numbered, and the last of it kept.
//!
//! ```text
//! topology snapshots --differences--+
//!                                   +--> ring of the last events --> each listener at its own pace
//! shard events ---------words-------+
//! data directory -------words-------+
//! ```
//! Promise: numbers have no gaps. Who is slow, or away for a while, goes on where it was, or is told how many it missed. Who comes from another chronicle, as
//! that of the node's last process, is told that this is another one, and begins with the first event that is kept.

mod differences;
mod ring;
#[cfg(test)]
mod tests;
mod words;

use std::future::pending;
use std::sync::Arc;

use borough_cluster::{DataDirectoryState, Node, Topology, TopologySnapshot};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

pub(crate) use self::ring::Chronicle;
use self::words::Names;
use crate::bureau::Bureau;

/// Writes down what happens, until management or the node ends.
pub(crate) async fn follow(bureau: Arc<Bureau>) {
    let mut topology = bureau.node.topology();
    let shards = bureau.node.shard_events();
    tokio::select! {
        () = bureau.closed() => {}
        () = listen(&bureau.chronicle, &mut topology, shards) => {}
        () = watch_disk(&bureau.chronicle, &bureau.node) => {}
    }
}

/// Writes down when the data directory takes no writes, also if it took none before, and when it takes them again. Never ready.
async fn watch_disk(chronicle: &Chronicle, node: &Node) {
    let Some(mut states) = node.data_directory_states() else { return pending().await };
    let mut told = DataDirectoryState::Works;
    loop {
        let now = states.borrow_and_update().clone();
        if now != told
            && let Some(data) = node.data_directory()
        {
            chronicle.write(words::of_disk(node.node_id().as_str(), &data));
            told = now;
        }
        // The node has it as long as it is held.
        if states.changed().await.is_err() {
            return pending().await;
        }
    }
}

async fn listen(
    chronicle: &Chronicle,
    topology: &mut Topology,
    mut shards: broadcast::Receiver<borough_cluster::ShardEvent>,
) {
    let mut names = Names::default();
    let mut seen: Arc<TopologySnapshot> = topology.current();
    names.learn(&seen);
    let mut has_topology = true;
    loop {
        tokio::select! {
            biased;
            changed = topology.changed(), if has_topology => match changed {
                Ok(now) => {
                    names.learn(&now);
                    for news in differences::between(&seen, &now, &names) {
                        chronicle.write(news);
                    }
                    seen = now;
                }
                Err(_) => has_topology = false,
            },
            event = shards.recv() => match event {
                Ok(event) => {
                    // Whoever is named may have come with the newest snapshot.
                    let now = topology.current();
                    names.learn(&now);
                    chronicle.write(words::of_shard(&event, &names, now.node_id.as_str()));
                }
                Err(RecvError::Lagged(count)) => chronicle.write(words::of_missed(count)),
                Err(RecvError::Closed) => return,
            },
        }
    }
}
