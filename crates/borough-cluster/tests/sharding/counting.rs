//! What became of messages and shards is counted, and said through the `metrics` facade.

use std::time::Duration;

use borough_cluster::{Address, Allocation, Limits, Node};

use crate::book::{Book, Writer, books};
use crate::rig::{Rig, after, within};

#[tokio::test(start_paused = true)]
async fn handled_messages_and_moves_are_counted_where_they_took_place() {
    let [a, b] = Rig::new(81).cluster(["a:1", "b:1"]).await;
    let regions = [books(&a).await, books(&b).await];
    for id in 0..100_u64 {
        within(regions[0].ask(id.to_string(), Book::Read)).await.unwrap();
    }
    let handled: Vec<u64> =
        [regions[0].state().await, regions[1].state().await].map(|stats| stats.handled).into();
    assert_eq!(handled.iter().sum::<u64>(), 100);
    assert!(handled.iter().all(|handled| *handled > 0), "{handled:?}");
    let before = regions[1].state().await;
    within(regions[1].shutdown()).await.unwrap();
    let (came, went) = (regions[0].state().await.moves, regions[1].state().await.moves);
    let moved = before.shards.len() as u64;
    assert_eq!((came.came, came.went), (before.moves.went + moved, before.moves.came));
    assert_eq!((went.came, went.went), (before.moves.came, before.moves.went + moved));
    assert!(came.last.is_some_and(|last| Some(last) <= came.longest), "{came:?}");
}

#[tokio::test(start_paused = true)]
async fn messages_that_no_handler_sees_are_counted_by_the_reason() {
    let [a] = Rig::new(82).cluster(["a:1"]).await;
    let region = books(&a).await;
    within(region.tell("stuck", Book::Hang)).await.unwrap();
    let given_up = region.ask("stuck", Book::Read).timeout(Duration::from_secs(1));
    assert!(within(given_up).await.is_err());
    within(region.tell("stuck", Book::Close)).await.unwrap();
    within(a.leave()).await.unwrap();
    let stats = region.state().await;
    // The message that nobody answers any more, and the one behind it, wait as the shard ends.
    assert_eq!(stats.refusals.unplaced, 2, "{stats:?}");
    assert_eq!(stats.refused, 2);
    assert_eq!(stats.dead_letters.unhandled, 1, "{stats:?}");
}

#[tokio::test(start_paused = true)]
async fn a_told_message_that_cannot_be_sent_on_after_a_move_is_a_dead_letter() {
    let mut rig = Rig::new(86);
    let [_a, b, c, d] = rig.cluster(["a:1", "b:1", "c:1", "d:1"]).await;
    let proxy =
        d.shard_proxy::<Book>("books").shards(1).allocation(Allocation::External).start().await.unwrap();
    let host = |node: &Node| {
        let books = node.shard("books", |_| Writer::default()).shards(1).migrate_state();
        // As many may wait to be sent on as to be held: none.
        books.allocation(Allocation::External).hold_limit(0)
    };
    let there = host(&b).start().await.unwrap();
    within(proxy.ask("x", Book::Life)).await.unwrap();
    host(&c).start().await.unwrap();
    // What is sent now comes when the shard is gone from there.
    let delay = Duration::from_millis(400);
    rig.network.delay(&Address::new("d:1"), &Address::new("b:1"), delay..=delay);
    for number in 1..=3 {
        within(proxy.tell("x", Book::Note { sender: 1, number })).await.unwrap();
    }
    b.move_shard("books", 0, "c:1").unwrap();
    after(Duration::from_secs(5)).await;
    assert_eq!(b.explain("books", "x").unwrap().owner.map(|(_, uid)| uid), Some(c.uid()));
    let stats = there.state().await;
    assert_eq!((stats.refusals.unforwarded, stats.dead_letters.unhandled), (3, 3), "{stats:?}");
}

