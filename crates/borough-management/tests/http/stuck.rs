//! One node of the cluster stands still: its membership lives on a thread of its own, and all else there answers nobody.

use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{SystemTime, UNIX_EPOCH};

use borough_cluster::{Node, Standing};
use borough_management::view::Stats;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::client::{BOUND, get};
use crate::fleet::{fleet, node};

/// A node whose runtime does nothing any more.
struct Stuck {
    /// It goes on, and ends, once this is dropped.
    hold: mpsc::Sender<()>,
    thread: JoinHandle<()>,
}

impl Stuck {
    /// Starts one, and has it stand still once it is a member.
    async fn start(seed: &Node) -> Self {
        let seed = seed.node_handle();
        let (hold, release) = mpsc::channel::<()>();
        let (tell, is_member) = oneshot::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let node = node("stuck", Some(&seed)).await;
                let joined = node.topology();
                let joined = joined.wait_until(|topology| topology.standing == Standing::Member);
                timeout(BOUND, joined).await.unwrap().unwrap();
                tell.send(()).unwrap();
                // The only thread of this runtime waits.
                assert!(release.recv().is_err());
            });
        });
        timeout(BOUND, is_member).await.unwrap().unwrap();
        Self { hold, thread }
    }

    fn end(self) {
        drop(self.hold);
        self.thread.join().unwrap();
    }
}

#[tokio::test]
async fn stats_name_one_that_stands_still_in_time_and_are_of_when_they_were_asked_for() {
    let [a] = fleet(["a"]).await;
    let stuck = Stuck::start(&a.node).await;
    timeout(BOUND, a.node.wait_for(2)).await.unwrap().unwrap();
    let stats: Stats = get(a.address(), "/api/stats").await.of();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    assert_eq!(stats.nodes.iter().map(|node| node.node.as_str()).collect::<Vec<_>>(), ["a"]);
    let [missing] = stats.missing.as_slice() else { panic!("{stats:?}") };
    assert_eq!(missing.name, "stuck");
    assert!(missing.value.contains("did not answer within 3s"), "{}", missing.value);
    // That wait is not in it: the counts of the others are from before.
    let age = now - u128::from(stats.at_millis);
    assert!(age >= 2900, "{age} ms");
    stuck.end();
}
