//! Asks: how long one takes there and back, and how many a second when a thousand are under way.

use super::Link;
use crate::driver::{Figure, sum_below};
use std::time::Instant;

/// Asks under way at once in `remote_ask1000`.
pub(crate) const ASKERS: u64 = 1000;

/// The median ask; the first tenth warms up and is left out. A reading of the clock costs a thousandth of an ask.
pub(super) async fn one_at_a_time(link: &mut impl Link, count: u64) -> Figure {
    let warm_up = count / 10;
    let all = count + warm_up;
    let mut nanos = Vec::with_capacity(count as usize);
    let mut sum = 0;
    for seq in 0..all {
        let begin = Instant::now();
        let answer = link.ask(seq).await;
        let elapsed = begin.elapsed();
        assert_eq!(answer, seq, "the answer to another ask");
        sum += answer;
        if seq >= warm_up {
            nanos.push(elapsed.as_nanos() as f64);
        }
    }
    check(link, all).await;
    nanos.sort_by(f64::total_cmp);
    Figure { value: nanos[nanos.len() / 2], unit: "ns", sum, expected: sum_below(all) }
}

/// As many as [`ASKERS`] under way, from the first to the last answer.
pub(super) async fn at_once(link: &mut impl Link, count: u64) -> Figure {
    let begin = Instant::now();
    let sum = link.ask_many(count).await;
    let elapsed = begin.elapsed();
    check(link, count).await;
    Figure::rate(count, elapsed, sum, sum_below(count))
}

/// [`Link::ask_many`] for links that many tasks can hold: each asks, one item after the other, with its share.
pub(crate) async fn by_tasks<L: Link + Clone + 'static>(link: &L, count: u64) -> u64 {
    let askers: Vec<_> = (0..ASKERS)
        .map(|asker| {
            let mut link = link.clone();
            tokio::spawn(async move {
                let mut sum = 0;
                for seq in (asker..count).step_by(ASKERS as usize) {
                    let answer = link.ask(seq).await;
                    assert_eq!(answer, seq, "the answer to another ask");
                    sum += answer;
                }
                sum
            })
        })
        .collect();
    let mut sum = 0;
    for asker in askers {
        sum += asker.await.expect("an asker ends");
    }
    sum
}

/// The receiver has seen as many asks as were answered.
async fn check(link: &mut impl Link, count: u64) {
    let total = link.total().await;
    assert_eq!((total.count, total.wrong), (count, 0), "asks seen, and damaged ones");
}
