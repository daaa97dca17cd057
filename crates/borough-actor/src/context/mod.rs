//! What an actor's code can reach from inside a turn, and what every end of an actor does.

mod entity;
mod extras;
mod packet;
mod stash;
mod timers;
mod watch;

use std::fmt;
use std::sync::Arc;
use std::task;
use std::time::Duration;

use tokio::time::Instant;

pub(crate) use self::packet::OpenPacket;
use self::stash::Stash;
pub use self::stash::StashFull;
pub use self::timers::{TimerKey, Timers};
use self::watch::Watches;
use crate::actor::Actor;
use crate::actor_ref::ActorRef;
use crate::adapter;
use crate::ask::turn;
use crate::cell::{ActorCell, interrupt};
use crate::dead_letters::DeadLetterReason;
use crate::events::EventStream;
use crate::fault::Fault;
use crate::host::Pace;
use crate::id::ActorId;
use crate::item::{Item, Rare};
use crate::mailbox::Batch;
use crate::resident::{Annex, Resident};
use crate::supervision::{ActorFailed, Directive, RestartHistory, Supervision};
use crate::system::{Spawn, SystemHandle, spawn};
use crate::watch::{StopReason, Terminated, WatchId};

/// An actor's view of itself and its surroundings, given to each of its turns.
pub struct Context<A: Actor> {
    pub(crate) cell: Arc<ActorCell<A::Msg>>,
    /// The messages in hand, taken from the mailbox and not handled yet.
    pub(crate) inbox: Batch<Item<A::Msg>>,
    /// What many actors never use.
    extras: Option<Box<Extras<A::Msg>>>,
    pub(crate) pace: Pace,
    /// Set once the actor is to stop.
    ending: Option<StopReason>,
}

pub(crate) struct Extras<M: Send + 'static> {
    pub(crate) timers: Timers<M>,
    stash: Stash<M>,
    watches: Watches<M>,
    supervision: Supervision,
    pub(crate) restarts: RestartHistory,
    /// The fault of the instance before, for the next one's `restarted`.
    pub(crate) followed: Option<Fault>,
    /// A watched actor that is gone, for the call of `terminated` that follows.
    terminated: Option<Terminated>,
    /// The packet whose messages are being handled; before all that is in the inbox. Between batches it is in there.
    packet: Option<Box<Rare<M>>>,
    /// Set if the context is lent to residents of its task, one after the other: the actor has no cell and no mailbox of its own then.
    resident: Option<Box<Resident<M>>>,
    /// A resident's own, between its turns.
    pub(crate) annex: Option<Annex<M>>,
    /// Whether there may be something in it.
    used: bool,
}

impl<M: Send + 'static> Default for Extras<M> {
    fn default() -> Self {
        Self {
            timers: Timers::default(),
            stash: Stash::default(),
            watches: Watches::default(),
            supervision: Supervision::default(),
            restarts: RestartHistory::default(),
            followed: None,
            terminated: None,
            packet: None,
            resident: None,
            annex: None,
            used: false,
        }
    }
}

impl<A: Actor> Context<A> {
    pub(crate) fn new(cell: Arc<ActorCell<A::Msg>>, supervision: Option<Supervision>) -> Self {
        let extras = supervision.map(|supervision| Box::new(Extras { supervision, ..Extras::default() }));
        Self { cell, inbox: Batch::default(), extras, pace: Pace::default(), ending: None }
    }

    /// The actor's own address. An entity's leads to it wherever it lives when a message is sent.
    pub fn self_ref(&self) -> ActorRef<A::Msg> {
        match self.lent_to() {
            None => ActorRef::here(self.cell.clone()),
            Some(resident) => resident.house.address(&resident.id),
        }
    }

    /// The actor's own id.
    pub fn id(&self) -> ActorId {
        self.lent_to().map_or(self.cell.id, |resident| ActorId::of_entity(resident.hash))
    }

    /// Where the actor stands in the tree of actors; of an entity its type and its name, as `/accounts/alice`.
    pub fn path(&self) -> String {
        self.lent_to().map_or_else(|| self.cell.path(), Resident::path)
    }

    /// The system the actor lives in.
    pub fn system(&self) -> SystemHandle {
        SystemHandle::new(self.cell.core.clone())
    }

    /// The system's event stream.
    pub fn events(&self) -> &EventStream {
        &self.cell.core.events
    }

    /// Stops the actor after this turn; what waits in its mailbox becomes dead letters. What waits for an entity starts its next life.
    pub fn stop(&mut self) {
        self.ending = Some(StopReason::Requested);
    }

    /// Starts a child with the default mailbox and supervision. It stops when this actor stops or restarts.
    pub fn spawn<C: Actor>(&self, make: impl FnMut() -> C + Send + 'static) -> ActorRef<C::Msg> {
        spawn::nameless(&self.cell.core, Some(self.own_cell().id), make)
    }

