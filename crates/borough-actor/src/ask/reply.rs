//! The handle through which an ask is answered.

use std::any::type_name;
use std::cell::Cell;
use std::fmt;
use std::mem;
use std::sync::Arc;

use super::slot::{AnswerSlot, Deliver, Forward, Lost};
use crate::actor_ref::ActorRef;
use crate::fault::Fault;

/// Answers one ask. It travels inside the message: `enum Account { Balance(Reply<u64>) }`.
///
/// A reply may be kept and used in a later turn, or given to another actor that answers instead.
/// Dropped without an answer it fails the ask at once with [`AskError::NoAnswer`](crate::AskError::NoAnswer).
/// Eight bytes in size, whatever `T` is.
///
/// ```
/// use borough_actor::Reply;
/// enum Account {
///     Balance(Reply<u64>),
/// }
/// // The variant is itself the function an ask needs: `account.ask(Account::Balance)`.
/// let _: fn(Reply<u64>) -> Account = Account::Balance;
/// ```
#[must_use = "a reply dropped without an answer fails the ask"]
pub struct Reply<T> {
    slot: Option<Arc<AnswerSlot<T>>>,
}

impl<T: Send + 'static> Reply<T> {
    /// A reply that sends the answer to an actor as a message (`reply to`).
    ///
    /// The answer does not wait for room: if that actor's mailbox is full or the actor is gone,
    /// the answer becomes a dead letter, counted with its reason.
    pub fn to_actor(actor: ActorRef<T>) -> Self {
        Self::forwarding(Forward::To(Box::new(ToActor(actor))))
    }

    /// A reply that takes another type and turns it into the answer this one wants.
    ///
    /// ```
    /// # use borough_actor::Reply;
    /// fn in_words(reply: Reply<String>) -> Reply<u64> {
    ///     reply.adapt(|number: u64| number.to_string())
    /// }
    /// ```
    pub fn adapt<U: Send + 'static>(self, f: impl FnOnce(U) -> T + Send + 'static) -> Reply<U> {
        Reply::forwarding(Forward::To(Box::new(Adapted { reply: self, f })))
    }

    pub(super) fn forwarding(forward: Forward<T>) -> Self {
        Self { slot: Some(Arc::new(AnswerSlot::forwarding(forward))) }
    }
}

struct ToActor<T>(ActorRef<T>);

impl<T: Send + 'static> Deliver<T> for ToActor<T> {
    fn is_wanted(&self) -> bool {
        !self.0.is_stopped()
    }

    fn deliver(self: Box<Self>, answer: T) -> Result<(), T> {
        self.0.post(answer);
        Ok(())
    }
}

struct Adapted<T, F> {
    reply: Reply<T>,
    f: F,
}

impl<T, U, F> Deliver<U> for Adapted<T, F>
where
    T: Send + 'static,
    F: FnOnce(U) -> T + Send,
{
    fn is_wanted(&self) -> bool {
        self.reply.is_wanted()
    }

    fn deliver(self: Box<Self>, answer: U) -> Result<(), U> {
        if !self.reply.is_wanted() {
            return Err(answer);
        }
        self.reply.send((self.f)(answer));
        Ok(())
    }
}

impl<T> Reply<T> {
    pub(super) fn new(slot: Arc<AnswerSlot<T>>) -> Self {
        Self { slot: Some(slot) }
    }

    /// A reply for which nobody waits.
    pub(crate) fn unwanted() -> Self {
        Self { slot: None }
    }

    pub(super) fn slot(&self) -> Option<&Arc<AnswerSlot<T>>> {
        self.slot.as_ref()
    }

    /// Ends the handle without an answer.
    pub(super) fn lose(&mut self, why: Lost) {
        if let Some(slot) = self.slot.take() {
            slot.lose(why);
        }
    }

    /// Gives the answer. If nobody waits for it any more it is dropped; [`Reply::try_send`] says so.
    #[inline]
    pub fn send(self, answer: T) {
        // An asker that gave up has its error already; there is nobody left to tell.
        let _ = self.try_send(answer);
    }

    /// Gives the answer, or gives it back if the asker's time is up or it gave up.
    #[inline]
    pub fn try_send(mut self, answer: T) -> Result<(), T> {
        let slot = self.slot.take();
        // Its drop has nothing left to do.
        mem::forget(self);
        match slot {
            Some(slot) => slot.answer(answer),
            None => Err(answer),
        }
    }

    /// Whether somebody still waits for the answer; work that takes long may look now and then.
    pub fn is_wanted(&self) -> bool {
        self.slot.as_ref().is_some_and(|slot| slot.is_wanted())
    }
}

impl<T> Drop for Reply<T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            match ENDING.get() {
                Ending::Dropped => slot.lose(Lost::Dropped),
                Ending::Discarded => slot.lose(Lost::Discarded),
                Ending::Overdue => slot.lose(Lost::Overdue),
                Ending::Travelled => {}
            }
        }
    }
}

impl<T> fmt::Debug for Reply<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").field("wanted", &self.is_wanted()).finish()
    }
}

/// How reply handles end that are dropped on this thread.
#[derive(Clone, Copy)]
pub(super) enum Ending {
    /// By their handler, without an answer.
    Dropped,
    /// With a message that no handler saw.
    Discarded,
    /// With a message that no handler saw, because its asker's time was up.
    Overdue,
    /// With a message that went to another node: whoever decodes it there has the handle.
    Travelled,
}

thread_local! {
    static ENDING: Cell<Ending> = const { Cell::new(Ending::Dropped) };
}

/// Drops a message that no handler saw, so that an ask inside it learns just that.
pub fn discard<T>(message: T) {
    drop_as(Ending::Discarded, message);
}

/// Drops a message that no handler saw because its asker's time was up, so that an ask inside it learns just that.
pub(crate) fn discard_overdue<T>(message: T) {
    drop_as(Ending::Overdue, message);
}

/// Runs code that makes a message; what it drops of it no handler sees.
#[inline]
pub(crate) fn discarding<R>(make: impl FnOnce() -> R) -> R {
    ending_as(Ending::Discarded, make)
}

/// Drops a message whose replies end so. That runs the user's code: a panic in it ends nobody who passes messages on.
pub(super) fn drop_as<T>(ending: Ending, message: T) {
    if let Err(fault) = Fault::catch(|| ending_as(ending, || drop(message))) {
        tracing::error!(message = type_name::<T>(), %fault, "a message panicked as it was dropped");
    }
}

#[inline]
fn ending_as<R>(ending: Ending, run: impl FnOnce() -> R) -> R {
    struct Restore(Ending);
    impl Drop for Restore {
        fn drop(&mut self) {
            // With the cell itself: to set a thread's value is a way longer, by which it would be made first.
            ENDING.with(|ending| ending.set(self.0));
        }
    }
    let _restore = Restore(ENDING.with(|now| now.replace(ending)));
    run()
}