/// The node that has the shard by now dies while the one before still sends on what came for it.
#[tokio::test(start_paused = true)]
async fn told_messages_whose_new_host_is_lost_while_they_are_sent_on_are_dead_letters() {
    const TOLD: u64 = 2_000;
    let mut rig = Rig::new(87);
    // The link to the new host takes little at once: what is sent on waits on the host before.
    let limits = Limits { frame_max: 4096, queue_bytes: 4096, unacked_max: 4096, ..Limits::default() };
    let [_a, b, c] = rig.cluster_with(["a:1", "b:1", "c:1"], |node| node.limits(limits.clone())).await;
    let d = rig.node("d:1", &["a:1"]).start().await.unwrap();
    within(d.wait_for(4)).await.unwrap();
    let proxy =
        d.shard_proxy::<Book>("books").shards(1).allocation(Allocation::External).start().await.unwrap();
    let host = |node: &Node| {
        let books = node.shard("books", |_| Writer::default()).shards(1).migrate_state();
        books.allocation(Allocation::External)
    };
    let there = host(&b).start().await.unwrap();
    within(proxy.ask("x", Book::Life)).await.unwrap();
    let next = host(&c).start().await.unwrap();
    // What is sent now comes when the shard is gone from there, and goes on slowly.
    let delay = Duration::from_millis(400);
    rig.network.delay(&Address::new("d:1"), &Address::new("b:1"), delay..=delay);
    rig.network.slow(&Address::new("b:1"), &Address::new("c:1"), 2_000);
    let before = b.dead_letters().total();
    for number in 1..=TOLD {
        proxy.try_tell("x", Book::Note { sender: 1, number }).unwrap();
    }
    b.move_shard("books", 0, "c:1").unwrap();
    after(Duration::from_secs(3)).await;
    assert_eq!(d.explain("books", "x").unwrap().owner.map(|(_, uid)| uid), Some(c.uid()));
    for other in ["a:1", "b:1", "d:1"] {
        rig.part("c:1", other);
    }
    let waiting = there.state().await.forwards_waiting;
    assert!(waiting > usize::try_from(TOLD).unwrap() / 2, "what waits is counted: {waiting}");
    let handled = next.state().await.handled;
    after(Duration::from_secs(10)).await;
    let lost = b.dead_letters().total() - before;
    let stats = there.state().await;
    assert_eq!(stats.forwards_waiting, 0, "{stats:?}");
    assert!(stats.refusals.unforwarded > TOLD / 2, "most had not left that node: {stats:?}");
    assert_eq!(stats.dead_letters.other, stats.refusals.unforwarded, "{stats:?}");
    assert!(handled + lost >= TOLD, "of {TOLD} told {handled} were handled, and {lost} are dead letters");
}

