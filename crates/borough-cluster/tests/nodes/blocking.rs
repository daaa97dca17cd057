//! The promise of the control thread, on real time and real sockets.

use std::time::Duration;

use borough_cluster::{Node, Standing};

use crate::rig::within;

#[tokio::test]
async fn user_code_that_blocks_its_workers_costs_no_membership() {
    let first = Node::builder("test").listen("127.0.0.1:0").start().await.unwrap();
    let seed = first.address().to_string();
    let second = Node::builder("test").listen("127.0.0.1:0").seed(&seed).start().await.unwrap();
    let third = Node::builder("test").listen("127.0.0.1:0").seed(&seed).start().await.unwrap();
    let nodes = [first, second, third];
    for node in &nodes {
        within(node.wait_for(3)).await.unwrap();
    }
    let before = nodes.each_ref().map(Node::uid);
    let mut changes = nodes.each_ref().map(Node::topology);
    // Longer than a lease and the silence at which voters speak up, on the one worker that all actors of this process have.
    std::thread::sleep(Duration::from_millis(2500)); // tidy: sleep is the misbehaviour that is tested
    for (node, topology) in nodes.iter().zip(&mut changes) {
        let current = topology.current();
        assert_eq!((&current.standing, current.up().count()), (&Standing::Member, 3));
        assert!(current.members.iter().all(|member| member.is_reachable));
        assert_eq!(node.control_counts().broken, 0);
    }
    assert_eq!(nodes.each_ref().map(Node::uid), before);
}
