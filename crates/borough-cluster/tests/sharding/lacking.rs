//! Types that nobody can take in get words.

use std::time::Duration;

use borough_cluster::{LeaveError, Node, ShardNews};
use tokio::sync::broadcast::Receiver;

use crate::book::{Book, Writer, books};
use crate::hearing::Warnings;
use crate::rig::{Rig, after, within};

/// All that was told so far of hosts that are not there.
fn lacks(events: &mut Receiver<borough_cluster::ShardEvent>) -> Vec<ShardNews> {
    std::iter::from_fn(|| events.try_recv().ok())
        .map(|event| event.what)
        .filter(|what| matches!(what, ShardNews::NobodyHosts { .. } | ShardNews::TooFewHosts { .. }))
        .collect()
}

fn why(node: &Node) -> String {
    node.explain("books", "x").unwrap().why
}

#[tokio::test(start_paused = true)]
async fn a_type_that_nobody_of_its_role_hosts_is_reported_once_with_who_is_there() {
    let (warnings, _guard) = Warnings::listen();
    let [a, b] = Rig::new(61).cluster_with(["a:1", "b:1"], |node| node.role("front")).await;
    let mut events = a.shard_events();
    let proxy = a.shard_proxy::<Book>("books").shards(16).role("back").start().await.unwrap();
    // Started where the role is not: it hosts nothing there.
    let wrong = b.shard("books", |_| Writer::default()).shards(16).role("back").migrate_state();
    wrong.start().await.unwrap();
    within(proxy.tell("x", Book::Close)).await.unwrap();
    after(Duration::from_secs(4)).await;
    assert!(lacks(&mut events).is_empty(), "said before it is sure");
    after(Duration::from_secs(20)).await;
    let said = warnings.with("messages wait");
    assert_eq!(said.len(), 1, "{said:?}");
    for word in ["back", "books", a.node_id().as_str(), b.node_id().as_str(), "front", "node.shard"] {
        assert!(said[0].contains(word), "{word} is not in {}", said[0]);
    }
    let role = Some("back".into());
    assert_eq!(lacks(&mut events), [ShardNews::NobodyHosts { role, waiting: 1 }]);
    let why = why(&a);
    assert!(said[0].contains(&why), "{why} is not what was logged: {}", said[0]);
}

#[tokio::test(start_paused = true)]
async fn what_waited_for_a_host_is_handled_once_there_is_one_and_a_new_lack_is_told_again() {
    let [a, b] = Rig::new(62).cluster(["a:1", "b:1"]).await;
    let mut events = a.shard_events();
    let proxy = a.shard_proxy::<Book>("books").shards(16).start().await.unwrap();
    within(proxy.tell("x", Book::Note { sender: 1, number: 1 })).await.unwrap();
    after(Duration::from_secs(8)).await;
    assert_eq!(lacks(&mut events).len(), 1);
    books(&b).await;
    assert_eq!(within(proxy.ask("x", Book::Read)).await.unwrap().notes[&1], (1, 1));
    after(Duration::from_secs(2)).await;
    let left = within(b.leave()).await;
    assert!(matches!(left, Err(LeaveError::Dropped(_))), "nobody else hosts it: {left:?}");
    within(proxy.tell("x", Book::Close)).await.unwrap();
    after(Duration::from_secs(8)).await;
    assert_eq!(lacks(&mut events).len(), 1, "the second lack");
}

#[tokio::test(start_paused = true)]
async fn fewer_hosts_than_the_minimum_are_reported_with_both_numbers() {
    let (warnings, _guard) = Warnings::listen();
    let [a] = Rig::new(63).cluster(["a:1"]).await;
    let mut events = a.shard_events();
    let books = a.shard("books", |_| Writer::default()).min_regions(3).migrate_state().start().await.unwrap();
    within(books.tell("x", Book::Close)).await.unwrap();
    after(Duration::from_secs(8)).await;
    assert_eq!(lacks(&mut events), [ShardNews::TooFewHosts { hosts: 1, wanted: 3, waiting: 1 }]);
    assert_eq!(warnings.with(&why(&a)).len(), 1);
    assert!(why(&a).contains("min_regions"), "{}", why(&a));
}

#[tokio::test(start_paused = true)]
async fn fewer_shards_than_hosts_are_warned_about_once() {
    let (warnings, _guard) = Warnings::listen();
    let nodes = Rig::new(64).cluster(["a:1", "b:1", "c:1"]).await;
    let warned = || warnings.with("fewer shards").len();
    for node in &nodes[..2] {
        node.shard("books", |_| Writer::default()).shards(2).migrate_state().start().await.unwrap();
    }
    after(Duration::from_secs(8)).await;
    assert_eq!(warned(), 0);
    nodes[2].shard("books", |_| Writer::default()).shards(2).migrate_state().start().await.unwrap();
    after(Duration::from_secs(8)).await;
    // Each node says it once.
    assert_eq!(warned(), 3);
}
