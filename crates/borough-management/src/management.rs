//! The management of one node, while it runs.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use borough_actor::ActorRef;
use borough_cluster::{Node, NodeHandle};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::builder::{Entrance, ManagementBuilder};
use crate::bureau::Bureau;
use crate::error::ManagementError;
use crate::steward::{Order, Steward};
use crate::{chronicle, neighbours, routes, server};

/// Serves what a node knows of its cluster over HTTP, and takes orders for it.
///
/// It needs nothing of the other nodes; where they are managed too, orders for them and links to them work. It ends when it is dropped,
/// shut down, or with its node.
///
/// ```
/// # use borough_cluster::Node;
/// use borough_management::Management;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let node = Node::builder("bank").listen("127.0.0.1:0").start().await?;
/// let management = Management::builder(&node).listen("127.0.0.1:0").start().await?;
/// println!("look at http://{}", management.address());
/// # management.shutdown().await;
/// # node.leave().await?;
/// # Ok(()) }
/// ```
#[must_use = "dropping it ends the management of the node"]
pub struct Management {
    address: SocketAddr,
    closing: Arc<watch::Sender<bool>>,
    server: Option<JoinHandle<()>>,
    steward: ActorRef<Order>,
}

impl Management {
    /// Prepares the management of a node.
    pub fn builder(node: &Node) -> ManagementBuilder {
        ManagementBuilder::new(node)
    }

    pub(crate) fn start(node: NodeHandle, entrance: Entrance, told: String) -> Result<Self, ManagementError> {
        let steward = Steward::spawn(&node, told.clone())?;
        let closing = Arc::new(watch::Sender::new(false));
        let bureau = Bureau::new(node, told, closing.subscribe());
        let address = entrance.address;
        tracing::info!(%address, node = %bureau.node.node_id(), "management listens");
        tokio::spawn(chronicle::follow(bureau.clone()));
        tokio::spawn(neighbours::follow(bureau.clone()));
        let router = routes::router(&bureau, entrance.guard);
        let served = server::serve(entrance.listener, entrance.tls, router, closing.subscribe());
        tokio::spawn(end_with(steward.clone(), closing.clone()));
        Ok(Self { address, closing, server: Some(tokio::spawn(served)), steward })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it: nobody is let in any more, listeners of events are sent away, requests under way have a second. Cancel safe: once begun it
    /// goes on.
    pub async fn shutdown(mut self) {
        self.close();
        if let Some(server) = self.server.take() {
            // It neither panics nor is it aborted by anybody else; if the runtime ends, it is over too.
            let _ = server.await;
        }
        self.steward.stopped().await;
    }

    fn close(&self) {
        self.closing.send_replace(true);
        self.steward.stop();
    }
}

/// Ends management with its node: then its actor is gone.
async fn end_with(steward: ActorRef<Order>, closing: Arc<watch::Sender<bool>>) {
    steward.stopped().await;
    closing.send_replace(true);
}

impl Drop for Management {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Management {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Management").field("address", &self.address).finish_non_exhaustive()
    }
}
