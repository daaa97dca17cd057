//! How what a node does can fail: one type an operation.

use std::io;

use borough_protocol::incarnation::{Address, Incarnation};
use borough_protocol::settings::Unsafe;
use borough_wire::codec::CodecId;
use borough_wire::limits::{LimitError, TEXT_MAX};

use crate::config::ConfigError;
use crate::security::{SecretError, SecurityError};
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
    #[error("cannot listen at {address}: {source}; choose another address, or stop who has it")]
    Listen {
        /// Where.
        address: Address,
        /// What the system said.
        source: io::Error,
    },
    /// The operating system gives no random numbers, without which there are no uids.
    #[error("the operating system gives no random numbers: {0}")]
    Chance(getrandom::Error),
}

/// Why a node has not left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeaveError {
    /// It was stopped before it could; others see a crash, and remove it by themselves.
    #[error("the node was stopped before it had left; the others will remove it by themselves")]
    Stopped,
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
    #[error("this node was stopped; nobody was asked to be removed")]
    Stopped,
}
