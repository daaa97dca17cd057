//! The receiver's state: counts what comes, and sees what is lost, doubled, out of order or damaged.

use super::message::{Item, Total};
use std::hint::black_box;

/// What the actor at the far end keeps.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    next: u64,
    total: Total,
}

impl Sink {
    /// Takes an item that was told; its number has to be the next.
    pub(crate) fn accept(&mut self, item: &Item) {
        // Seen whole, or a compiler that looks through the decoder could leave out the bytes nobody reads.
        let item = black_box(item);
        self.total.count += 1;
        if item.seq != self.next || !item.is_whole() {
            self.total.wrong += 1;
        }
        self.next = item.seq.wrapping_add(1);
    }

    /// Takes an item that was asked with, from many askers in any order; the answer is its number.
    pub(crate) fn answer(&mut self, item: &Item) -> u64 {
        let item = black_box(item);
        self.total.count += 1;
        self.total.wrong += u64::from(!item.is_whole());
        item.seq
    }

    pub(crate) fn total(&self) -> Total {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(numbers: &[u64]) -> Total {
        let mut sink = Sink::default();
        for number in numbers {
            sink.accept(&Item::new(*number));
        }
        sink.total()
    }

    #[test]
    fn items_in_order_are_right() {
        assert_eq!(told(&[0, 1, 2, 3]), Total { count: 4, wrong: 0 });
    }

    #[test]
    fn lost_doubled_and_swapped_items_are_wrong() {
        assert_eq!(told(&[0, 2, 3]), Total { count: 3, wrong: 1 });
        assert_eq!(told(&[0, 1, 1, 2]), Total { count: 4, wrong: 1 });
        assert_eq!(told(&[0, 2, 1, 3]), Total { count: 4, wrong: 3 });
        assert_eq!(told(&[1]), Total { count: 1, wrong: 1 });
    }

    #[test]
    fn asks_may_come_in_any_order_but_not_damaged() {
        let mut sink = Sink::default();
        assert_eq!([3, 0].map(|seq| sink.answer(&Item::new(seq))), [3, 0]);
        assert_eq!(sink.total(), Total { count: 2, wrong: 0 });
        let mut damaged = Item::new(1);
        damaged.payload[63] = 0;
        sink.answer(&damaged);
        sink.accept(&Item { seq: 0, ..Item::new(1) });
        assert_eq!(sink.total(), Total { count: 4, wrong: 2 });
    }
}
