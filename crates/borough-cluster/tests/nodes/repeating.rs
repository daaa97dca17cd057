//! A simulated node is the same every time.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::rig::{Rig, after, within};

/// What three nodes saw, and when, while one of them was struck and another left.
fn lives(seed: u64) -> Vec<String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let begun = Instant::now();
        let mut rig = Rig::new(seed);
        let addresses = ["a:1", "b:1", "c:1"];
        let mut watching = JoinSet::new();
        let mut nodes = Vec::new();
        for address in addresses {
            let node = rig.node(address, &addresses).start().await.unwrap();
            let mut topology = node.topology();
            watching.spawn(async move {
                let mut news = Vec::new();
                while let Ok(snapshot) = topology.changed().await {
                    news.push(format!("{:?} {snapshot:?}", begun.elapsed()));
                }
                news
            });
            nodes.push(node);
        }
        for node in &nodes {
            within(node.wait_for(3)).await.unwrap();
        }
        drop(nodes.pop());
        after(Duration::from_secs(10)).await;
        within(nodes[1].leave()).await.unwrap();
        drop(nodes);
        watching.join_all().await.concat()
    })
}

#[test]
fn one_seed_gives_the_same_lives_at_the_same_moments() {
    let first = lives(7);
    assert!(first.len() > 20, "{first:#?}");
    assert_eq!(first, lives(7));
    assert_ne!(first, lives(8));
}
