//! A node: a system of actors that is a member of a cluster.

mod builder;
mod error;
mod handle;
mod leave;
mod recovery;
mod remote;
mod run;
mod settings;
mod strays;
mod two_clocks;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use borough_actor::{System, SystemHandle};
use borough_protocol::incarnation::{Address, Incarnation, NodeId, Uid};
use borough_protocol::node::{Command, Input};
use tokio::sync::watch;

pub use self::builder::{DEFAULT_LEAVE_TIMEOUT, DEFAULT_LISTEN, NodeBuilder};
pub use self::error::{
    DataError, DownError, DrainError, LeaveError, NamedError, RecoverError, RunError, StartError,
};
pub use self::handle::NodeHandle;
pub use self::recovery::{RecoveryMember, RecoveryPlan};
pub use self::remote::{Broadcast, BroadcastError, Gathered, Lookup, RemoteLookupError};
pub use self::settings::ManagementSettings;
use crate::config::Ledger;
use crate::control::{Control, ControlCounts, DataDirectoryState, DataDirectoryStats};
use crate::door::refusals::RefusalCounts;
use crate::sharding::Sharding;
use crate::topology::{Ended, Standing, Topology, TopologySnapshot};

/// A system of actors that is a member of a cluster.
///
/// It is a [`System`] in every way ([`SystemHandle`] has what both can do), and besides knows its cluster. [`NodeBuilder::start`] returns once it
/// listens; it finds or founds its cluster behind that, and comes back by itself under a new uid if the cluster had to go on without it.
///
/// ```
/// # use borough_cluster::Node;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let node = Node::builder("bank").listen("127.0.0.1:0").start().await?;
/// let topology = node.wait_for(1).await?;
/// assert_eq!((topology.up().count(), topology.tolerates()), (1, 0));
/// node.leave().await?;
/// # Ok(()) }
/// ```
///
/// | to end it | others see | here |
/// |---|---|---|
/// | [`leave`](Self::leave) | it leaves in order | actors go on; the node is in no cluster any more |
/// | [`shutdown`](SystemHandle::shutdown) | it leaves in order | then all actors stop, phase by phase, and the control thread ends |
/// | drop | a crash: they notice, wait for its lease, remove it | actors are killed at their next await |
///
/// It uses the runtime it is started in, and a thread of its own, `borough-control`, for what keeps the cluster together: user code that
/// blocks its workers does not cost a node its membership. A node with a data directory has a second one, `borough-disk`, that waits for the disk.
#[must_use = "dropping a node stops it without leaving its cluster"]
pub struct Node {
    system: SystemHandle,
    /// Whoever has it ends the node; none in a [`NodeHandle`].
    owned: Option<System>,
    shared: Arc<Control>,
    /// What it is set to.
    pub(crate) ledger: Arc<Ledger>,
}

impl Node {
    /// Prepares a node of the cluster of that name.
    pub fn builder(name: impl Into<String>) -> NodeBuilder {
        NodeBuilder::new(name.into())
    }

    /// What this node is called.
    pub fn node_id(&self) -> &NodeId {
        &self.shared.node_id
    }

    /// Where others reach this node.
    pub fn address(&self) -> Address {
        self.shared.myself.incarnation().address
    }

    /// Which life this node lives at the moment.
    pub fn incarnation(&self) -> Incarnation {
        self.shared.myself.incarnation()
    }

    /// What this node knows of its cluster, now and as it changes.
    pub fn topology(&self) -> Topology {
        self.shared.topology.clone()
    }

    /// Waits until this node is a member and at least that many members are up, itself included, as it sees it; gives that snapshot. It waits for as long as it
    /// takes.
    ///
    /// Fails once this node has ended: its settings are not the cluster's, it left, or it was stopped. Cancel safe.
    pub async fn wait_for(&self, members: usize) -> Result<Arc<TopologySnapshot>, Ended> {
        self.shared
            .topology
            .wait_until(|topology| is_member(topology) && topology.up().count() >= members)
            .await
    }

