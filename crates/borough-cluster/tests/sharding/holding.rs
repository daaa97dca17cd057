//! What has no way waits, within bounds; beyond them senders wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use borough_actor::{Actor, AskError, Context, Fault, TellError};
use borough_cluster::LeaveError;

use crate::book::{Book, books};
use crate::rig::{Rig, after, within};

#[tokio::test(start_paused = true)]
async fn tells_wait_at_the_bound_of_messages_of_a_hold_and_go_on_in_order() {
    let [a, b] = Rig::new(91).cluster(["a:1", "b:1"]).await;
    let proxy = a.shard_proxy::<Book>("books").shards(16).hold_limit(10).start().await.unwrap();
    for number in 1..=10 {
        within(proxy.tell("x", Book::Note { sender: 1, number })).await.unwrap();
    }
    // Whatever its shard: the bound is that of the type.
    for id in ["x", "y"] {
        let refused = proxy.try_tell(id, Book::Note { sender: 1, number: 11 }).unwrap_err();
        let words = refused.to_string();
        for part in ["10 messages", "books", "`sharding.hold_limit`", "`sharding.hold_bytes`"] {
            assert!(words.contains(part), "{words}");
        }
        assert!(refused.is_full());
        let Book::Note { number: 11, .. } = refused.into_message() else { panic!("{words}") };
    }
    let senders = [("x", 1, 11), ("y", 2, 1)].map(|(id, sender, first)| {
        let proxy = proxy.clone();
        tokio::spawn(async move {
            for number in first..=first + 50 {
                proxy.tell(id, Book::Note { sender, number }).await.unwrap();
            }
        })
    });
    let asked = within(proxy.ask("x", Book::Read)).await.unwrap_err();
    assert!(matches!(asked, AskError::Timeout { accepted: false, .. }), "{asked}");
    after(Duration::from_secs(60)).await;
    assert!(senders.iter().all(|sender| !sender.is_finished()), "there is no room");
    // Dropped, it leaves nothing behind.
    drop(proxy.tell("x", Book::Tear));
    let stats = proxy.state().await;
    assert_eq!((stats.held, stats.refused, stats.refusals.full), (10, 2, 2));
    books(&b).await;
    for sender in senders {
        within(sender).await.unwrap();
    }
    let pages = within(proxy.ask("x", Book::Read)).await.unwrap();
    assert_eq!((pages.notes[&1], pages.misplaced), ((61, 61), vec![]));
    let pages = within(proxy.ask("y", Book::Read)).await.unwrap();
    assert_eq!((pages.notes[&2], pages.misplaced), ((51, 51), vec![]));
}

#[tokio::test(start_paused = true)]
async fn who_waits_at_a_full_hold_goes_on_once_its_own_shard_has_a_way_or_its_node_ends() {
    let [a, b] = Rig::new(93).cluster(["a:1", "b:1"]).await;
    // Nothing is ever held.
    let proxy = a.shard_proxy::<Book>("books").shards(16).hold_limit(0).start().await.unwrap();
    let tell = |number| {
        let proxy = proxy.clone();
        tokio::spawn(async move { proxy.tell("x", Book::Note { sender: 1, number }).await })
    };
    let waits = tell(1);
    after(Duration::from_secs(1)).await;
    assert!(!waits.is_finished());
    books(&b).await;
    within(waits).await.unwrap().unwrap();
    let pages = within(proxy.ask("x", Book::Read)).await.unwrap();
    assert_eq!(pages.notes[&1], (1, 1));
    // No other member hosts the type.
    assert!(matches!(within(b.leave()).await, Err(LeaveError::Dropped(_))));
    let waits = tell(2);
    after(Duration::from_secs(1)).await;
    assert!(!waits.is_finished());
    within(a.leave()).await.unwrap();
    let error = within(waits).await.unwrap().unwrap_err();
    assert!(matches!(error, TellError::Stopped(Book::Note { number: 2, .. })), "{error}");
}

/// Counts the bytes it was sent.
struct Cellar(Arc<AtomicUsize>);

impl Actor for Cellar {
    type Msg = Vec<u8>;

    async fn receive(&mut self, barrel: Vec<u8>, _: &mut Context<Self>) -> Result<(), Fault> {
        self.0.fetch_add(barrel.len(), Ordering::Relaxed);
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn tells_wait_at_the_bound_of_bytes_of_a_hold_which_has_room_again_later() {
    let [a, b] = Rig::new(92).cluster(["a:1", "b:1"]).await;
    let proxy = a.shard_proxy::<Vec<u8>>("cellars").shards(4).hold_bytes(100_000).start().await.unwrap();
    for _ in 0..3 {
        within(proxy.tell("x", vec![0; 30_000])).await.unwrap();
    }
    let refused = proxy.try_tell("y", vec![0; 30_000]).unwrap_err();
    assert!(refused.to_string().contains("100000 bytes"), "{refused}");
    assert_eq!(refused.into_message().len(), 30_000);
    within(proxy.tell("y", vec![0; 5_000])).await.unwrap();
    let waits = tokio::spawn({
        let proxy = proxy.clone();
        async move { proxy.tell("y", vec![0; 30_000]).await }
    });
    after(Duration::from_secs(60)).await;
    assert!(!waits.is_finished());
    let stats = proxy.state().await;
    assert_eq!((stats.held, stats.refusals.full), (4, 1));
    let drunk: Arc<AtomicUsize> = Arc::default();
    let of = drunk.clone();
    let cellars = b.shard("cellars", move |_| Cellar(of.clone())).shards(4).keeps_own_state();
    cellars.start().await.unwrap();
    within(async {
        while drunk.load(Ordering::Relaxed) < 125_000 {
            after(Duration::from_millis(10)).await;
        }
    })
    .await;
    within(waits).await.unwrap().unwrap();
    assert_eq!(proxy.state().await.held, 0);
    // What was let go takes no room any more.
    within(b.leave()).await.unwrap();
    for _ in 0..3 {
        within(proxy.tell("x", vec![0; 30_000])).await.unwrap();
    }
}
