//! The state of an entity: sixteen bytes.

use super::handled::handled;

/// What every entity keeps.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Resident {
    count: u64,
    sum: u64,
}

impl Resident {
    /// Takes a number that was told.
    pub(crate) fn accept(&mut self, number: u64) {
        self.take(number);
        handled(number);
    }

    /// Takes a number that was asked with, and gives it back.
    pub(crate) fn answer(&mut self, number: u64) -> u64 {
        self.take(number);
        number
    }

    /// Of all numbers it took.
    pub(crate) fn sum(&self) -> u64 {
        self.sum
    }

    fn take(&mut self, number: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(number);
    }
}
