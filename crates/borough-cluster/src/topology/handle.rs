//! What a user holds of the topology.

use std::collections::BTreeMap;
use std::sync::Arc;

use borough_actor::ActorRef;
use borough_protocol::incarnation::Uid;
use borough_protocol::settings::Refusal;
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::snapshot::{Standing, TopologySnapshot};
use super::subscription;
use super::suspicions::Suspicions;

/// What a node knows of its cluster, now and as it changes. Clones look at the same, each with its own memory of what it has seen.
#[derive(Clone, Debug)]
pub struct Topology {
    newest: watch::Receiver<Arc<TopologySnapshot>>,
    suspicions: Arc<Suspicions>,
    /// Where those who feed actors run.
    runtime: Handle,
}

/// The node has no part in a cluster any more and looks for none, so what was waited for will not come.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Ended {
    /// Its settings are not those of the cluster it found.
    #[error("the cluster does not take this node: {0}")]
    Refused(#[source] Refusal),
    /// It left, its cluster was shut down, or it was stopped.
    #[error("the node is {0}: it waits for no members any more")]
    Over(Standing),
}

impl Topology {
    pub(super) fn new(
        newest: watch::Receiver<Arc<TopologySnapshot>>,
        suspicions: Arc<Suspicions>,
        runtime: Handle,
    ) -> Self {
        Self { newest, suspicions, runtime }
    }

    /// The newest snapshot. It takes a lock for a moment and never waits.
    pub fn current(&self) -> Arc<TopologySnapshot> {
        self.newest.borrow().clone()
    }

    /// How suspicious the silence of each member is that this node watches: phi, as it was half a second ago at most. A member is called
    /// unreachable at phi 8, unless it was set otherwise; with a detector that has one bound alone it is 0, then infinite.
    ///
    /// Each member watches a few others, not all of them. Nobody is watched once the node has ended.
    pub fn suspicions(&self) -> BTreeMap<Uid, f64> {
        self.suspicions.read()
    }

    /// Waits for a snapshot that this handle has not given out by `changed` yet, and gives the newest; several changes may be merged into one.
    ///
    /// Fails once the node has ended and the last snapshot was given. Cancel safe.
    pub async fn changed(&mut self) -> Result<Arc<TopologySnapshot>, Ended> {
        match self.newest.changed().await {
            Ok(()) => Ok(self.newest.borrow_and_update().clone()),
            Err(_) => Err(Ended::of(&self.newest.borrow().standing)),
        }
    }

    /// Waits until a snapshot is as wanted, and gives it; at once if the newest is. Cancel safe.
    ///
    /// Fails once the node has ended.
    pub async fn wait_until(
        &self,
        mut wanted: impl FnMut(&TopologySnapshot) -> bool,
    ) -> Result<Arc<TopologySnapshot>, Ended> {
        let mut newest = self.newest.clone();
        let found = newest.wait_for(|snapshot| snapshot.standing.is_final() || wanted(snapshot)).await;
        match found {
            Ok(snapshot) if !snapshot.standing.is_final() => Ok(snapshot.clone()),
            Ok(snapshot) => Err(Ended::of(&snapshot.standing)),
            Err(_) => Err(Ended::of(&self.newest.borrow().standing)),
        }
    }

    /// Has the snapshots sent to an actor: the newest at once, then each change, until the actor or the node ends.
    ///
    /// An actor that is slow is not flooded: while its mailbox is full, changes are merged, and it gets the newest once there is room.
    /// An actor with messages of another type subscribes an adapter: see [`Context::adapter`](borough_actor::Context::adapter).
    pub fn subscribe(&self, actor: ActorRef<Arc<TopologySnapshot>>) {
        self.runtime.spawn(subscription::run(self.newest.clone(), actor));
    }
}

impl Ended {
    fn of(standing: &Standing) -> Self {
        match standing {
            Standing::Refused(refusal) => Self::Refused(refusal.clone()),
            over => Self::Over(over.clone()),
        }
    }
}
