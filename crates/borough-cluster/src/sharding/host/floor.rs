//! Where turns are run: what all shards of a lane share.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use borough_actor::resident::{self, AskClock, AskId, Ended, IdView, Lodger, Station, Turned, is_given_up};
use borough_actor::{Actor, Context, DeadLetterReason, EntityId, Fault, StopReason, SystemHandle};
use borough_protocol::sharding::Epoch;
use tokio::time::Instant;

use super::alarms::Alarms;
use super::busy::{Doing, Waits, busy};
use super::lane::Shared;
use super::pace::{Pace, Since};
use super::policy::Ranks;
use super::probe::Probe;
use super::settings::Settings;
use super::surroundings::{Nothing, Sight, Surroundings};
use super::table::{Body, Table};
use super::turns::{Call, Pending, Place, Purpose, Turning, Turns, poll_place};
use super::waking::Waking;

/// How many things one entity does, and for how long, before others have a turn and the lease is looked at.
const AT_A_TIME: usize = 64;
const TIME: Duration = Duration::from_millis(1);
/// The clock is looked at after so many.
const LOOK_EVERY: usize = 8;
/// How long a turn may last once its node can wait no longer for its shard to move.
const FORCED_TURN: Duration = Duration::from_secs(5);

/// See the module.
pub(super) struct Floor<A: Actor, T: Turns<A>> {
    pub(super) settings: Arc<Settings<A>>,
    pub(super) around: Arc<dyn Surroundings<A::Msg>>,
    pub(super) shared: Arc<Shared<A::Msg>>,
    pub(super) station: Station<A::Msg>,
    pub(super) system: SystemHandle,
    pub(super) seed: u64,
    pub(super) alarms: Alarms,
    /// Who is meant by a call.
    pub(super) calls: HashMap<u64, Caller>,
    /// Entities that have more to do than they may at a time.
    pub(super) again: Vec<(u32, u32)>,
    /// Slots that became vacant: they are taken out once nobody looks at them.
    pub(super) vacated: Vec<(u32, u32)>,
    /// How many entities the lane has.
    pub(super) population: usize,
    /// The table that the lane was told of: orders that follow from it were given before.
    pub(super) sight: Arc<dyn Sight>,
    /// Set if a policy says who goes.
    pub(super) ranks: Option<Ranks>,
    /// What time it is, by the lane's own clock.
    pub(super) stamp: u32,
    /// Counts messages that are handled, and times some.
    pub(super) pace: Pace,
    /// Entities that somebody waits for to begin.
    pub(super) waking: Vec<Waking>,
    /// What time it is by the clock of asks, while that was read just now.
    pub(super) clock: Option<AskClock>,
    /// Set while no turn is to begin.
    pub(super) halt: Arc<AtomicBool>,
    /// What other threads see of this lane's turns.
    pub(super) probe: Arc<Probe>,
    /// See [`Surroundings::lapses`], and how many the lane has seen.
    pub(super) lapses: Arc<AtomicU64>,
    pub(super) lapses_seen: u64,
    /// Whether there was no lease when user code was last entered.
    pub(super) began_halted: bool,
    /// Whether turns of shards that are to move are ended by force after a few seconds.
    pub(super) forces: bool,
    /// How many entities are ending because they were idle, or there were too many.
    pub(super) leaving: usize,
    turns: T,
    /// What the next turn is lent, if the last one did not keep it.
    ctx: Option<Box<Context<A>>>,
    message_place: Option<Place<T::Message>>,
    begin_place: Option<Place<T::Begin>>,
    /// How the next turn calls, if it awaits something.
    pub(super) call: Call<A::Msg>,
    last_token: u64,
}

/// Who calls.
#[derive(Clone, Copy, Debug)]
pub(super) enum Caller {
    /// A turn can go on.
    Turn { shard: u32, slot: u32 },
    /// An entity's own mailbox has something.
    Annex { shard: u32, slot: u32 },
    /// Fencing a store can go on.
    Fence { shard: u32 },
}

/// A shard that lives here.
pub(super) struct Home<A: Actor, T: Turns<A>> {
    pub(super) number: u32,
    pub(super) epoch: Epoch,
    /// The epoch at which it began or came here; alarms go by it, because it is never raised.
    pub(super) since: Epoch,
    pub(super) table: Table<A, T>,
    /// No turn begins but that of the end.
    pub(super) frozen: bool,
    /// The store has not taken the epoch since it was raised: not even that one.
    pub(super) unfenced: bool,
}

impl<A: Actor, T: Turns<A>> Home<A, T> {
    pub(super) fn new(number: u32, epoch: Epoch) -> Self {
        Self { number, epoch, since: epoch, table: Table::default(), frozen: false, unfenced: false }
    }
}

