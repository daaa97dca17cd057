//! The part of an actor that its refs and its host share: who it is, and its mailbox.
//!
//! Small on purpose: an idle actor is this, its task, and a place in the registry.

use std::any::{Any, type_name};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::actor_ref::SystemRef;
use crate::ask::turn;
use crate::dead_letters::{DeadLetter, DeadLetterReason};
use crate::fault::Fault;
use crate::id::ActorId;
use crate::item::{Item, Rare};
use crate::mailbox::{Mailbox, Refusal, Ticket};
use crate::mailbox_kind::MailboxKind;
use crate::path;
use crate::room::{NoRoom, Room};
use crate::system::Core;
use crate::tell::{Queued, Tell, TellError, TryTellError};

/// The interrupts a host answers to.
pub(crate) mod interrupt {
    /// Stop after the current message: somebody asked.
    pub(crate) const STOP: u8 = 1;
    /// Stop after the current message: the parent stops.
    pub(crate) const PARENT_STOPS: u8 = 1 << 1;
    /// Stop after the current message: the system stops.
    pub(crate) const SYSTEM_STOPS: u8 = 1 << 2;
    /// Stop at the next await of the current turn.
    pub(crate) const KILL: u8 = 1 << 3;
    /// The last child of an actor that waits for that is gone.
    pub(crate) const CHILDLESS: u8 = 1 << 4;
    /// A child failed and its supervision says that its parent should know.
    pub(crate) const ESCALATED: u8 = 1 << 5;
    /// Those after which the actor handles no further message.
    pub(crate) const ENDING: u8 = STOP | PARENT_STOPS | SYSTEM_STOPS | KILL;
    pub(crate) const ALL: u8 = ENDING | CHILDLESS | ESCALATED;
}

pub(crate) struct ActorCell<M> {
    pub(crate) mailbox: Mailbox<Item<M>>,
    pub(crate) id: ActorId,
    pub(crate) core: Arc<Core>,
}

/// An actor of any type, as the registry keeps it.
pub(crate) trait AnyCell: Send + Sync {
    fn interrupt(&self, bits: u8);
    fn message_type(&self) -> &'static str;
    /// Whether it is in a turn that awaits something.
    fn is_awaiting(&self) -> bool;
    fn path(&self) -> String;
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl<M: Send + 'static> AnyCell for ActorCell<M> {
    fn interrupt(&self, bits: u8) {
        self.mailbox.interrupt(bits);
    }

    fn message_type(&self) -> &'static str {
        type_name::<M>()
    }

    fn is_awaiting(&self) -> bool {
        self.mailbox.is_busy()
    }

    fn path(&self) -> String {
        self.path()
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl<M: Send + 'static> ActorCell<M> {
    /// The cell of an actor that never was: it refuses everything.
    pub(crate) fn closed(core: Arc<Core>) -> Self {
        let mailbox = MailboxKind::default().build();
        mailbox.close();
        Self { mailbox, id: ActorId::NOBODY, core }
    }
}

impl<M> ActorCell<M> {
    /// The path it was given, or one made of its id.
    pub(crate) fn path(&self) -> String {
        self.mailbox.label().map_or_else(|| path::nameless(self.id), |label| label.to_string())
    }
}

/// Gets the message as its sender sent it out of the item it was put into.
pub(crate) type Unwrap<M, T> = fn(Item<M>) -> Option<T>;

