//! Passivation, faults, and entities that hang.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use borough_actor::{Actor, AskError, Context, Fault, StopReason};

use crate::book::{Book, Writer, books};
use crate::rig::{Rig, after, within};

#[tokio::test(start_paused = true)]
async fn an_entity_that_ends_itself_begins_anew_with_its_next_message() {
    let [node] = Rig::new(31).cluster(["a:1"]).await;
    let books = books(&node).await;
    within(books.tell("x", Book::Note { sender: 1, number: 1 })).await.unwrap();
    within(books.tell("x", Book::Close)).await.unwrap();
    assert!(within(books.ask("x", Book::Read)).await.unwrap().notes.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_idle_entity_ends_and_takes_no_room() {
    let [node] = Rig::new(32).cluster(["a:1"]).await;
    let builder = node.shard("books", |_| Writer::default()).passivate_after(Duration::from_secs(5));
    let books = builder.start().await.unwrap();
    for id in 0..50_u64 {
        within(books.ask(id.to_string(), Book::Read)).await.unwrap();
    }
    assert_eq!(node.sharding_stats_here().await.kinds[0].entities(), 50);
    after(Duration::from_secs(12)).await;
    assert_eq!(node.sharding_stats_here().await.kinds[0].entities(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_entity_that_hangs_holds_up_only_itself() {
    let [node] = Rig::new(33).cluster(["a:1"]).await;
    let books = books(&node).await;
    within(books.tell("stuck", Book::Hang)).await.unwrap();
    for id in 0..200_u64 {
        within(books.ask(id.to_string(), Book::Read)).await.unwrap();
    }
    let stuck = books.ask("stuck", Book::Read).timeout(Duration::from_secs(1));
    assert!(within(stuck).await.is_err());
}

/// The host finds that the time was up as the turn comes; its word may be there before the asker looks at its own clock.
#[tokio::test(start_paused = true)]
async fn an_ask_of_another_node_whose_time_is_up_before_its_turn_is_a_timeout_that_was_not_handled() {
    let [a, b] = Rig::new(37).cluster(["a:1", "b:1"]).await;
    let proxy = a.shard_proxy::<Book>("books").shards(16).start().await.unwrap();
    books(&b).await;
    let mut asks = Vec::new();
    for time in 970..1000_u64 {
        let id = time.to_string();
        within(proxy.ask(id.as_str(), Book::Read)).await.unwrap();
        within(proxy.tell(id.as_str(), Book::Slow { sender: 1, number: 1, seconds: 1 })).await.unwrap();
        let proxy = proxy.clone();
        let timeout = Duration::from_millis(time);
        asks.push(tokio::spawn(async move { proxy.ask(id.as_str(), Book::Read).timeout(timeout).await }));
    }
    let mut unhandled = 0;
    for ask in asks {
        let error = within(ask).await.unwrap().expect_err("the entity was busy for longer");
        assert!(matches!(error, AskError::Timeout { .. }), "{error}");
        unhandled += usize::from(!error.may_have_been_handled());
    }
    assert!(unhandled > 0, "of some the host said that they were not handled");
}

#[tokio::test(start_paused = true)]
async fn a_fault_begins_the_entity_anew_and_keeps_what_is_queued() {
    let [node] = Rig::new(34).cluster(["a:1"]).await;
    let books = books(&node).await;
    within(books.tell("x", Book::Note { sender: 1, number: 1 })).await.unwrap();
    within(books.tell("x", Book::Tear)).await.unwrap();
    within(books.tell("x", Book::Note { sender: 1, number: 2 })).await.unwrap();
    let pages = within(books.ask("x", Book::Read)).await.unwrap();
    assert_eq!(pages.notes[&1], (1, 2));
}

/// Counts how often it was begun and how often it ended in order; ending takes a while.
struct Shopkeeper(Arc<(AtomicUsize, AtomicUsize)>);

impl Actor for Shopkeeper {
    type Msg = ();

    async fn receive(&mut self, (): (), _: &mut Context<Self>) -> Result<(), Fault> {
        Ok(())
    }

    async fn started(&mut self, _: &mut Context<Self>) -> Result<(), Fault> {
        self.0.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    async fn stopping(&mut self, _: StopReason, _: &mut Context<Self>) -> Result<(), Fault> {
        let _ = tokio::time::timeout(Duration::from_millis(500), std::future::pending::<()>()).await;
        self.0.1.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn entities_can_be_there_without_a_message_and_end_in_order_when_the_last_host_leaves() {
    let [node] = Rig::new(35).cluster(["a:1"]).await;
    let counts: Arc<(AtomicUsize, AtomicUsize)> = Arc::default();
    let made = counts.clone();
    let shops = node.shard("shops", move |_| Shopkeeper(made.clone())).eager(["x", "y", "z"]);
    let shops = shops.start().await.unwrap();
    after(Duration::from_secs(2)).await;
    assert_eq!(counts.0.load(Ordering::Relaxed), 3);
    assert_eq!(shops.state().await.entities(), 3);
    within(node.leave()).await.unwrap();
    assert_eq!(counts.1.load(Ordering::Relaxed), 3);
    let refused = shops.tell("x", ()).await;
    assert!(refused.is_err(), "accepted by a node that has left");
}