    /// As [`wait_for`](Self::wait_for), for members that have that role.
    pub async fn wait_for_role(&self, role: &str, members: usize) -> Result<Arc<TopologySnapshot>, Ended> {
        let wanted = |topology: &TopologySnapshot| {
            let of_role = topology.up().filter(|member| member.has_role(role));
            is_member(topology) && of_role.count() >= members
        };
        self.shared.topology.wait_until(wanted).await
    }

    /// The one member that is called so now.
    ///
    /// Two living members of one name are a mistake that this cannot mend: it names both, and uses neither.
    pub fn member_named(&self, node_id: &str) -> Result<Incarnation, NamedError> {
        let topology = self.shared.topology.current();
        let mut named = topology.named(node_id);
        let first = named.next().ok_or_else(|| NamedError::Unknown { node_id: node_id.to_owned() })?;
        if let Some(second) = named.next() {
            return Err(NamedError::Ambiguous {
                node_id: node_id.to_owned(),
                first: first.incarnation.clone(),
                second: second.incarnation.clone(),
            });
        }
        Ok(first.incarnation.clone())
    }

    /// Asks the cluster to remove a member, whatever its state; the topology shows when it is done.
    ///
    /// For operators: the cluster removes who is silent by itself. A removed node that lives comes back under a new uid. Ready once this node has taken
    /// note, which it repeats to the coordinator until the member is gone. Cancel safe.
    pub async fn down(&self, node_id: &str) -> Result<(), DownError> {
        let Incarnation { uid, .. } = self.member_named(node_id)?;
        self.command(Command::Down(uid)).await.map_err(|()| DownError::Stopped)
    }

    /// The uid of the present life.
    pub fn uid(&self) -> Uid {
        self.shared.myself.uid()
    }

    /// What the control lane lost or refused so far.
    pub fn control_counts(&self) -> ControlCounts {
        self.shared.counters.read()
    }

    /// How the data directory of this node does; `None` if it has none.
    ///
    /// While it does not take writes the node does not vote, and is [not ready](Self::is_ready_for).
    pub fn data_directory(&self) -> Option<DataDirectoryStats> {
        self.sharding().data.as_ref().map(|data| data.stats())
    }

    /// Whether the data directory of this node takes writes, now and as it changes; `None` if it has none.
    pub fn data_directory_states(&self) -> Option<watch::Receiver<DataDirectoryState>> {
        self.sharding().data.as_ref().map(|data| data.states())
    }

    /// Who was not let in so far, by reason.
    pub fn refusals(&self) -> RefusalCounts {
        self.shared.door.refusals()
    }

    pub(crate) fn sharding(&self) -> &Arc<Sharding> {
        &self.shared.sharding
    }

    /// A handle to its actors that does not keep the node alive.
    pub fn handle(&self) -> SystemHandle {
        self.system.clone()
    }

    /// A way to this node that does not keep it running, for tasks that go on beside it.
    pub fn node_handle(&self) -> NodeHandle {
        NodeHandle::new(self)
    }

    async fn command(&self, command: Command) -> Result<(), ()> {
        self.shared.commands.send(Input::Command(command)).await.map_err(|_| ())
    }
}

/// Those who are not may see others long before they are.
fn is_member(topology: &TopologySnapshot) -> bool {
    topology.standing == Standing::Member
}

impl Deref for Node {
    type Target = SystemHandle;

    fn deref(&self) -> &SystemHandle {
        &self.system
    }
}

/// Others see a crash; see [`Node`].
impl Drop for Node {
    fn drop(&mut self) {
        if self.owned.is_some() {
            self.shared.stop();
        }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let incarnation = self.shared.myself.incarnation();
        f.debug_struct("Node")
            .field("id", &self.shared.node_id.as_str())
            .field("life", &incarnation)
            .finish_non_exhaustive()
    }
}
