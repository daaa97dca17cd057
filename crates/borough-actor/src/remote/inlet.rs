//! Where messages from another node enter an actor's mailbox.
//!
//! Promise: in order, none lost and none twice. What finds no room waits here, and whoever fills the inlet can see how much that is.

use std::any::type_name;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use borough_wire::codec::{CodecError, CodecId};

use super::message::Message;
use crate::actor_ref::{ActorRef, Asked};
use crate::ask::AskId;
use crate::cell::ActorCell;
use crate::dead_letters::DeadLetterReason;
use crate::fault::Fault;
use crate::item::{Item, Rare};
use crate::mailbox::{Refusal, Ticket};
use crate::system::SystemHandle;
use crate::tell::Tell;

/// A way into one actor, for the messages of one other node.
pub trait Inlet: Send {
    /// Decodes a message and takes it in; it moves on with [`Inlet::poll_flush`]. To be called [`within`](super::within)
    /// the passage from that node. One that cannot be decoded is counted as a dead letter, and an ask in it is the caller's to fail.
    fn take(&mut self, message: Arrived<'_>) -> Result<(), CodecError>;

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
    /// If it is an ask, how long its asker still waits.
    pub left: Option<Duration>,
    /// The message.
    pub body: &'a [u8],
}

pub(super) fn to<M: Message>(actor: &ActorRef<M>) -> Box<dyn Inlet> {
    match actor.cell() {
        Some(cell) => Box::new(MailboxInlet { cell: cell.clone(), staged: VecDeque::new(), in_line: None }),
        None => {
            Box::new(RouteInlet { actor: actor.clone(), staged: VecDeque::new(), in_line: None, asked: None })
        }
    }
}

/// Decodes a message and stages it. That runs the user's code: a panic in it is no reason to lose what others sent.
///
/// It is staged within, because a large message costs more to move than to decode.
#[inline]
fn decode<M: Message>(message: Arrived<'_>, stage: impl FnOnce(M)) -> Result<(), CodecError> {
    let decoded = Fault::catch(|| {
        stage(message.codec.decode(message.body)?);
        Ok(())
    });
    decoded.unwrap_or_else(|panic| {
        Err(CodecError::Decode { type_name: type_name::<M>(), codec: message.codec, why: panic.to_string() })
    })
}

/// Straight into a mailbox, many messages under one lock.
struct MailboxInlet<M: Message> {
    cell: Arc<ActorCell<M>>,
    staged: VecDeque<Item<M>>,
    /// Stands in line for room with the message that comes before those staged.
    in_line: Option<Ticket>,
}

impl<M: Message> MailboxInlet<M> {
    fn refused(&self, refusal: Refusal<Item<M>>) {
        match refusal {
            Refusal::Closed(item) => self.cell.bury(item, DeadLetterReason::Stopped),
            Refusal::Full(item)
            | Refusal::Refused(item)
            | Refusal::Displaced(item)
            | Refusal::Dropped(item) => self.cell.bury(item, DeadLetterReason::Overflow),
        }
    }
}

impl<M: Message> Inlet for MailboxInlet<M> {
    fn take(&mut self, message: Arrived<'_>) -> Result<(), CodecError> {
        let ask = message.left.map(|left| self.cell.core.asks.name_abroad(left));
        let staged = &mut self.staged;
        let decoded = decode(message, |message| staged.push_back(Item::new(message, ask)));
        if decoded.is_err() {
            self.cell.record_dead_letter(DeadLetterReason::Unreadable);
        }
        decoded
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if let Some(ticket) = self.in_line {
                match self.cell.mailbox.poll_waiting(ticket, cx.waker()) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(outcome) => {
                        self.in_line = None;
                        if let Err(item) = outcome {
                            self.refused(Refusal::Closed(item));
                        }
                    }
                }
            }
            self.cell.mailbox.push_all(&mut self.staged);
            let Some(item) = self.staged.pop_front() else { return Poll::Ready(()) };
            match self.cell.mailbox.push_or_wait(item, cx.waker()) {
                Ok(ticket) => self.in_line = ticket,
                Err(refusal) => self.refused(refusal),
            }
        }
    }

    fn stop_when_drained(&mut self) {
        self.staged.push_back(Item::rare(Rare::StopHere));
    }

    fn waiting(&self) -> usize {
        self.staged.len() + usize::from(self.in_line.is_some())
    }
}

impl<M: Message> Drop for MailboxInlet<M> {
    fn drop(&mut self) {
        let in_line = self.in_line.take().and_then(|ticket| self.cell.mailbox.withdraw(ticket));
        for item in in_line.into_iter().chain(std::mem::take(&mut self.staged)) {
            self.cell.bury(item, DeadLetterReason::Unhandled);
        }
    }
}

/// Through an adapter, one message after the other.
struct RouteInlet<M: Message> {
    actor: ActorRef<M>,
    staged: VecDeque<(M, Option<AskId>)>,
    in_line: Option<Tell<M>>,
    /// The ask that the message in line is.
    asked: Option<AskId>,
}

impl<M: Message> RouteInlet<M> {
    fn bury(&self, reason: DeadLetterReason) {
        let system = SystemHandle::new(self.actor.core().clone());
        super::bury(&system, type_name::<M>(), || self.actor.path(), reason);
    }
}

impl<M: Message> Inlet for RouteInlet<M> {
    fn take(&mut self, message: Arrived<'_>) -> Result<(), CodecError> {
        let ask = message.left.map(|left| self.actor.core().asks.name_abroad(left));
        let staged = &mut self.staged;
        let decoded = decode(message, |message| staged.push_back((message, ask)));
        if decoded.is_err() {
            self.bury(DeadLetterReason::Unreadable);
        }
        decoded
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if let Some(tell) = &mut self.in_line {
                let Poll::Ready(outcome) = Future::poll(Pin::new(tell), cx) else { return Poll::Pending };
                self.in_line = None;
                if let Err(refused) = outcome {
                    if refused.is_full() {
                        self.bury(DeadLetterReason::Overflow);
                    }
                    Item::new(refused.into_message(), self.asked.take()).discard();
                }
            }
            let Some((message, ask)) = self.staged.pop_front() else { return Poll::Ready(()) };
            self.asked = ask;
            let asked = ask.map(|id| Asked { id, timeout: Duration::ZERO });
            self.in_line = Some(self.actor.send(message, asked));
        }
    }

    fn stop_when_drained(&mut self) {
        // What still waits here waits for room: it comes after the mark, and is a dead letter.
        self.actor.stop_when_drained();
    }

    fn waiting(&self) -> usize {
        self.staged.len() + usize::from(self.in_line.is_some())
    }
}

impl<M: Message> Drop for RouteInlet<M> {
    fn drop(&mut self) {
        let staged = std::mem::take(&mut self.staged);
        for (message, ask) in staged {
            self.bury(DeadLetterReason::Unhandled);
            Item::new(message, ask).discard();
        }
    }
}
