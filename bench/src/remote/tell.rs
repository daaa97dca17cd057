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
