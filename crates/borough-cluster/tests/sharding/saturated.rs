//! The way back to a sender is full of messages for a slow actor there: what sharding has to say to it passes them.

use std::time::Duration;

use borough_actor::{Actor, ActorRef, Context, Fault};
use borough_cluster::{Allocation, Node};

use crate::book::{Book, Writer};
use crate::rig::{Rig, after, within};

/// Takes a second for each message.
struct Slow;

impl Actor for Slow {
    type Msg = u64;

    async fn receive(&mut self, _: u64, _: &mut Context<Self>) -> Result<(), Fault> {
        after(Duration::from_secs(1)).await;
        Ok(())
    }
}

/// Tells the slow actor of that node more than it takes, from now on. Done once the way there is full.
async fn saturate(from: &Node, to: &str) {
    let slow: ActorRef<u64> = within(from.lookup("/slow").on(to)).await.unwrap();
    for _ in 0..8 {
        let slow = slow.clone();
        tokio::spawn(async move { while slow.tell(1).await.is_ok() {} });
    }
    after(Duration::from_secs(5)).await;
    assert!(slow.try_tell(1).unwrap_err().is_full());
}

#[tokio::test(start_paused = true)]
async fn a_moved_shard_is_reached_in_time_though_the_way_back_is_full_of_messages() {
    let [_a, b, c, d] = Rig::new(231).cluster(["a:1", "b:1", "c:1", "d:1"]).await;
    let host = |node: &Node| {
        let books = node.shard("books", |_| Writer::default()).shards(1).migrate_state();
        books.allocation(Allocation::External)
    };
    let proxy =
        d.shard_proxy::<Book>("books").shards(1).allocation(Allocation::External).start().await.unwrap();
    let _there = host(&b).start().await.unwrap();
    within(proxy.ask("x", Book::Life)).await.unwrap();
    let _next = host(&c).start().await.unwrap();
    let slow = d.actor(|| Slow).name("slow").spawn().unwrap();
    d.expose(&slow).unwrap();
    for host in [&b, &c] {
        saturate(host, "d:1").await;
    }
    within(proxy.ask("x", Book::Life)).await.unwrap();
    for round in 0..4 {
        let (from, to) = if round % 2 == 0 { (&b, "c:1") } else { (&c, "b:1") };
        from.move_shard("books", 0, to).unwrap();
        for ask in 0..5 {
            let answer = within(proxy.ask("x", Book::Life)).await;
            assert!(answer.is_ok(), "move {round}, ask {ask}: {answer:?}");
        }
    }
    within(b.leave()).await.unwrap();
    within(proxy.ask("x", Book::Life)).await.unwrap();
}
