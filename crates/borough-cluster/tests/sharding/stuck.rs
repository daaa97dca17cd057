//! A move that does not get on: it costs nobody's state, it is said who is in its way, and it is tried again.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use borough_actor::{Actor, Context, EntityId, Fault, Reply};
use borough_cluster::{Address, LeaveError, Node, Region};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use crate::book::{Book, Writer};
use crate::rig::{Rig, after, within};

/// Longer than a node waits for a turn that does not end, and for what follows from that.
const LONG: Duration = Duration::from_secs(400);

async fn books(node: &Node) -> Region<Book> {
    let books = node.shard("books", |_| Writer::default()).shards(16).migrate_state();
    books.handoff_timeout(Duration::from_secs(20)).start().await.unwrap()
}

/// Whether that entity lives on that node, as that node sees it.
fn is_on(node: &Node, id: &str) -> bool {
    let owner = node.explain("books", id).unwrap().owner;
    owner.is_some_and(|(_, uid)| uid == node.uid())
}

/// Writes one note to each of 200 entities, and gives those of one shard that lives on `node`.
async fn neighbours(node: &Node, region: &Region<Book>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for id in (0..200_u64).map(|id| id.to_string()) {
        within(region.ask(id.clone(), |reply| Book::Sign { sender: 1, number: 1, reply })).await.unwrap();
        let is_neighbour = |of: &String| region.shard_of(of.as_str()) == region.shard_of(id.as_str());
        if is_on(node, &id) && found.first().is_none_or(is_neighbour) {
            found.push(id);
        }
    }
    assert!(found.len() > 4, "{found:?}");
    found
}

async fn signs(region: &Region<Book>, id: &str) -> u64 {
    within(region.ask(id.to_owned(), |reply| Book::Sign { sender: 1, number: 2, reply })).await.unwrap()
}

/// Two nodes, entities of one shard of the second, and the first of them in a turn that never ends.
async fn one_of_them_hangs(seed: u64) -> ([Node; 2], Region<Book>, Vec<String>) {
    let [a, b] = Rig::new(seed).cluster(["a:1", "b:1"]).await;
    let region = books(&a).await;
    let of_b = books(&b).await;
    within(b.wait_for(2)).await.unwrap();
    let ids = neighbours(&b, &of_b).await;
    of_b.tell(ids[0].clone(), Book::Hang).await.unwrap();
    after(Duration::from_secs(1)).await;
    ([a, b], region, ids)
}

