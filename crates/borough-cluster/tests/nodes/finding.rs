//! How a node asks for its seeds.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use borough_cluster::{
    Address, Discovery, DiscoveryError, FoundWith, Seeds, Standing, StartError, TopologySnapshot,
};

use crate::rig::{Rig, after, within};

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
async fn a_discovery_is_asked_until_it_finds_somebody_and_again_every_second() {
    let mut rig = Rig::new(90);
    let first = rig.node("a:1", &[]).start().await.unwrap();
    let hesitant = Hesitant::default();
    let second = rig.node("b:1", &[]).discovery(hesitant.clone()).found_with(FoundWith::Never);
    let second = second.node_id("second").start().await.unwrap();
    within(second.wait_for(2)).await.unwrap();
    let asked = || hesitant.asked.load(Ordering::Relaxed);
    assert!(asked() >= 3);
    let before_that = asked();
    after(Duration::from_secs(10)).await;
    assert!((9..=11).contains(&(asked() - before_that)), "{}", asked() - before_that);
    within(first.wait_for(2)).await.unwrap();
    let before = second.uid();
    first.down("second").await.unwrap();
    let is_back =
        |topology: &TopologySnapshot| topology.incarnation.uid != before && topology.up().count() == 2;
    within(second.topology().wait_until(is_back)).await.unwrap();
}

/// Of addresses that nobody has, until it is told the right one.
#[derive(Clone)]
struct Moved {
    now: Arc<AtomicUsize>,
}

impl Discovery for Moved {
    fn seeds(&self) -> Seeds<'_> {
        let seed = ["x:1", "a:1"][self.now.load(Ordering::Relaxed)];
        Box::pin(async move { Ok(vec![Address::new(seed)]) })
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_waits_finds_a_seed_whose_address_changed() {
    let mut rig = Rig::new(92);
    let first = rig.node("a:1", &[]).start().await.unwrap();
    let moved = Moved { now: Arc::default() };
    let second = rig.node("b:1", &[]).discovery(moved.clone()).expect(2).start().await.unwrap();
    after(Duration::from_secs(20)).await;
    assert_eq!(second.topology().current().standing, Standing::Seeking);
    moved.now.store(1, Ordering::Relaxed);
    within(second.wait_for(2)).await.unwrap();
    within(first.wait_for(2)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_discovery_that_may_show_a_part_needs_to_be_told_how_many_nodes_there_are() {
    let error = Rig::new(93).node("a:1", &[]).discovery(Lost).start().await.unwrap_err();
    assert!(matches!(error, StartError::NoExpectation), "{error}");
    assert!(error.to_string().contains(".expect(n)"), "{error}");
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
    let node = Rig::new(91).node("a:1", &[]).discovery(Lost).expect(3).start().await.unwrap();
    within(node.leave()).await.unwrap();
    assert_eq!(node.topology().current().standing, Standing::Left);
}
