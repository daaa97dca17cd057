//! Which entities live: their ids, a page at a time, and what is said of where they are.

use std::collections::BTreeSet;
use std::time::Duration;

use borough_cluster::{Allocation, EntitiesError, EntityId, IntoEntityId, Node, Region};

use crate::book::{Book, Writer, books};
use crate::rig::{Rig, after, within};

/// More than one page holds.
const MANY: usize = 2500;

/// All ids of a shard, page by page, and how many pages that took.
async fn listed(node: &Node, shard: u32) -> (Vec<EntityId>, usize) {
    let (mut ids, mut pages) = (Vec::new(), 0);
    loop {
        let page = within(node.entities_of("books", shard, ids.last())).await.unwrap();
        ids.extend(page.ids);
        pages += 1;
        if page.is_last {
            return (ids, pages);
        }
    }
}

/// As many ids as that, all of one shard.
fn of_shard(books: &Region<Book>, shard: u32, count: usize) -> BTreeSet<String> {
    let ids = (0..).map(|number| format!("book-{number}"));
    ids.filter(|id| books.shard_of(id.as_str()).unwrap() == shard).take(count).collect()
}

#[tokio::test(start_paused = true)]
async fn the_ids_of_a_shard_are_listed_page_by_page_from_any_node_each_once() {
    let mut rig = Rig::new(160);
    let [a, b] = rig.cluster(["a:1", "b:1"]).await;
    let region = books(&a).await;
    let ids = of_shard(&region, 3, MANY);
    for id in &ids {
        within(region.start(id.as_str())).await.unwrap();
    }
    within(region.start(&*of_shard(&region, 4, 1).pop_first().unwrap())).await.unwrap();
    let wanted: Vec<EntityId> = ids.iter().map(|id| id.as_str().into_entity_id().unwrap()).collect();
    // The type was never started on the other node.
    for node in [&a, &b] {
        assert_eq!(listed(node, 3).await, (wanted.clone(), 3));
    }
    assert_eq!(listed(&b, 4).await.0.len(), 1);
    assert_eq!(listed(&b, 5).await, (Vec::new(), 1), "nobody ever wanted it");
    let page = within(region.entities_of(3, Some(&wanted[MANY - 2]))).await.unwrap();
    assert_eq!((page.ids.as_slice(), page.is_last), (&wanted[MANY - 1..], true));
    assert_eq!(page.epoch, a.explain("books", wanted[0].clone()).unwrap().epoch.get());
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_listed_is_an_error_that_says_why() {
    let mut rig = Rig::new(161);
    let [a] = rig.cluster(["a:1"]).await;
    let region = books(&a).await;
    within(region.start("x")).await.unwrap();
    let unknown = within(a.entities_of("pens", 0, None)).await.unwrap_err();
    assert_eq!(unknown, EntitiesError::Unknown { kind: "pens".into() });
    let beyond = within(region.entities_of(16, None)).await.unwrap_err();
    assert_eq!(beyond.to_string(), "books has no shard 16: it has 16, counted from 0");
}

#[tokio::test(start_paused = true)]
async fn why_a_shard_is_where_it_is_names_the_rule_that_chose_its_owner() {
    let mut rig = Rig::new(162);
    let [a] = rig.cluster(["a:1"]).await;
    for (name, allocation, words) in [
        ("least", Allocation::LeastShards { absolute: 0, percent: 10 }, "which had the fewest shards"),
        ("hashed", Allocation::Rendezvous, "by the hash of its number"),
        ("placed", Allocation::External, "by an order"),
    ] {
        let region =
            a.shard(name, |_| Writer::default()).shards(16).allocation(allocation).start().await.unwrap();
        within(region.start("x")).await.unwrap();
        after(Duration::from_secs(1)).await;
        let why = a.explain(name, "x").unwrap().why;
        assert!(why.contains(words) && why.contains("started empty"), "{name}: {why}");
        assert_eq!(why.contains("fewest"), name != "hashed", "{name}: {why}");
    }
}