impl<A: Actor, T: Turns<A>> Floor<A, T> {
    pub(super) fn new(
        settings: Arc<Settings<A>>,
        around: Arc<dyn Surroundings<A::Msg>>,
        shared: Arc<Shared<A::Msg>>,
        station: Station<A::Msg>,
        turns: T,
    ) -> Self {
        Self {
            settings,
            system: around.system().clone(),
            seed: around.seed(),
            station,
            alarms: Alarms::default(),
            calls: HashMap::new(),
            again: Vec::new(),
            vacated: Vec::new(),
            population: 0,
            sight: Arc::new(Nothing),
            ranks: None,
            stamp: 0,
            pace: Pace::new(Instant::now()),
            waking: Vec::new(),
            clock: None,
            halt: around.halt(),
            probe: shared.probe.clone(),
            lapses: around.lapses(),
            lapses_seen: 0,
            began_halted: false,
            forces: false,
            leaving: 0,
            turns,
            ctx: None,
            message_place: None,
            begin_place: None,
            call: Call::new(0, shared.clone()),
            last_token: 0,
            shared,
            around,
        }
    }

    /// How long a turn may last when its shard is to move.
    pub(super) fn turns_may_last(&self) -> Duration {
        let most = self.settings.handoff_timeout;
        if self.forces { most.min(FORCED_TURN) } else { most }
    }

    #[inline]
    pub(super) fn hash(&self, id: &EntityId) -> u64 {
        self.hash_of(IdView::of(id))
    }

    #[inline]
    pub(super) fn hash_of(&self, id: IdView<'_>) -> u64 {
        resident::hash_of(self.seed, id)
    }

    pub(super) fn path(&self, id: &EntityId) -> String {
        format!("/{}/{id}", self.around.kind())
    }

    pub(super) fn new_call(&mut self, caller: Caller) -> Call<A::Msg> {
        self.last_token += 1;
        self.calls.insert(self.last_token, caller);
        Call::new(self.last_token, self.shared.clone())
    }

    /// The slot of that entity; a vacant one, if it does not live yet.
    pub(super) fn slot_of(&mut self, home: &mut Home<A, T>, hash: u64, id: EntityId) -> u32 {
        let before = home.table.len();
        let slot = home.table.find_or_add(hash, id);
        self.population += home.table.len() - before;
        slot
    }

    /// Gives a message to the entity in that slot.
    #[inline]
    pub(super) fn message(&mut self, home: &mut Home<A, T>, slot: u32, message: A::Msg, ask: Option<AskId>) {
        let place = home.table.slot(slot);
        place.stamp = self.stamp;
        if let Some(ranks) = &mut self.ranks {
            ranks.used(home.number, slot);
        }
        if self.is_halted() {
            return self.put_off(home, slot, Waits::Message(message, ask));
        }
        match mem::replace(&mut place.body, Body::Lent) {
            Body::Live(actor) => self.handle(home, slot, actor, message, ask),
            Body::Vacant => {
                self.begin(home, slot);
                let place = home.table.slot(slot);
                match mem::replace(&mut place.body, Body::Lent) {
                    Body::Live(actor) => self.handle(home, slot, actor, message, ask),
                    other => {
                        place.body = other;
                        self.enqueue(home, slot, Waits::Message(message, ask));
                    }
                }
            }
            other => {
                place.body = other;
                self.enqueue(home, slot, Waits::Message(message, ask));
            }
        }
        if matches!(home.table.peek(slot).body, Body::Busy(_)) {
            self.go_on(home, slot);
        }
    }

    /// The turn of a message; the slot is lent.
    #[inline]
    fn handle(&mut self, home: &mut Home<A, T>, slot: u32, actor: A, message: A::Msg, ask: Option<AskId>) {
        if let Some(ask) = ask
            && is_given_up((&self.system).into(), ask, self.clock)
        {
            let id = home.table.peek(slot).id.clone();
            self.bury(&id, message, true, DeadLetterReason::AskerGone);
            return put_back(home, slot, actor);
        }
        let since = self.pace.begin();
        let ctx = self.lend(home, slot);
        if self.settings.task_per_entity {
            let turn = self.turns.message(actor, ctx, message, ask);
            return self.apart(home, slot, Purpose::Handle, turn, since);
        }
        let mut place = self.message_place.take().unwrap_or_else(|| Box::pin(None));
        place.as_mut().set(Some(self.turns.message(actor, ctx, message, ask)));
        self.enter(home, slot);
        let polled = poll_place(&mut place, &mut TaskContext::from_waker(&self.call.waker));
        self.leave(home, slot);
        match polled {
            Poll::Ready(turned) => {
                if let Some(since) = since {
                    self.pace.end(&home.table.peek(slot).id, since);
                }
                place.as_mut().set(None);
                self.message_place = Some(place);
                self.turned(home, slot, turned, Purpose::Handle);
            }
            Poll::Pending => self.park(home, slot, Pending::Message(place), Purpose::Handle, since),
        }
    }

