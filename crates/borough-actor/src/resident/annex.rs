//! What a resident's watches, children and adapters hang on: a cell of its own, which the few that use them have.
//!
//! What comes into its mailbox is for the resident; its host takes it out.

use std::fmt;
use std::sync::Arc;
use std::task::{self, Poll};

use crate::ask::AskId;
use crate::cell::ActorCell;
use crate::dead_letters::DeadLetterReason;
use crate::fault::Fault;
use crate::host::ending;
use crate::item::{Item, Rare};
use crate::mailbox::{Batch, Taken};
use crate::mailbox_kind::MailboxKind;
use crate::system::Core;
use crate::watch::{StopReason, Terminated, WatchId};

/// See the module. Dropped, it is gone, and its children stop.
pub(crate) struct Annex<M: Send + 'static> {
    pub(crate) cell: Arc<ActorCell<M>>,
    pub(crate) reason: StopReason,
}

impl<M: Send + 'static> Annex<M> {
    /// In a system that shuts down it refuses everything.
    pub(crate) fn new(core: &Arc<Core>, path: String) -> Self {
        let mailbox = MailboxKind::<M>::default().build();
        let cell = core.registry.enrol(None, None, |id, _| {
            mailbox.set_label(path.into());
            ActorCell { mailbox, id, core: core.clone() }
        });
        let cell = cell.unwrap_or_else(|_| Arc::new(ActorCell::closed(core.clone())));
        Self { cell, reason: StopReason::SystemStopped }
    }
}

impl<M: Send + 'static> Drop for Annex<M> {
    fn drop(&mut self) {
        for item in self.cell.mailbox.close() {
            self.cell.bury(item, DeadLetterReason::Unhandled);
        }
        self.cell.core.registry.dismiss(self.cell.id, &self.cell.path(), self.reason);
    }
}

impl<M: Send + 'static> fmt::Debug for Annex<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Annex").field(&self.cell.path()).finish()
    }
}

/// What came for a resident by its own mailbox.
pub enum Annexed<M> {
    /// A message.
    Message(M, Option<AskId>),
    /// A message to an adapter; making the resident's own of it is user code, and so for its turn.
    Adapted(Box<dyn FnOnce() -> M + Send>, Option<AskId>),
    /// Somebody it watched is gone; [`Belongings::watch_ended`](super::Belongings::watch_ended) says what is to be done.
    Terminated(WatchId, Terminated),
}

impl<M> fmt::Debug for Annexed<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Message(..) => "Message",
            Self::Adapted(..) => "Adapted",
            Self::Terminated(..) => "Terminated",
        })
    }
}

/// What a resident's own mailbox has for its host.
#[derive(Debug)]
pub enum Summons<M> {
    /// Items, in order.
    Items(Vec<Annexed<M>>),
    /// The resident is to end.
    End(StopReason),
    /// A child failed and its supervision says that its parent should know.
    Fault(Fault),
    /// Nothing of interest; ask again.
    Nothing,
}

impl<M: Send + 'static> Annex<M> {
    pub(super) fn poll(&mut self, cx: &mut task::Context<'_>) -> Poll<Summons<M>> {
        let mut batch = Batch::default();
        let taken = std::task::ready!(self.cell.mailbox.poll_take(&mut batch, 64, cx));
        Poll::Ready(match taken {
            Taken::Interrupted(bits) => match ending(bits) {
                Some(reason) => Summons::End(reason),
                None => self.escalated(),
            },
            Taken::Batch => {
                // Not parked with the only one in hand: the host looks again anyway.
                self.cell.mailbox.leave_waker(cx.waker(), 0);
                Summons::Items(batch.into_iter().filter_map(annexed).collect())
            }
        })
    }

    fn escalated(&self) -> Summons<M> {
        let mut first = None;
        loop {
            let (fault, more) = self.cell.core.registry.next_escalated(self.cell.id);
            first = first.or(fault);
            if !more {
                return first.map_or(Summons::Nothing, Summons::Fault);
            }
        }
    }
}

fn annexed<M: Send + 'static>(item: Item<M>) -> Option<Annexed<M>> {
    match item {
        Item::Tell(message) => Some(Annexed::Message(message, None)),
        Item::Ask(message, ask) => Some(Annexed::Message(message, Some(ask.unstow()))),
        Item::Rare(rare) => match *rare {
            Rare::Adapted(adapted) => {
                let ask = adapted.ask();
                Some(Annexed::Adapted(Box::new(move || adapted.adapt()), ask))
            }
            Rare::Terminated(watch, who) => Some(Annexed::Terminated(watch, who)),
            Rare::StopHere | Rare::Packet(_) => None,
        },
    }
}
