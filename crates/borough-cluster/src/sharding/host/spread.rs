//! How long turns took, counted by length: enough to say what half and nearly all of them stayed below.
//!
//! Promise: however many are counted, the room is the same. A quantile is never said too short, and at most a quarter too long.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Four for each doubling, from 4 ns to somewhat more than an hour; what takes longer is counted with the longest.
const PLACES: usize = 160;
const LAST: usize = PLACES - 1;
/// What is shorter counts as this.
const SHORTEST: u64 = 4;

/// How long turns of the entities of one type took on one node of late: in the last 10 to 20 s.
///
/// A turn is the handling of one message, from its beginning to its end, with all that it awaits; the time that the message waited for it is not
/// counted. Few turns are timed, each of them for as many as it stands for; turns that have not ended are not among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TurnTimes {
    /// How many were timed. If none was, the others are zero.
    pub samples: u64,
    /// Half of all turns took no longer; at most a quarter too long.
    pub p50: Duration,
    /// 99 of 100 turns took no longer; at most a quarter too long.
    pub p99: Duration,
    /// The longest that was timed.
    pub longest: Duration,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spread {
    counts: [u64; PLACES],
    samples: u64,
    longest: Duration,
}

impl Default for Spread {
    fn default() -> Self {
        Self { counts: [0; PLACES], samples: 0, longest: Duration::ZERO }
    }
}

impl Spread {
    /// Counts a turn that stands for so many.
    pub(super) fn add(&mut self, took: Duration, stands_for: u32) {
        self.counts[place_of(took)] += u64::from(stands_for);
        self.samples += 1;
        self.longest = self.longest.max(took);
    }

    /// Counts all that another has.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.samples += other.samples;
        self.longest = self.longest.max(other.longest);
    }

    pub(crate) fn times(&self) -> TurnTimes {
        let Self { samples, longest, .. } = *self;
        TurnTimes { samples, p50: self.quantile(50), p99: self.quantile(99), longest }
    }

    /// So many of a hundred took no longer.
    fn quantile(&self, per_cent: u64) -> Duration {
        let total: u64 = self.counts.iter().sum();
        let wanted = total.saturating_mul(per_cent).div_ceil(100);
        let mut seen = 0;
        for (place, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted && seen > 0 {
                return if place == LAST { self.longest } else { end_of(place).min(self.longest) };
            }
        }
        Duration::ZERO
    }
}

/// The two bits after the first say which of the four, the number of all of them which doubling.
fn place_of(took: Duration) -> usize {
    let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX).max(SHORTEST);
    let doublings = nanos.ilog2() - SHORTEST.ilog2();
    let place = u64::from(doublings) * 4 + (nanos >> doublings) - 4;
    usize::try_from(place).map_or(LAST, |place| place.min(LAST))
}

/// What is counted there is shorter.
fn end_of(place: usize) -> Duration {
    Duration::from_nanos((5 + place as u64 % 4) << (place / 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(turns: &[(Duration, u32)]) -> Spread {
        let mut spread = Spread::default();
        for (took, stands_for) in turns {
            spread.add(*took, *stands_for);
        }
        spread
    }

    #[test]
    fn every_length_is_counted_where_it_is_found_again_and_none_is_said_a_quarter_too_long() {
        let lengths = (2..41).flat_map(|power| [0, 1, 7].map(|more| (1_u64 << power) * (8 + more) / 8));
        for nanos in lengths {
            let took = Duration::from_nanos(nanos);
            let end = end_of(place_of(took));
            assert!(end > took, "{took:?} is said to be shorter than {end:?}");
            assert!(end.as_nanos() * 4 <= took.as_nanos() * 5, "{took:?} is said to take {end:?}");
        }
    }

    #[test]
    fn places_follow_each_other_without_a_gap() {
        for place in 0..LAST {
            assert_eq!(place_of(end_of(place)), place + 1);
        }
    }

    #[test]
    fn what_is_too_short_or_too_long_for_a_place_is_counted_all_the_same() {
        assert_eq!(place_of(Duration::ZERO), 0);
        assert_eq!(place_of(Duration::MAX), LAST);
        let day = Duration::from_secs(86_400);
        assert_eq!(spread(&[(day, 1)]).times().p99, day, "the longest is known to the end");
    }

    #[test]
    fn half_and_nearly_all_are_told_apart_by_what_each_turn_stands_for() {
        let (short, long) = (Duration::from_micros(10), Duration::from_millis(30));
        let mostly_short = spread(&[(short, 980), (long, 20)]).times();
        assert!(mostly_short.p50 >= short && mostly_short.p50 < Duration::from_micros(13));
        assert_eq!((mostly_short.p99, mostly_short.longest, mostly_short.samples), (long, long, 2));
        let hardly_long = spread(&[(short, 995), (long, 5)]).times();
        assert!(hardly_long.p99 < Duration::from_micros(13), "{hardly_long:?}");
        assert_eq!(hardly_long.longest, long);
    }

    #[test]
    fn what_two_lanes_counted_is_counted_together() {
        let mut both = spread(&[(Duration::from_micros(1), 3)]);
        both.merge(&spread(&[(Duration::from_secs(1), 1)]));
        assert_eq!(both, spread(&[(Duration::from_micros(1), 3), (Duration::from_secs(1), 1)]));
    }

    #[test]
    fn of_nothing_nothing_is_said() {
        assert_eq!(Spread::default().times(), TurnTimes::default());
    }
}
