//! Where one answer is left by the one who replies and picked up by the one who asked.
//!
//! ```text
//! Idle --open--> Open --answer-----------------> Answered --asker--> Idle
//!                     --reply handle dropped---> Lost ------asker--> Idle
//!                     --deadline---------------> Lost ------asker--> Idle
//!                     --asker gave up----------> Closed
//! Forwarding --answer--> Closed, the answer handed on
//! ```
//! An ask that is given up while its reply handle lives is noted, until the handle ends too.
//!
//! A slot is used again, for the next ask of its type, once nobody has a reply handle for it: an
//! ask then costs neither an allocation nor a place in the table.

use std::any::Any;
use std::mem;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use borough_wire::codec::{CodecError, CodecId};
use tokio::time::Instant;

use super::AskId;
use super::given_up::GivenUp;
use super::reply::discard;
use super::table::AskTable;
use super::turn::Turn;
use crate::fault::Fault;
use crate::remote::{ReplyAddress, decode_as};
use crate::sync::{Mutex, lock};
use crate::time::later;

/// Why there will be no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lost {
    /// The message was discarded before a handler saw it.
    Discarded,
    /// The reply handle was dropped without an answer.
    Dropped,
    /// The time was up.
    Expired,
    /// The time was up before a handler saw the message, as the node found that was to handle it.
    Overdue,
    /// The node that was to answer is lost.
    Node,
    /// There was an answer, and it cannot be read.
    Unreadable,
}

pub(crate) struct AnswerSlot<T> {
    /// Its place in the table; one that forwards has none.
    index: u32,
    /// Of the table; see above. One that only forwards has none.
    given_up: Option<Arc<GivenUp>>,
    inner: Mutex<Inner<T>>,
}

struct Inner<T> {
    state: State<T>,
    /// Which use of the slot this is.
    generation: u32,
    /// Of the ask under way; apart from the state, which is moved about.
    terms: Terms,
    /// Set once the reply handle has gone to another node: the answer comes as bytes.
    abroad: Option<Abroad<T>>,
}

/// Where a reply handle went, and how its answer is read.
struct Abroad<T> {
    carrier: u32,
    decode: Decode<T>,
}

/// Reads an answer.
pub(crate) type Decode<T> = fn(CodecId, &[u8]) -> Result<T, CodecError>;

/// Where a slot comes from: its place in the table, how far its predecessors there have counted, and where the
/// table notes what is given up.
#[derive(Default)]
pub(super) struct Origin {
    pub(super) index: u32,
    pub(super) generation: u32,
    pub(super) given_up: Option<Arc<GivenUp>>,
}

/// Takes an answer that goes elsewhere than to one who waits at this slot.
pub(super) trait Deliver<T>: Send {
    fn is_wanted(&self) -> bool;
    /// Hands the answer on, or gives it back.
    fn deliver(self: Box<Self>, answer: T) -> Result<(), T>;
    /// There will be no answer.
    fn lose(self: Box<Self>, why: Lost) {
        let _ = why;
    }
}

/// Where an answer goes that nobody waits for at this slot.
pub(super) enum Forward<T> {
    To(Box<dyn Deliver<T>>),
    /// To another node, which the function sends it to.
    Abroad(ReplyAddress, fn(ReplyAddress, T)),
}

impl<T> Forward<T> {
    fn is_wanted(&self) -> bool {
        match self {
            Self::To(to) => to.is_wanted(),
            Self::Abroad(address, _) => !address.carrier.is_lost(),
        }
    }

    #[inline]
    fn deliver(self, answer: T) -> Result<(), T> {
        match self {
            Self::To(to) => to.deliver(answer),
            Self::Abroad(address, send) => {
                send(address, answer);
                Ok(())
            }
        }
    }

    fn lose(self, why: Lost) {
        match self {
            Self::To(to) => to.lose(why),
            Self::Abroad(address, _) => address.carrier.lose(address.ask, why),
        }
    }

