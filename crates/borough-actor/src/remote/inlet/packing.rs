//! The inlet of an actor whose mailbox packs: runs of messages go in as they came.

use std::sync::Arc;
use std::task::{Context, Poll};

use borough_wire::codec::CodecError;
use borough_wire::frame::Run;

use super::mailbox::MailboxInlet;
use super::{Arrived, Inlet};
use crate::cell::ActorCell;
use crate::item::{Item, Rare};
use crate::remote::packet::Packet;
use crate::remote::{Message, passage};

/// How many messages a run has before a packet is worth its allocations.
const PACKED: usize = 4;

/// Into a mailbox that packs.
pub(super) struct PackingInlet<M: Message> {
    mailbox: MailboxInlet<M>,
    /// What came since the last flush, and comes after all that is staged.
    open: Option<Packet<M>>,
}

impl<M: Message> PackingInlet<M> {
    pub(super) fn new(cell: Arc<ActorCell<M>>) -> Self {
        Self { mailbox: MailboxInlet::new(cell), open: None }
    }

    /// Nothing is added to the open packet any more.
    #[inline]
    fn seal(&mut self) {
        if let Some(packet) = self.open.take() {
            self.mailbox.stage(Item::rare(Rare::Packet(packet)));
        }
    }
}

impl<M: Message> Inlet for PackingInlet<M> {
    fn take(&mut self, message: Arrived<'_>) -> Result<(), CodecError> {
        self.seal();
        self.mailbox.take(message)
    }

    fn take_run(&mut self, run: &Run<'_>) {
        if self.open.as_mut().is_some_and(|open| open.append(run)) {
            return;
        }
        self.seal();
        let carrier = if run.len() >= PACKED { passage::current(Clone::clone) } else { None };
        match carrier {
            Some(carrier) => {
                let arrived = self.mailbox.cell.core.asks.clock();
                self.open = Some(Packet::new(run, arrived, carrier));
            }
            None => self.mailbox.take_run(run),
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.seal();
        self.mailbox.poll_flush(cx)
    }

    fn stop_when_drained(&mut self) {
        self.seal();
        self.mailbox.stop_when_drained();
    }

    fn waiting(&self) -> usize {
        self.mailbox.waiting() + self.open.as_ref().map_or(0, Packet::len)
    }
}

impl<M: Message> Drop for PackingInlet<M> {
    fn drop(&mut self) {
        // Buried with what is staged.
        self.seal();
    }
}
