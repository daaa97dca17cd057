//! Floods: from the first tell until the answer to a sum asked after the last.

use super::figure::{Figure, sum_below};
use super::population::{spawn_all, sum_of};
use super::{Breath, Subject};
use std::ops::Range;
use std::time::Instant;

const SENDERS: u64 = 4;

/// One sender, this many actors in turn.
pub(super) async fn in_turn<S: Subject>(subject: &S, actors: u64, count: u64) -> Figure {
    let actors = spawn_all(subject, actors, |_| 0).await;
    let begin = Instant::now();
    S::flood(&actors, 0..count, Breath::ALONE).await;
    let sum = sum_of::<S>(&actors).await;
    Figure::rate(count, begin.elapsed(), sum, sum_below(count))
}

/// Four tasks, one actor.
pub(super) async fn from_tasks<S: Subject>(subject: &S, count: u64) -> Figure {
    let actors = spawn_all(subject, 1, |_| 0).await;
    let begin = Instant::now();
    let senders: Vec<_> = shares(count)
        .map(|share| {
            let actors = actors.clone();
            tokio::spawn(async move { S::flood(&actors, share, Breath::AMONG_FOUR).await })
        })
        .collect();
    for sender in senders {
        sender.await.expect("a sender ends");
    }
    let sum = sum_of::<S>(&actors).await;
    Figure::rate(count, begin.elapsed(), sum, sum_below(count))
}

/// Four threads outside the runtime, one actor. A fifth thread joins them, so that no worker is blocked meanwhile.
pub(super) async fn from_threads<S: Subject>(subject: &S, count: u64) -> Figure {
    let actors = spawn_all(subject, 1, |_| 0).await;
    let actor = actors[0].clone();
    let runtime = tokio::runtime::Handle::current();
    let (done, ended) = tokio::sync::oneshot::channel();
    let begin = Instant::now();
    std::thread::spawn(move || {
        std::thread::scope(|threads| {
            for share in shares(count) {
                let (actor, runtime) = (&actor, &runtime);
                threads.spawn(move || {
                    let _inside = runtime.enter();
                    S::flood_from_thread(actor, share);
                });
            }
        });
        done.send(()).ok();
    });
    ended.await.expect("the senders end");
    let sum = sum_of::<S>(&actors).await;
    Figure::rate(count, begin.elapsed(), sum, sum_below(count))
}

/// Four ranges that together hold every number below `count` once.
fn shares(count: u64) -> impl Iterator<Item = Range<u64>> {
    (0..SENDERS).map(move |sender| count * sender / SENDERS..count * (sender + 1) / SENDERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_hold_every_number_once() {
        for count in [1, 3, 4, 10, 1001] {
            let all: Vec<u64> = shares(count).flatten().collect();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
    }
}
