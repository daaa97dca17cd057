//! What an entity at the far end keeps: it counts, and sees what is damaged or out of order.

use crate::remote::{Item, Total};
use std::hint::black_box;

/// The state of an entity. It is told only some of the numbers, so of order it knows that they rise.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Guest {
    next: u64,
    total: Total,
}

impl Guest {
    /// Takes an item that was told.
    pub(crate) fn accept(&mut self, item: &Item) {
        // Seen whole, or a compiler that looks through the decoder could leave out the bytes nobody reads.
        let item = black_box(item);
        self.total.count += 1;
        self.total.wrong += u64::from(item.seq < self.next || !item.is_whole());
        self.next = item.seq.wrapping_add(1);
    }

    /// Takes an item that was asked with, in any order; the answer is its number.
    pub(crate) fn answer(&mut self, item: &Item) -> u64 {
        let item = black_box(item);
        self.total.wrong += u64::from(!item.is_whole());
        item.seq
    }

    /// How many it was told, and how many were wrong.
    pub(crate) fn total(&self) -> Total {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(numbers: &[u64]) -> Total {
        let mut guest = Guest::default();
        for number in numbers {
            guest.accept(&Item::new(*number));
        }
        guest.total()
    }

    #[test]
    fn numbers_may_be_left_out_but_not_come_twice_or_late() {
        assert_eq!(told(&[0, 7, 8, 100]), Total { count: 4, wrong: 0 });
        assert_eq!(told(&[3, 3]), Total { count: 2, wrong: 1 });
        assert_eq!(told(&[5, 4, 6]), Total { count: 3, wrong: 1 });
    }

    #[test]
    fn a_damaged_item_is_wrong_told_or_asked_with() {
        let mut guest = Guest::default();
        let damaged = Item { seq: 9, ..Item::new(1) };
        guest.accept(&damaged);
        assert_eq!(guest.answer(&damaged), 9);
        assert_eq!(guest.total(), Total { count: 1, wrong: 2 });
    }
}