    /// Where it goes, if that is another node.
    fn address(&self) -> Option<ReplyAddress> {
        match self {
            Self::To(_) => None,
            Self::Abroad(address, _) => Some(address.clone()),
        }
    }
}

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
    fn generation(&self) -> u32;
    /// Ends the wait if it is due; whoever waited is to be woken, but not under the table's lock.
    fn sweep(&self, now: Instant) -> Swept;
    /// Whether somebody waits.
    fn is_open(&self) -> bool;
    /// The turn in which the answer to this ask is awaited, if it still is and if it is awaited in one.
    fn turn_of(&self, ask: AskId) -> Option<Turn>;
    /// Takes an answer from another node.
    fn answer_encoded(self: Arc<Self>, ask: AskId, codec: CodecId, answer: &[u8]) -> Served;
    /// Another node says that there will be no answer.
    fn lose_abroad(self: Arc<Self>, ask: AskId, why: Lost) -> Served;
    /// The way by which the reply handle went is lost.
    fn carrier_lost(self: Arc<Self>, is_lost: &dyn Fn(u32) -> bool) -> Served;
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// Where an answer will come from, or go to.
pub(super) enum Went {
    /// It comes back to this slot.
    From(AskId),
    /// The one who asked lives on another node already.
    Further(ReplyAddress),
    /// Nobody waits for it.
    Nowhere,
}

/// What is left to do once an answer has come from another node, or the word that none will.
#[must_use]
pub(super) enum Served {
    /// Nothing: the slot serves another ask by now, or nobody.
    Nobody,
    /// Whoever asked is to be woken.
    Asker(Waker),
    /// Nobody waits at the slot of that ask, so it is to leave the table.
    Slot(AskId),
}

/// What a sweep found at a slot.
pub(super) enum Swept {
    Idle,
    Waiting,
    Due(Waker),
}

impl<T> AnswerSlot<T> {
    fn new(origin: Origin, state: State<T>) -> Self {
        let Origin { index, generation, given_up } = origin;
        let terms = Terms { deadline: Deadline::After(Duration::ZERO), turn: None };
        Self { index, given_up, inner: Mutex::new(Inner { state, generation, terms, abroad: None }) }
    }

    pub(super) fn idle(origin: Origin) -> Self {
        Self::new(origin, State::Idle)
    }

    pub(super) fn forwarding(forward: Forward<T>) -> Self {
        Self::new(Origin::default(), State::Forwarding(forward))
    }

    /// A slot of the table that forwards what comes from another node.
    pub(super) fn forwarding_from(origin: Origin, forward: Forward<T>) -> Self {
        let generation = origin.generation.wrapping_add(1);
        Self::new(Origin { generation, ..origin }, State::Forwarding(forward))
    }

    /// Where its answer goes, if that is another node.
    pub(super) fn address(&self) -> Option<ReplyAddress> {
        match &lock(&self.inner).state {
            State::Forwarding(forward) => forward.address(),
            State::Idle | State::Open(_) | State::Answered(_) | State::Lost(_) | State::Closed => None,
        }
    }

    /// Whether the answer to this ask is awaited here.
    pub(super) fn awaits(&self, ask: AskId) -> bool {
        let inner = lock(&self.inner);
        matches!(inner.state, State::Open(_) | State::Forwarding(_)) && self.name(&inner) == ask
    }

    /// Whether it belongs to that table.
    pub(super) fn is_of(&self, table: &AskTable) -> bool {
        self.given_up.as_ref().is_some_and(|given_up| table.owns(given_up))
    }

    /// The reply handle goes to another node; gives the name by which the answer finds this slot, or where
    /// the answer goes instead.
    pub(super) fn go_abroad(&self, carrier: u32, decode: Decode<T>) -> Went {
        let mut inner = lock(&self.inner);
        if let State::Forwarding(forward) = &inner.state
            && let Some(address) = forward.address()
        {
            return Went::Further(address);
        }
        if !matches!(inner.state, State::Open(_) | State::Forwarding(_)) {
            // The asker gave up: the handle ends here.
            self.note_ended(&inner);
            return Went::Nowhere;
        }
        inner.abroad = Some(Abroad { carrier, decode });
        Went::From(self.name(&inner))
    }

