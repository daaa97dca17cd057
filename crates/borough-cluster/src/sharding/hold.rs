//! Messages that have no way yet: their shard has no owner, or the way to it is being changed.
//!
//! ```text
//! Holding --empty at last, the new way is published under the same lock--> Open --the way is closed--> Holding
//! ```
//! Promise: what is held goes out in the order it was accepted, before anything that is sent by the way that opens. There are bounds
//! in messages and in bytes for all shards of a type together; beyond them senders [wait](super::hold_line).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use borough_actor::EntityId;
use borough_actor::resident::Asked;
use tokio::time::Instant;

use super::hold_line::HoldLine;
use super::routes::Used;

/// A message that waits for a way.
pub(crate) struct Held<M> {
    pub(super) id: EntityId,
    pub(super) message: M,
    pub(super) ask: Option<Asked>,
}

/// How much a type may hold, all its shards together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub(super) messages: usize,
    pub(super) bytes: usize,
}

/// How much a type holds, all its shards together.
pub(super) struct Budget {
    pub(super) limit: Limit,
    /// Who waits for room.
    pub(super) line: HoldLine,
    held: AtomicUsize,
    bytes: AtomicUsize,
    /// When the first of those that are held came, in milliseconds since this was made.
    since: AtomicU64,
    made: Instant,
    /// Nothing is held any more: the node is about to leave.
    is_shut: AtomicBool,
}

impl Budget {
    pub(super) fn new(limit: Limit) -> Self {
        Self {
            limit,
            line: HoldLine::default(),
            held: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            since: AtomicU64::new(0),
            made: Instant::now(),
            is_shut: AtomicBool::new(false),
        }
    }

    /// Nothing is held from now on, once each hold was locked since.
    pub(super) fn shut(&self) {
        self.is_shut.store(true, Ordering::Release);
        self.line.wake_all();
    }

    pub(super) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// For how long something has been held without a pause.
    pub(super) fn held_for(&self) -> Duration {
        let since = Duration::from_millis(self.since.load(Ordering::Relaxed));
        if self.held() == 0 { Duration::ZERO } else { self.made.elapsed().saturating_sub(since) }
    }

