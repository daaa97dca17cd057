//! Asks: how long one takes there and back, and how many a second when a thousand are under way.

use super::Link;
use crate::driver::{Figure, sum_below};
use crate::remote::{ASKERS, Item};
use crate::sharded::Ids;
use std::time::Instant;

/// The median ask; the first tenth warms up and is left out.
pub(super) async fn one_at_a_time(link: &impl Link, ids: Ids, count: u64) -> Figure {
    let warm_up = count / 10;
    let all = count + warm_up;
    let mut nanos = Vec::with_capacity(count as usize);
    let mut sum = 0;
    for seq in 0..all {
        let begin = Instant::now();
        let answer = link.ask(ids.of(seq), Item::new(seq)).await;
        let elapsed = begin.elapsed();
        assert_eq!(answer, seq, "the answer to another ask");
        sum += answer;
        if seq >= warm_up {
            nanos.push(elapsed.as_nanos() as f64);
        }
    }
    nanos.sort_by(f64::total_cmp);
    Figure { value: nanos[nanos.len() / 2], unit: "ns", sum, expected: sum_below(all) }
}

/// A thousand under way, from the first to the last answer.
pub(super) async fn at_once(link: &impl Link, ids: Ids, count: u64) -> Figure {
    let begin = Instant::now();
    let sum = by_tasks(link, ids, count).await;
    Figure::rate(count, begin.elapsed(), sum, sum_below(count))
}

/// Asks with each number below `count`, a thousand under way; the sum of the answers.
pub(super) async fn by_tasks<L: Link>(link: &L, ids: Ids, count: u64) -> u64 {
    let askers: Vec<_> = (0..ASKERS.min(count))
        .map(|asker| {
            let link = link.clone();
            tokio::spawn(async move {
                let mut sum = 0;
                for seq in (asker..count).step_by(ASKERS as usize) {
                    let answer = link.ask(ids.of(seq), Item::new(seq)).await;
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
