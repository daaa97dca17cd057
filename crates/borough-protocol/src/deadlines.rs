//! Deadlines as data: one moment for each kind of timer a machine has.

use crate::time::Timestamp;

/// A kind of timer, one of few.
pub trait Timer: Copy {
    /// Its place among the kinds, counted from 0.
    fn place(self) -> usize;
}

/// When each of a machine's `N` timers rings next. Setting one replaces it.
#[derive(Clone, Debug)]
pub struct Deadlines<const N: usize> {
    at: [Timestamp; N],
}

impl<const N: usize> Default for Deadlines<N> {
    fn default() -> Self {
        Self { at: [Timestamp::NEVER; N] }
    }
}

impl<const N: usize> Deadlines<N> {
    /// Rings at that moment.
    pub fn set(&mut self, timer: impl Timer, at: Timestamp) {
        self.at[timer.place()] = at;
    }

    /// Rings at that moment, or before if it was to ring before.
    pub fn set_earlier(&mut self, timer: impl Timer, at: Timestamp) {
        let slot = &mut self.at[timer.place()];
        *slot = at.min(*slot);
    }

    /// Does not ring.
    pub fn clear(&mut self, timer: impl Timer) {
        self.at[timer.place()] = Timestamp::NEVER;
    }

    /// Whether the timer's moment has come; it is cleared then.
    pub fn take_due(&mut self, timer: impl Timer, now: Timestamp) -> bool {
        let slot = &mut self.at[timer.place()];
        let due = *slot <= now;
        if due {
            *slot = Timestamp::NEVER;
        }
        due
    }

    /// The first moment at which one rings; `NEVER` if none is set.
    pub fn next(&self) -> Timestamp {
        self.at.iter().copied().min().unwrap_or(Timestamp::NEVER)
    }
}
