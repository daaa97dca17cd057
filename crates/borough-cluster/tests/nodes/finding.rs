//! How a node asks for its seeds.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use borough_cluster::{Address, Discovery, DiscoveryError, Seeds, Standing, TopologySnapshot};

use crate::rig::{Rig, within};

/// Fails once, finds nobody once, and then one seed; counts how often it was asked.
#[derive(Clone, Default)]
struct Hesitant {
    asked: Arc<AtomicUsize>,
}

impl Discovery for Hesitant {
    fn seeds(&self) -> Seeds<'_> {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            match asked {
                0 => Err(DiscoveryError::Other("not yet".into())),
                1 => Ok(Vec::new()),
                _ => Ok(vec![Address::new("a:1")]),
            }
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_discovery_is_asked_until_it_finds_somebody_and_again_before_each_life() {
    let mut rig = Rig::new(90);
    let first = rig.node("a:1", &[]).start().await.unwrap();
    let hesitant = Hesitant::default();
    let second = rig.node("b:1", &[]).discovery(hesitant.clone()).node_id("second").start().await.unwrap();
    within(second.wait_for(2)).await.unwrap();
    assert_eq!(hesitant.asked.load(Ordering::Relaxed), 3);
    within(first.wait_for(2)).await.unwrap();
    let before = second.uid();
    first.down("second").await.unwrap();
    let is_back =
        |topology: &TopologySnapshot| topology.incarnation.uid != before && topology.up().count() == 2;
    within(second.topology().wait_until(is_back)).await.unwrap();
    assert_eq!(hesitant.asked.load(Ordering::Relaxed), 4);
}

/// Never answers.
struct Lost;

impl Discovery for Lost {
    fn seeds(&self) -> Seeds<'_> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_whose_discovery_hangs_can_leave_all_the_same() {
    let node = Rig::new(91).node("a:1", &[]).discovery(Lost).start().await.unwrap();
    within(node.leave()).await.unwrap();
    assert_eq!(node.topology().current().standing, Standing::Left);
}
