//! The address of an actor.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use crate::ask::{Ask, AskId, Reply, turn};
use crate::block_on::block_on;
use crate::cell::{ActorCell, interrupt};
use crate::id::ActorId;
use crate::item::Item;
use crate::remote::{Away, Interruption};
use crate::system::{Core, SystemHandle};
use crate::tell::{Tell, TellError, TryTellError};
use crate::watch::{Stopped, TargetKey, Watchable};

/// The address of an actor that takes messages of type `M`.
///
/// A ref is an address, not an owner: it is cheap to clone, may be kept after its actor is gone, and
/// dropping the last one does not stop the actor. An actor ends when it stops itself, is stopped
/// or killed through a ref, or when its parent or system stops.
///
/// Order: messages one task sends through refs to one actor are handled in the order they were
/// accepted; a `tell` is accepted when its future is ready.
pub struct ActorRef<M> {
    target: Target<M>,
}

enum Target<M> {
    Here(Arc<ActorCell<M>>),
    Through(Arc<dyn Route<M>>),
}

/// A way to an actor other than straight into its mailbox.
pub trait Route<M>: Send + Sync {
    /// Sends a message, which may carry an ask; stands in line if there is no room.
    fn send(&self, message: M, ask: Option<Asked>) -> Tell<M>;
    /// Sends a message if there is room.
    fn try_tell(&self, message: M) -> Result<(), TryTellError<M>>;
    /// Sends without waiting; what cannot be accepted becomes a dead letter.
    fn post(&self, message: M);
    /// Asks the actor to stop once it has handled what was sent before.
    fn stop_when_drained(&self);
    /// The system it belongs to.
    fn system(&self) -> SystemRef<'_>;
    /// Who it leads to.
    fn id(&self) -> ActorId;
    /// Where that stands.
    fn path(&self) -> String;
    /// Where it leads, if that is another node.
    fn away(&self) -> Option<&Away> {
        None
    }
    /// Whether whoever it leads to comes and goes, and is there again with the next message: it never counts as stopped, and who
    /// watches it is told nothing.
    fn is_lasting(&self) -> bool {
        false
    }
}

/// A system, as those know it who only pass by.
#[derive(Clone, Copy)]
pub struct SystemRef<'a>(pub(crate) &'a Arc<Core>);

impl fmt::Debug for SystemRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SystemRef").field(&self.0.name).finish()
    }
}

impl<'a> From<&'a SystemHandle> for SystemRef<'a> {
    #[inline]
    fn from(system: &'a SystemHandle) -> Self {
        Self(system.core())
    }
}

/// The ask that a message carries.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Which.
    pub id: AskId,
    /// How long its asker waits.
    pub timeout: Duration,
}

impl<M: Send + 'static> ActorRef<M> {
    /// Sends a message; waits for room if the mailbox is full.
    ///
    /// `Ok` means accepted, in order, not handled: who needs to know asks. For an actor on another node it means accepted for the way
    /// there, not arrived. An error gives the message back. See [`Tell`] for what dropping the future does.
    ///
    /// Room is given in order of arrival, once the mailbox is half empty or its actor awaits something; until
    /// those in line are in, nobody else is.
    ///
    /// Awaited in a turn, the tell cannot deadlock: a circle of turns that wait for each other's room or answers is refused at once, a turn waits at most
    /// for the system's ask timeout, and both give the message back as [`TellError::NoRoom`]. An actor that tells itself never waits: up to as many
    /// messages again as its mailbox holds are taken beyond the bound.
    #[inline]
    pub fn tell(&self, message: M) -> Tell<M> {
        match &self.target {
            Target::Here(cell) => cell.tell(message),
            Target::Through(route) => route.send(message, None),
        }
    }

    /// Sends a message if there is room now; gives it back otherwise.
    #[inline]
    pub fn try_tell(&self, message: M) -> Result<(), TryTellError<M>> {
        match &self.target {
            Target::Here(cell) => cell.try_send(Item::Tell(message), Item::into_message),
            Target::Through(route) => route.try_tell(message),
        }
    }

    /// Sends a message from a thread that is no runtime's worker; blocks it while the mailbox is full.
    ///
    /// Called on a worker thread of an async runtime it would block that worker: use [`ActorRef::tell`] there.
    pub fn blocking_tell(&self, message: M) -> Result<(), TellError<M>> {
        match self.tell(message).at_once() {
            Ok(outcome) => outcome,
            Err(waiting) => block_on(waiting),
        }
    }

    /// Sends the message that `message` makes around a [`Reply`], and waits for the answer.
    ///
    /// The default timeout (5 s, see [`SystemBuilder::ask_timeout`](crate::SystemBuilder::ask_timeout)) is changed for one
    /// ask by [`Ask::timeout`]. Fails at once when the actor is gone, drops the reply, or waits itself,
    /// through a chain of asks, for the actor whose turn awaits this one. Every error says whether the message may have been handled.
    ///
    /// Only a chain is found: two actors that ask each other at the same moment, each in a turn that handles no
    /// ask of the other's, wait until the first timeout.
    ///
    /// ```
    /// # use borough_actor::*;
    /// # enum Greet { Name(String, Reply<String>) }
    /// # struct Greeter;
    /// # impl Actor for Greeter {
    /// #     type Msg = Greet;
    /// #     async fn receive(&mut self, Greet::Name(name, reply): Greet, _: &mut Context<Self>) -> Result<(), Fault> {
    /// #         reply.send(format!("hello {name}"));
    /// #         Ok(())
    /// #     }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let system = System::new("doc")?;
    /// # let greeter = system.spawn(|| Greeter);
    /// let words = greeter.ask(|reply| Greet::Name("you".into(), reply)).await?;
    /// assert_eq!(words, "hello you");
    /// # Ok(()) }
    /// ```
    #[inline]
    pub fn ask<T, F>(&self, message: F) -> Ask<&Self, T, F>
    where
        T: Send + 'static,
        F: FnOnce(Reply<T>) -> M,
    {
        Ask::new(self, self.core().settings.ask_timeout, message)
    }

    /// Asks the actor to stop after the message it is handling; what waits in its mailbox becomes dead letters.
    ///
    /// An actor that is busy with quick messages looks every sixteen of them, so it may handle a few more. One that
    /// awaits or is slow does not, nor one that stops itself.
    pub fn stop(&self) {
        self.interrupt(interrupt::STOP);
    }

    /// Asks the actor to stop once it has handled everything that is in its mailbox now.
    pub fn stop_when_drained(&self) {
        match &self.target {
            Target::Here(cell) => cell.stop_when_drained(),
            Target::Through(route) => route.stop_when_drained(),
        }
    }

    /// Ends the actor at the next await of the turn it is in; that turn's message is lost.
    ///
    /// For actors that hang. `stopping` is not called, and its children are killed too, not waited for. A handler that
    /// blocks its thread cannot be ended by anybody.
    pub fn kill(&self) {
        self.interrupt(interrupt::KILL);
    }

    fn interrupt(&self, bits: u8) {
        if let Some(away) = self.away() {
            let what = if bits == interrupt::KILL { Interruption::Kill } else { Interruption::Stop };
            return away.interrupt(what);
        }
        turn::make_last(self.core().asks.number, self.id());
        self.core().registry.interrupt(self.id(), bits);
    }

    /// Waits until the actor is gone; ready at once if it is.
    pub fn stopped(&self) -> Stopped {
        Stopped::new(self.watchable())
    }

    /// Whether the actor is gone, for good. Of one that lives on another node this is known once that node is lost;
    /// watching it says more.
    pub fn is_stopped(&self) -> bool {
        if let Some(away) = self.away() {
            return away.carrier().is_lost();
        }
        if self.is_lasting() {
            return false;
        }
        !self.core().registry.is_alive(self.id())
    }

    /// Sends without waiting; what cannot be accepted becomes a dead letter.
    pub(crate) fn post(&self, message: M) {
        match &self.target {
            Target::Here(cell) => cell.post(Item::Tell(message)),
            Target::Through(route) => route.post(message),
        }
    }

    #[inline]
    pub(crate) fn send(&self, message: M, ask: Option<Asked>) -> Tell<M> {
        match &self.target {
            Target::Here(cell) => cell.send(Item::new(message, ask.map(|ask| ask.id)), Item::into_message),
            Target::Through(route) => route.send(message, ask),
        }
    }
}

