//! How what a node does can fail: one type an operation.

use std::io;
use std::path::PathBuf;

use borough_protocol::incarnation::{Address, Incarnation, NodeId};
use borough_protocol::node::NoRecovery;
use borough_protocol::settings::{Refusal, Unsafe};
use borough_sqlite::OpenError;
use borough_wire::codec::CodecId;
use borough_wire::limits::{LimitError, TEXT_MAX};

use crate::config::ConfigError;
use crate::durability::DurabilityError;
use crate::security::{SecretError, SecurityError};
use crate::sharding::{DroppedState, Stuck, WedgedWorker};
use crate::stored::Undecodable;
use crate::topology::Failure;
use crate::transport::tls::TlsError;

/// Why a node was not started. Nothing is left of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// There is no runtime for its actors, or one without timers.
    #[error(transparent)]
    System(#[from] borough_actor::StartError),
    /// Settings from a file or the environment that cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The secret that the settings name cannot be had.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// Settings that would break what the cluster promises.
    #[error("unsafe settings: {0}")]
    Settings(#[from] Unsafe),
    /// Limits that do not hold together.
    #[error(transparent)]
    Limits(#[from] LimitError),
    /// It would be open to strangers, or could not be reached.
    #[error(transparent)]
    Security(#[from] SecurityError),
    /// An address that is none.
    #[error("{what} is {text:?}, which is no address: write host:port, as 127.0.0.1:25520")]
    Address {
        /// Which one.
        what: &'static str,
        /// What it is.
        text: String,
    },
    /// It could only found a cluster by itself, where others may have one.
    #[error(
        "no seeds are set and {address} can be reached from other machines: set `.seed(\"host:port\")` of all nodes that start together, the same on all of them, or \
         `.found_alone()` on the one node that is to found the cluster by itself"
    )]
    NoSeeds {
        /// Where it was to listen.
        address: Address,
    },
    /// Seeds are discovered, and nobody says how many there are.
    #[error(
        "the seeds are discovered, so nobody knows whether the list is complete: set `.expect(n)` to the number of nodes that start together, or \
         `.found_with(FoundWith::Never)` on a node that only joins"
    )]
    NoExpectation,
    /// A text that is empty or too long.
    #[error("{what} has {length} bytes and must have from 1 to {TEXT_MAX}")]
    Text {
        /// Which one.
        what: &'static str,
        /// How long it is.
        length: usize,
    },
    /// The codec for messages is not built in.
    #[error(
        "{codec} is not built in: switch on its feature (`message-pack`, `json`) of borough, on every node, or choose another codec"
    )]
    Codec {
        /// Which one.
        codec: CodecId,
    },
    /// The certificates cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The control thread cannot be started.
    #[error("the control thread cannot be started: {0}")]
    Thread(io::Error),
    /// It cannot listen there.
    #[error("cannot listen at {address}: {source}; choose another address, or stop the process that uses it")]
    Listen {
        /// Where.
        address: Address,
        /// What the system said.
        source: io::Error,
    },
    /// Code alone leaves open whether its cluster is to survive its processes. Where a file or a variable has a part in it, it is
    /// [`ConfigError::Durability`].
    #[error(transparent)]
    Durability(#[from] DurabilityError),
    /// The data directory cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The operating system gives no random numbers, without which there are no uids.
    #[error("the operating system gives no random numbers: {0}")]
    Chance(getrandom::Error),
}

