//! The mailbox: many senders, one reader, a bound.
//!
//! Promise: an accepted item is taken exactly once, in leaving order, or handed out by [`Mailbox::close`];
//! a refused item is given back; a sender that waits for room is admitted in order of arrival, and one
//! that gives up leaves nothing behind. At most `capacity` items wait, and the reader holds at most one
//! batch beside them: as many as it asked for, but no more than a quarter of the capacity. An item that stands for
//! many counts as many; it is cut where only a part of it may pass.
//!
//! ```text
//! reader:  Running --no item, or took the only one--> Parked(waker) --push or interrupt--> Running
//! sender:  push --room--> accepted
//!               --full--> waiting in line --reader took a batch--> accepted
//!                                         --future dropped-------> withdrawn
//!                                         --mailbox closed-------> item given back
//! ```
//! Those that wait are let in when the queue is half empty, so that each wake-up is worth many items; or as soon
//! as there is room, when the reader is busy elsewhere and may not come back for long.
//!
//! Invariants, under the lock: while senders wait, nobody else enters; a parked reader's queue is empty; after
//! `closed` nothing enters.
//!
//! A reader that takes the only item is parked with it in hand: if nothing comes while it is busy, it may rest
//! without a second look under the lock. That is sound for as long as it does not return to its executor in
//! between, because a wake-up meant for its rest would be spent on whatever it waits for then: who does,
//! calls [`Mailbox::leave_waker`] first, which ends the parking.
//!
//! This module knows nothing of actors: items are opaque, and the reader is any task.

mod batch;
pub(crate) mod queue;
mod waiting;

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Waker};

pub use self::batch::Batch;
use self::queue::{Queue, Rank};
pub use self::waiting::Ticket;
use self::waiting::Waiting;
use crate::sync::{Mutex, lock};

/// The bits the mailbox keeps for itself: closed, nothing enters any more; the reader is parked.
const CLOSED: u8 = 1 << 7;
const PARKED: u8 = 1 << 6;
const OWN: u8 = CLOSED | PARKED;

/// What a mailbox must know of its items.
pub trait Letter: Sized {
    /// Whether it may be dropped for want of room.
    fn is_expendable(&self) -> bool;

    /// As how many it counts, at least one. It enters a mailbox that [packs](Mailbox::packs) by [`Mailbox::push_all`], if that is more.
    #[inline]
    fn weight(&self) -> usize {
        1
    }

    /// Takes so much, at least one, off the front of one that weighs more.
    fn cut(&mut self, weight: usize) -> Option<Self> {
        let _ = weight;
        None
    }
}

/// What a mailbox does with an item for which it has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// The sender may wait in line.
    Wait,
    /// The item is refused.
    Refuse,
    /// The item that waited longest makes room.
    DropOldest,
    /// The item itself is dropped.
    DropNewest,
}

/// Why an item did not enter, or what left because it did.
#[derive(Debug)]
pub enum Refusal<T> {
    /// Full; the item is given back, and the sender may wait in line.
    Full(T),
    /// Full, and this mailbox lets nobody wait; the item is given back.
    Refused(T),
    /// Closed; the item is given back.
    Closed(T),
    /// The item entered, and this older one was dropped to make room.
    Displaced(T),
    /// This item itself was dropped, as the mailbox is set to do when full.
    Dropped(T),
}

/// What a reader found.
#[derive(Debug, PartialEq, Eq)]
pub enum Taken {
    /// The batch has items.
    Batch,
    /// Interrupt bits were raised; they are given once.
    Interrupted(u8),
}

/// See the module.
#[derive(Debug)]
pub struct Mailbox<T> {
    state: Mutex<State<T>>,
    capacity: u32,
    when_full: WhenFull,
    /// The interrupts raised, and the mailbox's own bits. Changed under the lock only, so that a parked reader
    /// cannot miss one; read without it.
    flags: AtomicU8,
}

#[derive(Debug)]
struct State<T> {
    queue: Queue<T>,
    /// Set exactly while the reader is parked, as is the bit [`PARKED`].
    parked: Option<Waker>,
    /// What most mailboxes never need.
    seldom: Option<Box<Seldom<T>>>,
}

#[derive(Debug)]
struct Seldom<T> {
    waiting: Waiting<T>,
    /// By how much the items in the queue weigh more than they are.
    extra: usize,
    /// The reader's waker while it is busy elsewhere: only an interrupt may use it.
    busy: Option<Waker>,
    /// What the reader is called.
    label: Option<Arc<str>>,
}

