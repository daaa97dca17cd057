//! A process whose node was removed and joined again, as another incarnation: what it does as the second one is not held up by what it did as the first.

use std::time::Duration;

use borough_cluster::Node;
use tokio::time::Instant;

use crate::book::{Book, books};
use crate::rig::{Rig, after, within};

async fn hosted(node: &Node) -> usize {
    node.sharding_stats_here().await.kinds[0].shards.len()
}

/// Parts of the first move stayed in a queue to the other node that belonged to the first incarnation: the move was called off after 10 s.
#[tokio::test(start_paused = true)]
async fn shards_move_at_once_to_a_node_that_had_shards_of_the_former_incarnation() {
    let mut rig = Rig::new(141);
    let [a, b, c] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    let region = books(&a).await;
    books(&b).await;
    books(&c).await;
    for id in 0..64_u64 {
        within(region.tell(id.to_string(), Book::Note { sender: 1, number: 1 })).await.unwrap();
    }
    let d = rig.node("d:1", &["a:1"]).start().await.unwrap();
    within(d.wait_for(4)).await.unwrap();
    books(&d).await;
    after(Duration::from_secs(8)).await;
    assert!(hosted(&d).await > 0, "c gave some of its shards to d");

    let first = c.uid();
    for other in ["a:1", "b:1", "d:1"] {
        rig.part("c:1", other);
    }
    after(Duration::from_secs(4)).await;
    rig.network.heal_all();
    after(Duration::from_secs(12)).await;
    assert!(c.uid() != first && hosted(&c).await > 0, "c is back, and hosts some shards");

    for id in 0..64_u64 {
        within(region.tell(id.to_string(), Book::Note { sender: 2, number: 1 })).await.unwrap();
    }
    let begin = Instant::now();
    within(c.leave()).await.unwrap();
    assert!(begin.elapsed() < Duration::from_secs(3), "leaving took {:?}", begin.elapsed());
    for id in 0..64_u64 {
        let pages = within(region.ask(id.to_string(), Book::Read)).await.unwrap();
        assert_eq!((pages.notes.get(&2), pages.misplaced), (Some(&(1, 1)), vec![]), "book {id}");
    }
}
