//! Asks: how long one takes, and how many a second when a thousand are under way.

use super::population::wake;
use super::{Host, Ids};
use crate::driver::{Figure, sum_below};
use std::time::Instant;

/// Asks under one reading of the clock, as in the workloads without shards.
const ASKS_PER_READING: u64 = 16;
const ASKERS: u64 = 1000;

/// The median of the readings, an ask; the first tenth warms up and is left out.
pub(super) async fn one_at_a_time<H: Host>(host: &H, ids: Ids, count: u64) -> Figure {
    wake(host, ids).await;
    let readings = count.div_ceil(ASKS_PER_READING);
    let warm_up = readings / 10;
    let mut nanos = Vec::with_capacity(readings as usize);
    let mut sum = 0;
    let mut numbers = 0..;
    for reading in 0..readings + warm_up {
        let begin = Instant::now();
        for number in numbers.by_ref().take(ASKS_PER_READING as usize) {
            sum += host.ask(ids.of(number), number).await;
        }
        if reading >= warm_up {
            nanos.push(begin.elapsed().as_nanos() as f64 / ASKS_PER_READING as f64);
        }
    }
    nanos.sort_by(f64::total_cmp);
    Figure { value: nanos[nanos.len() / 2], unit: "ns", sum, expected: sum_below(numbers.start) }
}

/// A thousand tasks, each with one ask under way to a random id until its share is done.
pub(super) async fn at_once<H: Host>(host: &H, ids: Ids, count: u64) -> Figure {
    wake(host, ids).await;
    let begin = Instant::now();
    let sum = by_tasks(host, ids, count).await;
    Figure::rate(count, begin.elapsed(), sum, sum_below(count))
}

/// Asks with each number below `count`, a thousand under way; the sum of the answers.
pub(super) async fn by_tasks<H: Host>(host: &H, ids: Ids, count: u64) -> u64 {
    let askers: Vec<_> = (0..ASKERS.min(count))
        .map(|asker| {
            let host = host.clone();
            tokio::spawn(async move {
                let mut sum = 0;
                for number in (asker..count).step_by(ASKERS as usize) {
                    let answer = host.ask(ids.of(number), number).await;
                    assert_eq!(answer, number, "the answer to another ask");
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
