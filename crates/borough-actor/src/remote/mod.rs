//! The seam to actors on other nodes. What is on its other side carries bytes: `borough-cluster`.
//!
//! ```text
//! here                                                        there
//! ActorRef::tell -> RemoteRef (away.rs) encodes -> Carrier ~~~ Exports -> Inlet -> mailbox -> Packet decodes -> receive
//! Ask's slot     <- answer, lose               <- Carrier ~~~ Reply (a forwarding slot) encodes <- reply.send
//! ```
//!
//! Promises: an actor can be reached from another node only if its ref has travelled, or it was exposed by name. A message that
//! was accepted keeps its order with those its sender sent before. A reply that travelled answers the ask it was made for
//! or nobody. What came from another node and cannot be decoded is counted, and never ends an actor.

mod away;
mod carrier;
mod exports;
mod inlet;
mod message;
mod packet;
pub(crate) mod passage;
mod sending;
mod travel;

use std::collections::BTreeSet;
use std::task::Waker;

use borough_wire::codec::CodecId;

pub use self::away::{Away, actor_at};
pub use self::carrier::{Carrier, Head, Home, Interruption, ReplyAddress, Sending, Unsent, WatchAway};
pub use self::exports::{Export, Exports, ExposeError};
pub use self::inlet::{Arrived, Inlet};
pub use self::message::Message;
pub(crate) use self::packet::Packet;
pub use self::packet::{RUN_BYTES, RUN_MESSAGES};
pub use self::passage::{current as current_passage, decode_as, within};
pub use self::sending::Outgoing;
use crate::ask::AskId;
pub use crate::ask::Lost;
pub use crate::ask::answer_room::AnswerGate;
use crate::dead_letters::{DeadLetter, DeadLetterReason};
use crate::system::SystemHandle;

/// An answer came from another node, in that codec. To be called [`within`] the passage from there. Gives whoever waits for it, to be woken once
/// those are known who wait for the answers that came with it.
#[must_use = "whoever waits is to be woken"]
pub fn answer(system: &SystemHandle, ask: u64, codec: CodecId, body: &[u8]) -> Option<Waker> {
    system.core().asks.answer_encoded(AskId::of_number(ask), codec, body)
}

/// Another node says that an ask will have no answer.
pub fn lose(system: &SystemHandle, ask: u64, why: Lost) {
    system.core().asks.lose(AskId::of_number(ask), why);
}

/// The way to another node is lost: asks whose messages went there fail.
pub fn carrier_lost(system: &SystemHandle, carrier: u32) {
    system.core().asks.carriers_lost(&|went| went == carrier);
}

/// The same for several ways at once.
pub fn carriers_lost(system: &SystemHandle, carriers: &BTreeSet<u32>) {
    if !carriers.is_empty() {
        system.core().asks.carriers_lost(&|went| carriers.contains(&went));
    }
}

/// As which a message of an unknown type is counted that was lost between nodes, or came for nobody.
pub const MESSAGE: &str = "a message between nodes";
/// As which an answer is counted that was lost between nodes.
pub const ANSWER: &str = "an answer between nodes";

/// Counts what was lost between nodes, or came for nobody.
pub fn bury(
    system: &SystemHandle,
    message_type: &'static str,
    recipient: impl FnOnce() -> String,
    reason: DeadLetterReason,
) {
    let letter = || DeadLetter { recipient: recipient(), message_type, reason };
    system.core().dead_letters.record(&system.core().events, letter, reason);
}
