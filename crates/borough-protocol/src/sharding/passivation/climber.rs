//! Finds the size of a window by trying: hill climbing on the share of messages that found their entity awake.
//!
//! After a period of uses it compares that share with the one of the period before. Better: another step the same way. Worse: a step
//! back. Steps become smaller, so it comes to rest; when the share changes much, the load has changed, and it steps out again.

/// Uses in a period, as a multiple of the limit.
const PERIOD: u64 = 10;
/// The first step: this part of the limit.
const FIRST_STEP: u32 = 16;
/// A change of the share, in 65536ths, that says that the load is another one: a twentieth.
const ANOTHER_LOAD: u32 = 65536 / 20;

#[derive(Clone, Debug)]
pub(super) struct Climber {
    hits: u64,
    uses: u64,
    /// The share of hits in the last period, in 65536ths.
    last_share: Option<u32>,
    /// In 256ths of a slot, so that small ones can shrink slowly.
    step: u64,
    growing: bool,
}

impl Climber {
    pub(super) fn new(limit: u32) -> Self {
        Self { hits: 0, uses: 0, last_share: None, step: first_step(limit), growing: true }
    }

    /// A use, and whether it found what it wanted; at the end of a period, the new size of a window that has `size` of `limit`.
    pub(super) fn count(&mut self, hit: bool, size: u32, limit: u32) -> Option<u32> {
        self.hits += u64::from(hit);
        self.uses += 1;
        if self.uses < PERIOD * u64::from(limit) {
            return None;
        }
        let share = u32::try_from(self.hits * 65536 / self.uses).unwrap_or(u32::MAX);
        (self.hits, self.uses) = (0, 0);
        let last = self.last_share.replace(share).unwrap_or(share);
        if share < last {
            self.growing = !self.growing;
        }
        self.step =
            if share.abs_diff(last) >= ANOTHER_LOAD { first_step(limit) } else { self.step * 98 / 100 };
        let step = u32::try_from(self.step / 256).unwrap_or(u32::MAX);
        let moved = if self.growing { size.saturating_add(step) } else { size.saturating_sub(step) };
        Some(moved.clamp((limit / 100).max(1), limit))
    }
}

fn first_step(limit: u32) -> u64 {
    u64::from((limit / FIRST_STEP).max(1)) * 256
}

#[cfg(test)]
mod tests {
    use super::Climber;

    /// Lets it climb for so many periods, where `share` says how many of 1000 uses are hits for a size of the window; the last size.
    fn climb(climber: &mut Climber, mut size: u32, periods: u32, share: impl Fn(u32) -> u64) -> u32 {
        for _ in 0..periods {
            for n in 0..10_000_u64 {
                size = climber.count(n % 1000 < share(size), size, 1000).unwrap_or(size);
            }
        }
        size
    }

    #[test]
    fn it_finds_the_top_of_a_hill() {
        let size = climb(&mut Climber::new(1000), 10, 60, |size| 900 - u64::from(size.abs_diff(400)) / 3);
        assert!((300..500).contains(&size), "{size}");
    }

    #[test]
    fn it_comes_to_rest_and_sets_out_again_when_the_load_is_another() {
        let mut climber = Climber::new(1000);
        let rest = climb(&mut climber, 10, 300, |size| 900 - u64::from(size.abs_diff(200)) / 3);
        let moved = climb(&mut climber, rest, 1, |size| 900 - u64::from(size.abs_diff(200)) / 3);
        assert!(moved.abs_diff(rest) <= 1, "{rest}, then {moved}");
        let size = climb(&mut climber, moved, 60, |size| 700 - u64::from(size.abs_diff(600)) / 3);
        assert!((500..700).contains(&size), "{size}");
    }

    #[test]
    fn it_stays_between_a_hundredth_and_the_whole() {
        assert_eq!(climb(&mut Climber::new(1000), 10, 60, |size| 1000 - u64::from(size) / 2), 10);
        assert!(climb(&mut Climber::new(1000), 10, 60, |size| u64::from(size) * 9 / 10) > 900);
    }
}
