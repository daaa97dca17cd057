//! The rules by which a victim can be chosen, and their settings.

use thiserror::Error;

/// By which rule an entity is chosen to go when there are more than the limit.
///
/// The names are those of Akka and Apache Pekko, and so are the defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The one whose last message is the longest ago. Good where what was used lately is used again soon; one pass over many ids
    /// drives out all others.
    LeastRecentlyUsed,
    /// The same in levels: who gets a second message rises and is safe from ids that are used once.
    SegmentedLeastRecentlyUsed(Levels),
    /// The one whose last message came just before the newest. Good where the same ids come round again and again, and there are more of them
    /// than the limit.
    MostRecentlyUsed,
    /// The one with the fewest messages since it started; of several, the one whose last message is the longest ago. From 1023
    /// messages on they count as equally many.
    LeastFrequentlyUsed {
        /// Whether those that start now begin with the count of the last victim, so that old fame fades. Off by default.
        dynamic_aging: bool,
    },
    /// W-TinyLFU: new ones wait in a small window; who leaves it takes the place of the lowest of the others only if its id was
    /// used more often lately, also before it started. What Akka and Pekko recommend, and the default here.
    WindowTinyLfu {
        /// How large the window is.
        window: Window,
        /// The levels of all others: by default 20 and 80 hundredths.
        levels: Levels,
    },
}

impl Policy {
    /// [`Policy::SegmentedLeastRecentlyUsed`] with two levels of 20 and 80 hundredths.
    pub const SEGMENTED: Self = Self::SegmentedLeastRecentlyUsed(Levels::DEFAULT);

    /// [`Policy::WindowTinyLfu`] with a window that finds its size, and two levels of 20 and 80 hundredths.
    pub const RECOMMENDED: Self = Self::WindowTinyLfu { window: Window::Adaptive, levels: Levels::DEFAULT };
}

impl Default for Policy {
    fn default() -> Self {
        Self::RECOMMENDED
    }
}

/// The size of the window of [`Policy::WindowTinyLfu`]; it holds one at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Window {
    /// So many hundredths of the limit; more than 100 are taken as 100. One is right for most loads.
    Percent(u8),
    /// It begins with one hundredth, then grows and shrinks to where fewer start again: every ten times the limit of messages it takes a
    /// step, on if the last one helped, back if not.
    #[default]
    Adaptive,
}

/// Levels of a segmented LRU: how many hundredths of the limit each has, from the lowest up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    count: u8,
    percent: [u8; Self::MOST],
}

impl Levels {
    /// There are at most so many.
    pub const MOST: usize = 8;

    const DEFAULT: Self = Self { count: 2, percent: [20, 80, 0, 0, 0, 0, 0, 0] };

    /// Levels of these sizes, from the lowest up.
    ///
    /// # Errors
    /// If there are none or too many, if one is empty, or if they do not add up to 100.
    pub fn new(percent: &[u8]) -> Result<Self, LevelsError> {
        if percent.is_empty() || percent.len() > Self::MOST {
            return Err(LevelsError::Count(percent.len()));
        }
        if let Some(level) = percent.iter().position(|&share| share == 0) {
            return Err(LevelsError::Empty(level));
        }
        let sum = percent.iter().map(|&share| u32::from(share)).sum();
        if sum != 100 {
            return Err(LevelsError::Sum(sum));
        }
        let mut levels = Self { count: 0, percent: [0; Self::MOST] };
        for (place, &share) in levels.percent.iter_mut().zip(percent) {
            *place = share;
            levels.count += 1;
        }
        Ok(levels)
    }

    /// So many levels of the same size; what is left over is the lowest one's.
    ///
    /// # Errors
    /// If there are none or too many.
    pub fn even(count: usize) -> Result<Self, LevelsError> {
        let mut percent = [0; Self::MOST];
        let Some((lowest, others)) = percent.get_mut(..count).and_then(<[u8]>::split_first_mut) else {
            return Err(LevelsError::Count(count));
        };
        *lowest = 100;
        for share in others {
            *share = EVEN[count];
            *lowest -= *share;
        }
        Self::new(&percent[..count])
    }

    pub(super) fn count(&self) -> u16 {
        u16::from(self.count)
    }

    /// How many of `limit` each level may have. The lowest has the rest, which is never nothing unless `limit` is.
    pub(super) fn share(&self, limit: u32) -> [u32; Self::MOST] {
        let mut shares = self.percent.map(|share| hundredths(limit, share));
        shares[0] = limit - shares[1..].iter().sum::<u32>();
        shares
    }
}

impl Default for Levels {
    /// Two: 20 and 80 hundredths.
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// One part of a hundred, for each number of levels.
const EVEN: [u8; Levels::MOST + 1] = [0, 100, 50, 33, 25, 20, 16, 14, 12];

/// So many hundredths of a number, rounded down; at most the number itself.
pub(super) fn hundredths(of: u32, percent: u8) -> u32 {
    // Split, so that it cannot overflow.
    let percent = u32::from(percent.min(100));
    of / 100 * percent + of % 100 * percent / 100
}

/// Why levels cannot be so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LevelsError {
    /// None, or too many.
    #[error("{0} levels: give 1 to {most}", most = Levels::MOST)]
    Count(usize),
    /// A level without a place in it.
    #[error("level {0} has 0 hundredths: give each level 1 at least, or leave it out")]
    Empty(usize),
    /// More or less than the whole.
    #[error("the levels have {0} hundredths together: they must be 100")]
    Sum(u32),
}

#[cfg(test)]
mod tests {
    use super::{Levels, LevelsError};

    #[test]
    fn levels_that_do_not_fit_are_refused_with_the_reason() {
        assert_eq!(Levels::new(&[]), Err(LevelsError::Count(0)));
        assert_eq!(Levels::new(&[10; 10]), Err(LevelsError::Count(10)));
        assert_eq!(Levels::new(&[50, 0, 50]), Err(LevelsError::Empty(1)));
        assert_eq!(Levels::new(&[200, 200]), Err(LevelsError::Sum(400)));
        assert_eq!(Levels::even(0), Err(LevelsError::Count(0)));
        assert_eq!(Levels::even(9), Err(LevelsError::Count(9)));
    }

    #[test]
    fn every_even_count_of_levels_is_the_whole() {
        for count in 1..=Levels::MOST {
            assert_eq!(Levels::even(count).map(|levels| usize::from(levels.count)), Ok(count));
        }
        assert_eq!(Levels::even(3), Levels::new(&[34, 33, 33]));
    }

    #[test]
    fn the_shares_are_the_limit_together_and_the_lowest_has_one_at_least() {
        let levels = Levels::new(&[1, 99]).expect("valid");
        for limit in [1, 2, 99, 100, 101, 12345, u32::MAX] {
            let shares = levels.share(limit);
            assert_eq!(shares.iter().map(|&share| u64::from(share)).sum::<u64>(), u64::from(limit));
            assert!(shares[0] > 0, "{limit}");
        }
    }
}
