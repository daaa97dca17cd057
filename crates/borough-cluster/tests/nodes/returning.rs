//! How nodes come back.

use std::time::Duration;

use borough_cluster::{Address, GaveUp, Node, Standing, TopologySnapshot};

use crate::rig::{Rig, after, within};

#[tokio::test(start_paused = true)]
async fn a_node_restarted_at_its_address_takes_its_place_again_and_again() {
    let mut rig = Rig::new(30);
    let [a, b, mut c] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    for _ in 0..5 {
        let before = c.incarnation();
        drop(c);
        // The address is free once the node that had it is gone.
        tokio::task::yield_now().await;
        c = rig.node("c:1", &["a:1", "b:1", "c:1"]).start().await.unwrap();
        assert_ne!(c.incarnation(), before);
        let now = c.incarnation().uid;
        for node in [&a, &b, &c] {
            let joined = |topology: &TopologySnapshot| {
                topology.up().count() == 3 && topology.up().any(|member| member.uid() == now)
            };
            within(node.topology().wait_until(joined)).await.unwrap();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_was_removed_comes_back_by_itself_under_a_new_uid() {
    let mut rig = Rig::new(31);
    let nodes = rig.cluster(["a:1", "b:1"]).await;
    let c = rig.node("c:1", &["a:1"]).node_id("third").start().await.unwrap();
    let [a, _b] = &nodes;
    within(c.wait_for(3)).await.unwrap();
    within(a.wait_for(3)).await.unwrap();
    let before = c.uid();
    a.down("third").await.unwrap();
    within(c.topology().wait_until(|topology| topology.incarnation.uid != before)).await.unwrap();
    let now = c.uid();
    let back = |topology: &TopologySnapshot| topology.up().any(|member| member.uid() == now);
    for node in [a, &c] {
        within(node.topology().wait_until(back)).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_was_told_not_to_come_back_says_why_it_went() {
    let mut rig = Rig::new(32);
    let [a, _b] = rig.cluster(["a:1", "b:1"]).await;
    let c = rig.node("c:1", &["a:1"]).node_id("third").rejoin(false).start().await.unwrap();
    within(c.wait_for(3)).await.unwrap();
    within(a.wait_for(3)).await.unwrap();
    a.down("third").await.unwrap();
    within(c.topology().wait_until(|_| false)).await.unwrap_err();
    assert_eq!(c.topology().current().standing, Standing::GaveUp(GaveUp::Removed));
}

#[tokio::test(start_paused = true)]
async fn a_minority_that_was_cut_off_is_suspended_and_is_back_after_the_cut() {
    let mut rig = Rig::new(33);
    let [a, b, c] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    within(a.topology().wait_until(|topology| topology.voters.now.len() == 3)).await.unwrap();
    let before = c.uid();
    for other in ["a:1", "b:1"] {
        rig.part("c:1", other);
    }
    within(c.topology().wait_until(|topology| topology.standing == Standing::Suspended)).await.unwrap();
    within(a.topology().wait_until(|topology| topology.up().count() == 2)).await.unwrap();
    after(Duration::from_secs(60)).await;
    let now = c.topology().current();
    assert_eq!(
        (now.standing.clone(), now.incarnation.uid),
        (Standing::Suspended, before),
        "it keeps what it has"
    );
    rig.network.heal_all();
    within(c.topology().wait_until(|topology| topology.incarnation.uid != before)).await.unwrap();
    for node in [&a, &b, &c] {
        within(node.wait_for(3)).await.unwrap();
    }
    assert_eq!(a.topology().current().cluster, c.topology().current().cluster);
}

#[tokio::test(start_paused = true)]
async fn a_reset_between_living_nodes_costs_nobody_its_membership() {
    let mut rig = Rig::new(34);
    let [a, b, c] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    let before = [&a, &b, &c].map(Node::uid);
    for _ in 0..20 {
        for (one, other) in [("a:1", "b:1"), ("b:1", "c:1"), ("a:1", "c:1")] {
            rig.network.reset(&Address::new(one), &Address::new(other));
        }
        after(Duration::from_millis(300)).await;
        for node in [&a, &b, &c] {
            assert_eq!(node.topology().current().standing, Standing::Member);
        }
    }
    assert_eq!([&a, &b, &c].map(Node::uid), before);
}