    #[inline]
    pub(super) fn index(&self) -> u32 {
        self.index
    }

    /// An ask begins; gives its name.
    #[inline]
    pub(super) fn open(&self, asker: &Waker, timeout: Duration, turn: Option<Turn>) -> AskId {
        let asker = asker.clone();
        let mut inner = lock(&self.inner);
        inner.state = State::Open(asker);
        inner.generation = inner.generation.wrapping_add(1);
        inner.terms = Terms { deadline: Deadline::After(timeout), turn };
        inner.abroad = None;
        self.name(&inner)
    }

    /// The asker gave up while the reply handle lives.
    fn note_given_up(&self, inner: &Inner<T>) {
        if let Some(given_up) = &self.given_up {
            given_up.insert(self.name(inner));
        }
    }

    /// The reply handle ends.
    fn note_ended(&self, inner: &Inner<T>) {
        if let Some(given_up) = &self.given_up {
            given_up.remove(self.name(inner));
        }
    }

    fn name(&self, inner: &Inner<T>) -> AskId {
        AskId::new(self.index, inner.generation)
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
                forward.deliver(answer)
            }
            other @ (State::Idle | State::Answered(_) | State::Lost(_) | State::Closed) => {
                inner.state = other;
                self.note_ended(&inner);
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
                forward.lose(why);
            }
            other @ (State::Idle | State::Answered(_) | State::Lost(_) | State::Closed) => {
                inner.state = other;
                self.note_ended(&inner);
            }
        }
    }

    /// Picks up the answer, or why there is none; the slot is idle then. `None`: neither is there yet.
    #[inline]
    pub(super) fn take(&self) -> Option<Result<T, Lost>> {
        let mut inner = lock(&self.inner);
        if matches!(inner.state, State::Open(_)) {
            return None;
        }
        Some(match mem::replace(&mut inner.state, State::Idle) {
            State::Answered(answer) => Ok(answer),
            State::Lost(why) => Err(why),
            State::Idle | State::Open(_) | State::Closed | State::Forwarding(_) => Err(Lost::Dropped),
        })
    }

    /// The asker gave up: an answer that comes now is given back to the one who replies.
    pub(super) fn close(&self) {
        let mut inner = lock(&self.inner);
        let before = mem::replace(&mut inner.state, State::Closed);
        if matches!(before, State::Open(_)) && inner.abroad.is_none() {
            self.note_given_up(&inner);
        }
        drop(inner);
        drop(before);
    }

    /// Whether the asker has to wait on; it is woken when it need not.
    pub(super) fn wait_on(&self, asker: &Waker, turn: Option<Turn>) -> bool {
        let mut inner = lock(&self.inner);
        let State::Open(waker) = &mut inner.state else { return false };
        waker.clone_from(asker);
        // The ask may have been carried from a turn to a task, or the other way.
        inner.terms.turn = turn;
        true
    }

    /// Whether an answer would be taken.
    pub(super) fn is_wanted(&self) -> bool {
        match &lock(&self.inner).state {
            State::Open(_) => true,
            State::Forwarding(forward) => forward.is_wanted(),
            State::Idle | State::Answered(_) | State::Lost(_) | State::Closed => false,
        }
    }
}

impl<T> AnswerSlot<T> {
    /// How the answer to this ask is read, if it is awaited from another node.
    fn decoder(&self, ask: AskId) -> Option<Decode<T>> {
        let inner = lock(&self.inner);
        let awaited =
            matches!(inner.state, State::Open(_) | State::Forwarding(_)) && self.name(&inner) == ask;
        inner.abroad.as_ref().filter(|_| awaited).map(|abroad| abroad.decode)
    }

