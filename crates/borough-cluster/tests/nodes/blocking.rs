//! The promise of the control thread, on real time and real sockets.

use std::future::Future;
use std::thread;
use std::time::Duration;

use borough_cluster::{Node, Standing, TopologySnapshot};
use tokio::time::timeout;

use crate::rig::within;

/// Longer than a lease, and than the silence at which voters speak up.
const BLOCKED: Duration = Duration::from_millis(2500);

/// The one worker that all actors of this process have waits for another thread, which looks whether a node is troubled meanwhile, be it for a
/// moment.
#[tokio::test]
async fn user_code_that_blocks_its_workers_costs_no_membership() {
    let first = Node::builder("test").listen("127.0.0.1:0").start().await.unwrap();
    let seed = first.address().to_string();
    let second = Node::builder("test").listen("127.0.0.1:0").seed(&seed).start().await.unwrap();
    let third = Node::builder("test").listen("127.0.0.1:0").seed(&seed).start().await.unwrap();
    let nodes = [first, second, third];
    for node in &nodes {
        within(node.topology().wait_until(|topology| !is_troubled(topology))).await.unwrap();
    }
    let before = nodes.each_ref().map(Node::uid);
    let [one, two, three] = nodes.each_ref().map(Node::topology);
    let trouble = async move {
        tokio::select! {
            _ = one.wait_until(is_troubled) => {}
            _ = two.wait_until(is_troubled) => {}
            _ = three.wait_until(is_troubled) => {}
        }
    };
    let saw_trouble = thread::spawn(move || comes_within(BLOCKED, trouble)).join().unwrap();
    assert!(!saw_trouble, "blocked workers were noticed by the cluster");
    for node in &nodes {
        assert!(!is_troubled(&node.topology().current()));
        assert_eq!(node.control_counts().broken, 0);
    }
    assert_eq!(nodes.each_ref().map(Node::uid), before);
}

fn is_troubled(topology: &TopologySnapshot) -> bool {
    let all_reach = topology.members.iter().all(|member| member.is_reachable);
    topology.standing != Standing::Member || topology.up().count() != 3 || !all_reach
}

/// Whether it comes in that time, on a runtime of this thread alone.
fn comes_within(time: Duration, future: impl Future<Output = ()>) -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async { timeout(time, future).await.is_ok() })
}
