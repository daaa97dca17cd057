//! What a worker shows of itself to the control thread: whether it answers, and whose handler it is in.
//!
//! Promise: a worker pays a few plain stores a turn, into memory that nobody else reads but once a second, and takes no lock for ids of up to 23
//! bytes. What is read is of one poll of one turn, or nothing.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Mutex, PoisonError};

use borough_actor::EntityId;
use borough_actor::resident::{id_of_words, id_words};

/// See the module.
#[derive(Default)]
pub(crate) struct Probe {
    /// Set by a ping, taken back by the worker.
    asked: AtomicBool,
    /// How many pings in a row found the one before them unanswered. Written by the control thread alone.
    missed: AtomicU32,
    /// Odd while user code runs. Written by the worker alone, as is the id.
    polls: AtomicU64,
    id: [AtomicU64; 3],
    /// The id, if it does not fit there.
    long: Mutex<Option<EntityId>>,
    /// The poll that was counted last as one that outlasted the lease.
    counted: AtomicU64,
}

impl Probe {
    /// Asks for an answer. How many such questions in a row were not answered, and whether this one is new: the one before was answered.
    pub(crate) fn ping(&self, starts_over: bool) -> (u32, bool) {
        let is_new = !self.asked.swap(true, Ordering::AcqRel);
        let missed = if is_new || starts_over { 0 } else { self.missed().saturating_add(1) };
        self.missed.store(missed, Ordering::Release);
        (missed, is_new)
    }

    /// How many pings in a row it has not answered.
    pub(crate) fn missed(&self) -> u32 {
        self.missed.load(Ordering::Acquire)
    }

    /// The worker runs.
    #[inline]
    pub(crate) fn answer(&self) {
        if self.asked.load(Ordering::Relaxed) {
            self.asked.store(false, Ordering::Release);
        }
    }

    /// User code of that entity is about to run.
    #[inline]
    pub(super) fn enter(&self, id: &EntityId) {
        self.answer();
        // A reader that sees a word of this id sees that the poll before is over, too.
        fence(Ordering::Release);
        let words = id_words(id);
        for (place, word) in self.id.iter().zip(words) {
            place.store(word, Ordering::Relaxed);
        }
        if id_of_words(words).is_none() {
            self.enter_long(id);
        }
        let polls = self.polls.load(Ordering::Relaxed);
        self.polls.store(polls.wrapping_add(1), Ordering::Release);
    }

    #[cold]
    fn enter_long(&self, id: &EntityId) {
        *self.long.lock().unwrap_or_else(PoisonError::into_inner) = Some(id.clone());
    }

    /// It returned.
    #[inline]
    pub(super) fn leave(&self) {
        let polls = self.polls.load(Ordering::Relaxed);
        self.polls.store(polls.wrapping_add(1), Ordering::Release);
    }

    /// The poll that the worker is in, and whose; `None` if it is in none, or just goes on to another.
    pub(crate) fn turn(&self) -> Option<(u64, EntityId)> {
        let polls = self.polls.load(Ordering::Acquire);
        if polls.is_multiple_of(2) {
            return None;
        }
        let words = [0, 1, 2].map(|place: usize| self.id[place].load(Ordering::Relaxed));
        let long = || self.long.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let id = id_of_words(words).or_else(long)?;
        fence(Ordering::Acquire);
        (self.polls.load(Ordering::Relaxed) == polls).then_some((polls, id))
    }

    /// Whether that poll, which outlasted the lease, was not counted yet.
    pub(crate) fn count_once(&self, poll: u64) -> bool {
        self.counted.swap(poll, Ordering::AcqRel) != poll
    }

    /// The number of the poll that returned just now.
    pub(super) fn last(&self) -> u64 {
        self.polls.load(Ordering::Relaxed).wrapping_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use borough_actor::IntoEntityId;

    use super::*;

    fn missed(probe: &Probe) -> u32 {
        probe.ping(false).0
    }

    #[test]
    fn a_worker_that_answers_misses_nothing_and_one_that_does_not_misses_each() {
        let probe = Probe::default();
        assert_eq!(probe.ping(false), (0, true));
        assert_eq!([missed(&probe), missed(&probe)], [1, 2]);
        probe.answer();
        assert_eq!(probe.ping(false), (0, true));
        assert_eq!(probe.ping(false), (1, false));
    }

    #[test]
    fn a_late_control_thread_starts_the_count_over() {
        let probe = Probe::default();
        for _ in 0..10 {
            probe.ping(false);
        }
        assert_eq!(probe.ping(true), (0, false));
        assert_eq!(missed(&probe), 1);
    }

    #[test]
    fn the_entity_of_the_turn_is_shown_while_it_runs_whatever_its_length() {
        let probe = Probe::default();
        assert_eq!(probe.turn(), None);
        for text in ["alice", &"x".repeat(23), &"y".repeat(24), &"z".repeat(255)] {
            let id = text.into_entity_id().unwrap();
            probe.enter(&id);
            let (poll, shown) = probe.turn().unwrap();
            assert_eq!(shown, id);
            probe.leave();
            assert_eq!((probe.turn(), probe.last()), (None, poll));
            assert!(probe.count_once(poll) && !probe.count_once(poll));
        }
    }

    #[test]
    fn the_beginning_of_a_turn_answers() {
        let probe = Probe::default();
        probe.ping(false);
        probe.enter(&"a".into_entity_id().unwrap());
        assert_eq!(probe.ping(false), (0, true));
        assert_eq!(missed(&probe), 1, "the turn goes on");
    }
}
