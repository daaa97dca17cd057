//! Nodes that crash or are cut off: what they had begins anew elsewhere, and nobody lives twice.

use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use borough_actor::Fault;
use borough_cluster::{Allocation, Fence, Fenced, Node};

use crate::book::{Book, Writer, books};
use crate::rig::{Rig, after, within};

/// A store that panics the first time it is fenced, and is away the second.
#[derive(Default)]
struct Unruly(AtomicU32);

impl Fence for Unruly {
    fn fence<'a>(&'a self, _: Fenced<'a>) -> Pin<Box<dyn Future<Output = Result<(), Fault>> + Send + 'a>> {
        let time = self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            assert!(time != 0, "the store's own mistake");
            if time == 1 { Err(Fault::new("away")) } else { Ok(()) }
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_panics_is_fenced_again_and_harms_nobody_else() {
    let [a] = Rig::new(169).cluster(["a:1"]).await;
    let books = a.shard("books", |_| Writer::default()).shards(1).migrate_state();
    let region = books.fence(Unruly::default()).start().await.unwrap();
    let began = tokio::time::Instant::now();
    within(region.ask("x", Book::Life).timeout(Duration::from_secs(30))).await.unwrap();
    assert!(began.elapsed() >= Duration::from_secs(2), "it was tried again twice, after a second each");
    within(a.leave()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_a_crashed_node_had_answers_again_elsewhere_within_the_time_of_a_fail_over() {
    let mut rig = Rig::new(21);
    let [a, b, c] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    let region = books(&a).await;
    books(&b).await;
    books(&c).await;
    for id in 0..64_u64 {
        within(region.ask(id.to_string(), Book::Life)).await.unwrap();
    }
    after(Duration::from_secs(8)).await;
    drop(c);
    let died = tokio::time::Instant::now();
    for id in 0..64_u64 {
        let life = region.ask(id.to_string(), Book::Life).timeout(Duration::from_secs(10));
        // What was on its way to the dead node is lost, and says so.
        if within(life).await.is_err() {
            let again = region.ask(id.to_string(), Book::Life).timeout(Duration::from_secs(10));
            within(again).await.unwrap();
        }
    }
    assert!(died.elapsed() < Duration::from_millis(3500), "{:?}", died.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_cut_off_does_nothing_until_it_is_heard_again() {
    let mut rig = Rig::new(22);
    let [a, b, c] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    let regions = [books(&a).await, books(&b).await, books(&c).await];
    for id in 0..64_u64 {
        within(regions[2].ask(id.to_string(), Book::Life)).await.unwrap();
    }
    after(Duration::from_secs(8)).await;
    rig.part("c:1", "a:1");
    rig.part("c:1", "b:1");
    after(Duration::from_secs(2)).await;
    // Its lease is over: whatever it has answers nobody, not even here.
    for id in 0..64_u64 {
        let life = regions[2].ask(id.to_string(), Book::Life).timeout(Duration::from_millis(300));
        assert!(within(life).await.is_err(), "{id} answered a node that has no lease");
    }
    // The others have gone on with all of it.
    after(Duration::from_secs(3)).await;
    for id in 0..64_u64 {
        within(regions[0].ask(id.to_string(), Book::Life)).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn known_shards_answer_while_there_is_no_coordinator() {
    let mut rig = Rig::new(23);
    let [a, b, c] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    let regions = [books(&a).await, books(&b).await, books(&c).await];
    let mut here = Vec::new();
    for id in 0..64_u64 {
        within(regions[1].ask(id.to_string(), Book::Life)).await.unwrap();
        let explained = b.explain("books", id.to_string()).unwrap();
        if explained.owner.is_some_and(|(_, uid)| uid != a.uid()) {
            here.push(id);
        }
    }
    after(Duration::from_secs(8)).await;
    assert_eq!(b.topology().current().coordinator, Some(a.uid()));
    drop(a);
    for id in here {
        let life = regions[1].ask(id.to_string(), Book::Life).timeout(Duration::from_millis(100));
        within(life).await.unwrap();
    }
}

/// The asker knows only the node that it sent to; that one gave its shard to another, with what waited.
#[tokio::test(start_paused = true)]
async fn an_ask_that_moved_with_its_entity_fails_when_its_new_host_is_lost() {
    let mut rig = Rig::new(24);
    let [a, b, c] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    let host = |node: &Node| {
        let books = node.shard("books", |_| Writer::default()).shards(1).migrate_state();
        books.allocation(Allocation::External).start()
    };
    let proxy =
        a.shard_proxy::<Book>("books").shards(1).allocation(Allocation::External).start().await.unwrap();
    host(&b).await.unwrap();
    within(proxy.ask("x", Book::Life)).await.unwrap();
    host(&c).await.unwrap();
    for (number, seconds) in [(1, 5), (2, 600)] {
        proxy.tell("x", Book::Slow { sender: 1, number, seconds }).await.unwrap();
    }
    let asked = tokio::spawn({
        let proxy = proxy.clone();
        async move { proxy.ask("x", Book::Read).timeout(Duration::from_secs(300)).await }
    });
    after(Duration::from_secs(1)).await;
    b.move_shard("books", 0, "c:1").unwrap();
    after(Duration::from_secs(15)).await;
    assert_eq!(a.explain("books", "x").unwrap().owner.map(|(_, uid)| uid), Some(c.uid()));
    assert!(!asked.is_finished(), "it waits behind a long turn");
    drop(c);
    let failed =
        tokio::time::timeout(Duration::from_secs(10), asked).await.expect("it says so at once").unwrap();
    assert!(failed.is_err());
}
