//! Shards move when nodes come and go: nothing is lost, doubled or out of order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use borough_cluster::{Allocation, AllocationStrategy, HostLoad, Node, Region, ShardNews, Spread, Uid};
use tokio::task::JoinHandle;

use crate::book::{Book, Writer, books};
use crate::rig::{Rig, after, within};

const IDS: u64 = 64;

/// Senders that write to every book, each in its own order, until they are told to stop; then what each wrote last.
struct Senders {
    stop: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<u64>>,
}

impl Senders {
    fn start(regions: &[Region<Book>]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let tasks = (0..)
            .zip(regions)
            .map(|(sender, region)| tokio::spawn(write(sender, region.clone(), stop.clone())));
        Self { tasks: tasks.collect(), stop }
    }

    /// Stops them, and checks that every book has every note once, in order.
    async fn check(self, region: &Region<Book>) {
        self.stop.store(true, Ordering::Relaxed);
        let mut written = Vec::new();
        for task in self.tasks {
            written.push(within(task).await.unwrap());
        }
        for id in 0..IDS {
            let pages = within(region.ask(id.to_string(), Book::Read)).await.unwrap();
            assert!(pages.misplaced.is_empty(), "book {id}: {:?}", pages.misplaced);
            for (sender, last) in (0..).zip(&written) {
                assert_eq!(pages.notes.get(&sender), Some(&(*last, *last)), "book {id}, sender {sender}");
            }
        }
        assert!(written.iter().all(|last| *last > 3), "{written:?}");
    }
}

/// Writes rounds of notes, one to each book; every fifth is an ask.
async fn write(sender: u32, region: Region<Book>, stop: Arc<AtomicBool>) -> u64 {
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        number += 1;
        for id in 0..IDS {
            if (number + id) % 5 == 0 {
                let sign = region.ask(id.to_string(), |reply| Book::Sign { sender, number, reply });
                assert_eq!(sign.timeout(Duration::from_secs(30)).await.unwrap(), number);
            } else {
                region.tell(id.to_string(), Book::Note { sender, number }).await.unwrap();
            }
        }
        let _ = tokio::time::timeout(Duration::from_millis(20), std::future::pending::<()>()).await;
    }
    number
}

async fn hosted(node: &Node) -> usize {
    node.sharding_stats_here().await.kinds[0].shards.len()
}

#[tokio::test(start_paused = true)]
async fn a_node_that_joins_gets_its_share_and_nothing_is_lost() {
    let mut rig = Rig::new(11);
    let [a, b] = rig.cluster(["a:1", "b:1"]).await;
    let regions = [books(&a).await, books(&b).await];
    let senders = Senders::start(&regions);
    after(Duration::from_secs(3)).await;
    let c = rig.node("c:1", &["a:1"]).start().await.unwrap();
    within(c.wait_for(3)).await.unwrap();
    books(&c).await;
    after(Duration::from_secs(15)).await;
    let shares = [hosted(&a).await, hosted(&b).await, hosted(&c).await];
    assert!(shares.iter().all(|share| (5..=6).contains(share)), "{shares:?}");
    senders.check(&regions[0]).await;
}

#[tokio::test(start_paused = true)]
async fn a_node_that_leaves_gives_away_what_it_has_and_nothing_is_lost() {
    let mut rig = Rig::new(12);
    let [a, b, c] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    let regions = [books(&a).await, books(&b).await];
    books(&c).await;
    let senders = Senders::start(&regions);
    after(Duration::from_secs(5)).await;
    assert!(hosted(&c).await > 0);
    within(c.leave()).await.unwrap();
    after(Duration::from_secs(2)).await;
    assert_eq!(hosted(&a).await + hosted(&b).await, 16);
    senders.check(&regions[0]).await;
}