    /// The answer to this ask came from another node, or none will.
    ///
    /// Takes the hold on the slot, as [`AnswerSlot::answer`]: it is gone before whoever asked can be woken.
    fn end_abroad(self: Arc<Self>, ask: AskId, answer: Result<T, Lost>) -> Served {
        let mut inner = lock(&self.inner);
        if inner.abroad.is_none() || self.name(&inner) != ask {
            drop(inner);
            return nobody(answer);
        }
        match mem::replace(&mut inner.state, State::Closed) {
            State::Open(asker) => {
                inner.state = answer.map_or_else(State::Lost, State::Answered);
                Served::Asker(asker)
            }
            State::Forwarding(forward) => {
                drop(inner);
                // User code too: an adapted reply.
                let handed_on = Fault::catch(|| match answer {
                    // Given back by one who wants it no more: there is nobody left to tell.
                    Ok(answer) => drop(forward.deliver(answer)),
                    Err(why) => forward.lose(why),
                });
                if let Err(fault) = handed_on {
                    tracing::error!(%fault, "an answer from another node panicked as it was adapted");
                }
                Served::Slot(ask)
            }
            other @ (State::Idle | State::Answered(_) | State::Lost(_) | State::Closed) => {
                inner.state = other;
                drop(inner);
                nobody(answer)
            }
        }
    }
}

/// The answer came too late. To drop it runs the user's code: a panic in it is no reason to lose what others are answered.
fn nobody<T>(answer: Result<T, Lost>) -> Served {
    discard(answer);
    Served::Nobody
}

impl<T: Send + 'static> AnySlot for AnswerSlot<T> {
    fn generation(&self) -> u32 {
        lock(&self.inner).generation
    }

    fn sweep(&self, now: Instant) -> Swept {
        let mut inner = lock(&self.inner);
        if !matches!(inner.state, State::Open(_)) {
            return Swept::Idle;
        }
        match inner.terms.deadline {
            Deadline::After(timeout) => {
                // Now, not as the sweep began, which may have been before the ask did.
                inner.terms.deadline = Deadline::At(later(Instant::now(), timeout));
                Swept::Waiting
            }
            Deadline::At(at) if now < at => Swept::Waiting,
            Deadline::At(_) => {
                if inner.abroad.is_none() {
                    self.note_given_up(&inner);
                }
                match mem::replace(&mut inner.state, State::Lost(Lost::Expired)) {
                    State::Open(asker) => Swept::Due(asker),
                    _ => Swept::Idle,
                }
            }
        }
    }

    fn is_open(&self) -> bool {
        matches!(lock(&self.inner).state, State::Open(_))
    }

    fn turn_of(&self, ask: AskId) -> Option<Turn> {
        let inner = lock(&self.inner);
        let awaited = matches!(inner.state, State::Open(_)) && self.name(&inner) == ask;
        inner.terms.turn.filter(|_| awaited)
    }

    fn answer_encoded(self: Arc<Self>, ask: AskId, codec: CodecId, answer: &[u8]) -> Served {
        let Some(decode) = self.decoder(ask) else { return Served::Nobody };
        decode_as(codec);
        // User code: not under the lock, and what it does is no reason to lose the answers of others.
        let answer = Fault::catch(|| decode(codec, answer)).ok().and_then(Result::ok);
        self.end_abroad(ask, answer.ok_or(Lost::Unreadable))
    }

    fn lose_abroad(self: Arc<Self>, ask: AskId, why: Lost) -> Served {
        self.end_abroad(ask, Err(why))
    }

    fn carrier_lost(self: Arc<Self>, is_lost: &dyn Fn(u32) -> bool) -> Served {
        let inner = lock(&self.inner);
        let went = inner.abroad.as_ref().is_some_and(|abroad| is_lost(abroad.carrier));
        let ask = self.name(&inner);
        drop(inner);
        if went { self.end_abroad(ask, Err(Lost::Node)) } else { Served::Nobody }
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fragile;

    impl Drop for Fragile {
        fn drop(&mut self) {
            panic!("it is dropped");
        }
    }

    #[test]
    fn a_late_answer_that_panics_as_it_is_dropped_harms_nobody() {
        let slot = Arc::new(AnswerSlot::idle(Origin::default()));
        let ask = slot.open(Waker::noop(), Duration::ZERO, None);
        assert!(matches!(slot.end_abroad(ask, Ok(Fragile)), Served::Nobody));
    }
}
