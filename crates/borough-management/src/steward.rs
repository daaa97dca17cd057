//! The actor by which the managements of a cluster reach each other.
//!
//! It stands at [`PATH`] on each node that is managed. Orders to a node without it are refused with words; nothing else in a cluster needs it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use borough_actor::{Actor, ActorRef, Context, Fault, Reply};
use borough_cluster::{Node, NodeHandle};
use serde::{Deserialize, Serialize};

use crate::error::ManagementError;

/// What it is called on every node.
const NAME: &str = "borough-management";
/// Where it is found.
pub(crate) const PATH: &str = "/borough-management";

/// What one management says to another. Variants are added at the end and never change: nodes of several versions speak it.
#[derive(Serialize, Deserialize)]
pub(crate) enum Order {
    /// Where does your management listen?
    Where(Reply<String>),
    /// Leave the cluster; answered as it begins.
    Leave(Reply<()>),
    /// Give away what lives on you; answered as it begins.
    Drain(Reply<()>),
}

/// See the module.
pub(crate) struct Steward {
    node: NodeHandle,
    told: String,
    drains: Arc<AtomicBool>,
}

impl Steward {
    /// Starts it, for others to find.
    pub(crate) fn spawn(node: &NodeHandle, told: String) -> Result<ActorRef<Order>, ManagementError> {
        let refused = |why: String| ManagementError::Node { node: node.node_id().to_string(), why };
        let (handle, drains) = (node.clone(), Arc::new(AtomicBool::new(false)));
        let make = move || Self { node: handle.clone(), told: told.clone(), drains: drains.clone() };
        let steward = node.actor(make).name(NAME).spawn().map_err(|error| refused(error.to_string()))?;
        if let Err(error) = node.expose(&steward) {
            steward.stop();
            return Err(refused(error.to_string()));
        }
        Ok(steward)
    }
}

impl Actor for Steward {
    type Msg = Order;

    async fn receive(&mut self, order: Order, _: &mut Context<Self>) -> Result<(), Fault> {
        match order {
            Order::Where(reply) => reply.send(self.told.clone()),
            Order::Leave(reply) => {
                leave(&self.node);
                reply.send(());
            }
            Order::Drain(reply) => {
                drain(&self.node, &self.drains);
                reply.send(());
            }
        }
        Ok(())
    }
}

/// Begins to leave; goes on by itself.
fn leave(node: &Node) {
    let node = node.node_handle();
    tokio::spawn(async move {
        if let Err(error) = node.leave().await {
            tracing::warn!(%error, "was told to leave and did not");
        }
    });
}

/// Begins to give everything away; goes on by itself. A second order while the first is under way adds nothing.
fn drain(node: &Node, drains: &Arc<AtomicBool>) {
    if drains.swap(true, Ordering::Relaxed) {
        return;
    }
    let (node, drains) = (node.node_handle(), drains.clone());
    tokio::spawn(async move {
        if let Err(error) = node.drain().await {
            tracing::warn!(%error, "was told to drain and did not");
        }
        drains.store(false, Ordering::Relaxed);
    });
}
