//! Where one answer is left by the one who replies and picked up by the one who asked.
//!
//! ```text
//! Idle --open--> Open --answer-----------------> Answered --asker--> Idle
//!                     --reply handle dropped---> Lost ------asker--> Idle
//!                     --deadline---------------> Lost ------asker--> Idle
//!                     --asker gave up----------> Closed
//! Forwarding --answer--> Closed, the answer handed on
//! ```
//! A slot is used again, for the next ask of its type, once nobody has a reply handle for it: an
//! ask then costs neither an allocation nor a place in the table.

use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::Instant;

use super::turn::Turn;
use crate::sync::{Mutex, lock};

/// Why there will be no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// The message was discarded before a handler saw it.
    Discarded,
    /// The reply handle was dropped without an answer.
    Dropped,
    /// The time was up.
    Expired,
}

pub(crate) struct AnswerSlot<T> {
    state: Mutex<State<T>>,
}

/// Takes an answer that goes elsewhere than to one who waits at this slot.
pub(crate) type Forward<T> = Box<dyn FnOnce(T) + Send>;

enum State<T> {
    Idle,
    Open(Waiting),
    Answered(T),
    Lost(Lost),
    Closed,
    Forwarding(Forward<T>),
}

/// One who waits for an answer.
struct Waiting {
    asker: Waker,
    deadline: Deadline,
    /// The turn in which the ask is awaited; none if it is awaited outside of any.
    turn: Option<Turn>,
}

/// No ask reads a clock: its deadline is set by the sweep that first sees it, which costs the ask nothing
/// and can only make it wait longer, by less than a sweep.
enum Deadline {
    After(Duration),
    At(Instant),
}

/// What the table needs of a slot, whatever its type.
pub(super) trait AnySlot: Send + Sync {
    /// Ends the wait if it is due; gives whether somebody waits on.
    fn sweep(&self, now: Instant) -> bool;
    /// Whether somebody waits.
    fn is_open(&self) -> bool;
    /// The turn in which the answer is awaited.
    fn turn(&self) -> Option<Turn>;
}

impl<T> AnswerSlot<T> {
    pub(super) fn idle() -> Self {
        Self { state: Mutex::new(State::Idle) }
    }

    pub(super) fn forwarding(forward: Forward<T>) -> Self {
        Self { state: Mutex::new(State::Forwarding(forward)) }
    }

    /// An ask begins.
    pub(super) fn open(&self, asker: &Waker, timeout: Duration, turn: Option<Turn>) {
        let waiting = Waiting { asker: asker.clone(), deadline: Deadline::After(timeout), turn };
        *lock(&self.state) = State::Open(waiting);
    }

    /// Leaves the answer; gives it back if the asker is gone.
    ///
    /// Takes the reply's hold on the slot and lets go of it before the asker wakes, so that the asker
    /// finds the slot its own and can use it again.
    pub(super) fn answer(self: Arc<Self>, answer: T) -> Result<(), T> {
        let mut state = lock(&self.state);
        match mem::replace(&mut *state, State::Closed) {
            State::Open(waiting) => {
                *state = State::Answered(answer);
                drop(state);
                drop(self);
                waiting.asker.wake();
                Ok(())
            }
            State::Forwarding(forward) => {
                drop(state);
                forward(answer);
                Ok(())
            }
            other @ (State::Idle | State::Answered(_) | State::Lost(_) | State::Closed) => {
                *state = other;
                Err(answer)
            }
        }
    }

    /// Says that there will be no answer, unless there was one, or the asker is gone.
    pub(super) fn lose(&self, why: Lost) {
        let mut state = lock(&self.state);
        match mem::replace(&mut *state, State::Closed) {
            State::Open(waiting) => {
                *state = State::Lost(why);
                drop(state);
                waiting.asker.wake();
            }
            State::Forwarding(forward) => {
                drop(state);
                drop(forward);
            }
            other @ (State::Idle | State::Answered(_) | State::Lost(_) | State::Closed) => *state = other,
        }
    }

    /// Picks up the answer, or why there is none; the slot is idle then.
    pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<Result<T, Lost>> {
        let mut state = lock(&self.state);
        if let State::Open(waiting) = &mut *state {
            waiting.asker.clone_from(cx.waker());
            return Poll::Pending;
        }
        match mem::replace(&mut *state, State::Idle) {
            State::Answered(answer) => Poll::Ready(Ok(answer)),
            State::Lost(why) => Poll::Ready(Err(why)),
            State::Idle | State::Open(_) | State::Closed | State::Forwarding(_) => {
                Poll::Ready(Err(Lost::Dropped))
            }
        }
    }

    /// The asker gave up: an answer that comes now is given back to the one who replies.
    pub(super) fn close(&self) {
        let before = mem::replace(&mut *lock(&self.state), State::Closed);
        drop(before);
    }

    /// Whether an answer would be taken.
    pub(super) fn is_wanted(&self) -> bool {
        matches!(*lock(&self.state), State::Open(_) | State::Forwarding(_))
    }
}

impl<T: Send> AnySlot for AnswerSlot<T> {
    fn sweep(&self, now: Instant) -> bool {
        let mut state = lock(&self.state);
        let State::Open(waiting) = &mut *state else { return false };
        match waiting.deadline {
            Deadline::After(timeout) => {
                waiting.deadline = Deadline::At(far_off(now, timeout));
                true
            }
            Deadline::At(at) if now < at => true,
            Deadline::At(_) => {
                drop(state);
                self.lose(Lost::Expired);
                false
            }
        }
    }

    fn is_open(&self) -> bool {
        matches!(*lock(&self.state), State::Open(_))
    }

    fn turn(&self) -> Option<Turn> {
        match &*lock(&self.state) {
            State::Open(waiting) => waiting.turn,
            State::Idle | State::Answered(_) | State::Lost(_) | State::Closed | State::Forwarding(_) => None,
        }
    }
}

/// The end of a timeout; one too long for the clock ends in thirty years.
fn far_off(now: Instant, timeout: Duration) -> Instant {
    now.checked_add(timeout).unwrap_or_else(|| now + Duration::from_secs(60 * 60 * 24 * 365 * 30))
}
