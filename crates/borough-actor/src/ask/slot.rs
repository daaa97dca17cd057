//! Where one answer is left by the one who replies and picked up by the one who asked.
//!
//! ```text
//! Idle --open--> Open --answer-----------------> Answered --asker--> Idle
//!                     --reply handle dropped---> Lost ------asker--> Idle
//!                     --deadline---------------> Lost ------asker--> Idle
//!                     --asker gave up----------> Closed
//! Forwarding --answer--> Closed, the answer handed on
//! ```
//! Whoever gives up while the reply handle lives is counted, until the handle ends too: as long as the count
//! is zero, no mailbox holds a message whose asker is gone, and no handler need look.
//!
//! A slot is used again, for the next ask of its type, once nobody has a reply handle for it: an
//! ask then costs neither an allocation nor a place in the table.

use std::any::Any;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
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
    /// Its place in the table; one that forwards has none.
    index: u32,
    /// Of the table; see above.
    given_up: Arc<GivenUp>,
    inner: Mutex<Inner<T>>,
}

struct Inner<T> {
    state: State<T>,
    /// Of the ask under way; apart from the state, which is moved about.
    terms: Terms,
}

/// How many asks were given up while their reply handles live on.
#[derive(Debug, Default)]
pub(super) struct GivenUp(AtomicUsize);

impl GivenUp {
    #[inline]
    pub(super) fn is_any(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    fn asker(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn reply_too(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Takes an answer that goes elsewhere than to one who waits at this slot.
pub(crate) type Forward<T> = Box<dyn FnOnce(T) + Send>;

enum State<T> {
    Idle,
    Open(Waker),
    Answered(T),
    Lost(Lost),
    Closed,
    Forwarding(Forward<T>),
}

/// On what terms an answer is waited for.
struct Terms {
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
    fn index(&self) -> u32;
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
    /// Ends the wait if it is due; gives whether somebody waits on.
    fn sweep(&self, now: Instant) -> bool;
    /// Whether somebody waits.
    fn is_open(&self) -> bool;
    /// The turn in which the answer is awaited.
    fn turn(&self) -> Option<Turn>;
}

impl<T> AnswerSlot<T> {
    fn new(index: u32, given_up: Arc<GivenUp>, state: State<T>) -> Self {
        let terms = Terms { deadline: Deadline::After(Duration::ZERO), turn: None };
        Self { index, given_up, inner: Mutex::new(Inner { state, terms }) }
    }

    pub(super) fn idle(index: u32, given_up: Arc<GivenUp>) -> Self {
        Self::new(index, given_up, State::Idle)
    }

    pub(super) fn forwarding(forward: Forward<T>) -> Self {
        Self::new(u32::MAX, Arc::default(), State::Forwarding(forward))
    }

    #[inline]
    pub(super) fn index(&self) -> u32 {
        self.index
    }

    /// An ask begins.
    #[inline]
    pub(super) fn open(&self, asker: &Waker, timeout: Duration, turn: Option<Turn>) {
        let asker = asker.clone();
        let mut inner = lock(&self.inner);
        inner.state = State::Open(asker);
        inner.terms = Terms { deadline: Deadline::After(timeout), turn };
    }

    /// Leaves the answer; gives it back if the asker is gone.
    ///
    /// Takes the reply's hold on the slot and lets go of it before the asker wakes, so that the asker
    /// finds the slot its own and can use it again.
    #[inline]
    pub(super) fn answer(self: Arc<Self>, answer: T) -> Result<(), T> {
        let mut inner = lock(&self.inner);
        match mem::replace(&mut inner.state, State::Closed) {
            State::Open(asker) => {
                inner.state = State::Answered(answer);
                drop(inner);
                drop(self);
                asker.wake();
                Ok(())
            }
            State::Forwarding(forward) => {
                drop(inner);
                forward(answer);
                Ok(())
            }
            other @ (State::Idle | State::Answered(_) | State::Lost(_) | State::Closed) => {
                inner.state = other;
                self.given_up.reply_too();
                Err(answer)
            }
        }
    }

    /// The reply handle ends without an answer.
    pub(super) fn lose(&self, why: Lost) {
        let mut inner = lock(&self.inner);
        match mem::replace(&mut inner.state, State::Closed) {
            State::Open(asker) => {
                inner.state = State::Lost(why);
                drop(inner);
                asker.wake();
            }
            State::Forwarding(forward) => {
                drop(inner);
                drop(forward);
            }
            other @ (State::Idle | State::Answered(_) | State::Lost(_) | State::Closed) => {
                inner.state = other;
                self.given_up.reply_too();
            }
        }
    }

    /// Picks up the answer, or why there is none; the slot is idle then.
    #[inline]
    pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<Result<T, Lost>> {
        let mut inner = lock(&self.inner);
        if let State::Open(asker) = &mut inner.state {
            asker.clone_from(cx.waker());
            return Poll::Pending;
        }
        match mem::replace(&mut inner.state, State::Idle) {
            State::Answered(answer) => Poll::Ready(Ok(answer)),
            State::Lost(why) => Poll::Ready(Err(why)),
            State::Idle | State::Open(_) | State::Closed | State::Forwarding(_) => {
                Poll::Ready(Err(Lost::Dropped))
            }
        }
    }

    /// The asker gave up: an answer that comes now is given back to the one who replies.
    pub(super) fn close(&self) {
        let before = mem::replace(&mut lock(&self.inner).state, State::Closed);
        if matches!(before, State::Open(_)) {
            self.given_up.asker();
        }
    }

    /// Whether an answer would be taken.
    pub(super) fn is_wanted(&self) -> bool {
        matches!(lock(&self.inner).state, State::Open(_) | State::Forwarding(_))
    }
}

impl<T: Send + 'static> AnySlot for AnswerSlot<T> {
    fn index(&self) -> u32 {
        self.index
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }

    fn sweep(&self, now: Instant) -> bool {
        let mut inner = lock(&self.inner);
        if !matches!(inner.state, State::Open(_)) {
            return false;
        }
        match inner.terms.deadline {
            Deadline::After(timeout) => {
                inner.terms.deadline = Deadline::At(far_off(now, timeout));
                true
            }
            Deadline::At(at) if now < at => true,
            Deadline::At(_) => {
                let before = mem::replace(&mut inner.state, State::Lost(Lost::Expired));
                drop(inner);
                self.given_up.asker();
                if let State::Open(asker) = before {
                    asker.wake();
                }
                false
            }
        }
    }

    fn is_open(&self) -> bool {
        matches!(lock(&self.inner).state, State::Open(_))
    }

    fn turn(&self) -> Option<Turn> {
        let inner = lock(&self.inner);
        inner.terms.turn.filter(|_| matches!(inner.state, State::Open(_)))
    }
}

/// The end of a timeout; one too long for the clock ends in thirty years.
fn far_off(now: Instant, timeout: Duration) -> Instant {
    now.checked_add(timeout).unwrap_or_else(|| now + Duration::from_secs(60 * 60 * 24 * 365 * 30))
}
