//! How entities come and go other than by messages: with their shard, without a message, by timers, by what others do to them, at the end.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use borough_actor::resident::{self, Annexed, Belongings, Summons};
use borough_actor::{Actor, EntityId, StopReason};

use super::alarms::Due;
use super::busy::{Busy, Doing, Waits, busy};
use super::floor::{Caller, Floor, Home};
use super::shard::Farewell;
use super::table::Body;
use super::transfer::Carried;
use super::turns::{Purpose, Turning, Turns};

impl<A: Actor, T: Turns<A>> Floor<A, T> {
    /// Ends every entity of a shard that is frozen and does not move with its state.
    pub(super) fn end_all(&mut self, home: &mut Home<A, T>) {
        for slot in home.table.taken() {
            let entity = busy(&mut home.table.slot(slot).body);
            if matches!(entity.doing, Doing::Ended | Doing::Rest) {
                continue;
            }
            entity.queue.push_front(Waits::End(StopReason::Moved));
            if let Some(stop_with) = &self.settings.stop_with
                && let Ok(message) = resident::catch(|| stop_with())
            {
                entity.queue.push_front(Waits::Last(message));
            }
            self.go_on(home, slot);
        }
    }

    /// An entity came with its shard.
    pub(super) fn arrive(&mut self, home: &mut Home<A, T>, carried: Carried<A>) {
        let Carried { id, state, stashed, timers, waiting } = carried;
        let slot = self.slot_of(home, self.hash(&id), id);
        home.table.slot(slot).stamp = self.stamp;
        if let Some(actor) = state {
            let mut belongings = home.table.take_belongings(slot);
            belongings.restash(stashed);
            home.table.put_belongings(slot, belongings, &mut self.alarms);
            home.table.slot(slot).body = Body::Live(actor);
            self.rank(home, slot);
            self.enqueue(home, slot, Waits::Arrived);
        }
        if !timers.is_empty() {
            self.enqueue(home, slot, Waits::Timers(timers));
        }
        for (message, ask) in waiting {
            self.enqueue(home, slot, Waits::Message(message, ask));
        }
        self.go_on(home, slot);
    }

    /// A shard is gone from here: `end` sees to what waited. Who stands in line for crowded entities goes on, by the way there is then.
    pub(super) fn let_go(
        &mut self,
        mut home: Home<A, T>,
        mut end: impl FnMut(&mut Self, &EntityId, Waits<A::Msg>),
    ) {
        for slot in home.table.taken() {
            self.kill(&mut home, slot);
            if let Some(ranks) = &mut self.ranks {
                ranks.gone(home.number, slot);
            }
            let mut belongings = home.table.take_belongings(slot);
            let stashed = belongings.close(StopReason::Moved);
            self.forget_owned(&mut home, slot);
            let place = home.table.slot(slot);
            let id = mem::take(&mut place.id);
            let (actor, queue) = match mem::replace(&mut place.body, Body::Vacant) {
                Body::Live(actor) => (Some(actor), VecDeque::new()),
                Body::Busy(busy) => {
                    self.stays(busy.leaves);
                    match busy.doing {
                        Doing::Idle(actor) => (Some(actor), busy.queue),
                        _ => (None, busy.queue),
                    }
                }
                Body::Vacant | Body::Lent => (None, VecDeque::new()),
            };
            if let Some(actor) = actor {
                self.drop_actor(actor);
            }
            let stashed = stashed.into_iter().map(|(message, ask)| Waits::Message(message, ask));
            for waits in stashed.chain(queue) {
                end(self, &id, waits);
            }
            self.admit(home.number, &id, usize::MAX);
        }
        self.population -= home.table.len();
    }

    /// An instance begins.
    pub(super) fn rank(&mut self, home: &Home<A, T>, slot: u32) {
        let hash = self.ranks.is_some().then(|| self.hash(&home.table.peek(slot).id));
        if let Some((ranks, hash)) = self.ranks.as_mut().zip(hash) {
            ranks.began(home.number, slot, hash);
        }
    }

    /// Starts an entity without a message, unless it lives.
    pub(super) fn wake(&mut self, home: &mut Home<A, T>, id: EntityId) {
        let slot = self.slot_of(home, self.hash(&id), id);
        if matches!(home.table.peek(slot).body, Body::Vacant) {
            self.enqueue(home, slot, Waits::Wake);
            self.go_on(home, slot);
        }
    }

    /// Entities that are ending and await something do so to their end, apart from their lane.
    pub(super) fn let_end(&mut self, home: &mut Home<A, T>, farewell: &Arc<Farewell<A::Msg>>) {
        for slot in home.table.taken() {
            let Body::Busy(busy) = &mut home.table.slot(slot).body else { continue };
            let ends = |turning: &Turning<A, T>| matches!(turning.purpose, Purpose::End(_));
            if !matches!(&busy.doing, Doing::Turn(turning) if ends(turning)) {
                continue;
            }
            let Doing::Turn(turning) = mem::replace(&mut busy.doing, Doing::Ended) else { continue };
            let Turning { mut future, call, .. } = turning;
            self.calls.remove(&call.bell.token);
            home.table.turning -= 1;
            let hash = self.hash(&home.table.peek(slot).id);
            resident::forget_awaiting(&self.system, resident::actor_id(hash));
            let ending = (self.around.ending(), farewell.clone());
            let (most, around) = (self.settings.handoff_timeout, self.around.clone());
            drop(tokio::spawn(async move {
                let end = std::future::poll_fn(|cx| {
                    if around.may_run() {
                        return future.poll(cx);
                    }
                    around.resumed(cx.waker());
                    Poll::Pending
                });
                // One that takes longer is ended.
                let _ = tokio::time::timeout(most, end).await;
                drop(ending);
            }));
        }
    }