impl<M: Send + 'static> ActorCell<M> {
    #[inline]
    pub(crate) fn tell(self: &Arc<Self>, message: M) -> Tell<M> {
        self.send(Item::Tell(message), Item::into_message)
    }

    /// Puts an item in, or has its sender stand in line for room.
    #[inline]
    pub(crate) fn send<T: Send + 'static>(self: &Arc<Self>, item: Item<M>, unwrap: Unwrap<M, T>) -> Tell<T> {
        match self.mailbox.push(item) {
            Ok(()) => Tell::accepted(),
            Err(refusal) => self.not_at_once(refusal, unwrap),
        }
    }

    #[cold]
    fn not_at_once<T: Send + 'static>(
        self: &Arc<Self>,
        refusal: Refusal<Item<M>>,
        unwrap: Unwrap<M, T>,
    ) -> Tell<T> {
        match refusal {
            Refusal::Full(item) if self.is_own_turn() => self.tell_itself(item, unwrap),
            Refusal::Full(item) => Tell::waiting(Box::pin(Line {
                cell: self.clone(),
                place: Place::Outside(Some(item)),
                unwrap,
            })),
            other => self.settle(other, unwrap).map_or_else(Tell::refused, |()| Tell::accepted()),
        }
    }

    /// Whether this thread is in a turn of the actor, which would wait for itself.
    fn is_own_turn(&self) -> bool {
        turn::is_of(self.core.asks.number, self.id)
    }

    /// Nobody else could make room as long as the turn waits: up to as much again may come beyond the bound.
    fn tell_itself<T: Send + 'static>(&self, item: Item<M>, unwrap: Unwrap<M, T>) -> Tell<T> {
        let refusal = match self.mailbox.push_own(item) {
            Ok(()) => return Tell::accepted(),
            Err(refusal) => refusal,
        };
        self.settle(refusal, unwrap).map_or_else(
            |error| match error {
                TellError::Full(message) => {
                    Tell::refused(TellError::NoRoom(message, self.waits_for_itself()))
                }
                other => Tell::refused(other),
            },
            |()| Tell::accepted(),
        )
    }

    fn waits_for_itself(&self) -> NoRoom {
        NoRoom::of_itself(self.path())
    }

    #[inline]
    pub(crate) fn try_send<T>(&self, item: Item<M>, unwrap: Unwrap<M, T>) -> Result<(), TryTellError<T>> {
        match self.mailbox.push(item) {
            Ok(()) => Ok(()),
            Err(refusal) => self.settle(refusal, unwrap).map_err(TryTellError::from),
        }
    }

    /// Sends without waiting and without a word back; what cannot be accepted is a dead letter.
    pub(crate) fn post(&self, item: Item<M>) {
        match self.mailbox.push(item) {
            Ok(()) => {}
            Err(Refusal::Closed(item)) => self.bury(item, DeadLetterReason::Stopped),
            Err(
                Refusal::Full(item)
                | Refusal::Refused(item)
                | Refusal::Displaced(item)
                | Refusal::Dropped(item),
            ) => self.bury(item, DeadLetterReason::Overflow),
        }
    }

    /// Turns a refusal into the sender's outcome, and counts what died.
    #[cold]
    fn settle<T>(&self, refusal: Refusal<Item<M>>, unwrap: Unwrap<M, T>) -> Result<(), TellError<T>> {
        let (item, error): (_, fn(T) -> TellError<T>) = match refusal {
            Refusal::Displaced(dropped) | Refusal::Dropped(dropped) => {
                self.bury(dropped, DeadLetterReason::Overflow);
                return Ok(());
            }
            Refusal::Full(item) | Refusal::Refused(item) => (item, TellError::Full),
            Refusal::Closed(item) => {
                self.record_dead_letter(DeadLetterReason::Stopped);
                (item, TellError::Stopped)
            }
        };
        unwrap(item).map_or(Ok(()), |message| Err(error(message)))
    }

    /// Drops what no handler will see, and counts it if it was a message.
    pub(crate) fn bury(&self, item: Item<M>, reason: DeadLetterReason) {
        if let Item::Rare(rare) = item {
            return self.bury_rare(rare, reason);
        }
        self.bury_message(item, reason);
    }

    fn bury_rare(&self, rare: Box<Rare<M>>, reason: DeadLetterReason) {
        match *rare {
            Rare::Packet(packet) => packet.bury(self, reason),
            Rare::Adapted(_) => self.bury_message(Item::Rare(rare), reason),
            Rare::StopHere | Rare::Terminated(..) => {}
        }
    }

    fn bury_message(&self, message: Item<M>, reason: DeadLetterReason) {
        self.record_dead_letter(reason);
        // A message is user code too as it is dropped; what it does must not end the actor's end.
        if Fault::catch(|| message.discard()).is_err() {
            tracing::error!(actor = %self.path(), "a message panicked as it was dropped");
        }
    }

    pub(crate) fn record_dead_letter(&self, reason: DeadLetterReason) {
        let letter = || DeadLetter { recipient: self.path(), message_type: type_name::<M>(), reason };
        self.core.dead_letters.record(&self.core.events, letter, reason);
    }

    pub(crate) fn stop_when_drained(&self) {
        // Refused means: it is gone, or on its way.
        let _ = self.mailbox.push_beyond_bound(Item::rare(Rare::StopHere));
    }
}

/// A sender that stands in line for room, with a message of type `T` in an item for an actor of `M`.
struct Line<M: Send + 'static, T> {
    cell: Arc<ActorCell<M>>,
    place: Place<M>,
    unwrap: Unwrap<M, T>,
}

enum Place<M> {
    /// Not polled yet.
    Outside(Option<Item<M>>),
    InLine(Ticket),
    Left,
}

impl<M: Send + 'static, T> Line<M, T> {
    /// Ready when the item is in, or was given back.
    fn poll_item(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Refusal<Item<M>>>> {
        match &mut self.place {
            Place::Outside(item) => {
                let Some(item) = item.take() else { return Poll::Ready(Ok(())) };
                match self.cell.mailbox.push_or_wait(item, cx.waker())? {
                    Some(ticket) => {
                        self.place = Place::InLine(ticket);
                        Poll::Pending
                    }
                    None => Poll::Ready(Ok(())),
                }
            }
            Place::InLine(ticket) => {
                let polled = self.cell.mailbox.poll_waiting(*ticket, cx.waker());
                if polled.is_ready() {
                    self.place = Place::Left;
                }
                polled.map_err(Refusal::Closed)
            }
            Place::Left => Poll::Ready(Ok(())),
        }
    }
}

impl<M: Send + 'static, T> Future for Line<M, T> {
    type Output = Result<(), TellError<T>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        this.poll_item(cx).map(|outcome| outcome.or_else(|refusal| this.cell.settle(refusal, this.unwrap)))
    }
}

impl<M: Send + 'static, T> Queued<T> for Line<M, T> {
    fn withdraw(mut self: Pin<Box<Self>>) -> Option<T> {
        let item = match std::mem::replace(&mut self.place, Place::Left) {
            Place::Outside(item) => item,
            Place::InLine(ticket) => self.cell.mailbox.withdraw(ticket),
            Place::Left => None,
        };
        item.and_then(self.unwrap)
    }

    fn room(&self) -> Option<Room> {
        let Place::InLine(ticket) = self.place else { return None };
        let cell = self.cell.clone();
        let room = Room::of(SystemRef(&cell.core), cell.path());
        Some(room.of_actor(cell.id, move || cell.mailbox.keeps_waiting(ticket)))
    }
}

/// The item is boxed with its future, and never pinned itself.
impl<M: Send + 'static, T> Unpin for Line<M, T> {}

impl<M: Send + 'static, T> Drop for Line<M, T> {
    fn drop(&mut self) {
        if let Place::InLine(ticket) = self.place {
            drop(self.cell.mailbox.withdraw(ticket));
        }
    }
}
