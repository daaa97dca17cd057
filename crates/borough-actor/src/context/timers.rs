//! An actor's timers. They live in its task: when the actor goes, they go, and none fires late.
//!
//! A timer's message is made when it is handed over, one at a time, so a cancelled or replaced timer
//! never delivers, not even one that was due.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::time::later;

/// Names a timer within its actor: a word or a number.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TimerKey(Key);

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
enum Key {
    Word(Cow<'static, str>),
    Number(u64),
}

impl From<&'static str> for TimerKey {
    fn from(word: &'static str) -> Self {
        Self(Key::Word(Cow::Borrowed(word)))
    }
}

impl From<String> for TimerKey {
    fn from(word: String) -> Self {
        Self(Key::Word(Cow::Owned(word)))
    }
}

impl From<u64> for TimerKey {
    fn from(number: u64) -> Self {
        Self(Key::Number(number))
    }
}

type Make<M> = Box<dyn FnMut() -> M + Send>;

/// The timers of one actor, by key. Setting a key that is set replaces its timer.
///
/// They end with the actor and with its instance: a restart cancels them.
pub struct Timers<M> {
    by_key: HashMap<TimerKey, Timer<M>>,
    /// Deadline, and a number that tells equal deadlines apart.
    due: BTreeMap<(Instant, u64), TimerKey>,
    set: u64,
    idle: Option<Idle<M>>,
    alarm: Option<Pin<Box<Sleep>>>,
    turn: MayRing,
}

/// Which timers may ring in the batch under way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MayRing {
    /// All: no message was handled.
    All,
    /// Messages were handled, so the actor was not idle.
    ButIdle,
    /// One did already.
    None,
}

struct Timer<M> {
    due: (Instant, u64),
    kind: Kind<M>,
}

enum Kind<M> {
    Once(M),
    FixedDelay(Duration, Make<M>),
    FixedRate(Duration, Make<M>),
}

/// The receive timeout.
struct Idle<M> {
    after: Duration,
    make: Make<M>,
    due: Instant,
}

impl<M> Default for Timers<M> {
    fn default() -> Self {
        Self {
            by_key: HashMap::new(),
            due: BTreeMap::new(),
            set: 0,
            idle: None,
            alarm: None,
            turn: MayRing::None,
        }
    }
}

impl<M> Timers<M> {
    /// Sends `message` once, after `delay`.
    pub fn once(&mut self, key: impl Into<TimerKey>, delay: Duration, message: M) {
        self.insert(key.into(), later(Instant::now(), delay), Kind::Once(message));
    }

    /// Sends what `make` makes, again and again, `delay` after the one before was handed over.
    pub fn fixed_delay(
        &mut self,
        key: impl Into<TimerKey>,
        delay: Duration,
        make: impl FnMut() -> M + Send + 'static,
    ) {
        let delay = at_least_a_moment(delay);
        self.insert(key.into(), later(Instant::now(), delay), Kind::FixedDelay(delay, Box::new(make)));
    }

    /// Sends what `make` makes every `period`, counted from now: what an actor that was busy missed is made up for.
    pub fn fixed_rate(
        &mut self,
        key: impl Into<TimerKey>,
        period: Duration,
        make: impl FnMut() -> M + Send + 'static,
    ) {
        let period = at_least_a_moment(period);
        self.insert(key.into(), later(Instant::now(), period), Kind::FixedRate(period, Box::new(make)));
    }

    /// Ends a timer; gives whether there was one. Nothing of it arrives any more.
    pub fn cancel(&mut self, key: impl Into<TimerKey>) -> bool {
        let timer = self.by_key.remove(&key.into());
        timer.is_some_and(|timer| self.due.remove(&timer.due).is_some())
    }

    /// Ends all timers; the receive timeout is none of them.
    pub fn cancel_all(&mut self) {
        self.by_key.clear();
        self.due.clear();
    }

    /// Whether there is a timer of this key that will send.
    pub fn is_set(&self, key: impl Into<TimerKey>) -> bool {
        self.by_key.contains_key(&key.into())
    }

