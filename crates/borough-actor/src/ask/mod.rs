//! Asking: a message that carries the handle for its answer, and the future that waits for it.
//!
//! ```text
//! New --first poll: circle? table full?--> failed
//!     --message accepted--> Waiting --answer, reply dropped, deadline--> done
//!     --mailbox full------> Sending --room--> Waiting
//!                                   --deadline--> withdrawn, done
//! ```

pub(crate) mod answer_room;
mod error;
mod given_up;
mod id;
mod pool;
mod reply;
mod slot;
pub(crate) mod sweeper;
mod table;
mod travel;
pub(crate) mod turn;

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

pub use self::error::AskError;
pub use self::id::AskId;
pub(crate) use self::id::StowedAskId;
pub use self::reply::Reply;
pub use self::reply::discard;
pub(crate) use self::reply::{discard_overdue, discarding};
use self::slot::AnswerSlot;
pub use self::slot::Lost;
pub(crate) use self::table::AskTable;
pub use self::travel::travelled;
pub(crate) use self::travel::{Travel, take_back};
use crate::actor_ref::Asked;
use crate::id::ActorId;
use crate::resident::Recipient;
use crate::room::{self, Waits};
use crate::system::Core;
use crate::tell::{Tell, TellError};

/// The future of [`ActorRef::ask`](crate::ActorRef::ask), and of asks to entities.
///
/// Nothing is sent before it is first polled. Cancel safety: dropping it gives the ask up. A message
/// that still waits for room is withdrawn; one that waits in the mailbox is dropped unhandled and
/// counted when its turn comes; one in a handler's hands is handled, and its answer dropped.
#[must_use = "nothing is asked until this is awaited"]
pub struct Ask<R: Recipient, T, F> {
    recipient: R,
    timeout: Duration,
    /// What is to be sent, while the ask is new.
    message: Option<F>,
    /// Where the answer will be, while the ask is under way. An ask without either has given its result.
    slot: Option<Arc<AnswerSlot<T>>>,
    /// The message, while it waits for room.
    sending: Tell<R::Message>,
}

/// Why a message that waited for room did not get it.
enum NoRoom {
    Refused(AskError),
    InTime,
}

impl<R: Recipient, T, F> Drop for Ask<R, T, F> {
    #[inline]
    fn drop(&mut self) {
        if self.slot.is_some() {
            self.give_up();
        }
    }
}

impl<R: Recipient, T, F> Ask<R, T, F> {
    #[inline]
    pub(crate) fn new(recipient: R, timeout: Duration, message: F) -> Self {
        Self { recipient, timeout, message: Some(message), slot: None, sending: Tell::accepted() }
    }

    #[inline]
    fn core(&self) -> &Arc<Core> {
        self.recipient.system().0
    }

    #[cold]
    fn give_up(&mut self) {
        if let Some(slot) = self.slot.take() {
            slot.close();
            self.core().asks.unregister(slot.index());
        }
    }