    /// The first turn of an instance that is to be made; the slot is lent.
    pub(super) fn begin(&mut self, home: &mut Home<A, T>, slot: u32) {
        self.enter(home, slot);
        let made = {
            let (id, make) = (&home.table.peek(slot).id, &self.settings.make);
            resident::catch(|| make(id))
        };
        self.leave(home, slot);
        let actor = match made {
            Ok(actor) => actor,
            Err(fault) => return self.failed(home, slot, None, fault, false),
        };
        self.rank(home, slot);
        let mut belongings = home.table.take_belongings(slot);
        let followed = belongings.take_followed();
        home.table.put_belongings(slot, belongings, &mut self.alarms);
        let ctx = self.lend(home, slot);
        if self.settings.task_per_entity {
            let turn = self.turns.begin(actor, ctx, followed);
            return self.apart(home, slot, Purpose::Begin, turn, None);
        }
        let mut place = self.begin_place.take().unwrap_or_else(|| Box::pin(None));
        place.as_mut().set(Some(self.turns.begin(actor, ctx, followed)));
        self.enter(home, slot);
        let polled = poll_place(&mut place, &mut TaskContext::from_waker(&self.call.waker));
        self.leave(home, slot);
        match polled {
            Poll::Ready(turned) => {
                place.as_mut().set(None);
                self.begin_place = Some(place);
                self.turned(home, slot, turned, Purpose::Begin);
            }
            Poll::Pending => self.park(home, slot, Pending::Begin(place), Purpose::Begin, None),
        }
    }

    /// Any other turn; the slot is lent.
    pub(super) fn other<F>(
        &mut self,
        home: &mut Home<A, T>,
        slot: u32,
        purpose: Purpose,
        turn: impl FnOnce(Box<Context<A>>) -> F,
    ) where
        F: Future<Output = Turned<A>> + Send + 'static,
    {
        let mut future = Box::pin(turn(self.lend(home, slot)));
        if self.settings.task_per_entity {
            return self.apart(home, slot, purpose, future, None);
        }
        self.enter(home, slot);
        let polled = future.as_mut().poll(&mut TaskContext::from_waker(&self.call.waker));
        self.leave(home, slot);
        match polled {
            Poll::Ready(turned) => self.turned(home, slot, turned, purpose),
            Poll::Pending => self.park(home, slot, Pending::Other(future), purpose, None),
        }
    }

