//! Many entities: how fast they start, and what an idle one weighs.

use super::ask::by_tasks;
use super::{Host, Ids, handled};
use crate::driver::{Breath, Figure, resident_bytes, sum_below};
use std::time::Instant;

const WAKERS: u64 = 100;

/// The first message to each of `count` fresh ids, until all have been handled: told where the library has a tell, else asked, a thousand
/// at once.
pub(super) async fn activate<H: Host>(host: &H, count: u64) -> Figure {
    // Its shards have their place before.
    wake(host, Ids::shuffled(1000)).await;
    let ids = Ids::fresh(count);
    let (before, _) = handled::so_far();
    let begin = Instant::now();
    let sum = match host.flood(ids, 0..count, Breath::ALONE) {
        Some(flood) => {
            flood.await;
            handled::until(before + count).await
        }
        None => by_tasks(host, ids, count).await,
    };
    Figure::rate(count, begin.elapsed(), sum, sum_below(count))
}

/// Growth of the resident set for each entity that was asked once.
pub(super) async fn memory<H: Host>(host: &H, count: u64) -> Figure {
    // The first ones pay for what all share.
    wake(host, Ids::shuffled(1000)).await;
    let ids = Ids::fresh(count);
    let before = resident_bytes();
    let sum = by_tasks(host, ids, count).await;
    let grown = resident_bytes().saturating_sub(before);
    Figure::bytes_each(grown, count, sum, sum_below(count))
}

/// Every one of the ids is awake afterwards; each was asked with 0, so its sum is what it was.
pub(super) async fn wake<H: Host>(host: &H, ids: Ids) {
    let askers: Vec<_> = (0..WAKERS)
        .map(|asker| {
            let host = host.clone();
            tokio::spawn(async move {
                for place in (asker..ids.count).step_by(WAKERS as usize) {
                    host.ask(ids.nth(place), 0).await;
                }
            })
        })
        .collect();
    for asker in askers {
        asker.await.expect("an asker ends");
    }
}