#[tokio::test(start_paused = true)]
async fn all_nodes_are_replaced_one_by_one_and_nothing_is_lost() {
    let mut rig = Rig::new(13);
    let [a, b, c] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    let front = rig.node("f:1", &["a:1", "b:1", "c:1"]).start().await.unwrap();
    within(front.wait_for(4)).await.unwrap();
    for node in [&a, &b, &c] {
        books(node).await;
    }
    let region = front.shard_proxy::<Book>("books").shards(16).start().await.unwrap();
    let senders = Senders::start(std::slice::from_ref(&region));
    after(Duration::from_secs(3)).await;
    let mut kept = Vec::new();
    for (old, address) in [(a, "a2:1"), (b, "b2:1"), (c, "c2:1")] {
        let new = rig.node(address, &["f:1"]).start().await.unwrap();
        within(new.wait_for(5)).await.unwrap();
        books(&new).await;
        within(old.leave()).await.unwrap();
        old.shutdown().await;
        kept.push(new);
        after(Duration::from_secs(3)).await;
    }
    senders.check(&region).await;
}

#[tokio::test(start_paused = true)]
async fn a_type_that_ends_on_one_node_goes_on_elsewhere() {
    let [a, b] = Rig::new(14).cluster(["a:1", "b:1"]).await;
    let regions = [books(&a).await, books(&b).await];
    let senders = Senders::start(&regions);
    after(Duration::from_secs(3)).await;
    within(regions[1].shutdown()).await.unwrap();
    assert_eq!((hosted(&a).await, hosted(&b).await), (16, 0));
    senders.check(&regions[1]).await;
}

#[tokio::test(start_paused = true)]
async fn a_shard_goes_where_an_operator_wants_it_and_the_events_tell() {
    let [a, b] = Rig::new(15).cluster(["a:1", "b:1"]).await;
    let start = |node: &Node| node.shard("books", |_| Writer::default()).shards(16).migrate_state();
    let placed = start(&a).allocation(Allocation::External).start().await.unwrap();
    start(&b).allocation(Allocation::External).start().await.unwrap();
    within(placed.tell("x", Book::Note { sender: 1, number: 1 })).await.unwrap();
    within(placed.ask("x", Book::Read)).await.unwrap();
    let shard = placed.shard_of("x").unwrap();
    for node in [&b, &a] {
        let mut events = a.shard_events();
        let to = node.node_id().as_str();
        if a.explain("books", "x").unwrap().owner.unwrap().1 == node.uid() {
            continue;
        }
        a.move_shard("books", shard, to).unwrap();
        let moved = loop {
            let event = within(events.recv()).await.unwrap();
            if let ShardNews::Moved { owner, took, .. } = event.what {
                break (event.shard, owner, took.is_some());
            }
        };
        assert_eq!(moved, (shard, node.uid(), true));
        assert_eq!(within(placed.ask("x", Book::Read)).await.unwrap().notes[&1], (1, 1));
    }
    assert!(a.move_shard("books", 99, "b:1").unwrap_err().to_string().contains("99"));
    assert!(a.move_shard("letters", 1, "b:1").unwrap_err().to_string().contains("letters"));
    assert!(a.move_shard("books", 1, "nobody").unwrap_err().to_string().contains("nobody"));
}

/// Everything lives on the node of the greatest uid.
struct Greatest;

impl AllocationStrategy for Greatest {
    fn allocate(&self, shard: u32, hosts: &[HostLoad]) -> Option<Uid> {
        assert_ne!(shard, 3, "a rule that panics has said nothing");
        hosts.iter().map(|host| host.uid).max()
    }

    fn rebalance(&self, _: &Spread<'_>) -> Vec<(u32, Uid)> {
        Vec::new()
    }
}

#[tokio::test(start_paused = true)]
async fn shards_go_where_a_rule_of_the_user_s_says() {
    let nodes = Rig::new(16).cluster(["a:1", "b:1", "c:1"]).await;
    let mut regions = Vec::new();
    for node in &nodes {
        let builder = node.shard("books", |_| Writer::default()).shards(16).migrate_state();
        regions.push(builder.min_regions(3).allocate_by(Greatest).start().await.unwrap());
    }
    let greatest = nodes.iter().max_by_key(|node| node.uid()).unwrap();
    for id in 0..64_u64 {
        let shard = regions[0].shard_of(id.to_string()).unwrap();
        if shard != 3 {
            within(regions[0].ask(id.to_string(), Book::Read)).await.unwrap();
        }
    }
    assert_eq!(hosted(greatest).await, 15);
}
