//! The clock of one node: it may run fast or slow, and what a broken one does can be shown too.

use std::time::Duration;

use borough_protocol::time::Timestamp;

/// What a node's clock shows, by true time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// Thousandths of true time.
    rate: u64,
    since: Timestamp,
    showed: Timestamp,
}

impl Clock {
    pub(crate) const TRUE: Self = Self { rate: 1000, since: Timestamp::ZERO, showed: Timestamp::ZERO };

    /// What it shows.
    pub(crate) fn at(&self, now: Timestamp) -> Timestamp {
        let passed = now.as_nanos() - self.since.as_nanos();
        Timestamp::from_nanos(self.showed.as_nanos() + passed * self.rate / 1000)
    }

    /// The first moment at which it shows that much.
    pub(crate) fn when(&self, shows: Timestamp) -> Timestamp {
        if shows == Timestamp::NEVER {
            return shows;
        }
        let to_pass = shows.as_nanos().saturating_sub(self.showed.as_nanos());
        Timestamp::from_nanos(self.since.as_nanos() + (to_pass * 1000).div_ceil(self.rate))
    }

    /// It runs at that rate from now on.
    pub(crate) fn run_at(&mut self, now: Timestamp, rate: u64) {
        *self = Self { rate, since: now, showed: self.at(now) };
    }

    /// It stood still for that long: it is one that does not count while the machine sleeps.
    pub(crate) fn stood_still(&mut self, now: Timestamp, slept: Duration) {
        *self = Self { rate: self.rate, since: now, showed: self.at(now) - slept };
    }
}
