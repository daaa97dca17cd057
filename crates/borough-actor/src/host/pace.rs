//! How many messages an actor takes from its mailbox at once, and when it lets others run.
//!
//! Many, so that a quick actor pays for the lock and the fence once in a while; few enough that a
//! batch takes about 50 us, so that a slow actor stops after the current message and holds next to
//! nothing beside its bounded mailbox.

use std::sync::LazyLock;
use std::time::Instant;

const BATCH_MAX: u16 = 256;
const BATCH_MICROS: u32 = 50;
/// Batches of this size are timed each time; smaller ones only while the limit still grows.
const TIMED: u16 = 16;
/// After this many messages the task lets others of its worker run.
const YIELD_AFTER: u16 = 1024;

/// Twelve bytes, because every idle actor has one.
#[derive(Debug)]
pub(crate) struct Pace {
    limit: u16,
    /// The size of the batch under way.
    size: u16,
    /// When it began, in microseconds of [`now`]; zero: it is not timed.
    began: u32,
    /// Messages handled since the task last yielded.
    since_yield: u16,
}

impl Default for Pace {
    fn default() -> Self {
        Self { limit: 1, size: 0, began: 0, since_yield: 0 }
    }
}

impl Pace {
    pub(crate) fn batch_limit(&self) -> usize {
        usize::from(self.limit)
    }

    pub(crate) fn begin(&mut self, size: usize) {
        self.size = u16::try_from(size).unwrap_or(u16::MAX);
        let grows = self.limit < BATCH_MAX && self.size >= self.limit;
        self.began = if grows || self.size >= TIMED { now() } else { 0 };
    }

    pub(crate) fn end(&mut self) {
        self.since_yield = self.since_yield.saturating_add(self.size);
        if self.began != 0 {
            self.adjust(now().wrapping_sub(self.began));
        }
    }

    /// Whether it is time to let others run; once it is.
    pub(super) fn is_due_to_yield(&mut self) -> bool {
        let due = self.since_yield >= YIELD_AFTER;
        if due {
            self.since_yield = 0;
        }
        due
    }

    fn adjust(&mut self, took: u32) {
        if took > BATCH_MICROS {
            let fits = u64::from(BATCH_MICROS) * u64::from(self.size) / u64::from(took);
            self.limit = u16::try_from(fits).unwrap_or(BATCH_MAX).clamp(1, self.limit);
        } else if self.size >= self.limit {
            self.limit = (self.limit * 4).min(BATCH_MAX);
        }
    }
}

/// Microseconds of this process, never zero; wraps after an hour, which costs one misjudged batch.
fn now() -> u32 {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    #[expect(clippy::cast_possible_truncation, reason = "wrapping is meant")]
    let micros = BEGIN.elapsed().as_micros() as u32;
    micros.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(mut pace: Pace, size: u16, took: u32) -> Pace {
        pace.size = size;
        pace.adjust(took);
        pace
    }

    #[test]
    fn a_quick_actor_soon_takes_full_batches() {
        let mut pace = Pace::default();
        for _ in 0..4 {
            let full = pace.limit;
            pace = after(pace, full, 1);
        }
        assert_eq!(pace.batch_limit(), 256);
    }

    #[test]
    fn a_slow_actor_takes_one_at_a_time() {
        let pace = after(Pace { limit: 256, ..Pace::default() }, 256, 256_000);
        assert_eq!(pace.batch_limit(), 1);
        assert_eq!(after(pace, 1, 1000).batch_limit(), 1);
    }

    #[test]
    fn a_small_batch_says_nothing_about_a_larger_one() {
        let mut pace = Pace { limit: 64, ..Pace::default() };
        pace.begin(1);
        assert_eq!(pace.began, 0);
        assert_eq!(after(pace, 20, 1).batch_limit(), 64);
    }
}
