//! Senders for whose messages the holds of their type have no room.
//!
//! Promise: they go on in the order in which they came, once there is room, or out of turn once their own shard has a way. One that gives up leaves nothing
//! behind.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use borough_actor::remote::Message;
use borough_actor::resident::{Queued, Room};
use borough_actor::{Tell, TellError};
use tokio::time::Instant;

use super::hold::{Held, end_of};
use super::kind::{Attempt, KindCore};
use super::routes::Way;

/// Who waits, the first first.
#[derive(Default)]
pub(super) struct HoldLine {
    senders: Mutex<Senders>,
    /// How many those are.
    len: AtomicUsize,
}

#[derive(Default)]
struct Senders {
    next: u64,
    waiting: BTreeMap<u64, (u32, Waker)>,
}

impl HoldLine {
    fn lock(&self) -> MutexGuard<'_, Senders> {
        self.senders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the one with that ticket is first; without a ticket, whether nobody waits.
    pub(super) fn is_next(&self, ticket: Option<u64>) -> bool {
        if self.len.load(Ordering::Acquire) == 0 {
            return true;
        }
        self.lock().waiting.first_key_value().is_none_or(|(first, _)| Some(*first) == ticket)
    }

    fn join(&self, shard: u32) -> u64 {
        let mut senders = self.lock();
        let ticket = senders.next;
        senders.next += 1;
        senders.waiting.insert(ticket, (shard, Waker::noop().clone()));
        self.len.store(senders.waiting.len(), Ordering::Release);
        ticket
    }

    fn keep_waker(&self, ticket: u64, waker: &Waker) {
        if let Some((_, kept)) = self.lock().waiting.get_mut(&ticket) {
            kept.clone_from(waker);
        }
    }

    /// Takes a sender out, and has the one who is first then look.
    fn leave(&self, ticket: u64) {
        let mut senders = self.lock();
        senders.waiting.remove(&ticket);
        self.len.store(senders.waiting.len(), Ordering::Release);
        drop(senders);
        self.wake_first();
    }

    /// There may be room.
    pub(super) fn wake_first(&self) {
        if self.len.load(Ordering::Acquire) > 0 {
            let first = self.lock().waiting.first_key_value().map(|(_, (_, waker))| waker.clone());
            first.into_iter().for_each(Waker::wake);
        }
    }

    /// That shard has a way.
    pub(super) fn wake_shard(&self, shard: u32) {
        self.wake_where(|of| of == shard);
    }

    /// Nobody is let in any more.
    pub(super) fn wake_all(&self) {
        self.wake_where(|_| true);
    }

    fn wake_where(&self, is_one: impl Fn(u32) -> bool) {
        if self.len.load(Ordering::Acquire) == 0 {
            return;
        }
        let wakers: Vec<_> = {
            let senders = self.lock();
            let found = senders.waiting.values().filter(|(shard, _)| is_one(*shard));
            found.map(|(_, waker)| waker.clone()).collect()
        };
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl<M: Message> KindCore<M> {
    /// Has a message wait until there is room for it, or a way.
    #[cold]
    pub(super) fn wait_for_hold(&self, shard: u32, letter: Held<M>) -> Tell<M> {
        let Some(core) = self.me.upgrade() else {
            return Tell::refused(TellError::Stopped(letter.message));
        };
        // Nothing that is held asks for a way, perhaps.
        let mut state = self.holds[shard as usize].lock();
        state.expect_one();
        let is_first = state.announce();
        drop(state);
        if is_first {
            self.want(shard);
        }
        // It has its place from now on, not from when it is first awaited.
        let ticket = self.budget.line.join(shard);
        let until = end_of(&letter);
        Tell::waiting(Box::pin(Patient { core, until, place: Place::Waits(ticket, shard, letter) }))
    }

    /// Tries again for a message that waits with that ticket; gives it back if there is neither room nor a way yet.
    fn try_again(&self, ticket: u64, shard: u32, mut letter: Held<M>) -> Result<Tell<M>, Held<M>> {
        loop {
            let hold = match &**self.board.read(shard) {
                Way::Held(hold) => hold.clone(),
                Way::Here { .. } | Way::There { .. } => return Ok(self.dispatch(letter, true)),
            };
            match self.hold(&hold, shard, letter, Some(ticket)) {
                Attempt::Done(tell) => return Ok(tell),
                Attempt::Full(letter) => return Err(letter),
                Attempt::Open(again) => letter = again,
            }
        }
    }
}

/// A sender that waits.
struct Patient<M: Message> {
    core: Arc<KindCore<M>>,
    /// When its asker gives up.
    until: Option<Instant>,
    place: Place<M>,
}

enum Place<M> {
    Waits(u64, u32, Held<M>),
    Goes(Tell<M>),
    Left,
}

impl<M: Message> Patient<M> {
    /// Takes the message back; none if it was let in before.
    fn leave(&mut self) -> Option<M> {
        match std::mem::replace(&mut self.place, Place::Left) {
            Place::Waits(ticket, _, letter) => {
                self.core.budget.line.leave(ticket);
                Some(letter.message)
            }
            Place::Goes(tell) => tell.reclaim(),
            Place::Left => None,
        }
    }
}

impl<M: Message> Future for Patient<M> {
    type Output = Result<(), TellError<M>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        loop {
            match std::mem::replace(&mut this.place, Place::Left) {
                Place::Waits(ticket, shard, mut letter) => {
                    // Before the look: whatever happens after it wakes this.
                    this.core.budget.line.keep_waker(ticket, cx.waker());
                    if let (Some(ask), Some(until)) = (&mut letter.ask, this.until) {
                        ask.timeout = until.saturating_duration_since(Instant::now());
                    }
                    match this.core.try_again(ticket, shard, letter) {
                        Ok(tell) => {
                            this.core.budget.line.leave(ticket);
                            this.place = Place::Goes(tell);
                        }
                        Err(letter) => {
                            this.place = Place::Waits(ticket, shard, letter);
                            return Poll::Pending;
                        }
                    }
                }
                Place::Goes(mut tell) => {
                    let polled = Pin::new(&mut tell).poll(cx);
                    if polled.is_pending() {
                        this.place = Place::Goes(tell);
                    }
                    return polled;
                }
                Place::Left => return Poll::Ready(Ok(())),
            }
        }
    }
}

impl<M: Message> Queued<M> for Patient<M> {
    fn withdraw(mut self: Pin<Box<Self>>) -> Option<M> {
        self.leave()
    }

    fn room(&self) -> Option<Room> {
        let Place::Waits(_, _, letter) = &self.place else { return None };
        let system = self.core.sharding.hub().system_handle();
        Some(Room::of(system.into(), self.core.path_of(&letter.id)))
    }
}

/// The message is never pinned.
impl<M: Message> Unpin for Patient<M> {}

impl<M: Message> Drop for Patient<M> {
    fn drop(&mut self) {
        drop(self.leave());
    }
}
