//! Turns in tasks of their own: for types whose handlers block or compute for long.
//!
//! Promise: all is as with turns that their lane runs. The lane waits for the end of such a turn as for one that awaits something, so an entity has one
//! turn at a time; nothing is polled without a lease; and a turn that is ended by force is over when the lane goes on, whichever thread it ran on.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::{Context as TaskContext, Poll, Waker};

use borough_actor::resident::{self, Turned};
use borough_actor::{Actor, EntityId};

use super::floor::{Floor, Home};
use super::pace::Since;
use super::surroundings::Surroundings;
use super::turns::{Pending, Purpose, Turns};

type Turn<A> = Pin<Box<dyn Future<Output = Turned<A>> + Send>>;

/// A turn in a task of its own, as its lane has it. Dropped, it ends the turn; if that is just running it waits until it awaits something.
struct Apart<A: Actor>(Arc<Shared<A>>);

struct Shared<A: Actor> {
    /// Locked while the turn runs.
    state: Mutex<State<A>>,
    /// Who waits for its end.
    waker: Mutex<Waker>,
    id: EntityId,
}

/// The turns in tasks of their own in which user code runs at the moment, for the control thread to read.
#[derive(Debug, Default)]
pub(crate) struct PolledApart {
    /// By the address of the turn: whose it is, and whether it was counted as one that outlasted the lease.
    turns: Mutex<BTreeMap<usize, (EntityId, bool)>>,
}

impl PolledApart {
    /// User code of that entity is about to run.
    fn enter(&self, turn: usize, id: &EntityId) {
        lock(&self.turns).insert(turn, (id.clone(), false));
    }

    /// It returned. Says whether it was counted.
    fn leave(&self, turn: usize) -> bool {
        lock(&self.turns).remove(&turn).is_some_and(|(_, is_counted)| is_counted)
    }

    /// The entities of the turns that run and were not counted yet; they are from now on.
    pub(crate) fn count(&self) -> Vec<EntityId> {
        let mut turns = lock(&self.turns);
        let new = turns.values_mut().filter(|(_, is_counted)| !is_counted);
        new.map(|(id, is_counted)| {
            *is_counted = true;
            id.clone()
        })
        .collect()
    }
}

enum State<A: Actor> {
    Goes(Turn<A>),
    Over(Turned<A>),
    /// It was ended, or its end was taken note of.
    Gone,
}

impl<A: Actor, T: Turns<A>> Floor<A, T> {
    /// Runs a turn in a task of its own; the slot is lent.
    pub(super) fn apart(
        &mut self,
        home: &mut Home<A, T>,
        slot: u32,
        purpose: Purpose,
        turn: impl Future<Output = Turned<A>> + Send + 'static,
        since: Option<Since>,
    ) {
        let shared = Arc::new(Shared {
            state: Mutex::new(State::Goes(Box::pin(turn))),
            waker: Mutex::new(self.call.waker.clone()),
            id: home.table.peek(slot).id.clone(),
        });
        let apart = Apart(shared.clone());
        // First it is known that the lane waits for it.
        self.park(home, slot, Pending::Other(Box::pin(apart)), purpose, since);
        let around = self.around.clone();
        let task = std::future::poll_fn(move |cx| shared.run(&*around, cx));
        drop(resident::runtime(&self.system).spawn(task));
    }
}

impl<A: Actor> Shared<A> {
    /// Goes on with the turn, in its task.
    fn run(&self, around: &dyn Surroundings<A::Msg>, cx: &mut TaskContext<'_>) -> Poll<()> {
        let mut state = lock(&self.state);
        let State::Goes(turn) = &mut *state else { return Poll::Ready(()) };
        if !around.may_run() {
            around.resumed(cx.waker());
            return Poll::Pending;
        }
        let lapses = around.lapses();
        let before = lapses.load(Ordering::Acquire);
        let (polls, address) = (around.polled_apart(), std::ptr::from_ref(self).addr());
        polls.enter(address, &self.id);
        let polled = turn.as_mut().poll(cx);
        let is_counted = polls.leave(address);
        if lapses.load(Ordering::Acquire) != before || around.is_overdue() {
            around.outlasted(&self.id, !is_counted);
        }
        let Poll::Ready(turned) = polled else { return Poll::Pending };
        *state = State::Over(turned);
        drop(state);
        let waker = lock(&self.waker).clone();
        waker.wake();
        Poll::Ready(())
    }
}

impl<A: Actor> Future for Apart<A> {
    type Output = Turned<A>;

    fn poll(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Turned<A>> {
        // Before the look: a turn that ends now wakes this one.
        lock(&self.0.waker).clone_from(cx.waker());
        let mut state = match self.0.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Poll::Pending,
        };
        match std::mem::replace(&mut *state, State::Gone) {
            State::Over(turned) => Poll::Ready(turned),
            other => {
                *state = other;
                Poll::Pending
            }
        }
    }
}

impl<A: Actor> Drop for Apart<A> {
    fn drop(&mut self) {
        let state = std::mem::replace(&mut *lock(&self.0.state), State::Gone);
        // Outside the lock, and here: it is user code, and over before the lane goes on.
        drop(state);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
