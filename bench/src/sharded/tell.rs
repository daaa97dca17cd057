//! Floods: from the first tell until the last has been handled.

use super::handled;
use super::population::wake;
use super::{Host, Ids};
use crate::driver::{Breath, Figure, sum_below};
use std::time::Instant;

/// So many ids are asked afterwards whether they have what was sent to them.
const PROBES: u64 = 1000;

/// Tells every number below `count` to its id, from so many tasks; all entities are awake before. `None` if the library has no tell.
pub(super) async fn flood<H: Host>(host: &H, ids: Ids, senders: u64, count: u64) -> Option<Figure> {
    host.flood(ids, 0..0, Breath::ALONE)?.await;
    wake(host, ids).await;
    let (handled, _) = handled::so_far();
    let begin = Instant::now();
    let senders: Vec<_> = (0..senders)
        .map(|sender| {
            let (host, share) = (host.clone(), count * sender / senders..count * (sender + 1) / senders);
            tokio::spawn(async move {
                if let Some(flood) = host.flood(ids, share, Breath::ALONE) {
                    flood.await;
                }
            })
        })
        .collect();
    for sender in senders {
        sender.await.expect("a sender ends");
    }
    let sum = handled::until(handled + count).await;
    let elapsed = begin.elapsed();
    check(host, ids, count).await;
    Some(Figure::rate(count, elapsed, sum, sum_below(count)))
}

/// Entities have what was sent to them, not only all of it together.
async fn check<H: Host>(host: &H, ids: Ids, count: u64) {
    let step = (ids.count / PROBES).max(1);
    let mut expected = vec![0_u64; ids.count.div_ceil(step) as usize];
    for number in 0..count {
        let place = ids.place_of(number);
        if place.is_multiple_of(step) {
            expected[(place / step) as usize] += number;
        }
    }
    for (probe, expected) in (0..).zip(expected) {
        let id = ids.nth(probe * step);
        assert_eq!(host.sum(id).await, expected, "the sum of {}", id.as_str());
    }
}