    #[inline]
    #[expect(
        clippy::unnecessary_box_returns,
        reason = "a context is large, and handed on from turn to turn as a pointer"
    )]
    fn lend(&mut self, home: &mut Home<A, T>, slot: u32) -> Box<Context<A>> {
        let belongings = home.table.take_belongings(slot);
        let id = &home.table.peek(slot).id;
        let mut ctx = self.ctx.take().unwrap_or_else(|| self.station.context(self.around.clone()));
        let (hash, shard, epoch) = (self.hash(id), home.number, home.epoch.get());
        ctx.settle(Lodger { id, hash, shard, epoch }, belongings);
        ctx
    }

    /// A turn awaits something. It is timed from now on, if it was not from its beginning.
    #[cold]
    pub(super) fn park(
        &mut self,
        home: &mut Home<A, T>,
        slot: u32,
        future: Pending<A, T>,
        purpose: Purpose,
        since: Option<Since>,
    ) {
        self.last_token += 1;
        let next = Call::new(self.last_token, self.shared.clone());
        let call = mem::replace(&mut self.call, next);
        self.calls.insert(call.bell.token, Caller::Turn { shard: home.number, slot });
        home.table.turning += 1;
        let place = home.table.slot(slot);
        let since = since.unwrap_or_else(Since::now);
        busy(&mut place.body).doing = Doing::Turn(Turning { future, call, purpose, since });
        let id = place.id.clone();
        resident::note_awaiting(&self.system, resident::actor_id(self.hash(&id)), || self.path(&id));
    }

    /// A turn that awaited something can go on.
    pub(super) fn resume(&mut self, home: &mut Home<A, T>, slot: u32) {
        self.enter(home, slot);
        let polled = poll_turn(home, slot);
        self.leave(home, slot);
        let Poll::Ready((turned, turning)) = polled else { return };
        self.pace.end(&home.table.peek(slot).id, turning.since);
        let purpose = self.unpark(home, slot, turning);
        home.table.slot(slot).stamp = self.stamp;
        self.turned(home, slot, turned, purpose);
        self.go_on(home, slot);
    }

    /// The turn is over, by itself or by force.
    pub(super) fn unpark(&mut self, home: &mut Home<A, T>, slot: u32, turning: Turning<A, T>) -> Purpose {
        let Turning { future, call, purpose, .. } = turning;
        self.calls.remove(&call.bell.token);
        home.table.turning -= 1;
        let hash = self.hash(&home.table.peek(slot).id);
        resident::forget_awaiting(&self.system, resident::actor_id(hash));
        // User code too, if it is ended by force.
        self.enter(home, slot);
        let ended = resident::catch(|| match future {
            Pending::Message(mut place) => {
                place.as_mut().set(None);
                self.message_place.get_or_insert(place);
            }
            Pending::Begin(mut place) => {
                place.as_mut().set(None);
                self.begin_place.get_or_insert(place);
            }
            Pending::Other(_) => {}
        });
        self.leave(home, slot);
        if let Err(fault) = ended {
            tracing::error!(kind = self.around.kind(), %fault, "a turn panicked as it was dropped");
        }
        purpose
    }

    /// The turn of the entity in that slot is over. If there is more for it to do, the slot is busy then.
    #[inline]
    fn turned(&mut self, home: &mut Home<A, T>, slot: u32, turned: Turned<A>, purpose: Purpose) {
        let Turned { actor, mut ctx, outcome } = turned;
        let ending = ctx.take_ending();
        let unstashed = ctx.take_unstashed();
        let belongings = ctx.unsettle();
        self.ctx = Some(ctx);
        let owns = home.table.put_belongings(slot, belongings, &mut self.alarms);
        let is_plain = outcome.is_ok() && ending.is_none() && unstashed.is_empty() && !owns;
        if is_plain && !matches!(purpose, Purpose::End(_)) {
            return put_back(home, slot, actor);
        }
        let unstashed = unstashed.into_iter().map(|(message, ask)| Waits::Message(message, ask));
        self.turned_otherwise(home, slot, End { actor, outcome, ending, purpose }, unstashed);
    }

    #[cold]
    fn turned_otherwise(
        &mut self,
        home: &mut Home<A, T>,
        slot: u32,
        end: End<A>,
        unstashed: impl DoubleEndedIterator<Item = Waits<A::Msg>>,
    ) {
        let queue = &mut busy(&mut home.table.slot(slot).body).queue;
        unstashed.rev().for_each(|waits| queue.push_front(waits));
        let End { actor, outcome, ending, purpose } = end;
        if purpose == Purpose::Handle
            && let Some(owned) = home.table.owned.get_mut(&slot)
        {
            owned.belongings.note_activity();
        }
        match (purpose, outcome) {
            (Purpose::End(reason), outcome) => {
                if let Err(fault) = outcome {
                    let path = self.path(&home.table.peek(slot).id);
                    tracing::error!(entity = %path, %fault, "failed while stopping");
                }
                self.drop_actor(actor);
                self.ended(home, slot, reason);
            }
            (_, Err(fault)) => {
                let actor = (purpose == Purpose::Handle).then_some(actor);
                self.failed(home, slot, actor, fault, ending.is_some());
            }
            (_, Ok(())) => {
                let busy = busy(&mut home.table.slot(slot).body);
                busy.doing = Doing::Idle(actor);
                match ending {
                    None => {}
                    Some(Ended::For(reason)) => busy.queue.push_front(Waits::End(reason)),
                    Some(Ended::After(message)) => {
                        busy.queue.push_front(Waits::End(StopReason::Passivated));
                        busy.queue.push_front(Waits::Last(message));
                    }
                }
            }
        }
        self.attend(home, slot);
    }

    /// Does what waits for the entity in that slot, one after the other, until one awaits something or nothing is left.
    pub(super) fn go_on(&mut self, home: &mut Home<A, T>, slot: u32) {
        let mut began = None;
        for done in 1..=AT_A_TIME {
            if !self.step(home, slot) {
                return;
            }
            let began = began.get_or_insert_with(Instant::now);
            if done % LOOK_EVERY == 0 && began.elapsed() > TIME {
                break;
            }
        }
        self.again.push((home.number, slot));
    }

    /// Does the next thing that waits; whether there may be another.
    fn step(&mut self, home: &mut Home<A, T>, slot: u32) -> bool {
        let (frozen, unfenced) = (home.frozen, home.unfenced);
        self.let_in(home, slot);
        let place = home.table.slot(slot);
        let Body::Busy(busy) = &mut place.body else { return false };
        if !matches!(busy.doing, Doing::Idle(_) | Doing::Ended) {
            return false;
        }
        let is_end = matches!(busy.queue.front(), Some(Waits::End(_) | Waits::Last(_)));
        let may_begin = !frozen || (is_end && !unfenced);
        if !busy.queue.is_empty() && !may_begin {
            return false;
        }
        if !busy.queue.is_empty() && self.is_halted() {
            self.again.push((home.number, slot));
            return false;
        }
        let Some(next) = busy.queue.pop_front() else {
            self.calm(home, slot);
            return false;
        };
        match mem::replace(&mut busy.doing, Doing::Lent) {
            Doing::Idle(actor) => self.next(home, slot, actor, next),
            _ => self.next_life(home, slot, next),
        }
        true
    }

    /// The next thing for an entity that lives.
    fn next(&mut self, home: &mut Home<A, T>, slot: u32, actor: A, next: Waits<A::Msg>) {
        match next {
            Waits::Message(message, ask) => self.handle(home, slot, actor, message, ask),
            Waits::Last(message) => self.handle(home, slot, actor, message, None),
            Waits::Adapted(adapt, ask) => match resident::catch(adapt) {
                Ok(message) => self.handle(home, slot, actor, message, ask),
                Err(fault) => self.failed(home, slot, Some(actor), fault, false),
            },
            Waits::Arrived => self.other(home, slot, Purpose::Begin, |ctx| resident::arrive(actor, ctx)),
            Waits::Wake => put_back(home, slot, actor),
            Waits::Terminated(who) => {
                self.other(home, slot, Purpose::Handle, |ctx| resident::terminated(actor, ctx, who));
            }
            Waits::Timers(timers) => {
                let mut belongings = home.table.take_belongings(slot);
                for (key, left, message) in timers {
                    belongings.set_timer(key, left, message);
                }
                home.table.put_belongings(slot, belongings, &mut self.alarms);
                put_back(home, slot, actor);
                self.attend(home, slot);
            }
            Waits::Fault(fault) => self.failed(home, slot, Some(actor), fault, false),
            Waits::End(reason) => self.end(home, slot, actor, reason),
        }
    }

    /// Something for an entity that has ended.
    fn next_life(&mut self, home: &mut Home<A, T>, slot: u32, next: Waits<A::Msg>) {
        let busy = busy(&mut home.table.slot(slot).body);
        match next {
            Waits::Message(..) | Waits::Wake => {
                let leaves = mem::take(&mut busy.leaves);
                if matches!(next, Waits::Message(..)) {
                    busy.queue.push_front(next);
                }
                self.stays(leaves);
                self.begin(home, slot);
            }
            // What was for the former life alone.
            Waits::Last(_)
            | Waits::Adapted(..)
            | Waits::Terminated(_)
            | Waits::Timers(_)
            | Waits::Arrived
            | Waits::Fault(_)
            | Waits::End(_) => {
                busy.doing = Doing::Ended;
            }
        }
    }
}

