//! The clock of a lane: one list of moments, one sleep.
//!
//! Promise: an alarm that is called off is gone at once, however far away its moment was.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::task::Context;

use borough_protocol::sharding::Epoch;
use tokio::time::{Instant, Sleep, sleep_until};

/// What is due at some moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// A timer of the entity in that slot, if it is still there.
    Timer { shard: u32, epoch: Epoch, slot: u32 },
    /// The entity in that slot is made anew.
    Restart { shard: u32, epoch: Epoch, slot: u32 },
    /// Turns are to have ended: the shard moves.
    Handoff { shard: u32, next: Epoch },
    /// The store is to be fenced once more.
    Fence { shard: u32, epoch: Epoch },
    /// Idle entities are looked for.
    Sweep,
    /// Orders that were put off are looked at again.
    Orders,
}

/// See the module.
#[derive(Default)]
pub(super) struct Alarms {
    set: BTreeMap<Alarm, Due>,
    /// How many ever were.
    count: u64,
    sleep: Option<Pin<Box<Sleep>>>,
    /// For when the task was last said to be woken.
    armed: Option<Instant>,
}

/// Names an alarm that was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Alarm {
    at: Instant,
    /// Tells those of one moment apart, in the order they were set.
    number: u64,
}

impl Alarm {
    /// When it rings.
    pub(super) fn at(self) -> Instant {
        self.at
    }
}

impl Alarms {
    pub(super) fn set(&mut self, at: Instant, due: Due) -> Alarm {
        self.count += 1;
        let alarm = Alarm { at, number: self.count };
        self.set.insert(alarm, due);
        alarm
    }

    /// Calls one off, if it has not rung.
    pub(super) fn cancel(&mut self, alarm: Alarm) {
        self.set.remove(&alarm);
    }

    /// How many are set.
    pub(super) fn len(&self) -> usize {
        self.set.len()
    }

    /// The next that is due at `now`.
    pub(super) fn next(&mut self, now: Instant) -> Option<Due> {
        let first = self.set.first_entry()?;
        (first.key().at <= now).then(|| first.remove())
    }

    /// Whether the task is woken for the next already.
    #[inline]
    pub(super) fn is_armed(&self) -> bool {
        let next = self.set.first_key_value().map(|(next, _)| next.at);
        next.is_none() || next == self.armed
    }

    /// Whether something is due; if not, has the task woken for the next.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        loop {
            let Some((&Alarm { at, .. }, _)) = self.set.first_key_value() else { return false };
            if at <= Instant::now() {
                return true;
            }
            let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(at)));
            if sleep.deadline() != at {
                sleep.as_mut().reset(at);
            }
            if sleep.as_mut().poll(cx).is_pending() {
                self.armed = Some(at);
                return false;
            }
            (self.sleep, self.armed) = (None, None);
        }
    }
}