    /// Sets how long to wait for the answer, the time spent waiting for room included.
    ///
    /// Timeouts are looked at every 10 ms: an ask never ends early and is at most about 20 ms late. With hundreds of
    /// thousands of asks under way in one system they are looked at less often, down to four times a second.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

impl<R, T, F> Ask<R, T, F>
where
    R: Recipient,
    T: Send + 'static,
    F: FnOnce(Reply<T>) -> R::Message,
{
    /// Takes the ask into the table and sends its message.
    fn begin(&mut self, message: F, cx: &mut Context<'_>) -> Result<(), AskError> {
        let turn = self.turn();
        if let Some(turn) = turn
            && let Some(target) = self.recipient.id_here()
        {
            self.refuse_circle(target, turn)?;
        }
        let core = self.core();
        let Some(slot) = pool::take::<T>(&core.asks) else { return Err(AskError::TooMany) };
        let id = slot.open(cx.waker(), self.timeout, turn);
        core.asks.expect_sweeper();
        let reply = Reply::new(slot.clone());
        // Before user code runs: should it panic, the ask is taken out again as it is dropped.
        self.slot = Some(slot);
        let asked = Asked { id, timeout: self.timeout };
        self.sending = self.recipient.send(message(reply), asked);
        Ok(())
    }

    fn poll_new(&mut self, cx: &mut Context<'_>) -> Poll<Result<T, AskError>> {
        let Some(message) = self.message.take() else {
            panic!("an ask was polled after it had given its result")
        };
        if let Err(error) = self.begin(message, cx) {
            return Poll::Ready(Err(error));
        }
        if self.sending.is_accepted() {
            // Begun with this waker: there is nothing to look for until it is woken.
            return Poll::Pending;
        }
        Pin::new(self).poll(cx)
    }

    /// The turn in which this is polled, if it is one of the same system's: ids mean nothing elsewhere.
    #[inline]
    fn turn(&self) -> Option<turn::Turn> {
        turn::current().filter(|turn| turn.system == self.core().asks.number)
    }

    /// Fails if the actor asked waits, directly or through others, for the turn that asks it.
    fn refuse_circle(&self, target: ActorId, turn: turn::Turn) -> Result<(), AskError> {
        let core = self.core();
        let mut chain = Vec::new();
        for waiting in core.asks.waiting_on(turn) {
            chain.push(waiting);
            if waiting == target {
                break;
            }
        }
        // An ask that began in a turn may be awaited elsewhere by now: the one asked must be deaf indeed.
        let deaf = target == turn.actor || core.registry.is_awaiting(target);
        if chain.last() != Some(&target) || !deaf {
            return self.refuse_circle_of_room(target, turn);
        }
        let path = self.recipient.path();
        let others = chain.iter().rev().map(|actor| core.registry.path(*actor));
        let circle = others.chain([path.clone()]).collect();
        Err(AskError::Cycle { path, circle })
    }

    /// As above, where some of them wait for room.
    #[inline]
    fn refuse_circle_of_room(&self, target: ActorId, turn: turn::Turn) -> Result<(), AskError> {
        if self.core().waits.is_empty() {
            return Ok(());
        }
        let path = self.recipient.path();
        let circle = Waits::circle(self.core(), turn, target, &path);
        circle.map_or(Ok(()), |circle| Err(AskError::Cycle { path, circle }))
    }

    #[cold]
    fn refused(&self, refused: TellError<R::Message>) -> AskError {
        let path = self.recipient.path();
        let error = match &refused {
            TellError::Stopped(_) => AskError::Stopped { path },
            TellError::Full(_) => AskError::Full { path },
            TellError::NodeLost(_) => AskError::NodeLost { path, sent: false },
            TellError::Unsendable(_, why) => AskError::Unsendable { path, why: why.clone() },
            TellError::NoRoom(_, room::NoRoom::Circle { circle, .. }) => {
                AskError::Cycle { path, circle: circle.clone() }
            }
            TellError::NoRoom(_, room::NoRoom::Timeout { timeout, .. }) => {
                AskError::Timeout { path, timeout: *timeout, accepted: false }
            }
        };
        discard(refused);
        error
    }

    #[cold]
    fn lost(&self, why: Lost, accepted: bool) -> AskError {
        let path = self.recipient.path();
        match why {
            Lost::Discarded => AskError::Discarded { path },
            Lost::Dropped => AskError::NoAnswer { path },
            Lost::Expired => AskError::Timeout { path, timeout: self.timeout, accepted },
            Lost::Overdue => AskError::Timeout { path, timeout: self.timeout, accepted: false },
            Lost::Node => AskError::NodeLost { path, sent: accepted },
            Lost::Unreadable => AskError::Unreadable { path },
        }
    }

    /// The message waits for room: has it got it, is the time up?
    fn poll_room(
        &self,
        tell: &mut Tell<R::Message>,
        slot: &AnswerSlot<T>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), NoRoom>> {
        let mut polled = tell.poll_for_ask(cx);
        if polled.is_pending() {
            if slot.wait_on(cx.waker(), self.turn()) {
                return Poll::Pending;
            }
            // Ended, but perhaps because the message was let in just now, and even answered.
            polled = tell.poll_for_ask(cx);
        }
        match polled {
            Poll::Ready(Ok(())) => Poll::Ready(Ok(())),
            Poll::Ready(Err(refused)) => Poll::Ready(Err(NoRoom::Refused(self.refused(refused)))),
            Poll::Pending => Poll::Ready(Err(NoRoom::InTime)),
        }
    }

    #[cold]
    fn poll_sending(
        &mut self,
        mut tell: Tell<R::Message>,
        slot: Arc<AnswerSlot<T>>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<T, AskError>> {
        match self.poll_room(&mut tell, &slot, cx) {
            Poll::Pending => {
                self.slot = Some(slot);
                self.sending = tell;
                Poll::Pending
            }
            Poll::Ready(Ok(())) => self.poll_answer(slot, cx),
            Poll::Ready(Err(no_room)) => {
                let error = match no_room {
                    NoRoom::Refused(error) => error,
                    // It may be let in at the last moment.
                    NoRoom::InTime => self.lost(Lost::Expired, !tell.withdraw()),
                };
                slot.close();
                pool::put(&self.core().asks, slot);
                Poll::Ready(Err(error))
            }
        }
    }

    /// The message was accepted: is there an answer?
    #[inline]
    fn poll_answer(&mut self, slot: Arc<AnswerSlot<T>>, cx: &mut Context<'_>) -> Poll<Result<T, AskError>> {
        match slot.take() {
            Some(Ok(answer)) => {
                pool::put(&self.core().asks, slot);
                Poll::Ready(Ok(answer))
            }
            Some(Err(why)) => self.poll_lost(slot, why),
            None => self.poll_open(slot, cx),
        }
    }

    /// Apart from the answer's way, which would otherwise carry the size of an error.
    #[cold]
    fn poll_lost(&mut self, slot: Arc<AnswerSlot<T>>, why: Lost) -> Poll<Result<T, AskError>> {
        pool::put(&self.core().asks, slot);
        Poll::Ready(Err(self.lost(why, true)))
    }

    /// There was no answer a moment ago.
    #[inline(never)]
    fn poll_open(&mut self, slot: Arc<AnswerSlot<T>>, cx: &mut Context<'_>) -> Poll<Result<T, AskError>> {
        if !slot.wait_on(cx.waker(), self.turn()) {
            return self.poll_answer(slot, cx);
        }
        self.slot = Some(slot);
        Poll::Pending
    }
}

impl<R, T, F> Future for Ask<R, T, F>
where
    R: Recipient,
    T: Send + 'static,
    F: FnOnce(Reply<T>) -> R::Message,
{
    type Output = Result<T, AskError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let Some(slot) = this.slot.take() else { return this.poll_new(cx) };
        match mem::replace(&mut this.sending, Tell::accepted()) {
            tell if tell.is_accepted() => this.poll_answer(slot, cx),
            tell => this.poll_sending(tell, slot, cx),
        }
    }
}

/// Nothing in it is ever pinned.
impl<R: Recipient, T, F> Unpin for Ask<R, T, F> {}

impl<R: Recipient, T, F> fmt::Debug for Ask<R, T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}
