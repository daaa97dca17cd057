//! What a node that leaves has accepted reaches its entities, and then it accepts nothing.

use std::time::Duration;

use borough_cluster::{Address, Node, Region, ShardError, Uid};
use tokio::time::Instant;

use crate::book::{Book, Writer, books};
use crate::rig::{Rig, after, within};

#[tokio::test(start_paused = true)]
async fn what_a_node_accepted_before_it_leaves_reaches_its_entities() {
    let mut rig = Rig::new(131);
    let [a, b, c] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    let regions = [books(&a).await, books(&b).await, books(&c).await];
    for id in 0..64_u64 {
        within(regions[2].ask(id.to_string(), Book::Life)).await.unwrap();
    }
    after(Duration::from_secs(5)).await;
    let delay = Duration::from_millis(100);
    rig.network.delay(&Address::new("c:1"), &Address::new("b:1"), delay..=delay);
    let writer = tokio::spawn({
        let region = regions[2].clone();
        async move {
            let mut accepted = [0_u64; 64];
            for number in 1..=100_000 {
                for id in 0..64 {
                    let note = Book::Note { sender: 1, number };
                    match tokio::time::timeout(Duration::from_secs(2), region.tell(id.to_string(), note))
                        .await
                    {
                        Ok(Ok(())) => accepted[id] = number,
                        _ => return accepted,
                    }
                }
                after(Duration::from_millis(5)).await;
            }
            accepted
        }
    });
    after(Duration::from_millis(200)).await;
    within(c.leave()).await.unwrap();
    let accepted = within(writer).await.unwrap();
    after(Duration::from_secs(5)).await;
    let mut missing = Vec::new();
    for (id, accepted) in accepted.into_iter().enumerate() {
        let pages = within(regions[0].ask(id.to_string(), Book::Read)).await.unwrap();
        let (count, last) = pages.notes.get(&1).copied().unwrap_or_default();
        assert!(pages.misplaced.is_empty(), "{:?}", pages.misplaced);
        if count != accepted {
            missing.push((id, accepted, count, last));
        }
    }
    assert!(missing.is_empty(), "(id, accepted, handled, last): {missing:?}");
}

/// The same, but nothing is accepted any more as the leave begins.
#[tokio::test(start_paused = true)]
async fn what_a_node_accepted_just_before_it_leaves_reaches_its_entities() {
    let mut rig = Rig::new(132);
    let [a, b, c] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    let regions = [books(&a).await, books(&b).await, books(&c).await];
    for id in 0..64_u64 {
        within(regions[2].ask(id.to_string(), Book::Life)).await.unwrap();
    }
    after(Duration::from_secs(5)).await;
    for number in 1..=20 {
        for id in 0..64_u64 {
            regions[2].tell(id.to_string(), Book::Note { sender: 1, number }).await.unwrap();
        }
    }
    within(c.leave()).await.unwrap();
    for id in 0..64_u64 {
        let pages = within(regions[0].ask(id.to_string(), Book::Read)).await.unwrap();
        assert_eq!(pages.notes.get(&1), Some(&(20, 20)), "{id}");
    }
}

