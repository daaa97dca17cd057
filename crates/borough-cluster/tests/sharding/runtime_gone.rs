//! A node whose tokio runtime is gone while its process lives: real runtimes, real time, loopback.

use std::time::Duration;

use borough_cluster::{DrainError, Failure, LeaveError, Node, Region, Standing};
use tokio::runtime::Runtime;
use tokio::time::timeout;

use crate::book::{Book, Writer};

/// Longer than the others wait for a lease, several times over.
const BOUND: Duration = Duration::from_secs(30);
/// What needs nobody else is over in less.
const AT_ONCE: Duration = Duration::from_secs(5);
const IDS: u64 = 48;

/// A node with books, and with a runtime of its own.
struct Apart {
    runtime: Runtime,
    node: Node,
}

async fn node(seed: Option<&Node>) -> Node {
    let builder = Node::builder("test").listen("127.0.0.1:0");
    let seeds = seed.map(|seed| seed.address().to_string());
    builder.seeds(seeds).start().await.unwrap()
}

async fn books(node: &Node) -> Region<Book> {
    node.shard("books", |_| Writer::default()).shards(16).migrate_state().start().await.unwrap()
}

impl Apart {
    /// Starts one on a runtime of its own that joins the cluster of that node.
    async fn start(seed: &Node) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let seed = seed.node_handle();
        let started = runtime.spawn(async move {
            let node = node(Some(&seed)).await;
            node.wait_for(3).await.unwrap();
            books(&node).await;
            node
        });
        let node = timeout(BOUND, started).await.unwrap().unwrap();
        Self { runtime, node }
    }

    /// Drops its runtime; the node stays.
    async fn without_runtime(self) -> Node {
        let Self { runtime, node } = self;
        timeout(BOUND, tokio::task::spawn_blocking(|| drop(runtime))).await.unwrap().unwrap();
        node
    }
}

/// Two nodes on the runtime of the test and one apart, each with shards.
async fn cluster() -> (Node, Node, Apart, Region<Book>) {
    let a = node(None).await;
    let b = node(Some(&a)).await;
    let region = books(&a).await;
    books(&b).await;
    let c = Apart::start(&a).await;
    let uid = c.node.uid();
    // New shards go to the node that has the fewest, and old ones follow.
    timeout(BOUND, async {
        loop {
            for id in 0..IDS {
                region.ask(id.to_string(), Book::Life).await.unwrap();
            }
            let lives_there = |id: u64| region_owner(&a, id).is_some_and(|owner| owner == uid);
            if (0..IDS).filter(|id| lives_there(*id)).count() > 4 {
                return;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("no shards came to the third node");
    (a, b, c, region)
}

fn region_owner(node: &Node, id: u64) -> Option<borough_cluster::Uid> {
    node.explain("books", id.to_string()).unwrap().owner.map(|(_, uid)| uid)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entities_of_a_node_whose_runtime_is_gone_are_reached_again_elsewhere() {
    let (_a, _b, c, region) = cluster().await;
    let _c = c.without_runtime().await;
    for id in 0..IDS {
        let reached = timeout(BOUND, async {
            let ask = || region.ask(id.to_string(), Book::Life).timeout(Duration::from_secs(1));
            while ask().await.is_err() {}
        });
        assert!(reached.await.is_ok(), "{id} is not reached any more");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leave_without_a_runtime_fails_at_once_and_so_do_drain_and_shutdown() {
    let (_a, _b, c, _region) = cluster().await;
    let c = c.without_runtime().await;
    let left = timeout(AT_ONCE, c.leave()).await.expect("the leave hangs");
    assert_eq!(left, Err(LeaveError::Failed(Failure::RuntimeGone)), "nobody heard it leave");
    assert_eq!(c.topology().current().standing, Standing::Failed(Failure::RuntimeGone));
    let drained = timeout(AT_ONCE, c.drain()).await.expect("the drain hangs");
    assert_eq!(drained, Err(DrainError::Failed(Failure::RuntimeGone)));
    let report = timeout(AT_ONCE, c.shutdown()).await.expect("the shutdown hangs");
    assert!(report.is_cut_short && !report.is_clean(), "{report:?}");
}
