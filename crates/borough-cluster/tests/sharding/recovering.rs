//! The voters are lost for good, and the node that is left recovers the cluster: what becomes of entities.

use borough_actor::AskError;
use borough_cluster::{Node, Standing};

use crate::book::{Book, books};
use crate::rig::{Rig, within};

#[tokio::test(start_paused = true)]
async fn every_entity_begins_anew_at_a_higher_epoch_on_the_node_that_is_left() {
    let mut rig = Rig::new(60);
    let [a, b] = rig.cluster(["a:1", "b:1"]).await;
    let (of_a, of_b) = (books(&a).await, books(&b).await);
    let mut before = Vec::new();
    for id in 0..32_u64 {
        within(of_b.ask(id.to_string(), |reply| Book::Sign { sender: 1, number: 1, reply })).await.unwrap();
        before.push(within(of_a.ask(id.to_string(), Book::Life)).await.unwrap().1);
    }
    // Of two nodes the older votes alone.
    drop(a);
    until(&b, Standing::Suspended).await;
    let plan = b.recovery_plan().unwrap();
    assert!((1..=16).contains(&plan.shards), "{plan:?}");
    within(b.recover(&["a:1"])).await.unwrap();
    until(&b, Standing::Member).await;
    for (id, epoch) in (0..32_u64).zip(before) {
        let (_, now) = within(of_b.ask(id.to_string(), Book::Life)).await.unwrap();
        assert!(now > epoch, "{id} lives at {now}, and lived at {epoch}");
        let pages = within(of_b.ask(id.to_string(), Book::Read)).await.unwrap();
        assert!(pages.notes.is_empty(), "{id} remembers: {pages:?}");
    }
}

/// Whoever asked an entity of the node itself just before its life ended learns at once that nobody will answer, and does not wait until his time is up.
#[tokio::test(start_paused = true)]
async fn what_was_asked_in_the_life_before_is_refused() {
    let mut rig = Rig::new(61);
    let [a, b] = rig.cluster(["a:1", "b:1"]).await;
    let (_of_a, of_b) = (books(&a).await, books(&b).await);
    for id in 0..32_u64 {
        within(of_b.ask(id.to_string(), Book::Life)).await.unwrap();
    }
    drop(a);
    until(&b, Standing::Suspended).await;
    let asks: Vec<_> = (0..32_u64)
        .map(|id| {
            let of_b = of_b.clone();
            tokio::spawn(async move { of_b.ask(id.to_string(), Book::Life).await })
        })
        .collect();
    tokio::task::yield_now().await;
    within(b.recover(&["a:1"])).await.unwrap();
    until(&b, Standing::Member).await;
    for ask in asks {
        let answer = within(ask).await.unwrap();
        assert!(matches!(answer, Err(AskError::Discarded { .. } | AskError::NodeLost { .. })), "{answer:?}");
    }
}

async fn until(node: &Node, standing: Standing) {
    within(node.topology().wait_until(|topology| topology.standing == standing)).await.unwrap();
}