    /// Prepares a child that has a name, a mailbox kind or a supervision of its own.
    pub fn actor<C: Actor, F: FnMut() -> C + Send + 'static>(&self, make: F) -> Spawn<C, F> {
        Spawn::new(self.cell.core.clone(), Some(self.own_cell().id), make)
    }

    /// How many children this actor has.
    pub fn children(&self) -> usize {
        self.cell.core.registry.children(self.own_cell().id)
    }

    /// An address that takes messages of another type and turns them into this actor's own.
    ///
    /// `adapt` runs in this actor's turn: if it panics, that is this actor's fault. The adapter shares
    /// the actor's mailbox, order, bound and end.
    pub fn adapter<T: Send + 'static>(
        &self,
        adapt: impl Fn(T) -> A::Msg + Send + Sync + 'static,
    ) -> ActorRef<T> {
        adapter::new(self.own_cell().clone(), adapt)
    }

    /// The actor's timers.
    pub fn timers(&mut self) -> &mut Timers<A::Msg> {
        &mut self.extras().timers
    }

    /// Sends the actor the message `make` makes whenever it has handled none for `after`.
    pub fn set_receive_timeout(&mut self, after: Duration, make: impl FnMut() -> A::Msg + Send + 'static) {
        self.timers().set_idle(after, Box::new(make));
    }

    /// Ends what [`Context::set_receive_timeout`] began.
    pub fn cancel_receive_timeout(&mut self) {
        self.timers().cancel_idle();
    }

    /// Puts the message of this turn aside until [`Context::unstash_all`]; gives it back if 1024 are aside already.
    ///
    /// A restart puts stashed messages back into the mailbox, in front. If the message is an ask whose asker gives up
    /// meanwhile, it is dropped unhandled; another message stashed in the turn of an ask shares that fate.
    pub fn stash(&mut self, message: A::Msg) -> Result<(), StashFull<A::Msg>> {
        let asked = turn::current().and_then(|turn| turn.ask);
        self.extras().stash.put(Item::new(message, asked))
    }

    /// Puts all stashed messages in front of those that wait, in the order they were stashed.
    pub fn unstash_all(&mut self) {
        if self.stashed() == 0 {
            return;
        }
        self.close_packet();
        let Some(extras) = &mut self.extras else { return };
        for item in extras.stash.drain().rev() {
            self.inbox.push_front(item);
        }
    }

    /// How many messages are stashed.
    pub fn stashed(&self) -> usize {
        self.extras.as_ref().map_or(0, |extras| extras.stash.len())
    }

    /// Has [`Actor::terminated`] called once `actor` is gone; soon, if it is already.
    ///
    /// Everything it sent before it stopped is handled first. Watching twice is watching once.
    pub fn watch<M: Send + 'static>(&mut self, actor: &ActorRef<M>) {
        self.begin_watch(actor, None);
    }

    /// Has `message` sent to this actor once `actor` is gone, in place of a call of [`Actor::terminated`].
    pub fn watch_with<M: Send + 'static>(&mut self, actor: &ActorRef<M>, message: A::Msg) {
        self.begin_watch(actor, Some(message));
    }

    /// Ends a watch; nothing of it arrives any more, not even if the actor is gone already.
    pub fn unwatch<M: Send + 'static>(&mut self, actor: &ActorRef<M>) {
        self.extras().watches.end(&actor.watchable());
    }

    fn begin_watch<M: Send + 'static>(&mut self, actor: &ActorRef<M>, message: Option<A::Msg>) {
        let cell = self.own_cell().clone();
        self.extras().watches.begin(cell, &actor.watchable(), message);
    }

    fn extras(&mut self) -> &mut Extras<A::Msg> {
        let extras = self.extras.get_or_insert_default();
        extras.used = true;
        extras
    }
}

/// What the host needs.
impl<A: Actor> Context<A> {
    #[inline]
    pub(crate) fn is_stopping(&self) -> bool {
        self.ending.is_some()
    }

    /// Whether a timer is due; if none is, sees to it that the task is woken for the next.
    #[inline]
    pub(crate) fn poll_timers(&mut self, cx: &mut task::Context<'_>) -> bool {
        self.extras.as_mut().is_some_and(|extras| extras.timers.poll_due(cx))
    }

    /// The message of a due timer; one in each batch, because its turn may cancel the next, and because
    /// messages want their turn too. It runs user code, so in the actor's turn only.
    #[inline]
    pub(crate) fn take_due(&mut self) -> Option<A::Msg> {
        self.extras.as_mut()?.timers.take_due()
    }

