//! How many messages an actor takes from its mailbox at once, and when it lets others run.
//!
//! Many, so that a quick actor pays for the lock and the fence once in a while; few enough that a
//! batch takes about 50 us, so that a slow actor stops after the current message and holds next to
//! nothing beside its bounded mailbox.

use std::sync::LazyLock;

use tokio::time::Instant;

/// The most messages a batch may have, as a power of two.
const BITS_MAX: u8 = 8;
/// How many ticks a batch may take.
const TICKS_MAX: u16 = 6;
const MICROS_PER_TICK: u128 = 8;
/// Batches of this size are timed each time; smaller ones only while the limit still grows.
const TIMED: u8 = 16;
/// After this many messages, or as many ticks as are worth as much, the task lets others of its worker run.
const YIELD_AFTER: u16 = 1024;
/// A tick of work counts as this many messages: 1024 of them are about 400 us.
const MESSAGES_PER_TICK: u16 = 20;
/// Of the small batches one in this many messages is timed, to notice an actor that turns slow.
const SAMPLED: u16 = 64;

/// Six bytes, because every idle actor has one.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// A batch has up to two to the power of this many messages.
    bits: u8,
    /// The size of the batch under way; 255 stands for more, too.
    size: u8,
    /// When it began, in ticks of [`now`]; zero: it is not timed.
    began: u16,
    /// Messages handled since the task last yielded.
    since_yield: u16,
}

impl Pace {
    #[inline]
    pub(crate) fn batch_limit(&self) -> usize {
        1 << self.bits
    }

    #[inline]
    pub(crate) fn begin(&mut self, size: usize) {
        self.size = u8::try_from(size).unwrap_or(u8::MAX);
        let grows = self.bits < BITS_MAX && size >= self.batch_limit();
        let sampled = self.since_yield.is_multiple_of(SAMPLED);
        self.began = if grows || self.size >= TIMED || sampled { now() } else { 0 };
    }

    #[inline]
    pub(crate) fn end(&mut self) {
        let mut work = u16::from(self.size);
        if self.began != 0 {
            let ticks = now().wrapping_sub(self.began);
            work = work.max(ticks.saturating_mul(MESSAGES_PER_TICK));
            self.adjust(ticks);
        }
        self.since_yield = self.since_yield.saturating_add(work);
    }

    /// Whether it is time to let others run; once it is.
    #[inline]
    pub(super) fn is_due_to_yield(&mut self) -> bool {
        let due = self.since_yield >= YIELD_AFTER;
        if due {
            self.since_yield = 0;
        }
        due
    }

    /// The task rests, which lets others run just as well. What is left of the count keeps the samples apart.
    #[inline]
    pub(super) fn rests(&mut self) {
        self.since_yield %= SAMPLED;
    }

    fn adjust(&mut self, ticks: u16) {
        if ticks <= TICKS_MAX {
            if usize::from(self.size) >= self.batch_limit() {
                self.bits = (self.bits + 2).min(BITS_MAX);
            }
            return;
        }
        let fits = u32::from(self.size) * u32::from(TICKS_MAX) / u32::from(ticks);
        #[expect(clippy::cast_possible_truncation, reason = "the logarithm of a u32")]
        let bits = fits.checked_ilog2().unwrap_or(0) as u8;
        self.bits = bits.min(self.bits);
    }
}

/// Ticks of this process, never zero. They wrap after half a second: of the batches that take longer than
/// that, one in ten thousand passes for a quick one, and the next one sets it right.
fn now() -> u16 {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    #[expect(clippy::cast_possible_truncation, reason = "wrapping is meant")]
    let ticks = (BEGIN.elapsed().as_micros() / MICROS_PER_TICK) as u16;
    ticks.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(mut pace: Pace, size: u8, ticks: u16) -> Pace {
        pace.size = size;
        pace.adjust(ticks);
        pace
    }

    #[test]
    fn a_quick_actor_soon_takes_full_batches() {
        let mut pace = Pace::default();
        for full in [1, 4, 16, 64] {
            assert_eq!(pace.batch_limit(), usize::from(full));
            pace = after(pace, full, 0);
        }
        assert_eq!(pace.batch_limit(), 256);
    }

    #[test]
    fn a_slow_actor_takes_one_at_a_time() {
        let pace = after(Pace { bits: BITS_MAX, ..Pace::default() }, 255, 32_000);
        assert_eq!(pace.batch_limit(), 1);
        assert_eq!(after(pace, 1, 125).batch_limit(), 1);
    }

    #[test]
    fn a_small_batch_says_nothing_about_a_larger_one() {
        let mut pace = Pace { bits: 6, since_yield: 1, ..Pace::default() };
        pace.begin(1);
        assert_eq!(pace.began, 0);
        assert_eq!(after(pace, 20, 1).batch_limit(), 64);
    }

    #[test]
    fn a_slow_actor_lets_others_run_after_each_message() {
        let mut pace = Pace { size: 1, began: now().wrapping_sub(250).max(1), ..Pace::default() };
        pace.end();
        assert!(pace.is_due_to_yield());
    }

    #[test]
    fn an_actor_that_turns_slow_in_small_batches_is_noticed() {
        let mut pace = Pace { bits: BITS_MAX, ..Pace::default() };
        let timed = (0..256).filter(|_| {
            pace.begin(1);
            let timed = pace.began != 0;
            pace.began = 0;
            pace.end();
            timed
        });
        assert_eq!(timed.count(), 4);
    }
}
