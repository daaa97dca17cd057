//! The promise of the control thread, on real time and real sockets.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use borough_cluster::{Node, Standing, TopologySnapshot};
use tokio::sync::oneshot::{self, Receiver as Told, Sender as Tell};
use tokio::time::timeout;

use crate::rig::within;

/// Longer than a lease, and than the silence at which voters speak up.
const BLOCKED: Duration = Duration::from_millis(2500);

/// The one worker that this node's actors have waits for another thread. There two nodes of the cluster live, which look whether anybody is troubled
/// meanwhile, be it for a moment.
#[tokio::test]
async fn user_code_that_blocks_its_workers_costs_no_membership() {
    let (tell_seed, seed) = oneshot::channel();
    let (begin, starts) = oneshot::channel();
    let (done, is_done) = oneshot::channel();
    let (tell_verdict, verdict) = mpsc::channel();
    let others = thread::spawn(move || look_on(tell_seed, starts, &tell_verdict));
    let seed = within(seed).await.unwrap();
    let node = Node::builder("test").listen("127.0.0.1:0").seed(seed).start().await.unwrap();
    within(node.topology().wait_until(|topology| !is_troubled(topology))).await.unwrap();
    let before = node.uid();
    begin.send(is_done).unwrap();
    let saw_trouble = verdict.recv().unwrap();
    assert!(!saw_trouble, "that the workers were blocked was noticed by the cluster");
    assert_eq!((node.uid(), &node.topology().current().standing), (before, &Standing::Member));
    assert_eq!(node.control_counts().broken, 0);
    drop(done);
    others.join().unwrap();
}

/// Two nodes on a runtime of this thread alone. From `begun` on they look whether there is trouble, say whether there was, and stay until all is done.
fn look_on(tell_seed: Tell<String>, begun: Told<Told<()>>, tell_verdict: &mpsc::Sender<bool>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let first = Node::builder("test").listen("127.0.0.1:0").start().await.unwrap();
        let seed = first.address().to_string();
        let second = Node::builder("test").listen("127.0.0.1:0").seed(&seed).start().await.unwrap();
        tell_seed.send(seed).unwrap();
        let (one, two) = (first.topology(), second.topology());
        for topology in [&one, &two] {
            within(topology.wait_until(|topology| !is_troubled(topology))).await.unwrap();
        }
        let is_done = within(begun).await.unwrap();
        let trouble = async {
            tokio::select! {
                _ = one.wait_until(is_troubled) => {}
                _ = two.wait_until(is_troubled) => {}
            }
        };
        tell_verdict.send(timeout(BLOCKED, trouble).await.is_ok()).unwrap();
        let _ = within(is_done).await;
    });
}

fn is_troubled(topology: &TopologySnapshot) -> bool {
    let all_reach = topology.members.iter().all(|member| member.is_reachable);
    topology.standing != Standing::Member || topology.up().count() != 3 || !all_reach
}