impl<T> State<T> {
    fn seldom(&mut self) -> &mut Seldom<T> {
        self.seldom.get_or_insert_with(|| {
            Box::new(Seldom { waiting: Waiting::default(), extra: 0, busy: None, label: None })
        })
    }

    #[inline]
    fn extra(&self) -> usize {
        self.seldom.as_ref().map_or(0, |seldom| seldom.extra)
    }

    fn waiting(&mut self) -> Option<&mut Waiting<T>> {
        self.seldom.as_mut().map(|seldom| &mut seldom.waiting)
    }
}

impl<T: Letter> State<T> {
    /// What the items in the queue weigh together.
    #[inline]
    fn weight(&self) -> usize {
        self.queue.len() + self.extra()
    }

    /// Fills the empty `batch`, with some in the queue that weigh more than one.
    #[inline(never)]
    fn take_heavy(&mut self, batch: &mut Batch<T>, limit: usize) {
        let before = self.weight();
        let extra = self.queue.take_heavy(batch.buffer(), limit);
        batch.add_extra(extra);
        // What was cut is an item here and an item there: only the weights add up.
        let left = before - batch.weight();
        self.seldom().extra = left - self.queue.len();
    }
}

impl<T: Letter> Mailbox<T> {
    /// One in which so many wait; items leave in the order they came.
    pub fn new(capacity: NonZeroU32, when_full: WhenFull) -> Self {
        Self::with_queue(Queue::Fifo(VecDeque::new()), capacity, when_full)
    }

    pub(crate) fn ranked(rank: Rank<T>, capacity: NonZeroU32) -> Self {
        Self::with_queue(Queue::ranked(rank), capacity, WhenFull::Wait)
    }

    fn with_queue(queue: Queue<T>, capacity: NonZeroU32, when_full: WhenFull) -> Self {
        let state = Mutex::new(State { queue, parked: None, seldom: None });
        Self { state, capacity: capacity.get(), when_full, flags: AtomicU8::new(0) }
    }

    /// Puts an item in, if there is room.
    #[inline]
    pub fn push(&self, item: T) -> Result<(), Refusal<T>> {
        let mut state = lock(&self.state);
        if !self.has_room(&state) || self.is_closed() {
            return self.push_without_room(&mut state, item);
        }
        state.queue.push(item);
        let reader = self.unpark(&mut state);
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
        Ok(())
    }

    /// Whether items may weigh more than one: they leave in the order they came, and senders wait for room.
    pub fn packs(&self) -> bool {
        self.when_full == WhenFull::Wait && matches!(lock(&self.state).queue, Queue::Fifo(_))
    }

    /// Puts items in from the front, for as long as there is room; the others stay. One lock for all. `weight` is what they weigh together;
    /// gives what of that was put in.
    pub fn push_all(&self, items: &mut VecDeque<T>, weight: usize) -> usize {
        let mut state = lock(&self.state);
        if self.is_closed() || items.is_empty() || !self.has_room(&state) {
            return 0;
        }
        let room = self.capacity as usize - state.weight();
        if weight == items.len() {
            state.queue.push_some(items, room);
        } else {
            let extra = state.queue.push_some_heavy(items, room);
            if extra > 0 {
                state.seldom().extra += extra;
            }
        }
        let reader = self.unpark(&mut state);
        drop(state);
        reader.into_iter().for_each(Waker::wake);
        weight.min(room)
    }

    #[inline]
    fn park(&self, state: &mut State<T>, waker: &Waker) {
        if state.parked.is_none() {
            state.parked = Some(waker.clone());
            self.flags.store(self.flags.load(Ordering::Relaxed) | PARKED, Ordering::Relaxed);
        }
    }

    #[inline]
    fn unpark(&self, state: &mut State<T>) -> Option<Waker> {
        let reader = state.parked.take();
        if reader.is_some() {
            self.flags.store(self.flags.load(Ordering::Relaxed) & !PARKED, Ordering::Relaxed);
        }
        reader
    }

    /// Whether the reader would rest: nothing came since it took the only item, or found none.
    #[inline]
    pub fn is_parked(&self) -> bool {
        self.is_interrupted(PARKED)
    }

    #[inline]
    fn has_room(&self, state: &State<T>) -> bool {
        let Some(seldom) = &state.seldom else { return state.queue.len() < self.capacity as usize };
        state.queue.len() + seldom.extra < self.capacity as usize && seldom.waiting.len() == 0
    }

