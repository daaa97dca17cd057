//! Nodes with management, on loopback, and an entity to fill them with.

use std::net::SocketAddr;
use std::time::Duration;

use borough_actor::{Actor, Context, Fault, Reply};
use borough_cluster::{Node, Region};
use borough_management::Management;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use crate::client::{BOUND, get};

/// An entity that counts.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Counter {
    count: u64,
}

/// What may be said to it.
#[derive(Serialize, Deserialize)]
pub(crate) enum Count {
    /// One more; says how many.
    Up(Reply<u64>),
}

impl Actor for Counter {
    type Msg = Count;

    async fn receive(&mut self, Count::Up(reply): Count, _: &mut Context<Self>) -> Result<(), Fault> {
        self.count += 1;
        reply.send(self.count);
        Ok(())
    }
}

/// A node, its management, and its region of counters.
pub(crate) struct Managed {
    pub(crate) node: Node,
    pub(crate) management: Management,
    pub(crate) counters: Region<Count>,
}

impl Managed {
    pub(crate) fn address(&self) -> SocketAddr {
        self.management.address()
    }
}

/// A node of that name, that looks for the other.
pub(crate) async fn node(name: &str, seed: Option<&Node>) -> Node {
    let mut builder =
        Node::builder("fleet").listen("127.0.0.1:0").node_id(name).role("worker").app_version("1.2.3");
    if let Some(seed) = seed {
        builder = builder.seed(seed.address().to_string());
    }
    builder.start().await.unwrap()
}

/// The counters, hosted on that node.
pub(crate) async fn counters(node: &Node) -> Region<Count> {
    node.shard("counters", |_| Counter::default()).shards(8).migrate_state().start().await.unwrap()
}

/// As many nodes as there are names, all up, with counters and management.
pub(crate) async fn fleet<const N: usize>(names: [&str; N]) -> [Managed; N] {
    let mut all: Vec<Managed> = Vec::new();
    for name in names {
        let node = node(name, all.first().map(|first| &first.node)).await;
        let management = Management::builder(&node).listen("127.0.0.1:0").start().await.unwrap();
        timeout(BOUND, node.wait_for(all.len() + 1)).await.unwrap().unwrap();
        let counters = counters(&node).await;
        all.push(Managed { node, management, counters });
    }
    for managed in &all {
        timeout(BOUND, managed.node.wait_for(N)).await.unwrap().unwrap();
    }
    all.try_into().unwrap_or_else(|_| unreachable!("one for each name"))
}

/// Sends to enough entities that every shard has an owner.
pub(crate) async fn fill(counters: &Region<Count>) {
    for number in 0..64 {
        timeout(BOUND, counters.ask(format!("counter-{number}"), Count::Up)).await.unwrap().unwrap();
    }
}

/// Asks for that path until the answer is as wanted, and gives it.
pub(crate) async fn until<T: DeserializeOwned>(
    address: SocketAddr,
    path: &str,
    wanted: impl Fn(&T) -> bool,
) -> T {
    let mut pace = tokio::time::interval(Duration::from_millis(20));
    let look = async {
        loop {
            pace.tick().await;
            let answer: T = get(address, path).await.of();
            if wanted(&answer) {
                return answer;
            }
        }
    };
    let Ok(answer) = timeout(BOUND, look).await else {
        panic!("{path} is not as wanted: {}", get(address, path).await.body)
    };
    answer
}