/// How a turn ended.
struct End<A: Actor> {
    actor: A,
    outcome: Result<(), Fault>,
    ending: Option<Ended<A::Msg>>,
    purpose: Purpose,
}

/// Goes on with the turn in that slot; if it is over, the slot is lent.
fn poll_turn<A: Actor, T: Turns<A>>(home: &mut Home<A, T>, slot: u32) -> Poll<(Turned<A>, Turning<A, T>)> {
    let Body::Busy(busy) = &mut home.table.slot(slot).body else { return Poll::Pending };
    let Doing::Turn(turning) = &mut busy.doing else { return Poll::Pending };
    turning.call.hush();
    let polled = turning.future.poll(&mut TaskContext::from_waker(&turning.call.waker));
    let Poll::Ready(turned) = polled else { return Poll::Pending };
    match mem::replace(&mut busy.doing, Doing::Lent) {
        Doing::Turn(turning) => Poll::Ready((turned, turning)),
        other => {
            busy.doing = other;
            Poll::Pending
        }
    }
}

/// The entity has nothing more to say about its turn.
#[inline]
fn put_back<A: Actor, T: Turns<A>>(home: &mut Home<A, T>, slot: u32, actor: A) {
    let place = home.table.slot(slot);
    match &mut place.body {
        Body::Busy(busy) => busy.doing = Doing::Idle(actor),
        body => *body = Body::Live(actor),
    }
}