    #[cold]
    fn push_without_room(&self, state: &mut State<T>, item: T) -> Result<(), Refusal<T>> {
        if self.is_closed() {
            return Err(Refusal::Closed(item));
        }
        match self.when_full {
            WhenFull::Wait => Err(Refusal::Full(item)),
            WhenFull::Refuse => Err(Refusal::Refused(item)),
            WhenFull::DropNewest => Err(Refusal::Dropped(item)),
            WhenFull::DropOldest => {
                let oldest = state.queue.displace_oldest(Letter::is_expendable);
                state.queue.push(item);
                oldest.map_or(Ok(()), |oldest| Err(Refusal::Displaced(oldest)))
            }
        }
    }

    /// Puts an item in whether or not there is room; for the few that must not be refused.
    pub fn push_beyond_bound(&self, item: T) -> Result<(), T> {
        let mut state = lock(&self.state);
        if self.is_closed() {
            return Err(item);
        }
        state.queue.push(item);
        let reader = self.unpark(&mut state);
        drop(state);
        reader.into_iter().for_each(Waker::wake);
        Ok(())
    }

    /// Puts an item in that the reader itself sends while it handles another: beyond the bound too, up to as much again, because the reader cannot wait for
    /// itself.
    pub fn push_own(&self, item: T) -> Result<(), Refusal<T>> {
        let mut state = lock(&self.state);
        if self.is_closed() {
            return Err(Refusal::Closed(item));
        }
        if state.weight() >= 2 * self.capacity as usize {
            return Err(Refusal::Full(item));
        }
        state.queue.push(item);
        let reader = self.unpark(&mut state);
        drop(state);
        reader.into_iter().for_each(Waker::wake);
        Ok(())
    }

    /// Puts an item in, or joins the line of those that wait for room.
    pub fn push_or_wait(&self, item: T, waker: &Waker) -> Result<Option<Ticket>, Refusal<T>> {
        let mut state = lock(&self.state);
        if self.when_full == WhenFull::Wait && !self.has_room(&state) && !self.is_closed() {
            let rank = state.queue.rank(&item);
            return Ok(Some(state.seldom().waiting.join(item, rank, waker.clone())));
        }
        drop(state);
        self.push(item).map(|()| None).or_else(|refusal| match refusal {
            // Filled up between the two locks: stand in line behind whoever did it.
            Refusal::Full(item) => self.push_or_wait(item, waker),
            other => Err(other),
        })
    }

