//! The flood: from the first tell until the sink has answered, after the last, what it saw.

use super::Link;
use crate::driver::{Breath, Figure};
use std::time::Instant;

pub(super) async fn flood(link: &mut impl Link, count: u64) -> Figure {
    let begin = Instant::now();
    link.flood(count, Breath::ALONE).await;
    let total = link.total().await;
    let elapsed = begin.elapsed();
    assert_eq!(total.wrong, 0, "items out of order or damaged, of {}", total.count);
    Figure::rate(count, elapsed, total.count, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::{Item, Sink, Total};

    /// A sink in the same process, told the numbers that `send` makes of those below the count.
    struct Near<F> {
        sink: Sink,
        send: F,
    }

    impl<F: Fn(u64) -> Vec<u64> + Send + Sync> Link for Near<F> {
        async fn flood(&mut self, count: u64, _breath: Breath) {
            for seq in (self.send)(count) {
                self.sink.accept(&Item::new(seq));
            }
        }

        async fn ask(&mut self, _seq: u64) -> u64 {
            unreachable!("a flood asks nothing but the total")
        }

        async fn ask_many(&mut self, _count: u64) -> u64 {
            unreachable!("a flood asks nothing but the total")
        }

        async fn total(&mut self) -> Total {
            self.sink.total()
        }
    }

    fn flooded(send: impl Fn(u64) -> Vec<u64> + Send + Sync) -> Figure {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(flood(&mut Near { sink: Sink::default(), send }, 10))
    }

    #[test]
    fn a_whole_flood_has_the_expected_sum() {
        let figure = flooded(|count| (0..count).collect());
        assert_eq!((figure.sum, figure.expected), (10, 10));
    }

    #[test]
    fn a_flood_that_loses_its_end_has_a_wrong_sum() {
        let figure = flooded(|count| (0..count - 1).collect());
        assert_eq!((figure.sum, figure.expected), (9, 10));
    }

    #[test]
    #[should_panic(expected = "items out of order")]
    fn a_flood_out_of_order_has_no_figure() {
        flooded(|count| (0..count).rev().collect());
    }
}
