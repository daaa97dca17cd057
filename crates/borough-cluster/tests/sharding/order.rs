//! Order is kept where it was once broken: messages before the table, crowded entities, tells that waited, releases under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use borough_actor::{Actor, Context, Fault, Reply};
use borough_cluster::Address;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::book::{Book, books};
use crate::rig::{Rig, after, within};

#[tokio::test(start_paused = true)]
async fn what_comes_before_the_table_is_handled_once_the_table_is_there() {
    let mut rig = Rig::new(101);
    let [a, b, c] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    books(&b).await;
    let proxy = c.shard_proxy::<Book>("books").shards(16).start().await.unwrap();
    // Another shard first, so that the links are there.
    within(proxy.ask("warm", Book::Read)).await.unwrap();
    let delay = Duration::from_millis(60);
    rig.network.delay(&Address::new("a:1"), &Address::new("b:1"), delay..=delay);
    after(Duration::from_secs(1)).await;
    for id in 0..40_u64 {
        within(proxy.tell(format!("id{id}"), Book::Note { sender: 1, number: 1 })).await.unwrap();
    }
    after(Duration::from_secs(3)).await;
    let mut lost = Vec::new();
    for id in 0..40_u64 {
        let pages = within(proxy.ask(format!("id{id}"), Book::Read)).await.unwrap();
        if !pages.notes.contains_key(&1) {
            lost.push(id);
        }
    }
    let stats = b.sharding_stats_here().await;
    assert!(lost.is_empty(), "lost {lost:?}; refused there: {}", stats.kinds[0].refused);
    drop(a);
}

#[derive(Serialize, Deserialize)]
enum Gate {
    Note(u64),
    Wait,
    Read(Reply<Vec<u64>>),
}

struct Keeper {
    gate: Arc<Notify>,
    waits: Arc<AtomicBool>,
    seen: Vec<u64>,
}

impl Actor for Keeper {
    type Msg = Gate;

    async fn receive(&mut self, message: Gate, _: &mut Context<Self>) -> Result<(), Fault> {
        match message {
            Gate::Note(number) => self.seen.push(number),
            Gate::Wait => {
                self.waits.store(true, Ordering::Relaxed);
                self.gate.notified().await;
            }
            Gate::Read(reply) => reply.send(self.seen.clone()),
        }
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_crowded_entity_handles_what_one_task_tells_it_in_order() {
    let [node] = Rig::new(102).cluster(["a:1"]).await;
    let (gate, waits) = (Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
    let (g, w) = (gate.clone(), waits.clone());
    let region = node
        .shard("gates", move |_| Keeper { gate: g.clone(), waits: w.clone(), seen: Vec::new() })
        .shards(1)
        .keeps_own_state()
        .start()
        .await
        .unwrap();
    within(region.ask("hot", Gate::Read)).await.unwrap();
    within(region.tell("hot", Gate::Wait)).await.unwrap();
    while !waits.load(Ordering::Relaxed) {
        tokio::task::yield_now().await;
    }
    within(tokio::spawn(async move {
        // Fills the lane's mailbox without letting the lane run: first for the hot one, then for others, at last M0.
        for number in 0..1030 {
            region.try_tell("hot", Gate::Note(number)).unwrap();
        }
        for number in 0..1000 {
            region.try_tell("other", Gate::Note(number)).unwrap();
        }
        region.try_tell("hot", Gate::Note(5000)).unwrap();
        // Until the hot one is crowded: its senders are refused.
        let mut sent = 0_u64;
        for _ in 0..100 {
            step().await;
            // A try_tell that is refused changes nothing; one that is let in is just one more.
            match region.try_tell("hot", Gate::Note(9000 + sent)) {
                Ok(()) => sent += 1,
                Err(_) => break,
            }
        }
        let last = tokio::spawn({
            let region = region.clone();
            async move { region.tell("hot", Gate::Note(20_000)).await.unwrap() }
        });
        step().await;
        gate.notify_one();
        within(last).await.unwrap();
        after(Duration::from_secs(1)).await;
        let seen = within(region.ask("hot", Gate::Read)).await.unwrap();
        let mut sorted = seen.clone();
        sorted.sort_unstable();
        let first = seen.iter().zip(&sorted).position(|(a, b)| a != b);
        assert_eq!(
            first,
            None,
            "out of order from there: {:?}",
            seen.get(first.unwrap_or(0)..).map(|s| &s[..s.len().min(6)])
        );
    }))
    .await
    .unwrap();
}

/// Lets every other task that can run have one turn.
async fn step() {
    let mut first = true;
    std::future::poll_fn(|cx| {
        if std::mem::take(&mut first) {
            cx.waker().wake_by_ref();
            return std::task::Poll::Pending;
        }
        std::task::Poll::Ready(())
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_tell_that_waited_for_room_is_not_overtaken_after_a_move() {
    let mut rig = Rig::new(103);
    let [a, b] = rig.cluster(["a:1", "b:1"]).await;
    let one = |node: &borough_cluster::Node| {
        node.shard("books", |_| crate::book::Writer::default()).shards(1).migrate_state().start()
    };
    let region = one(&a).await.unwrap();
    within(region.ask("x", Book::Read)).await.unwrap();
    one(&b).await.unwrap();
    // The mailbox of the lane is full, so this one is to wait.
    let mut filled = 0;
    while region.try_tell("y", Book::Note { sender: 9, number: filled + 1 }).is_ok() {
        filled += 1;
    }
    let first = region.tell("x", Book::Note { sender: 1, number: 1 });
    within(region.shutdown()).await.unwrap();
    after(Duration::from_secs(1)).await;
    within(first).await.unwrap();
    within(region.tell("x", Book::Note { sender: 1, number: 2 })).await.unwrap();
    after(Duration::from_secs(1)).await;
    let pages = within(region.ask("x", Book::Read)).await.unwrap();
    assert!(filled > 100);
    assert_eq!(pages.notes.get(&1), Some(&(2, 2)));
    assert!(pages.misplaced.is_empty(), "{:?}", pages.misplaced);
}

#[tokio::test(start_paused = true)]
async fn a_shard_that_moves_while_held_messages_go_out_keeps_their_order() {
    let mut rig = Rig::new(104);
    let [a, b, c] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    let front = rig.node("f:1", &["a:1"]).start().await.unwrap();
    within(front.wait_for(4)).await.unwrap();
    let one = |node: &borough_cluster::Node| {
        node.shard("books", |_| crate::book::Writer::default()).shards(1).migrate_state().start()
    };
    let proxy = front.shard_proxy::<Book>("books").shards(1).hold_limit(100_000).start().await.unwrap();
    for number in 1..=60_000 {
        proxy.try_tell("x", Book::Note { sender: 1, number }).unwrap();
    }
    let slow = 40_000;
    rig.network.slow(&Address::new("f:1"), &Address::new("b:1"), slow);
    let from_b = one(&b).await.unwrap();
    after(Duration::from_secs(3)).await;
    one(&c).await.unwrap();
    within(from_b.shutdown()).await.unwrap();
    after(Duration::from_secs(1)).await;
    rig.network.heal_all();
    after(Duration::from_secs(20)).await;
    let pages = within(proxy.ask("x", Book::Read)).await.unwrap();
    let misplaced = pages.misplaced.len();
    assert!(misplaced == 0, "{misplaced} out of order, first {:?}; {:?}", pages.misplaced[0], pages.notes);
    assert_eq!(pages.notes.get(&1), Some(&(60_000, 60_000)));
    drop(a);
}
