//! A node gives away what lives on it, and stays.

use std::time::Duration;

use borough_cluster::{Node, ShardMap};

use crate::book::{Book, books};
use crate::rig::{Rig, after, within};

/// How many shards of books a node owns, by that node's copy of the table.
fn owned(seen_by: &Node, owner: &Node) -> usize {
    let maps = seen_by.shard_maps();
    let places = maps.iter().flat_map(|map| &map.places);
    places.filter(|place| place.owner.as_ref().is_some_and(|(_, uid)| *uid == owner.uid())).count()
}

#[tokio::test(start_paused = true)]
async fn a_drained_node_hosts_nothing_and_stays_a_member_and_a_proxy() {
    let [a, b, c] = Rig::new(141).cluster(["a:1", "b:1", "c:1"]).await;
    let regions = [books(&a).await, books(&b).await, books(&c).await];
    for id in 0..64_u64 {
        let note = |reply| Book::Sign { sender: 1, number: 1, reply };
        within(regions[2].ask(id.to_string(), note)).await.unwrap();
    }
    after(Duration::from_secs(5)).await;
    assert!(owned(&a, &c) > 0);
    within(c.drain()).await.unwrap();
    assert_eq!((owned(&c, &c), c.sharding_stats_here().await.kinds[0].hosts), (0, false));
    assert_eq!(c.shard_maps()[0].hosts.len(), 2);
    assert_eq!(c.topology().current().up().count(), 3);
    for id in 0..64_u64 {
        let note = |reply| Book::Sign { sender: 1, number: 2, reply };
        assert_eq!(
            within(regions[2].ask(id.to_string(), note)).await.unwrap(),
            2,
            "its state has moved with it"
        );
    }
    // Nothing comes back by itself, and it may be said again.
    after(Duration::from_secs(30)).await;
    assert_eq!(owned(&a, &c), 0);
    within(c.drain()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_node_that_hosts_nothing_is_drained_at_once() {
    let mut rig = Rig::new(142);
    let alone = rig.node("a:1", &[]).start().await.unwrap();
    within(alone.drain()).await.unwrap();
    let seeking = rig.node("b:1", &["nowhere:1"]).start().await.unwrap();
    within(seeking.drain()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_node_that_was_drained_before_it_joined_hosts_nothing_then() {
    let mut rig = Rig::new(145);
    let late = rig.node("b:1", &["a:1"]).start().await.unwrap();
    let region = books(&late).await;
    within(late.drain()).await.unwrap();
    let [a] = rig.cluster(["a:1"]).await;
    books(&a).await;
    within(late.wait_for(2)).await.unwrap();
    after(Duration::from_secs(10)).await;
    assert_eq!(late.shard_maps()[0].hosts.len(), 1);
    within(region.ask("x", Book::Life)).await.unwrap();
    assert_eq!(owned(&a, &a), 1);
}

#[tokio::test(start_paused = true)]
async fn a_drain_without_another_host_waits_for_one_and_the_entities_live_on() {
    let mut rig = Rig::new(143);
    let [a, b] = rig.cluster(["a:1", "b:1"]).await;
    let region = books(&a).await;
    within(region.ask("x", Book::Life)).await.unwrap();
    {
        let mut drain = std::pin::pin!(a.drain());
        assert!(tokio::time::timeout(Duration::from_secs(20), drain.as_mut()).await.is_err());
        within(region.ask("x", Book::Life)).await.unwrap();
    }
    // It was dropped, and goes on all the same.
    let _hosts = books(&b).await;
    within(async {
        while owned(&a, &a) > 0 {
            after(Duration::from_millis(100)).await;
        }
    })
    .await;
    assert_eq!(owned(&a, &b), 1);
}

#[tokio::test(start_paused = true)]
async fn the_maps_of_all_nodes_say_the_same_and_what_explain_says() {
    let mut rig = Rig::new(144);
    let lost = rig.node("z:1", &["nowhere:1"]).start().await.unwrap();
    assert_eq!(lost.shard_maps(), []);
    let [a, b] = rig.cluster(["a:1", "b:1"]).await;
    let regions = [books(&a).await, books(&b).await];
    within(regions[0].ask("x", Book::Life)).await.unwrap();
    after(Duration::from_secs(5)).await;
    assert_eq!(a.shard_maps(), b.shard_maps());
    let maps = a.shard_maps();
    let [ShardMap { kind, shards, hosts, places, .. }] = maps.as_slice() else { panic!("{maps:?}") };
    assert_eq!((&**kind, *shards, hosts.len()), ("books", 16, 2));
    let [place] = places.as_slice() else { panic!("only one shard was ever wanted: {places:?}") };
    let explained = a.explain("books", "x").unwrap();
    assert_eq!(
        (place.shard, &place.owner, place.epoch),
        (explained.shard, &explained.owner, explained.epoch)
    );
    assert_eq!(place.moving_to, None);
}