#[tokio::test(start_paused = true)]
async fn for_how_long_messages_have_been_held_is_said() {
    let [a, b] = Rig::new(83).cluster(["a:1", "b:1"]).await;
    let proxy = a.shard_proxy::<Book>("books").shards(16).start().await.unwrap();
    within(proxy.tell("x", Book::Close)).await.unwrap();
    after(Duration::from_secs(3)).await;
    let stats = proxy.state().await;
    assert_eq!(stats.held, 1);
    assert!(stats.held_for >= Duration::from_secs(3) && stats.held_for < Duration::from_secs(4), "{stats:?}");
    books(&b).await;
    within(proxy.ask("x", Book::Read)).await.unwrap();
    assert_eq!((proxy.state().await.held, proxy.state().await.held_for), (0, Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_node_that_does_not_answer_is_named_among_the_stats_of_all() {
    let rig = &mut Rig::new(85);
    let nodes = rig.cluster(["a:1", "b:1", "c:1"]).await;
    for node in &nodes {
        books(node).await;
    }
    rig.part("c:1", "a:1");
    rig.part("c:1", "b:1");
    let stats = within(nodes[0].sharding_stats()).await;
    assert_eq!(stats.len(), 3);
    let answered =
        |node: &Node| stats.iter().find(|(name, _)| name == node.node_id()).map(|(_, stats)| stats.is_ok());
    assert_eq!([0, 1, 2].map(|node| answered(&nodes[node])), [Some(true), Some(true), Some(false)]);
}

#[tokio::test(start_paused = true)]
async fn how_long_turns_take_is_said_with_the_entities_whose_take_longest() {
    let [a] = Rig::new(86).cluster(["a:1"]).await;
    let region = books(&a).await;
    assert_eq!(region.state().await.turns, borough_cluster::TurnTimes::default());
    for (id, seconds) in [("x", 3), ("y", 5)] {
        within(region.tell(id, Book::Slow { sender: 1, number: 1, seconds })).await.unwrap();
    }
    within(region.tell("stuck", Book::Hang)).await.unwrap();
    within(region.ask("y", Book::Read)).await.unwrap();
    let stats = region.state().await;
    let slowest: Vec<_> = stats.slowest.iter().map(|(id, took)| (id.as_str(), took.as_secs())).collect();
    // The one that has not ended began last.
    assert_eq!(slowest.len(), 3, "{slowest:?}");
    assert!(slowest.contains(&("x", 3)) && slowest.contains(&("y", 5)), "{slowest:?}");
    assert!(stats.slowest.is_sorted_by(|(_, a), (_, b)| a >= b), "{slowest:?}");
    assert!(stats.turns.samples > 0 && stats.turns.longest >= Duration::from_secs(3), "{stats:?}");
    after(Duration::from_secs(61)).await;
    let stats = region.state().await;
    let slowest: Vec<_> = stats.slowest.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!((slowest, stats.turns.samples), (vec!["stuck"], 0), "the rest is long over");
}

#[cfg(feature = "metrics")]
mod facade {
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, Mutex};

    use metrics::{
        Counter, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit,
    };

    use super::*;

    /// Keeps what it is told, by name, labels forgotten.
    #[derive(Default)]
    struct Keeper(Mutex<BTreeMap<String, Arc<AtomicU64>>>);

    struct Times(Arc<AtomicU64>);

    impl HistogramFn for Times {
        fn record(&self, _: f64) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Keeper {
        fn place(&self, key: &Key) -> Arc<AtomicU64> {
            let name = key.name().to_owned();
            assert!(key.labels().any(|label| label.key() == "kind" && label.value() == "books"), "{key}");
            self.0.lock().unwrap().entry(name).or_default().clone()
        }

        fn says(&self, name: &str) -> Option<u64> {
            self.0.lock().unwrap().get(name).map(|place| place.load(Ordering::Relaxed))
        }
    }

    impl Recorder for Keeper {
        fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

        fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
            Counter::from_arc(self.place(key))
        }

        fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
            Gauge::from_arc(self.place(key))
        }

        fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
            Histogram::from_arc(Arc::new(Times(self.place(key))))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn every_metric_of_the_document_is_published_within_seconds() {
        let keeper = Keeper::default();
        let _guard = metrics::set_default_local_recorder(&keeper);
        let [a, b] = Rig::new(84).cluster(["a:1", "b:1"]).await;
        let regions = [books(&a).await, books(&b).await];
        for id in 0..100_u64 {
            within(regions[0].ask(id.to_string(), Book::Read)).await.unwrap();
        }
        within(regions[1].shutdown()).await.unwrap();
        for id in 0..100_u64 {
            within(regions[0].ask(id.to_string(), Book::Read)).await.unwrap();
        }
        after(Duration::from_secs(3)).await;
        let document = include_str!("../../../../docs/metrics.md");
        let names = document.lines().filter_map(|line| line.strip_prefix("| `borough_")?.split('`').next());
        for name in names {
            assert!(keeper.says(&format!("borough_{name}")).is_some(), "{name} is not published");
        }
        // Of two nodes in one process the highest: all of the second round was handled by one.
        assert!(keeper.says("borough_sharding_handled_total").unwrap() >= 100);
        assert!(keeper.says("borough_sharding_move_seconds").unwrap() > 0);
    }

    #[tokio::test(start_paused = true)]
    async fn how_long_turns_take_is_published() {
        let keeper = Keeper::default();
        let _guard = metrics::set_default_local_recorder(&keeper);
        let [a] = Rig::new(87).cluster(["a:1"]).await;
        let region = books(&a).await;
        within(region.tell("x", Book::Slow { sender: 1, number: 1, seconds: 2 })).await.unwrap();
        after(Duration::from_secs(6)).await;
        for name in ["p50", "p99"] {
            let bits = keeper.says(&format!("borough_sharding_turn_{name}_seconds")).unwrap();
            let seconds = f64::from_bits(bits);
            assert!((2.0..2.6).contains(&seconds), "{name}: {seconds}");
        }
    }
}
