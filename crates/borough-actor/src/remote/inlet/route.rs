//! The inlet of an adapter.

use std::any::type_name;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use borough_wire::codec::CodecError;

use super::{Arrived, Inlet, decode};
use crate::actor_ref::{ActorRef, Asked};
use crate::ask::AskId;
use crate::dead_letters::DeadLetterReason;
use crate::item::Item;
use crate::remote::{self, Message};
use crate::system::SystemHandle;
use crate::tell::Tell;

/// Through an adapter, one message after the other.
pub(super) struct RouteInlet<M: Message> {
    actor: ActorRef<M>,
    staged: VecDeque<(M, Option<AskId>)>,
    in_line: Option<Tell<M>>,
    /// The ask that the message in line is.
    asked: Option<AskId>,
}

impl<M: Message> RouteInlet<M> {
    pub(super) fn new(actor: ActorRef<M>) -> Self {
        Self { actor, staged: VecDeque::new(), in_line: None, asked: None }
    }

    fn bury(&self, reason: DeadLetterReason) {
        let system = SystemHandle::new(self.actor.core().clone());
        remote::bury(&system, type_name::<M>(), || self.actor.path(), reason);
    }
}

impl<M: Message> Inlet for RouteInlet<M> {
    fn take(&mut self, message: Arrived<'_>) -> Result<(), CodecError> {
        let ask = message.ask_as_of(&self.actor.core().asks);
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
        if self.in_line.take().is_some() {
            self.bury(DeadLetterReason::Unhandled);
        }
        let staged = std::mem::take(&mut self.staged);
        for (message, ask) in staged {
            self.bury(DeadLetterReason::Unhandled);
            Item::new(message, ask).discard();
        }
    }
}
