//! The place in the registry of a task that hosts residents.
//!
//! Promise: the task is asked to end as an actor would be, and the system waits for it as for an actor.

use std::fmt;
use std::sync::Arc;
use std::task::{self, Poll};

use super::lodger::{House, Resident};
use crate::actor::Actor;
use crate::ask::discard_overdue;
use crate::cell::{ActorCell, interrupt};
use crate::context::Context;
use crate::dead_letters::{DeadLetter, DeadLetterReason};
use crate::host::ending;
use crate::mailbox_kind::MailboxKind;
use crate::system::{SpawnError, SystemHandle};
use crate::watch::StopReason;

/// See the module. Dropping it says that the task is gone.
pub struct Station<M: Send + 'static> {
    cell: Arc<ActorCell<M>>,
    reason: StopReason,
    /// The waker it left.
    left: Option<task::Waker>,
}

impl<M: Send + 'static> Station<M> {
    /// Takes a place; refused by a system that shuts down.
    pub fn new(system: &SystemHandle, label: &str) -> Result<Self, SpawnError> {
        let core = system.core();
        let mailbox = MailboxKind::<M>::default().build();
        let cell = core.registry.enrol(None, None, |id, _| {
            mailbox.set_label(label.into());
            ActorCell { mailbox, id, core: core.clone() }
        });
        let cell = cell.map_err(|_| SpawnError::Stopping)?;
        Ok(Self { cell, reason: StopReason::SystemStopped, left: None })
    }

    /// Whether the task is to end, and why; wakes it when it is.
    pub fn poll_end(&mut self, cx: &mut task::Context<'_>) -> Poll<StopReason> {
        // Looked at often, and left seldom: the waker is nearly always the same.
        if self.left.as_ref().is_some_and(|left| left.will_wake(cx.waker()))
            && !self.cell.mailbox.is_interrupted(interrupt::ALL)
        {
            return Poll::Pending;
        }
        self.left = Some(cx.waker().clone());
        while let Poll::Ready(bits) = self.cell.mailbox.poll_interrupt(cx) {
            if let Some(reason) = ending(bits) {
                self.reason = reason;
                return Poll::Ready(reason);
            }
        }
        Poll::Pending
    }

    /// A context to lend to residents.
    pub fn context<A: Actor<Msg = M>>(&self, house: Arc<dyn House<M>>) -> Box<Context<A>> {
        Box::new(Context::for_residents(self.cell.clone(), Resident::new(house)))
    }

    /// Drops a message that no handler will see, and counts it.
    pub fn bury(
        &self,
        message: M,
        is_ask: bool,
        recipient: impl FnOnce() -> String,
        reason: DeadLetterReason,
    ) {
        self.record(recipient, reason);
        let dropped = crate::Fault::catch(|| match reason {
            DeadLetterReason::AskerGone => discard_overdue(message),
            _ if is_ask => super::discard(message),
            _ => drop(message),
        });
        if dropped.is_err() {
            tracing::error!(host = %self.cell.path(), "a message panicked as it was dropped");
        }
    }

    /// Counts a message that no handler will see.
    pub fn record(&self, recipient: impl FnOnce() -> String, reason: DeadLetterReason) {
        let message_type = std::any::type_name::<M>();
        let letter = || DeadLetter { recipient: recipient(), message_type, reason };
        self.cell.core.dead_letters.record(&self.cell.core.events, letter, reason);
    }

    /// The system.
    pub fn system(&self) -> SystemHandle {
        SystemHandle::new(self.cell.core.clone())
    }
}

impl<M: Send + 'static> Drop for Station<M> {
    fn drop(&mut self) {
        self.cell.mailbox.close();
        self.cell.core.registry.dismiss(self.cell.id, &self.cell.path(), self.reason);
    }
}

impl<M: Send + 'static> fmt::Debug for Station<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Station").field(&self.cell.path()).finish()
    }
}