    /// `ticket`: of who waited in line.
    fn take(&self, weight: usize, ticket: Option<u64>) -> bool {
        if !self.line.is_next(ticket) {
            return false;
        }
        let before = self.held.fetch_add(1, Ordering::Relaxed);
        if before == 0 {
            let since = u64::try_from(self.made.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.since.store(since, Ordering::Relaxed);
        }
        let bytes = self.bytes.fetch_add(weight, Ordering::Relaxed).saturating_add(weight);
        // One message alone may be as large as it likes: it is bounded elsewhere.
        let taken = before < self.limit.messages && (before == 0 || bytes <= self.limit.bytes);
        if !taken {
            self.bytes.fetch_sub(weight, Ordering::Relaxed);
            self.held.fetch_sub(1, Ordering::Relaxed);
            if ticket.is_none() {
                // Who is first in line by now may have been refused because of this one.
                self.line.wake_first();
            }
        }
        taken
    }

    fn give_back(&self, weight: usize) {
        self.bytes.fetch_sub(weight, Ordering::Relaxed);
        self.held.fetch_sub(1, Ordering::Relaxed);
        self.line.wake_first();
    }
}

/// What became of a message that was to be held.
pub(super) enum Pushed<M> {
    /// It waits; `true` if it is the first that asks for a way.
    Waits(bool),
    /// There is no room.
    Full(Held<M>),
    /// Nothing is held any more.
    Shut(Held<M>),
    /// There is a way by now.
    Open(Held<M>),
}

/// The messages of one shard that have no way.
pub(super) struct Hold<M> {
    state: Mutex<State<M>>,
}

/// One that waits.
struct Waiting<M> {
    held: Held<M>,
    weight: usize,
    /// When its asker gives up.
    until: Option<Instant>,
}

impl<M> Waiting<M> {
    fn new(held: Held<M>, weight: usize) -> Self {
        let until = end_of(&held);
        Self { held, weight, until }
    }
}

pub(super) struct State<M> {
    queue: VecDeque<Waiting<M>>,
    is_open: bool,
    /// Whether somebody was told that a way is wanted.
    is_wanted: bool,
    /// Whether a way is wanted although nothing is sent.
    is_expected: bool,
    /// Which release may go on.
    release: u64,
    /// The release that is under way, and whether anything went by its way; `None` if none is.
    releasing: Option<(u64, Used)>,
}

impl<M> Hold<M> {
    /// Nothing is held, and there is no way.
    pub(super) fn new() -> Self {
        let state = State {
            queue: VecDeque::new(),
            is_open: false,
            is_wanted: false,
            is_expected: false,
            release: 0,
            releasing: None,
        };
        Self { state: Mutex::new(state) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State<M>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds a message of that weight, unless there is a way. `ticket`: of who waited in line.
    pub(super) fn push(
        &self,
        budget: &Budget,
        held: Held<M>,
        weight: usize,
        ticket: Option<u64>,
    ) -> Pushed<M> {
        let mut state = self.lock();
        if state.is_open {
            return Pushed::Open(held);
        }
        if budget.is_shut.load(Ordering::Acquire) {
            return Pushed::Shut(held);
        }
        if !budget.take(weight, ticket) {
            return Pushed::Full(held);
        }
        state.queue.push_back(Waiting::new(held, weight));
        Pushed::Waits(!std::mem::replace(&mut state.is_wanted, true))
    }

    /// It could not go after all: it comes first again.
    pub(super) fn put_back(&self, budget: &Budget, held: Held<M>, weight: usize) {
        budget.held.fetch_add(1, Ordering::Relaxed);
        budget.bytes.fetch_add(weight, Ordering::Relaxed);
        self.lock().queue.push_front(Waiting::new(held, weight));
    }

    /// The next message of that release, which takes no room here any more; nothing if another release began, or the way closed.
    pub(super) fn next(&self, release: u64, budget: &Budget) -> Next<'_, M> {
        let mut state = self.lock();
        if state.release != release {
            return Next::Superseded;
        }
        match state.queue.pop_front() {
            Some(Waiting { mut held, weight, until }) => {
                budget.give_back(weight);
                // Its asker has waited since it was held: whoever handles it is to know how long it still will.
                if let (Some(ask), Some(until)) = (&mut held.ask, until) {
                    ask.timeout = until.saturating_duration_since(Instant::now());
                }
                Next::Message(held)
            }
            None => Next::Empty(state),
        }
    }

    /// Empties it.
    pub(super) fn take_all(&self, budget: &Budget) -> Vec<Held<M>> {
        let all = std::mem::take(&mut self.lock().queue);
        let freed = all.into_iter().inspect(|waiting| budget.give_back(waiting.weight));
        freed.map(|waiting| waiting.held).collect()
    }
}

/// When its asker gives up; `None` if it is no ask, or waits for ever.
pub(super) fn end_of<M>(held: &Held<M>) -> Option<Instant> {
    Instant::now().checked_add(held.ask?.timeout)
}

/// What a release finds.
pub(super) enum Next<'a, M> {
    Message(Held<M>),
    /// Nothing is left, and nothing comes as long as this is kept.
    Empty(MutexGuard<'a, State<M>>),
    Superseded,
}

impl<M> State<M> {
    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// There is a way from now on; it was published under this lock.
    pub(super) fn open(&mut self) {
        self.is_open = true;
        self.is_wanted = false;
    }

    /// There is no way from now on; gives up a release that is under way.
    pub(super) fn close(&mut self) {
        self.is_open = false;
        self.release += 1;
        // Whoever closed it knows that one is wanted.
        self.is_wanted = true;
    }

    /// Nobody has been told that a way is wanted.
    pub(super) fn forget_wanted(&mut self) {
        self.is_wanted = false;
    }

    /// A way is wanted although nothing is sent.
    pub(super) fn expect_one(&mut self) {
        self.is_expected = true;
    }

    /// Whether somebody is to be told now that a way is wanted.
    pub(super) fn announce(&mut self) -> bool {
        let wanted = self.is_expected || !self.queue.is_empty();
        let first = wanted && !self.is_open && !self.is_wanted;
        self.is_wanted |= first;
        first
    }

    /// Begins to let go what is held, by a way of which this says whether it was used.
    pub(super) fn release(&mut self, used: Option<Used>) -> u64 {
        self.release += 1;
        self.releasing = Some((self.release, used.unwrap_or_default()));
        self.release
    }

    /// That release has ended.
    pub(super) fn released(&mut self, release: u64) {
        self.releasing = self.releasing.take().filter(|(of, _)| *of != release);
    }

    /// The release that is under way, if one is.
    pub(super) fn releasing(&self) -> Option<&Used> {
        self.releasing.as_ref().map(|(_, used)| used)
    }
}