#[tokio::test(start_paused = true)]
async fn a_leave_with_a_turn_that_never_ends_names_its_entity_and_drops_nothing() {
    let ([_a, b], region, ids) = one_of_them_hangs(401).await;
    let left = timeout(LONG, b.leave()).await.unwrap();
    let error = left.expect_err("an entity is still there").to_string();
    assert!(error.contains(&format!("books/{}", ids[0])), "{error}");
    for id in &ids[1..] {
        assert_eq!(signs(&region, id).await, 2, "state of {id}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_drain_with_a_turn_that_never_ends_names_its_entity_and_drops_nothing() {
    let ([_a, b], region, ids) = one_of_them_hangs(402).await;
    let began = tokio::time::Instant::now();
    let drained = timeout(LONG, b.drain()).await.expect("still waiting at the bound");
    let error = drained.expect_err("an entity is still there").to_string();
    assert!(error.contains(&format!("books/{}", ids[0])), "{error}");
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
    // Long after, however often the move was tried.
    after(Duration::from_secs(600)).await;
    for id in &ids[1..] {
        assert_eq!(signs(&region, id).await, 2, "state of {id}");
    }
}

/// The process ends: what does not end by itself is ended, and costs only its own entity.
#[tokio::test(start_paused = true)]
async fn a_shutdown_with_a_turn_that_never_ends_costs_its_own_entity_alone() {
    let ([_a, b], region, ids) = one_of_them_hangs(403).await;
    timeout(LONG, b.shutdown()).await.unwrap();
    for id in &ids[1..] {
        assert_eq!(signs(&region, id).await, 2, "state of {id}");
    }
    assert_eq!(signs(&region, &ids[0]).await, 1, "it restarted with empty state");
}

/// Each try freezes the shard: its entities must be there most of the time.
#[tokio::test(start_paused = true)]
async fn neighbours_of_a_turn_that_never_ends_are_frozen_once_and_not_at_each_try() {
    let ([_a, b], region, ids) = one_of_them_hangs(404).await;
    let drain = tokio::spawn(async move {
        drop(b.drain().await);
        after(LONG).await;
    });
    after(Duration::from_secs(30)).await;
    for round in 0..100 {
        let answer = region.ask(ids[1].clone(), Book::Life).timeout(Duration::from_secs(3)).await;
        assert!(answer.is_ok(), "frozen again in round {round}");
        after(Duration::from_secs(2)).await;
    }
    drain.abort();
}

#[tokio::test(start_paused = true)]
async fn a_turn_may_last_longer_than_a_minute_if_handoff_timeout_says_so() {
    let [a, b] = Rig::new(405).cluster(["a:1", "b:1"]).await;
    let patient = async |node: &Node| {
        let books = node.shard("books", |_| Writer::default()).shards(16).migrate_state();
        books.handoff_timeout(Duration::from_secs(180)).start().await.unwrap()
    };
    let regions = [patient(&a).await, patient(&b).await];
    let ids = neighbours(&b, &regions[1]).await;
    let began = tokio::time::Instant::now();
    regions[1].tell(ids[0].clone(), Book::Slow { sender: 1, number: 2, seconds: 150 }).await.unwrap();
    after(Duration::from_secs(1)).await;
    timeout(LONG, b.drain()).await.unwrap().unwrap();
    assert!(
        began.elapsed() < Duration::from_secs(152),
        "the first try did not succeed: {:?}",
        began.elapsed()
    );
    let pages = within(regions[0].ask(ids[0].clone(), Book::Read)).await.unwrap();
    assert_eq!(pages.notes[&1], (2, 2), "what the turn wrote moved with it");
}

#[tokio::test(start_paused = true)]
async fn a_region_that_is_shut_down_waits_for_another_host_and_its_entities_live_on() {
    let mut rig = Rig::new(406);
    let [a, b] = rig.cluster(["a:1", "b:1"]).await;
    let region = books(&a).await;
    within(region.ask("x", |reply| Book::Sign { sender: 1, number: 1, reply })).await.unwrap();
    let ending = tokio::spawn({
        let region = region.clone();
        async move { region.shutdown().await }
    });
    after(Duration::from_secs(100)).await;
    assert!(!ending.is_finished(), "nobody else hosts the type");
    assert_eq!(signs(&region, "x").await, 2);
    let of_b = books(&b).await;
    within(ending).await.unwrap().unwrap();
    let pages = within(of_b.ask("x", Book::Read)).await.unwrap();
    assert_eq!(pages.notes[&1], (2, 2), "its state moved");
}

/// Nothing is dropped silently: it is told who lost what.
#[tokio::test(start_paused = true)]
async fn what_a_leave_was_told_to_drop_is_counted_and_returned() {
    let mut rig = Rig::new(408);
    let [a, b] = rig.cluster_with(["a:1", "b:1"], |node| node.drop_after(Duration::from_secs(30))).await;
    let regions = [books(&a).await, books(&b).await];
    let ids = neighbours(&b, &regions[1]).await;
    regions[1].tell(ids[0].clone(), Book::Hang).await.unwrap();
    after(Duration::from_secs(1)).await;
    // It is stuck first, and goes on.
    let mut left = timeout(LONG, b.leave()).await.unwrap();
    while matches!(left, Err(LeaveError::Stuck(_))) {
        left = timeout(LONG, b.leave()).await.unwrap();
    }
    let Err(LeaveError::Dropped(dropped)) = left else { panic!("{left:?}") };
    assert_eq!((dropped.shards, dropped.entities), (0, 1), "only the one whose turn was ended");
    let losses = b.sharding_stats_here().await.state_losses.unmoved;
    assert_eq!((losses.shards, losses.entities), (0, 1));
    for id in &ids[1..] {
        assert_eq!(signs(&regions[0], id).await, 2, "state of {id}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_leave_says_what_it_dropped_because_no_other_member_hosts_the_type() {
    let [a, b] = Rig::new(409).cluster(["a:1", "b:1"]).await;
    let region = books(&b).await;
    for id in 0..10_u64 {
        signs(&region, &id.to_string()).await;
    }
    let left = within(b.leave()).await;
    let Err(LeaveError::Dropped(dropped)) = left else { panic!("{left:?}") };
    assert_eq!(dropped.entities, 10);
    // The last member has nobody to give it to, and its cluster ends with it.
    let region = books(&a).await;
    signs(&region, "x").await;
    within(a.leave()).await.unwrap();
}

/// Says that it begins, and blocks its thread until it is told to go on.
struct Blocker(UnboundedSender<()>, Arc<Mutex<mpsc::Receiver<()>>>);

impl Actor for Blocker {
    type Msg = u64;

    async fn receive(&mut self, _: u64, _: &mut Context<Self>) -> Result<(), Fault> {
        let _ = self.0.send(());
        self.1.lock().unwrap().recv_timeout(LONG).map_err(|_| Fault::new("nobody came"))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_leave_names_the_handler_that_blocks_its_worker_and_ends_once_it_returns() {
    let ((go, on), (begins, mut began)) = (mpsc::channel(), unbounded_channel());
    let on = Arc::new(Mutex::new(on));
    let a = Node::builder("test").listen("127.0.0.1:0").start().await.unwrap();
    let b = Node::builder("test").listen("127.0.0.1:0").seed(a.address().to_string()).start().await.unwrap();
    within(a.wait_for(2)).await.unwrap();
    within(b.wait_for(2)).await.unwrap();
    let blockers = async |node: &Node| {
        let (begins, on) = (begins.clone(), on.clone());
        let make = move |_: &EntityId| Blocker(begins.clone(), on.clone());
        let blockers = node.shard("blockers", make).shards(4).keeps_own_state();
        blockers.handoff_timeout(Duration::from_secs(1)).start().await.unwrap()
    };
    let region = blockers(&b).await;
    within(region.tell("slow", 1)).await.unwrap();
    within(began.recv()).await.unwrap();
    let _hosts = blockers(&a).await;
    let error = within(b.leave()).await.expect_err("it cannot go").to_string();
    assert!(error.contains("the handler of blockers/slow blocks it"), "{error}");
    go.send(()).unwrap();
    within(b.leave()).await.unwrap();
}

/// Of many bytes.
#[derive(Default, Serialize, Deserialize)]
struct Large(Vec<u8>);

#[derive(Serialize, Deserialize)]
enum Fill {
    Fill(usize),
    Length(Reply<usize>),
}

impl Actor for Large {
    type Msg = Fill;

    async fn receive(&mut self, fill: Fill, _: &mut Context<Self>) -> Result<(), Fault> {
        match fill {
            Fill::Fill(length) => self.0 = vec![7; length],
            Fill::Length(reply) => reply.send(self.0.len()),
        }
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_shard_that_takes_longer_than_ten_seconds_to_transfer_moves() {
    const LENGTH: usize = 24 << 20;
    let mut rig = Rig::new(407);
    let [a, b] = rig.cluster(["a:1", "b:1"]).await;
    let large =
        async |node: &Node| node.shard("large", |_| Large::default()).shards(1).migrate_state().start().await;
    let of_a = large(&a).await.unwrap();
    within(of_a.tell("x", Fill::Fill(LENGTH))).await.unwrap();
    let region = large(&b).await.unwrap();
    assert_eq!(within(region.ask("x", Fill::Length)).await.unwrap(), LENGTH);
    // About a MiB for each way there and back.
    let delay = Duration::from_millis(400);
    rig.network.delay(&Address::new("a:1"), &Address::new("b:1"), delay..=delay);
    let began = tokio::time::Instant::now();
    timeout(LONG, a.drain()).await.expect("it never moves").unwrap();
    assert!(began.elapsed() > Duration::from_secs(10), "too fast to show anything: {:?}", began.elapsed());
    assert_eq!(within(region.ask("x", Fill::Length)).await.unwrap(), LENGTH);
}
