//! Where snapshots come from: the control side of the topology.

use std::sync::{Arc, OnceLock};

use borough_protocol::incarnation::{Incarnation, NodeId};
use borough_protocol::node;
use borough_protocol::time::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::failure::Failure;
use super::handle::Topology;
use super::snapshot::{Standing, TopologySnapshot};
use super::survey::survey;
use super::suspicions::Suspicions;

/// Publishes what the machine knows. When it is dropped, the node was stopped, or has failed.
#[derive(Debug)]
pub(crate) struct Publisher {
    newest: watch::Sender<Arc<TopologySnapshot>>,
    node_id: NodeId,
    standing: Standing,
    is_stale: bool,
    suspicions: Arc<Suspicions>,
    failure: Arc<OnceLock<Failure>>,
}

impl Publisher {
    /// A publisher for a node that has not begun to look for its cluster.
    pub(crate) fn new(node_id: NodeId, incarnation: Incarnation) -> Self {
        let first = TopologySnapshot::alone(node_id.clone(), incarnation);
        Self {
            newest: watch::Sender::new(Arc::new(first)),
            node_id,
            standing: Standing::Seeking,
            is_stale: false,
            suspicions: Arc::default(),
            failure: Arc::default(),
        }
    }

    /// What others hold of it; actors are fed on that runtime.
    pub(crate) fn topology(&self, runtime: Handle) -> Topology {
        Topology::new(self.newest.subscribe(), self.suspicions.clone(), runtime)
    }

    /// Set before it is dropped if the node has failed.
    pub(crate) fn failure(&self) -> Arc<OnceLock<Failure>> {
        self.failure.clone()
    }

    /// The newest snapshot.
    pub(crate) fn current(&self) -> Arc<TopologySnapshot> {
        self.newest.borrow().clone()
    }

    /// How the node stands.
    pub(crate) fn standing(&self) -> &Standing {
        &self.standing
    }

    /// The node stands otherwise from now on; shown by the next [`refresh`](Self::refresh).
    pub(crate) fn stand(&mut self, standing: Standing) {
        self.is_stale |= self.standing != standing;
        self.standing = standing;
    }

    /// The machine knows something new; shown by the next [`refresh`](Self::refresh).
    pub(crate) fn stir(&mut self) {
        self.is_stale = true;
    }

    /// Shows what is new, if anything is.
    pub(crate) fn refresh(&mut self, machine: &node::Node, now: Timestamp) {
        self.suspicions.look(machine, now);
        if std::mem::take(&mut self.is_stale) {
            let snapshot = survey(machine, &self.node_id, self.standing.clone(), &self.current());
            self.show(snapshot);
        }
    }

    /// A life is over: nothing is known any more but how it ended.
    pub(crate) fn end(&mut self, standing: Standing) {
        self.suspicions.clear();
        let mut snapshot =
            TopologySnapshot::alone(self.node_id.clone(), self.newest.borrow().incarnation.clone());
        snapshot.standing = standing.clone();
        self.standing = standing;
        self.is_stale = false;
        self.show(snapshot);
    }

    /// Another life begins.
    pub(crate) fn begin(&mut self, incarnation: Incarnation) {
        self.standing = Standing::Seeking;
        self.is_stale = false;
        self.show(TopologySnapshot::alone(self.node_id.clone(), incarnation));
    }

    fn show(&self, snapshot: TopologySnapshot) {
        self.newest.send_if_modified(|newest| {
            let is_new = **newest != snapshot;
            if is_new {
                *newest = Arc::new(snapshot);
            }
            is_new
        });
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        if !self.standing.is_final() {
            let failure = self.failure.get().copied();
            self.end(failure.map_or(Standing::Stopped, Standing::Failed));
        }
    }
}
