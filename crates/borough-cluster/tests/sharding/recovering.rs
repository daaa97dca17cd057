//! The voters are lost for good, and the node that is left begins the cluster anew: what becomes of entities.

use borough_cluster::Standing;

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
    let suspended = |standing: &Standing| *standing == Standing::Suspended;
    within(b.topology().wait_until(|topology| suspended(&topology.standing))).await.unwrap();
    let plan = b.recovery_plan().unwrap();
    assert!((1..=16).contains(&plan.shards), "{plan:?}");
    within(b.recover(&["a:1"])).await.unwrap();
    within(b.topology().wait_until(|topology| topology.standing == Standing::Member)).await.unwrap();
    for (id, epoch) in (0..32_u64).zip(before) {
        let (_, now) = within(of_b.ask(id.to_string(), Book::Life)).await.unwrap();
        assert!(now > epoch, "{id} lives at {now}, and lived at {epoch}");
        let pages = within(of_b.ask(id.to_string(), Book::Read)).await.unwrap();
        assert!(pages.notes.is_empty(), "{id} remembers: {pages:?}");
    }
}
