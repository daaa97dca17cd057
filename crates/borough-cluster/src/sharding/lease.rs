//! Whether work may run here now: what the control thread knows of the lease, where lanes can see it.
//!
//! Promise: it says yes only while a quorum of the voters has renewed the lease, by a clock that counts while the machine sleeps.
//!
//! To look at a clock takes as long as a short turn. So lanes do that now and then, and look before each turn at a mark: the control thread, which wakes as the lease
//! ends, halts them by it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;
use std::time::Duration;

use borough_protocol::incarnation::Uid;
use borough_protocol::time::Timestamp;

use crate::clock::Clock;

/// See the module.
pub(crate) struct Lease {
    clock: Clock,
    until: AtomicU64,
    /// Which life of the node it is for.
    life: AtomicU64,
    /// Set while no turn is to begin, as far as the control thread has seen.
    halt: Arc<AtomicBool>,
    /// Until when the last lease there was lasted.
    last: AtomicU64,
    /// How often no lease was held for longer than `max_pause`.
    lapses: Arc<AtomicU64>,
    /// How long a turn may go on after the lease: others wait for that, too.
    max_pause: Duration,
    /// Who waits until work may run again.
    waiting: Mutex<Vec<Waker>>,
}

impl Lease {
    /// Nothing may run yet.
    pub(crate) fn new(clock: Clock, max_pause: Duration) -> Self {
        let (until, life, halt) = (AtomicU64::new(0), AtomicU64::new(0), Arc::new(AtomicBool::new(true)));
        let (last, lapses) = (AtomicU64::new(0), Arc::default());
        Self { clock, until, life, halt, last, lapses, max_pause, waiting: Mutex::default() }
    }

    /// The mark that is set while no turn is to begin.
    pub(crate) fn halt(&self) -> &Arc<AtomicBool> {
        &self.halt
    }

    /// What time it is by the clock that leases go by.
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Nothing may run, and nothing of the life before ever again.
    pub(crate) fn begin(&self, life: Uid) {
        self.halt.store(true, Ordering::Release);
        self.until.store(0, Ordering::Release);
        self.life.store(life.get(), Ordering::Release);
    }

    /// Work of the present life may run until then; not at all, if that is over.
    pub(crate) fn renew(&self, until: Timestamp) {
        if until > self.clock.now() && self.is_overdue() {
            self.lapses.fetch_add(1, Ordering::AcqRel);
        }
        self.last.fetch_max(until.as_nanos(), Ordering::AcqRel);
        let before = self.until.swap(until.as_nanos(), Ordering::AcqRel);
        let halts = !self.holds();
        if self.halt.load(Ordering::Relaxed) != halts {
            self.halt.store(halts, Ordering::Release);
        }
        if before != until.as_nanos() && self.holds() {
            let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
            for waker in waiting {
                waker.wake();
            }
        }
    }

    /// How often no lease was held for longer than `max_pause`, and one was had again: a turn during which it rises has outlasted its lease.
    pub(crate) fn lapses(&self) -> &Arc<AtomicU64> {
        &self.lapses
    }

    /// Whether the last lease has been over for longer than `max_pause`: a turn that still runs may run elsewhere too.
    pub(crate) fn is_overdue(&self) -> bool {
        let last = self.last.load(Ordering::Acquire);
        last != 0 && self.clock.now().since(Timestamp::from_nanos(last)) > self.max_pause
    }

    /// Whether work of that life may run now.
    #[inline]
    pub(crate) fn may_run(&self, life: Uid) -> bool {
        // Which life it is for is looked at last: it was set before the moment.
        self.holds() && self.life.load(Ordering::Acquire) == life.get()
    }

    #[inline]
    fn holds(&self) -> bool {
        let until = self.until.load(Ordering::Acquire);
        until != 0 && self.clock.now().as_nanos() < until
    }

    /// Wakes the task when work may run again; at once, if it may.
    pub(crate) fn wait(&self, waker: &Waker) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if !waiting.iter().any(|other| other.will_wake(waker)) {
            waiting.push(waker.clone());
        }
        drop(waiting);
        if self.holds() {
            waker.wake_by_ref();
        }
    }
}