    #[inline]
    pub(crate) fn batch_begins(&mut self) {
        let messages = self.inbox.weight();
        // Without messages it is a due timer's batch.
        self.pace.begin(messages.max(1));
        if let Some(extras) = &mut self.extras {
            extras.timers.batch_begins(messages > 0);
        }
    }

    #[inline]
    pub(crate) fn batch_ended(&mut self) {
        self.pace.end();
        if let Some(extras) = &mut self.extras {
            extras.timers.note_activity();
            self.close_packet();
        }
    }

    /// Whether something comes before what is in the inbox: a call of `terminated`, or the rest of a packet.
    #[inline]
    pub(crate) fn has_before_inbox(&self) -> bool {
        self.extras.as_ref().is_some_and(|extras| extras.terminated.is_some() || extras.packet.is_some())
    }

    /// A watched actor is gone: gives the message the watch asked for, or notes that `terminated` is to be called.
    pub(crate) fn watch_ended(&mut self, watch: WatchId, who: Terminated) -> Option<A::Msg> {
        let extras = self.extras();
        match extras.watch_ended(watch, who)? {
            Ok(message) => Some(message),
            Err(who) => {
                extras.terminated = Some(who);
                None
            }
        }
    }

    #[inline]
    pub(crate) fn has_terminated(&self) -> bool {
        self.extras.as_ref().is_some_and(|extras| extras.terminated.is_some())
    }

    pub(crate) fn take_terminated(&mut self) -> Option<Terminated> {
        self.extras().terminated.take()
    }

    pub(crate) fn supervision(&mut self) -> &Supervision {
        &self.extras().supervision
    }

    /// How long to wait before a restart after this fault; `None` if it would be one too many.
    pub(crate) fn next_restart(&mut self, fault: Fault) -> Option<Duration> {
        let extras = self.extras();
        extras.followed = Some(fault);
        let wait = extras.restarts.next(&extras.supervision, Instant::now());
        if wait.is_none() {
            tracing::error!(actor = %self.path(), "failed too often, stops for good");
        }
        wait
    }

    pub(crate) fn take_followed(&mut self) -> Option<Fault> {
        self.extras.as_mut()?.followed.take()
    }

    pub(crate) fn escalated(&mut self) -> Option<Fault> {
        let (fault, more) = self.cell.core.registry.next_escalated(self.cell.id);
        if more {
            self.cell.mailbox.interrupt(interrupt::ESCALATED);
        }
        fault
    }

    pub(crate) fn forget_escalated(&self) {
        while self.cell.core.registry.next_escalated(self.cell.id).1 {}
    }

    pub(crate) fn escalate(&self, fault: Fault) {
        let fault = Fault::escalated(self.path(), fault);
        if let Err(fault) = self.cell.core.registry.escalate(self.cell.id, fault) {
            tracing::error!(%fault, "escalated at the top of the tree; the actor stops");
        }
    }

    pub(crate) fn report(&self, fault: &Fault, directive: Directive) {
        let failed = ActorFailed { path: self.path(), fault: fault.to_string(), directive };
        tracing::warn!(actor = %failed.path, fault = %failed.fault, ?directive, "an actor failed");
        self.cell.core.events.publish(failed);
    }

    /// A new instance will follow: what the old one set up ends, what others sent stays, in order.
    pub(crate) fn forget_instance(&mut self) {
        self.ending = None;
        self.unstash_all();
        self.end_arrangements();
    }

    /// Ends the timers and watches. Their messages are the user's, and what they do as they are dropped must not
    /// end the actor's end.
    fn end_arrangements(&mut self) {
        if let Some(extras) = &mut self.extras {
            let cell = &self.cell;
            extras.end_arrangements(|| cell.path());
        }
    }

    /// The actor ends for this reason: nothing enters any more, and what waits is buried.
    pub(crate) fn close(&mut self, reason: StopReason) {
        self.ending = Some(reason);
        self.close_packet();
        self.unstash_all();
        self.end_arrangements();
        let waiting = self.cell.mailbox.close();
        let in_hand = std::mem::take(&mut self.inbox);
        for item in in_hand.into_iter().chain(waiting) {
            self.cell.bury(item, DeadLetterReason::Unhandled);
        }
    }
}

/// However an actor ends, this is its end: also when its task is dropped with its runtime.
impl<A: Actor> Drop for Context<A> {
    fn drop(&mut self) {
        if self.lent_to().is_some() {
            return;
        }
        // Without a reason the task was dropped: with its runtime, or because user code panicked as a killed turn
        // was dropped.
        let lost = if std::thread::panicking() { StopReason::Fault } else { StopReason::SystemStopped };
        let reason = self.ending.unwrap_or(lost);
        self.close(reason);
        self.cell.core.registry.dismiss(self.cell.id, &self.cell.path(), reason);
    }
}

impl<A: Actor> fmt::Debug for Context<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("path", &self.path()).finish_non_exhaustive()
    }
}
