//! How nodes go: in order, all together, or as if struck.

use std::time::Duration;

use borough_cluster::{DownError, Ended, LeaveError, NamedError, Standing};
use tokio::time::Instant;

use crate::rig::{Rig, after, within};

#[tokio::test(start_paused = true)]
async fn a_node_that_leaves_is_removed_in_order() {
    let [a, b, c] = Rig::new(10).cluster(["a:1", "b:1", "c:1"]).await;
    within(c.leave()).await.unwrap();
    assert_eq!(c.topology().current().standing, Standing::Left);
    let gone = c.incarnation().uid;
    for node in [&a, &b] {
        within(node.topology().wait_until(|topology| topology.member(gone).is_none())).await.unwrap();
        assert_eq!(node.topology().current().standing, Standing::Member);
    }
    within(c.leave()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn every_member_of_a_cluster_can_leave_and_the_last_one_too() {
    let nodes = Rig::new(11).cluster(["a:1", "b:1", "c:1"]).await;
    for node in &nodes {
        within(node.leave()).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_still_looks_for_its_cluster_can_leave() {
    let node = Rig::new(12).node("a:1", &["b:1", "c:1"]).start().await.unwrap();
    within(node.leave()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_dropped_node_is_removed_by_the_others_within_the_failover_bound() {
    let [a, b, c] = Rig::new(13).cluster(["a:1", "b:1", "c:1"]).await;
    within(a.topology().wait_until(|topology| topology.voters.now.len() == 3)).await.unwrap();
    let gone = c.incarnation().uid;
    let dropped = Instant::now();
    drop(c);
    for node in [&a, &b] {
        within(node.topology().wait_until(|topology| topology.up().count() == 2)).await.unwrap();
        assert!(node.topology().current().up().all(|member| member.uid() != gone));
    }
    assert!(dropped.elapsed() < Duration::from_millis(3500), "{:?}", dropped.elapsed());
}

#[tokio::test(start_paused = true)]
async fn dropping_a_node_ends_what_others_hold_of_it() {
    let mut rig = Rig::new(14);
    let [a, b] = rig.cluster(["a:1", "b:1"]).await;
    let topology = b.topology();
    drop(b);
    let ended = within(topology.wait_until(|_| false)).await.unwrap_err();
    assert!(ended.to_string().contains("stopped"), "{ended}");
    drop(a);
    within(async {
        while rig.network.connections() > 0 {
            after(Duration::from_millis(10)).await;
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn leaving_a_node_that_was_stopped_before_says_so() {
    let [a, _b] = Rig::new(15).cluster_with(["a:1", "b:1"], |node| node.leave_timeout(Duration::ZERO)).await;
    let report = within(a.shutdown()).await;
    assert_eq!(report.phases.iter().map(|phase| phase.failed.len()).sum::<usize>(), 1, "{report:?}");
    assert_eq!(within(a.leave()).await, Err(LeaveError::Stopped));
}

#[tokio::test(start_paused = true)]
async fn leaving_after_a_shutdown_that_left_is_fine() {
    let [a, _b] = Rig::new(16).cluster(["a:1", "b:1"]).await;
    assert!(within(a.shutdown()).await.is_clean());
    assert_eq!(within(a.leave()).await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_leaves_the_cluster_and_ends_the_control_side() {
    let mut rig = Rig::new(17);
    let [a, b] = rig.cluster(["a:1", "b:1"]).await;
    let gone = b.incarnation().uid;
    let report = within(b.shutdown()).await;
    assert!(report.is_clean(), "{report:?}");
    let phases: Vec<_> = report.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(phases, ["unbind", "drain", "leave", "actors", "release", "cluster"]);
    within(a.topology().wait_until(|topology| topology.member(gone).is_none())).await.unwrap();
    let again = rig.node("b:1", &["a:1"]).start().await.unwrap();
    within(again.wait_for(2)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_whole_cluster_is_closed_at_once() {
    let [a, b, c] = Rig::new(18).cluster(["a:1", "b:1", "c:1"]).await;
    within(a.close_cluster()).await.unwrap();
    for node in [&a, &b, &c] {
        within(node.topology().wait_until(|_| false)).await.unwrap_err();
        assert_eq!(node.topology().current().standing, Standing::Closed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_that_nobody_has_or_two_have_is_refused() {
    let mut rig = Rig::new(19);
    let first = rig.node("a:1", &[]).node_id("same").start().await.unwrap();
    let second = rig.node("b:1", &["a:1"]).node_id("same").start().await.unwrap();
    within(first.wait_for(2)).await.unwrap();
    let unknown = first.down("other").await.unwrap_err();
    assert!(matches!(unknown, DownError::Name(NamedError::Unknown { .. })));
    let text = first.member_named("same").unwrap_err().to_string();
    for node in [&first, &second] {
        assert!(text.contains(&node.incarnation().to_string()), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_handle_does_what_the_node_does_and_does_not_keep_it_running() {
    let mut rig = Rig::new(48);
    let [a, b] = rig.cluster(["a:1", "b:1"]).await;
    let handle = b.node_handle();
    let other = handle.clone();
    drop(handle);
    assert_eq!((other.node_id(), other.uid()), (b.node_id(), b.uid()));
    assert_eq!(
        within(other.wait_for(2)).await.unwrap().up().count(),
        2,
        "a handle that is dropped ends nothing"
    );
    drop(b);
    let ended = within(other.topology().wait_until(|_| false)).await.unwrap_err();
    assert_eq!(ended, Ended::Over(Standing::Stopped));
    assert!(other.down("a:1").await.is_err());
    within(a.topology().wait_until(|topology| topology.up().count() == 1)).await.unwrap();
}