    /// Asks how a waiting sender stands: ready when admitted, or with its item when closed.
    pub fn poll_waiting(&self, ticket: Ticket, waker: &Waker) -> Poll<Result<(), T>> {
        let mut state = lock(&self.state);
        let waiting = &mut state.seldom().waiting;
        if self.is_closed() {
            return Poll::Ready(waiting.withdraw(ticket).map_or(Ok(()), Err));
        }
        if waiting.keep_waiting(ticket, waker) { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    /// Whether a sender is in line, and there is no room that it or those before it could be given.
    pub fn keeps_waiting(&self, ticket: Ticket) -> bool {
        let state = lock(&self.state);
        let is_in_line = state.seldom.as_ref().is_some_and(|seldom| seldom.waiting.contains(ticket));
        is_in_line && state.weight() >= self.capacity as usize && !self.is_closed()
    }

    /// Takes a sender out of the line; gives its item unless it was admitted before.
    pub fn withdraw(&self, ticket: Ticket) -> Option<T> {
        lock(&self.state).seldom().waiting.withdraw(ticket)
    }

    /// Fills the empty `batch` with up to `limit` items, or parks the reader until there is an item or an interrupt.
    #[inline]
    pub fn poll_take(&self, batch: &mut Batch<T>, limit: usize, cx: &mut Context<'_>) -> Poll<Taken> {
        let mut state = lock(&self.state);
        if let Some(seldom) = &mut state.seldom {
            seldom.busy = None;
        }
        if let Some(raised) = self.take_interrupts() {
            return Poll::Ready(Taken::Interrupted(raised));
        }
        if state.queue.len() == 0 {
            state.queue.settle(batch.used_buffer());
            self.park(&mut state, cx.waker());
            return Poll::Pending;
        }
        let limit = limit.min(self.capacity as usize / 4).max(1);
        if state.extra() == 0 {
            state.queue.take(batch.buffer(), limit);
        } else {
            state.take_heavy(batch, limit);
        }
        if state.seldom.is_some() && state.weight() <= self.capacity as usize / 2 {
            let admitted = self.admit(&mut state);
            self.park_with_last(&mut state, batch, cx);
            drop(state);
            admitted.into_iter().for_each(Waker::wake);
        } else {
            self.park_with_last(&mut state, batch, cx);
        }
        Poll::Ready(Taken::Batch)
    }

    /// Parks the reader if it took the only item.
    #[inline]
    fn park_with_last(&self, state: &mut State<T>, batch: &Batch<T>, cx: &Context<'_>) {
        if state.queue.len() == 0 && batch.weight() == 1 {
            self.park(state, cx.waker());
        }
    }

    /// The raised bits, once. To be called under the lock.
    fn take_interrupts(&self) -> Option<u8> {
        let raised = self.flags.load(Ordering::Relaxed);
        if raised & !OWN == 0 {
            return None;
        }
        self.flags.store(raised & OWN, Ordering::Relaxed);
        Some(raised & !OWN)
    }

    /// Lets in those that wait, for as long as there is room.
    fn admit(&self, state: &mut State<T>) -> Vec<Waker> {
        let mut wakers = Vec::new();
        let State { queue, seldom, .. } = state;
        let Some(seldom) = seldom else { return wakers };
        while queue.len() + seldom.extra < self.capacity as usize {
            let Some((item, rank, waker)) = seldom.waiting.admit() else { break };
            queue.push_ranked(item, rank);
            wakers.push(waker);
        }
        wakers
    }

    /// Raises interrupt bits and wakes the reader, be it parked or busy elsewhere.
    pub fn interrupt(&self, bits: u8) {
        let mut state = lock(&self.state);
        self.flags.fetch_or(bits & !OWN, Ordering::Relaxed);
        let parked = self.unpark(&mut state);
        let busy = state.seldom.as_mut().and_then(|seldom| seldom.busy.take());
        drop(state);
        parked.into_iter().chain(busy).for_each(Waker::wake);
    }

    /// Waits for interrupts alone, with the queue left as it is; each is given once.
    pub fn poll_interrupt(&self, cx: &mut Context<'_>) -> Poll<u8> {
        let mut state = lock(&self.state);
        if let Some(raised) = self.take_interrupts() {
            return Poll::Ready(raised);
        }
        state.seldom().busy = Some(cx.waker().clone());
        let admitted = self.admit(&mut state);
        drop(state);
        admitted.into_iter().for_each(Waker::wake);
        Poll::Pending
    }

    /// The reader is back from elsewhere: the waker it left is of no use any more.
    pub(crate) fn take_back_waker(&self) {
        let busy = lock(&self.state).seldom.as_mut().and_then(|seldom| seldom.busy.take());
        drop(busy);
    }

    /// Whether any of these interrupt bits is raised and not yet taken.
    #[inline]
    pub fn is_interrupted(&self, bits: u8) -> bool {
        self.flags.load(Ordering::Relaxed) & bits != 0
    }

    /// Leaves a waker for interrupts while the reader is busy elsewhere; it is parked no more.
    ///
    /// Gives `false`, leaving nothing, if one of `bits` is already raised.
    pub fn leave_waker(&self, waker: &Waker, bits: u8) -> bool {
        let mut state = lock(&self.state);
        drop(self.unpark(&mut state));
        if self.is_interrupted(bits) {
            return false;
        }
        let busy = &mut state.seldom().busy;
        if !busy.as_ref().is_some_and(|left| left.will_wake(waker)) {
            *busy = Some(waker.clone());
        }
        // It may be long before the reader takes anything: whoever can be let in is let in now.
        let admitted = self.admit(&mut state);
        drop(state);
        admitted.into_iter().for_each(Waker::wake);
        true
    }

    /// Whether the reader is busy elsewhere: it left its waker, and has not come back for items since.
    pub(crate) fn is_busy(&self) -> bool {
        lock(&self.state).seldom.as_ref().is_some_and(|seldom| seldom.busy.is_some())
    }

    /// Lets nothing in any more and gives what was accepted and not taken. Waiting senders get
    /// their items back.
    pub fn close(&self) -> Vec<T> {
        let mut state = lock(&self.state);
        self.flags.fetch_or(CLOSED, Ordering::Relaxed);
        let left = state.queue.drain();
        if let Some(seldom) = &mut state.seldom {
            seldom.extra = 0;
        }
        drop(self.unpark(&mut state));
        let wakers = state.waiting().map(|waiting| waiting.wakers()).unwrap_or_default();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        left
    }

    /// Whether nothing is let in any more.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.is_interrupted(CLOSED)
    }

    /// Says what the reader is called; kept for as long as anybody has the mailbox.
    pub(crate) fn set_label(&self, label: Arc<str>) {
        lock(&self.state).seldom().label = Some(label);
    }

    pub(crate) fn label(&self) -> Option<Arc<str>> {
        lock(&self.state).seldom.as_ref().and_then(|seldom| seldom.label.clone())
    }
}