/// Why a data directory cannot be used. Nothing in it was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// It cannot be opened; the text says which file is wrong, and what to do.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It was written by another version, or is not what a node writes.
    #[error("the data directory {} cannot be read: {source}", path.display())]
    Undecodable {
        /// The directory.
        path: PathBuf,
        /// What is wrong.
        source: Undecodable,
    },
    /// The thread that writes it cannot be started.
    #[error("the thread that writes the data directory {} cannot be started: {source}", path.display())]
    Thread {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Why the `main` of a node ends with an error; see [`Node::run_until_signal`](crate::Node::run_until_signal).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Its settings are not those of the cluster it found. It was shut down.
    #[error("the cluster does not take this node: {0}")]
    Refused(#[source] Refusal),
    /// The process cannot listen to signals. The node goes on.
    #[error("cannot listen to signals: {0}; shut the node down with `shutdown`")]
    Signal(#[from] io::Error),
}

/// Why a node has not left, or what that cost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeaveError {
    /// It was stopped before it could; others see a crash, and remove it by themselves.
    #[error("the node was stopped before it had left; the others will remove it by themselves")]
    Stopped,
    /// It gave up its lease because it cannot work; others see a crash, and remove it by themselves once the lease is over.
    #[error(
        "the node cannot leave: {0}; the others remove it by themselves, stop the process and start it again"
    )]
    Failed(Failure),
    /// A worker has not answered for 75 s, because a handler blocks it or the runtime does not run it: what lives there cannot move. The node still is a member,
    /// and goes on leaving once the worker answers; see [`Node::wedged_workers`](crate::Node::wedged_workers).
    #[error(
        "the node has not left yet: {0}; it leaves once the worker answers; otherwise stop the process, and the others take over"
    )]
    Wedged(WedgedWorker),
    /// For as long as a turn may last no shard has gone. Nothing was dropped: the node still is a member, and goes on leaving.
    #[error(
        "the node has not left yet: {0}; nothing was dropped, and it goes on trying; mend what is in the way, set `node.drop_after`, or shut the node down, which ends such turns by force"
    )]
    Stuck(Stuck),
    /// It has left, and dropped what it could not give away.
    #[error(
        "the node has left, and dropped {0}: no other member hosts their type, or they had not moved by the bound that was set (`node.drop_after`, or four fifths of `node.leave_timeout` in a shutdown)"
    )]
    Dropped(DroppedState),
    /// It has no part in a cluster any more, but its data directory does not say so: the disk failed, or did not answer.
    #[error(
        "the node has no part in a cluster any more, but its data directory does not say so: the disk did not take the last write, see the log; started again on that directory, the node looks for the cluster that it was in"
    )]
    Unwritten,
}

/// Why a node has not given away what lives on it, or what that cost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DrainError {
    /// It gave up its lease because it cannot work: what lived on it begins elsewhere once the lease is over.
    #[error(
        "the node cannot give its entities away: {0}; they begin elsewhere by themselves, stop the process and start it again"
    )]
    Failed(Failure),
    /// A worker has not answered for 75 s, because a handler blocks it or the runtime does not run it: what lives there cannot move. The node goes on giving
    /// away once the worker answers; see [`Node::wedged_workers`](crate::Node::wedged_workers).
    #[error(
        "the node has not given all its entities away: {0}; the rest moves once the worker answers; otherwise stop the process, and it begins elsewhere"
    )]
    Wedged(WedgedWorker),
    /// For as long as a turn may last no shard has gone. Nothing was dropped: what is left works on, and the node goes on giving it away.
    #[error(
        "the node has not given all its entities away: {0}; nothing was dropped, and it goes on trying; mend what is in the way, or set `node.drop_after`"
    )]
    Stuck(Stuck),
    /// Nothing lives there any more, and what it could not give away was dropped.
    #[error("the node dropped {0}: they had not moved within `node.drop_after`")]
    Dropped(DroppedState),
}

/// Why a name leads to no member.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NamedError {
    /// No member is called so.
    #[error("no member is called {node_id:?}; `topology()` lists those there are")]
    Unknown {
        /// The name.
        node_id: String,
    },
    /// Two members are called so.
    #[error("{first} and {second} are both called {node_id:?}: give each node a node_id of its own")]
    Ambiguous {
        /// The name.
        node_id: String,
        /// One of them.
        first: Incarnation,
        /// Another.
        second: Incarnation,
    },
}

/// Why a member was not asked to be removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DownError {
    /// The name leads to no member.
    #[error(transparent)]
    Name(#[from] NamedError),
    /// This node was stopped.
    #[error("this node was stopped; the removal was not requested")]
    Stopped,
}

/// Why a cluster was not recovered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecoverError {
    /// There is nothing to recover, or not by this node.
    #[error("{node_id} does not recover its cluster: {why}")]
    Refused {
        /// The node that was asked.
        node_id: NodeId,
        /// Why not.
        why: NoRecovery,
    },
    /// A member would be given up, and nobody has said that it is dead.
    #[error(
        "{node_id} would be given up, and the order does not confirm that it is dead: look at the plan again, and name every node that it gives up"
    )]
    Unvouched {
        /// Which member.
        node_id: NodeId,
    },
    /// This node was stopped.
    #[error("this node was stopped; no cluster was recovered")]
    Stopped,
    /// It was ordered, and its cluster turned out to live.
    #[error("the cluster works: this node met it before the recovery, and is or becomes a member of it")]
    Lives,
    /// It was ordered, and has not begun in time.
    #[error("it was ordered and has not begun yet: see how the node stands, and look at the plan again")]
    NotBegun,
}