impl<M> ActorRef<M> {
    pub(crate) fn here(cell: Arc<ActorCell<M>>) -> Self {
        Self { target: Target::Here(cell) }
    }

    /// The address that leads by that way.
    pub(crate) fn through(route: Arc<dyn Route<M>>) -> Self {
        Self { target: Target::Through(route) }
    }

    /// The id of the actor behind this address.
    pub fn id(&self) -> ActorId {
        match &self.target {
            Target::Here(cell) => cell.id,
            Target::Through(route) => route.id(),
        }
    }

    /// Where the actor stands in the tree of actors, as `/bank/alice`; one without a name shows its id.
    pub fn path(&self) -> String {
        match &self.target {
            Target::Here(cell) => cell.path(),
            Target::Through(route) => route.path(),
        }
    }

    #[inline]
    pub(crate) fn core(&self) -> &Arc<Core> {
        match &self.target {
            Target::Here(cell) => &cell.core,
            Target::Through(route) => route.system().0,
        }
    }

    fn key(&self) -> TargetKey {
        match self.away() {
            Some(away) => away.key(),
            None => TargetKey::Here { system: self.core().asks.number, id: self.id() },
        }
    }

    fn is_lasting(&self) -> bool {
        matches!(&self.target, Target::Through(route) if route.is_lasting())
    }

    pub(crate) fn watchable(&self) -> Watchable {
        match self.away() {
            None if self.is_lasting() => {
                Watchable::Lasting { id: self.id(), path: self.path(), system: self.core().asks.number }
            }
            Some(away) => Watchable::Away(away.clone()),
            None => Watchable::Here { id: self.id(), path: self.path(), core: self.core().clone() },
        }
    }

    /// Where it leads, if that is another node.
    #[inline]
    pub(crate) fn away(&self) -> Option<&Away> {
        match &self.target {
            Target::Here(_) => None,
            Target::Through(route) => route.away(),
        }
    }

    /// The actor's own cell, unless the way to it leads through something else.
    pub(crate) fn cell(&self) -> Option<&Arc<ActorCell<M>>> {
        match &self.target {
            Target::Here(cell) => Some(cell),
            Target::Through(_) => None,
        }
    }

    /// Tells the ways to one actor apart: adapters of one actor are different addresses.
    pub(crate) fn way(&self) -> usize {
        match &self.target {
            Target::Here(_) => 0,
            Target::Through(route) => Arc::as_ptr(route).cast::<()>() as usize,
        }
    }
}

impl<M> Clone for ActorRef<M> {
    fn clone(&self) -> Self {
        let target = match &self.target {
            Target::Here(cell) => Target::Here(cell.clone()),
            Target::Through(route) => Target::Through(route.clone()),
        };
        Self { target }
    }
}

/// Two refs are equal if they lead to the same actor.
impl<M> PartialEq for ActorRef<M> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<M> Eq for ActorRef<M> {}

impl<M> Hash for ActorRef<M> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl<M> fmt::Debug for ActorRef<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ActorRef({})", self.path())
    }
}
