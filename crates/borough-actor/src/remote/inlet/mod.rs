//! Where messages from another node enter an actor's mailbox.
//!
//! Promise: in order, none lost and none twice. What finds no room waits here, and whoever fills the inlet can see how much that is.
//!
//! A run of messages for an actor whose mailbox packs is copied as it is, into a [`Packet`](packet::Packet), which the actor decodes. Single ones,
//! and those for other mailboxes and for adapters, are decoded here.

mod mailbox;
mod packing;
mod route;

use std::any::type_name;
use std::task::{Context, Poll};

use borough_wire::codec::{CodecError, CodecId};
use borough_wire::frame::{Plain, Run};

use self::mailbox::MailboxInlet;
use self::packing::PackingInlet;
use self::route::RouteInlet;
use super::message::Message;
use super::{packet, passage};
use crate::actor_ref::ActorRef;
use crate::ask::{AskId, AskTable, Lost, discarding};
use crate::fault::Fault;

/// A way into one actor, for the messages of one other node.
pub trait Inlet: Send {
    /// Decodes a message and takes it in; it moves on with [`Inlet::poll_flush`]. To be called [`within`](super::within)
    /// the passage from that node. One that cannot be decoded is counted as a dead letter, and an ask in it is the caller's to fail.
    fn take(&mut self, message: Arrived<'_>) -> Result<(), CodecError>;

    /// Takes in messages that came one after the other; they move on with [`Inlet::poll_flush`]. To be called as [`Inlet::take`].
    /// Those that cannot be decoded are counted, sooner or later, and asks among them failed.
    fn take_run(&mut self, run: &Run<'_>) {
        for Plain { ask, codec, body, .. } in run.messages() {
            if self.take(Arrived { codec, ask, body }).is_err()
                && let Some((ask, _)) = ask
            {
                passage::current(|carrier| carrier.lose(ask, Lost::Discarded));
            }
        }
    }

    /// Moves what was taken into the mailbox; ready when nothing waits here any more.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()>;

    /// Asks the actor to stop once it has handled what was taken so far.
    fn stop_when_drained(&mut self);

    /// How many messages wait here.
    fn waiting(&self) -> usize;
}

/// A message as it arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrived<'a> {
    /// How it is encoded.
    pub codec: CodecId,
    /// If it wants an answer, by which number the answer finds its asker, and for how many milliseconds that one waits.
    pub ask: Option<(u64, Option<u32>)>,
    /// The message.
    pub body: &'a [u8],
}

impl Arrived<'_> {
    /// As which it is asked, if it is, from now on; within the passage by which it came.
    fn ask_as_of(&self, asks: &AskTable) -> Option<AskId> {
        let uid = || passage::current(|carrier| carrier.uid());
        self.ask.map(|(_, deadline)| AskTable::name_abroad(asks.clock(), packet::time_left(deadline), uid()))
    }
}

pub(super) fn to<M: Message>(actor: &ActorRef<M>) -> Box<dyn Inlet> {
    match actor.cell() {
        Some(cell) if cell.mailbox.packs() => Box::new(PackingInlet::new(cell.clone())),
        Some(cell) => Box::new(MailboxInlet::new(cell.clone())),
        None => Box::new(RouteInlet::new(actor.clone())),
    }
}

/// Decodes a message and stages it. That runs the user's code: a panic in it is no reason to lose what others sent.
///
/// It is staged within, because a large message costs more to move than to decode.
#[inline]
fn decode<M: Message>(message: Arrived<'_>, stage: impl FnOnce(M)) -> Result<(), CodecError> {
    passage::decode_as(message.codec);
    let decoded = Fault::catch(|| {
        stage(discarding(|| message.codec.decode(message.body))?);
        Ok(())
    });
    decoded.unwrap_or_else(|panic| {
        Err(CodecError::Decode { type_name: type_name::<M>(), codec: message.codec, why: panic.to_string() })
    })
}
