//! The inlet of an actor: its mailbox.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};

use borough_wire::codec::CodecError;

use super::{Arrived, Inlet, decode};
use crate::cell::ActorCell;
use crate::dead_letters::DeadLetterReason;
use crate::item::{Item, Rare};
use crate::mailbox::{Letter, Refusal, Ticket};
use crate::remote::Message;

/// Straight into a mailbox, many messages under one lock.
pub(super) struct MailboxInlet<M: Message> {
    pub(super) cell: Arc<ActorCell<M>>,
    staged: VecDeque<Item<M>>,
    /// How many messages that is.
    weight: usize,
    /// Stands in line for room with the message that comes before those staged.
    in_line: Option<Ticket>,
}

impl<M: Message> MailboxInlet<M> {
    pub(super) fn new(cell: Arc<ActorCell<M>>) -> Self {
        Self { cell, staged: VecDeque::new(), weight: 0, in_line: None }
    }

    pub(super) fn stage(&mut self, item: Item<M>) {
        self.weight += item.weight();
        self.staged.push_back(item);
    }

    /// The next one message, which stands in line for the others too.
    fn next_single(&mut self) -> Option<Item<M>> {
        let first = self.staged.front_mut()?;
        self.weight -= 1;
        if first.weight() > 1 { first.cut(1) } else { self.staged.pop_front() }
    }

    fn bury_staged(&mut self, reason: DeadLetterReason) {
        self.weight = 0;
        for item in std::mem::take(&mut self.staged) {
            self.cell.bury(item, reason);
        }
    }

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
        let ask = message.ask_as_of(&self.cell.core.asks);
        let staged = &mut self.staged;
        let decoded = decode(message, |message| staged.push_back(Item::new(message, ask)));
        match decoded {
            Ok(()) => self.weight += 1,
            Err(_) => self.cell.record_dead_letter(DeadLetterReason::Unreadable),
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
            self.weight -= self.cell.mailbox.push_all(&mut self.staged, self.weight);
            if self.cell.mailbox.is_closed() {
                self.bury_staged(DeadLetterReason::Stopped);
            }
            let Some(item) = self.next_single() else { return Poll::Ready(()) };
            match self.cell.mailbox.push_or_wait(item, cx.waker()) {
                Ok(ticket) => self.in_line = ticket,
                Err(refusal) => self.refused(refusal),
            }
        }
    }

    fn stop_when_drained(&mut self) {
        self.stage(Item::rare(Rare::StopHere));
    }

    fn waiting(&self) -> usize {
        self.weight + usize::from(self.in_line.is_some())
    }
}

impl<M: Message> Drop for MailboxInlet<M> {
    fn drop(&mut self) {
        if let Some(item) = self.in_line.take().and_then(|ticket| self.cell.mailbox.withdraw(ticket)) {
            self.cell.bury(item, DeadLetterReason::Unhandled);
        }
        self.bury_staged(DeadLetterReason::Unhandled);
    }
}
