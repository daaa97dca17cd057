//! The clock of one life: it begins anywhere and runs a little too fast or too slow, always by as much.

use borough_protocol::random::Random;
use borough_protocol::time::Timestamp;

use super::moment::{Moment, Nanos};

/// A rate of 1. With 20 bits below the point, runs of two hours fit into 64 bits.
const UNIT: u64 = 1 << 20;

/// Where a clock may begin: far enough that nobody takes a moment for a duration.
const ORIGIN_MAX: Nanos = 1 << 50;

/// What a node sees of time.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    started: Moment,
    origin: Nanos,
    rate: u64,
}

impl Clock {
    /// A clock that begins now, at any reading, and whose rate is off by at most `drift_per_mille`.
    pub(crate) fn draw(now: Moment, drift_per_mille: u32, random: &mut Random) -> Self {
        let drift = UNIT * u64::from(drift_per_mille) / 1000;
        // What breaks, breaks between the slowest and the fastest.
        let rate = match random.below(3) {
            0 => UNIT - drift,
            1 => UNIT + drift,
            _ => random.between(UNIT - drift, UNIT + drift),
        };
        Self { started: now, origin: random.between(1, ORIGIN_MAX), rate }
    }

    /// What it shows at that moment.
    pub(crate) fn show(&self, now: Moment) -> Timestamp {
        let run = now.since(self.started) * self.rate / UNIT;
        Timestamp::from_nanos(self.origin + run)
    }

    /// The first moment at which it shows `reading` or more; none if there is no such moment.
    pub(crate) fn when(&self, reading: Timestamp) -> Option<Moment> {
        if reading == Timestamp::NEVER {
            return None;
        }
        let run = reading.as_nanos().saturating_sub(self.origin);
        let scaled = run.checked_mul(UNIT)?;
        Some(self.started.after(scaled.div_ceil(self.rate)))
    }

    /// It stood still for so long, as a clock does that does not count while its machine sleeps: the flaw, not the rule.
    pub(crate) fn lose(&mut self, nanos: Nanos) {
        self.origin = self.origin.saturating_sub(nanos * self.rate / UNIT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::moment::SECOND;

    #[test]
    fn a_deadline_has_come_at_the_moment_it_is_awaited_for_and_not_before() {
        let mut random = Random::seeded(3);
        for _ in 0..1000 {
            let started = Moment::at(random.below(100 * SECOND));
            let clock = Clock::draw(started, 100, &mut random);
            let deadline = Timestamp::from_nanos(clock.origin + random.below(600 * SECOND));
            let when = clock.when(deadline).expect("a moment of this run");
            assert!(clock.show(when) >= deadline);
            assert!(when == started || clock.show(Moment::at(when.nanos() - 1)) < deadline);
        }
    }

    #[test]
    fn the_rate_stays_within_the_drift() {
        let mut random = Random::seeded(4);
        for _ in 0..1000 {
            let clock = Clock::draw(Moment::START, 100, &mut random);
            let run = clock.show(Moment::at(SECOND)).as_nanos() - clock.origin;
            assert!((SECOND * 9 / 10 - 1000..=SECOND * 11 / 10).contains(&run), "{run}");
        }
    }

    #[test]
    fn never_does_not_come() {
        let clock = Clock::draw(Moment::START, 0, &mut Random::seeded(1));
        assert_eq!(clock.when(Timestamp::NEVER), None);
    }
}