    /// Takes what came by the entity's own mailbox.
    #[cold]
    pub(super) fn look_into_annex(&mut self, home: &mut Home<A, T>, slot: u32) {
        if !home.frozen {
            self.empty_annex(home, slot);
        }
    }

    fn empty_annex(&mut self, home: &mut Home<A, T>, slot: u32) {
        let Some(owned) = home.table.owned.get_mut(&slot) else { return };
        let mut belongings = mem::take(&mut owned.belongings);
        let call = match owned.call.take() {
            Some(call) => call,
            None => self.new_call(Caller::Annex { shard: home.number, slot }),
        };
        call.hush();
        while let Poll::Ready(summons) = belongings.poll_annex(&mut TaskContext::from_waker(&call.waker)) {
            summoned(busy(&mut home.table.slot(slot).body), &mut belongings, summons);
        }
        if let Some(owned) = home.table.owned.get_mut(&slot) {
            (owned.belongings, owned.call) = (belongings, Some(call));
        }
    }

    /// The shard moves, and no turn is under way: what came by the entities' own mailboxes and to their adapters is to go with them. Who is to
    /// end does so here.
    pub(super) fn gather(&mut self, home: &mut Home<A, T>) {
        let owners: Vec<u32> = home.table.owned.keys().copied().collect();
        for slot in owners {
            if home.table.owned.get(&slot).is_some_and(|owned| owned.belongings.has_annex()) {
                self.empty_annex(home, slot);
            }
        }
        for slot in home.table.taken() {
            let Body::Busy(busy) = &mut home.table.slot(slot).body else { continue };
            let queue = mem::take(&mut busy.queue);
            busy.queue = queue.into_iter().map(adapted).collect();
            self.go_on(home, slot);
        }
    }

    /// Sees to the entity's timers and to its own mailbox, after a turn.
    pub(super) fn attend(&mut self, home: &mut Home<A, T>, slot: u32) {
        let Some(owned) = home.table.owned.get_mut(&slot) else { return };
        if let Some(next) = owned.belongings.next_deadline()
            && owned.alarm.is_none_or(|set| next < set.at())
        {
            let due = Due::Timer { shard: home.number, epoch: home.since, slot };
            if let Some(later) = owned.alarm.replace(self.alarms.set(next, due)) {
                self.alarms.cancel(later);
            }
        }
        if owned.belongings.has_annex() {
            self.look_into_annex(home, slot);
        }
    }

    /// A timer of the entity in that slot may be due.
    pub(super) fn timer(&mut self, home: &mut Home<A, T>, slot: u32) {
        let Some(owned) = home.table.owned.get_mut(&slot) else { return };
        owned.alarm = None;
        if home.frozen {
            return;
        }
        let is_due = owned.belongings.next_deadline().is_some_and(|at| at <= tokio::time::Instant::now());
        let due = if is_due { resident::catch(|| owned.belongings.take_due()) } else { Ok(None) };
        match due {
            Ok(None) => self.attend(home, slot),
            Ok(Some(message)) => {
                self.message(home, slot, message, None);
                self.attend(home, slot);
            }
            Err(fault) => {
                self.enqueue(home, slot, Waits::Fault(fault));
                self.go_on(home, slot);
            }
        }
    }

    /// Ends a turn by force.
    pub(super) fn kill(&mut self, home: &mut Home<A, T>, slot: u32) {
        let Body::Busy(busy) = &mut home.table.slot(slot).body else { return };
        if !matches!(busy.doing, Doing::Turn(_)) {
            return;
        }
        let Doing::Turn(turning) = mem::replace(&mut busy.doing, Doing::Ended) else { return };
        self.unpark(home, slot, turning);
        // What it had was in the turn's hands, and went with it.
        self.ended(home, slot, StopReason::Killed);
    }
}

/// Code cannot be carried: what an adapter makes of its message can.
fn adapted<M>(waits: Waits<M>) -> Waits<M> {
    match waits {
        Waits::Adapted(adapt, ask) => match resident::catch(adapt) {
            Ok(message) => Waits::Message(message, ask),
            Err(fault) => Waits::Fault(fault),
        },
        other => other,
    }
}

/// What came by an entity's own mailbox waits for it like everything else.
fn summoned<A: Actor, T: Turns<A>>(
    busy: &mut Busy<A, T>,
    belongings: &mut Belongings<A::Msg>,
    summons: Summons<A::Msg>,
) {
    match summons {
        Summons::Nothing => {}
        Summons::End(reason) => busy.queue.push_front(Waits::End(reason)),
        // The child is gone; its parent fails as if in a turn of its own.
        Summons::Fault(fault) => {
            busy.queue.push_front(Waits::Fault(fault));
        }
        Summons::Items(items) => {
            for item in items {
                busy.queue.extend(match item {
                    Annexed::Message(message, ask) => Some(Waits::Message(message, ask)),
                    Annexed::Adapted(adapt, ask) => Some(Waits::Adapted(adapt, ask)),
                    Annexed::Terminated(watch, who) => match belongings.watch_ended(watch, who) {
                        None => None,
                        Some(Ok(message)) => Some(Waits::Message(message, None)),
                        Some(Err(who)) => Some(Waits::Terminated(who)),
                    },
                });
            }
        }
    }
}
