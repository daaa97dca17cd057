//! The plain failure detector: one bound for everybody.

use core::time::Duration;

use crate::time::Timestamp;

/// Calls a peer unavailable once nothing was heard for an interval and the acceptable pause.
#[derive(Clone, Copy, Debug)]
pub struct DeadlineDetector {
    interval: Duration,
    acceptable_pause: Duration,
    last: Timestamp,
}

impl DeadlineDetector {
    /// As if a heartbeat had been heard now.
    pub fn new(interval: Duration, acceptable_pause: Duration, now: Timestamp) -> Self {
        Self { interval, acceptable_pause, last: now }
    }

    /// A heartbeat was heard.
    pub fn heartbeat(&mut self, now: Timestamp) {
        self.last = now;
    }

    /// That much of the past does not count as silence.
    pub fn excuse(&mut self, deaf: Duration) {
        self.last = self.last + deaf;
    }

    /// From when on the peer is unavailable if nothing is heard.
    pub fn suspect_at(&self, patience: u32) -> Timestamp {
        self.last + self.interval + self.acceptable_pause.saturating_mul(patience)
    }
}
