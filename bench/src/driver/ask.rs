//! Asks: how long one takes, and how many a second when a thousand are under way.

use super::Subject;
use super::figure::Figure;
use super::population::spawn_all;
use std::time::Instant;

/// Asks under one reading of the clock, whose own cost, added to both sides, would bring every ratio nearer to 1.
const ASKS_PER_READING: u64 = 16;
const ASKERS: u64 = 1000;
/// The sum each asked actor holds.
const SUM: u64 = 7;

/// The median of the readings, an ask; the first tenth warms up and is left out.
pub(super) async fn one_at_a_time<S: Subject>(subject: &S, count: u64) -> Figure {
    let actor = &spawn_all(subject, 1, |_| SUM).await[0];
    let readings = count.div_ceil(ASKS_PER_READING);
    let warm_up = readings / 10;
    let mut nanos = Vec::with_capacity(readings as usize);
    let mut sum = 0;
    for reading in 0..readings + warm_up {
        let begin = Instant::now();
        for _ in 0..ASKS_PER_READING {
            sum += S::ask(actor).await;
        }
        if reading >= warm_up {
            nanos.push(begin.elapsed().as_nanos() as f64 / ASKS_PER_READING as f64);
        }
    }
    nanos.sort_by(f64::total_cmp);
    let expected = (readings + warm_up) * ASKS_PER_READING * SUM;
    Figure { value: nanos[nanos.len() / 2], unit: "ns", sum, expected }
}

/// A thousand tasks, each with one ask under way to the same actor until its share is done.
pub(super) async fn at_once<S: Subject>(subject: &S, count: u64) -> Figure {
    let actor = &spawn_all(subject, 1, |_| SUM).await[0];
    let each = count.div_ceil(ASKERS);
    let begin = Instant::now();
    let askers: Vec<_> = (0..ASKERS)
        .map(|_| {
            let actor = actor.clone();
            tokio::spawn(async move {
                let mut sum = 0;
                for _ in 0..each {
                    sum += S::ask(&actor).await;
                }
                sum
            })
        })
        .collect();
    let mut sum = 0;
    for asker in askers {
        sum += asker.await.expect("an asker ends");
    }
    Figure::rate(each * ASKERS, begin.elapsed(), sum, each * ASKERS * SUM)
}
