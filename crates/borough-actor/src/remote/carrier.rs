//! What this crate needs of the network: a way to each other node, and a home that knows them all.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use borough_wire::codec::CodecId;

use super::exports::Exports;
use crate::ask::Lost;
use crate::id::ActorId;
use crate::system::SystemHandle;
use crate::watch::StopReason;

/// Tells a watcher that an actor on another node is gone; without a reason it was so before. Called once.
pub type WatchAway = Box<dyn FnOnce(Option<StopReason>) + Send>;

/// The way to one life of another node. There is one of it for that life, in each home.
pub trait Carrier: Send + Sync {
    /// Tells it from every other carrier of this process.
    fn number(&self) -> u32;

    /// Whose way it is.
    fn home(&self) -> &Arc<dyn Home>;

    /// Which life of which node it leads to.
    fn uid(&self) -> u64;

    /// Where that node listens.
    fn address(&self) -> &str;

    /// How messages to that node are encoded.
    fn codec(&self) -> CodecId;

    /// Whether that node can decode what is in that codec, as far as is known.
    fn reads(&self, codec: CodecId) -> bool;

    /// Whether that node is lost, for good.
    fn is_lost(&self) -> bool;

    /// Takes a message, if there is room.
    fn try_send(&self, head: Head, body: &[u8]) -> Result<(), Unsent>;

    /// Takes a message; stands in line until there is room. Dropping the future withdraws what still waits.
    fn send(self: Arc<Self>, head: Head, body: Vec<u8>) -> Pin<Box<dyn Sending>>;

    /// Says something of the library's own that needs no place among messages, and goes with the answers: that node reads those whatever its actors do. It may
    /// get lost.
    fn say(&self, head: Head, body: &[u8]) {
        let _ = self.try_send(head, body);
    }

    /// Takes an answer that is in that codec; it never waits for room. Where much waits, asks of that node wait for their turn: see [`AnswerGate`](super::AnswerGate).
    fn answer(&self, ask: u64, codec: CodecId, body: &[u8]) -> Result<(), Unsent>;

    /// Says that an ask of that node will have no answer.
    fn lose(&self, ask: u64, why: Lost);

    /// Asks an actor there to end.
    fn interrupt(&self, target: u64, what: Interruption);

    /// Has `watcher` told once an actor there is gone, or that node is lost. If an actor watches, `by`, then after everything that had come
    /// for it from that node before.
    fn watch(&self, target: u64, watch: u64, by: Option<ActorId>, watcher: WatchAway);

    /// Ends a watch.
    fn unwatch(&self, target: u64, watch: u64);
}

/// A message that stands in line for room on the way.
pub trait Sending: Future<Output = Result<(), Unsent>> + Send {
    /// Takes it back; false if it was let in before.
    fn withdraw(self: Pin<Box<Self>>) -> bool;
}

/// What the ways of one node share.
pub trait Home: Send + Sync {
    /// The system whose actors are sent to and ask.
    fn system(&self) -> &SystemHandle;

    /// Which actors others may reach.
    fn exports(&self) -> &Arc<Exports>;

    /// Which life of this node it is.
    fn uid(&self) -> u64;

    /// Itself, for those who know what it is.
    fn as_any(&self) -> &dyn Any;

    /// The way to that life of the node that listens there. One that is lost already is given too; it refuses everything.
    fn carrier_to(self: Arc<Self>, uid: u64, address: &str) -> Arc<dyn Carrier>;
}

/// What a carrier must know of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The actor, as its node numbers it.
    pub target: u64,
    /// How it is encoded.
    pub codec: CodecId,
    /// If it is an ask: how it is called here, and how long its asker waits.
    pub ask: Option<(u64, Duration)>,
}

/// Why a carrier did not take a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsent {
    /// There is no room now.
    #[error("there is no room for it on the way")]
    Full,
    /// The node is lost.
    #[error("the node is lost")]
    Lost,
    /// It is larger than both nodes take.
    #[error("it has {size} bytes, and both nodes take {max} at most")]
    TooLarge {
        /// Its size in bytes.
        size: usize,
        /// The limit.
        max: usize,
    },
}

/// How an actor is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// After the message it is handling.
    Stop,
    /// Once it has handled what is in its mailbox.
    StopWhenDrained,
    /// At its next await.
    Kill,
}

/// Where an answer goes: an ask of another node.
#[derive(Clone)]
pub struct ReplyAddress {
    pub(crate) carrier: Arc<dyn Carrier>,
    pub(crate) ask: u64,
    /// In which the ask came: whoever asks in a codec understands the answer in it.
    pub(crate) codec: CodecId,
}

impl fmt::Debug for ReplyAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReplyAddress({} #{:x})", self.carrier.address(), self.ask)
    }
}
