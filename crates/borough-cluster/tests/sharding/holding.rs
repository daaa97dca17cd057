//! What has no way waits, within bounds; beyond them the sender is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use borough_actor::{Actor, Context, Fault, TellError};

use crate::book::{Book, books};
use crate::rig::{Rig, within};

#[tokio::test(start_paused = true)]
async fn a_full_hold_refuses_at_its_bound_of_messages_and_what_it_took_is_handled_in_order() {
    let [a, b] = Rig::new(91).cluster(["a:1", "b:1"]).await;
    let proxy = a.shard_proxy::<Book>("books").shards(16).hold_limit(10).start().await.unwrap();
    for number in 1..=10 {
        within(proxy.tell("x", Book::Note { sender: 1, number })).await.unwrap();
    }
    // Whatever its shard: the bound is that of the type.
    for id in ["x", "y"] {
        let refused = within(proxy.tell(id, Book::Note { sender: 1, number: 11 })).await.unwrap_err();
        assert!(refused.to_string().contains("too much waits"), "{refused}");
        let TellError::Full(Book::Note { number: 11, .. }) = refused else { panic!("{refused}") };
    }
    assert!(within(proxy.ask("x", Book::Read)).await.is_err());
    let stats = proxy.state().await;
    assert_eq!((stats.held, stats.refused), (10, 3));
    assert_eq!(stats.refusals.full, 3);
    books(&b).await;
    let pages = within(async {
        loop {
            match proxy.ask("x", Book::Read).await {
                Ok(pages) => return pages,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    });
    let pages = pages.await;
    assert_eq!((pages.notes[&1], pages.misplaced), ((10, 10), vec![]));
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
async fn a_full_hold_refuses_at_its_bound_of_bytes_and_has_room_again_later() {
    let [a, b] = Rig::new(92).cluster(["a:1", "b:1"]).await;
    let proxy = a.shard_proxy::<Vec<u8>>("cellars").shards(4).hold_bytes(100_000).start().await.unwrap();
    for _ in 0..3 {
        within(proxy.tell("x", vec![0; 30_000])).await.unwrap();
    }
    let refused = within(proxy.tell("y", vec![0; 30_000])).await.unwrap_err();
    let TellError::Full(barrel) = refused else { panic!("{refused}") };
    assert_eq!(barrel.len(), 30_000);
    within(proxy.tell("y", vec![0; 5_000])).await.unwrap();
    let stats = proxy.state().await;
    assert_eq!((stats.held, stats.refusals.full), (4, 1));
    let drunk: Arc<AtomicUsize> = Arc::default();
    let of = drunk.clone();
    let cellars = b.shard("cellars", move |_| Cellar(of.clone())).shards(4).keeps_own_state();
    cellars.start().await.unwrap();
    within(async {
        while drunk.load(Ordering::Relaxed) < 95_000 {
            crate::rig::after(std::time::Duration::from_millis(10)).await;
        }
    })
    .await;
    assert_eq!(proxy.state().await.held, 0);
    // What was let go takes no room any more.
    within(b.leave()).await.unwrap();
    for _ in 0..3 {
        within(proxy.tell("x", vec![0; 30_000])).await.unwrap();
    }
}
