//! A window of intervals with exact sums.
//!
//! The promise: its sums are those of the samples in it, to the last digit, however many went through: they are whole
//! numbers, so nothing drifts.

use alloc::vec::Vec;

/// The last intervals between heartbeats, in microseconds; the oldest makes room for the newest.
#[derive(Clone, Debug)]
pub struct Samples {
    ring: Vec<u32>,
    capacity: usize,
    oldest: usize,
    sum: u64,
    squares: u128,
}

impl Samples {
    /// An empty window for that many samples, one at least.
    pub fn new(capacity: usize) -> Self {
        Self { ring: Vec::new(), capacity: capacity.max(1), oldest: 0, sum: 0, squares: 0 }
    }

    /// One more sample.
    pub fn push(&mut self, micros: u32) {
        if self.ring.len() < self.capacity {
            self.ring.push(micros);
        } else {
            let gone = core::mem::replace(&mut self.ring[self.oldest], micros);
            self.oldest = (self.oldest + 1) % self.capacity;
            self.sum -= u64::from(gone);
            self.squares -= square(gone);
        }
        self.sum += u64::from(micros);
        self.squares += square(micros);
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.ring.len()
    }

    /// Their sum, in microseconds.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// Their variance times the square of their count, in microseconds squared.
    pub fn scaled_variance(&self) -> u128 {
        let sum = u128::from(self.sum);
        // Never below zero: the mean of the squares is at least the square of the mean.
        self.ring.len() as u128 * self.squares - sum * sum
    }
}

fn square(micros: u32) -> u128 {
    u128::from(micros) * u128::from(micros)
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prop_assert_eq, proptest};

    use super::*;

    proptest! {
        #[test]
        fn the_sums_are_those_of_the_newest_samples(
            capacity in 1_usize..20, all in vec(proptest::num::u32::ANY, 0..100),
        ) {
            let mut samples = Samples::new(capacity);
            for &micros in &all {
                samples.push(micros);
            }
            let kept = &all[all.len().saturating_sub(capacity)..];
            let sum = kept.iter().map(|&micros| u64::from(micros)).sum::<u64>();
            let squares = kept.iter().map(|&micros| square(micros)).sum::<u128>();
            prop_assert_eq!(samples.count(), kept.len());
            prop_assert_eq!(samples.sum(), sum);
            prop_assert_eq!(samples.scaled_variance(), kept.len() as u128 * squares - u128::from(sum).pow(2));
        }
    }

    #[test]
    fn the_window_takes_no_more_room_than_it_was_given() {
        let mut samples = Samples::new(3);
        (0..1000).for_each(|micros| samples.push(micros));
        assert_eq!((samples.count(), samples.sum()), (3, 997 + 998 + 999));
    }
}
