//! The clock of a lane: one heap, one sleep.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
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
}

/// See the module.
#[derive(Default)]
pub(super) struct Alarms {
    heap: BinaryHeap<Reverse<Alarm>>,
    set: u64,
    sleep: Option<Pin<Box<Sleep>>>,
    /// For when the task was last said to be woken.
    armed: Option<Instant>,
}

struct Alarm {
    at: Instant,
    /// Tells those of one moment apart, in the order they were set.
    number: u64,
    due: Due,
}

impl Alarms {
    pub(super) fn set(&mut self, at: Instant, due: Due) {
        self.set += 1;
        self.heap.push(Reverse(Alarm { at, number: self.set, due }));
    }

    /// The next that is due at `now`.
    pub(super) fn next(&mut self, now: Instant) -> Option<Due> {
        if self.heap.peek()?.0.at > now {
            return None;
        }
        self.heap.pop().map(|Reverse(alarm)| alarm.due)
    }

    /// Whether the task is woken for the next already.
    #[inline]
    pub(super) fn is_armed(&self) -> bool {
        let next = self.heap.peek().map(|Reverse(next)| next.at);
        next.is_none() || next == self.armed
    }

    /// Whether something is due; if not, has the task woken for the next.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        loop {
            let Some(Reverse(next)) = self.heap.peek() else { return false };
            let at = next.at;
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

impl PartialEq for Alarm {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Alarm {}

impl PartialOrd for Alarm {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Alarm {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}