/// Nobody stays who could take over, so nothing is moved and no vote is waited for.
#[tokio::test(start_paused = true)]
async fn a_whole_cluster_that_leaves_at_once_has_left_within_two_seconds() {
    let mut rig = Rig::new(134);
    let [a, b, c] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    let regions = [books(&a).await, books(&b).await, books(&c).await];
    for id in 0..64_u64 {
        within(regions[2].ask(id.to_string(), Book::Life)).await.unwrap();
    }
    after(Duration::from_secs(5)).await;
    let begun = Instant::now();
    let left = within(async { tokio::join!(a.leave(), b.leave(), c.leave()) }).await;
    assert!(matches!(left, (Ok(()), Ok(()), Ok(()))), "{left:?}");
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

/// Nobody will ever handle it.
#[tokio::test(start_paused = true)]
async fn a_node_that_has_left_accepts_nothing() {
    let mut rig = Rig::new(133);
    let [a, b] = rig.cluster(["a:1", "b:1"]).await;
    let regions = [books(&a).await, books(&b).await];
    within(regions[1].ask("x", Book::Life)).await.unwrap();
    within(b.leave()).await.unwrap();
    let told = regions[1].try_tell("x", Book::Note { sender: 1, number: 1 });
    assert!(told.is_err(), "accepted by a node that has left");
}

/// Nobody would ever end it, and what it accepted would wait for good.
#[tokio::test(start_paused = true)]
async fn a_type_that_is_started_after_its_node_has_left_is_refused() {
    let mut rig = Rig::new(135);
    let [_a, b] = rig.cluster(["a:1", "b:1"]).await;
    within(b.leave()).await.unwrap();
    let hosted = within(b.shard("books", |_| Writer::default()).migrate_state().start()).await;
    assert!(matches!(hosted, Err(ShardError::Ended)), "{hosted:?}");
    let proxy = within(b.shard_proxy::<Book>("books").start()).await;
    assert!(matches!(proxy, Err(ShardError::Ended)), "{proxy:?}");
}

/// Ids of entities that live on that node.
async fn ids_on(node: &Node, region: &Region<Book>) -> Vec<String> {
    let mut ids = Vec::new();
    for id in (0..64_u64).map(|id| id.to_string()) {
        within(region.ask(id.clone(), Book::Life)).await.unwrap();
        let owner = node.explain("books", id.clone()).unwrap().owner;
        if owner.is_some_and(|(_, uid)| uid == node.uid()) {
            ids.push(id);
        }
    }
    ids
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_waits_for_an_entity_that_takes_45_seconds_to_end_its_turn() {
    let mut rig = Rig::new(134);
    let [a, b] = rig.cluster(["a:1", "b:1"]).await;
    let regions = [books(&a).await, books(&b).await];
    let id = ids_on(&b, &regions[1]).await.pop().unwrap();
    regions[0].tell(id.clone(), Book::Slow { sender: 1, number: 1, seconds: 45 }).await.unwrap();
    after(Duration::from_secs(1)).await;
    let began = Instant::now();
    tokio::time::timeout(Duration::from_secs(100), b.shutdown()).await.unwrap();
    assert!(began.elapsed() >= Duration::from_secs(40), "cut short after {:?}", began.elapsed());
    let pages = within(regions[0].ask(id, Book::Read)).await.unwrap();
    assert_eq!(pages.notes.get(&1), Some(&(1, 1)), "what it wrote at the end of its turn moved with it");
}

/// The members that host the type, by that node's copy of the table.
fn hosts(node: &Node) -> Vec<Uid> {
    node.shard_maps()[0].hosts.iter().map(|(_, uid)| *uid).collect()
}

#[tokio::test(start_paused = true)]
async fn a_type_that_was_shut_down_before_its_node_joined_is_not_hosted_there() {
    let mut rig = Rig::new(136);
    let late = rig.node("b:1", &["a:1"]).start().await.unwrap();
    let region = books(&late).await;
    within(region.shutdown()).await.unwrap();
    assert!(!region.state().await.hosts);
    let [a] = rig.cluster(["a:1"]).await;
    books(&a).await;
    within(late.wait_for(2)).await.unwrap();
    after(Duration::from_secs(10)).await;
    assert_eq!(hosts(&a), [a.uid()]);
    within(region.ask("x", Book::Life)).await.unwrap();
    assert_eq!(region.state().await.entities(), 0, "it is a proxy");
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_holds_although_the_life_of_its_node_ends_meanwhile() {
    let mut rig = Rig::new(137);
    let [a, b] = rig.cluster(["a:1", "b:1"]).await;
    let c = rig.node("c:1", &["a:1"]).start().await.unwrap();
    for node in [&a, &b, &c] {
        within(node.wait_for(3)).await.unwrap();
    }
    let regions = [books(&a).await, books(&b).await, books(&c).await];
    let id = ids_on(&c, &regions[2]).await.pop().unwrap();
    within(regions[2].tell(id.clone(), Book::Hang)).await.unwrap();
    after(Duration::from_secs(1)).await;
    let ending = tokio::spawn({
        let region = regions[2].clone();
        async move { region.shutdown().await }
    });
    after(Duration::from_secs(5)).await;
    assert!(!ending.is_finished(), "its turn never ends");
    let before = c.uid();
    a.down("c:1").await.unwrap();
    within(ending).await.unwrap().unwrap();
    within(c.topology().wait_until(|topology| topology.incarnation.uid != before)).await.unwrap();
    within(c.wait_for(3)).await.unwrap();
    after(Duration::from_secs(10)).await;
    let mut both = [a.uid(), b.uid()];
    both.sort_unstable();
    assert_eq!(hosts(&c), both);
    assert!(!regions[2].state().await.hosts);
    within(regions[2].ask(id, Book::Life)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_only_host_of_a_type_that_shuts_it_down_keeps_its_entities_until_there_is_another() {
    let mut rig = Rig::new(135);
    let [a, b, c] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    let region = books(&a).await;
    let proxy = b.shard_proxy::<Book>("books").shards(16).start().await.unwrap();
    within(region.tell("x", Book::Note { sender: 1, number: 1 })).await.unwrap();
    assert_eq!(within(proxy.ask("x", Book::Read)).await.unwrap().notes.len(), 1);
    let ending = tokio::spawn({
        let region = region.clone();
        async move { region.shutdown().await }
    });
    after(Duration::from_secs(10)).await;
    within(proxy.tell("x", Book::Note { sender: 2, number: 1 })).await.unwrap();
    assert_eq!(within(proxy.ask("x", Book::Read)).await.unwrap().notes.len(), 2, "it lives on");
    books(&c).await;
    within(ending).await.unwrap().unwrap();
    within(region.tell("x", Book::Note { sender: 3, number: 1 })).await.unwrap();
    let pages = within(proxy.ask("x", Book::Read)).await.unwrap();
    assert_eq!(pages.notes.len(), 3, "its state moved: {pages:?}");
}