    fn insert(&mut self, key: TimerKey, at: Instant, kind: Kind<M>) {
        self.set += 1;
        let due = (at, self.set);
        if let Some(replaced) = self.by_key.insert(key.clone(), Timer { due, kind }) {
            self.due.remove(&replaced.due);
        }
        self.due.insert(due, key);
    }

    pub(super) fn set_idle(&mut self, after: Duration, make: Make<M>) {
        let after = at_least_a_moment(after);
        self.idle = Some(Idle { after, make, due: later(Instant::now(), after) });
    }

    pub(super) fn cancel_idle(&mut self) {
        self.idle = None;
    }

    /// Messages were handled: the receive timeout begins anew.
    pub(crate) fn note_activity(&mut self) {
        if let Some(idle) = &mut self.idle {
            idle.due = later(Instant::now(), idle.after);
        }
    }

    pub(crate) fn batch_begins(&mut self, has_messages: bool) {
        self.turn = if has_messages { MayRing::ButIdle } else { MayRing::All };
    }

    /// Whether a timer is due; if none is, sees to it that the task is woken for the next.
    pub(super) fn poll_due(&mut self, cx: &mut Context<'_>) -> bool {
        loop {
            let Some(next) = self.next_deadline() else { return false };
            if next <= Instant::now() {
                return true;
            }
            let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep_until(next)));
            if alarm.deadline() != next {
                alarm.as_mut().reset(next);
            }
            if alarm.as_mut().poll(cx) == Poll::Pending {
                return false;
            }
            self.alarm = None;
        }
    }

    /// When the next one is due.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let timer = self.due.keys().next().map(|(at, _)| *at);
        let idle = self.idle.as_ref().map(|idle| idle.due);
        timer.into_iter().chain(idle).min()
    }

    /// The message of one timer that is due, once in a batch.
    ///
    /// `make` is user code and may panic: the timer is set anew before it is called.
    pub(crate) fn take_due(&mut self) -> Option<M> {
        let turn = std::mem::replace(&mut self.turn, MayRing::None);
        if turn == MayRing::None {
            return None;
        }
        let now = Instant::now();
        let first = self.due.first_key_value().map(|((at, _), key)| (*at, key.clone()));
        let Some((at, key)) = first.filter(|(at, _)| *at <= now) else {
            return if turn == MayRing::All { self.take_idle(now) } else { None };
        };
        self.due.pop_first();
        if let Kind::Once(_) = self.by_key.get(&key)?.kind {
            return match self.by_key.remove(&key)?.kind {
                Kind::Once(message) => Some(message),
                Kind::FixedDelay(..) | Kind::FixedRate(..) => None,
            };
        }
        self.set += 1;
        let number = self.set;
        let timer = self.by_key.get_mut(&key)?;
        let (next, make) = match &mut timer.kind {
            Kind::Once(_) => return None,
            Kind::FixedDelay(delay, make) => (later(now, *delay), make),
            Kind::FixedRate(period, make) => (later(at, *period), make),
        };
        timer.due = (next, number);
        self.due.insert(timer.due, key);
        Some(make())
    }

    /// Those that send once, with the time they have left.
    pub(crate) fn each_once(&self, now: Instant) -> impl Iterator<Item = (&TimerKey, Duration, &M)> {
        self.by_key.iter().filter_map(move |(key, timer)| match &timer.kind {
            Kind::Once(message) => Some((key, timer.due.0.saturating_duration_since(now), message)),
            Kind::FixedDelay(..) | Kind::FixedRate(..) => None,
        })
    }

    fn take_idle(&mut self, now: Instant) -> Option<M> {
        let idle = self.idle.as_mut().filter(|idle| idle.due <= now)?;
        idle.due = later(now, idle.after);
        Some((idle.make)())
    }
}

impl<M> fmt::Debug for Timers<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.due.values()).finish()
    }
}

/// A period of nothing would keep the actor busy for ever.
fn at_least_a_moment(period: Duration) -> Duration {
    period.max(Duration::from_millis(1))
}
