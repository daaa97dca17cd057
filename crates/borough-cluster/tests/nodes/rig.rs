//! What every test of nodes needs.

use std::future::{Future, pending};
use std::time::Duration;

use borough_cluster::testing::MemoryNetwork;
use borough_cluster::{Address, Node, NodeBuilder};
use tokio::time::Instant;

/// Longer than anything that is waited for: time is stopped, and jumps.
pub(crate) const BOUND: Duration = Duration::from_secs(120);

/// A network and the nodes that are started in it.
pub(crate) struct Rig {
    pub(crate) network: MemoryNetwork,
    seed: u64,
    begun: Instant,
}

impl Rig {
    pub(crate) fn new(seed: u64) -> Self {
        Self { network: MemoryNetwork::new(seed), seed: seed * 1000, begun: Instant::now() }
    }

    /// A node at that address, that looks for others there.
    pub(crate) fn node(&mut self, address: &str, seeds: &[&str]) -> NodeBuilder {
        self.seed += 1;
        let builder = Node::builder("test").listen(address).seeds(seeds.iter().copied());
        let era = u32::try_from(self.begun.elapsed().as_secs()).unwrap();
        builder.simulated(&self.network, self.seed, era)
    }

    /// As many nodes as there are addresses, all of them seeds, started one after the other and up.
    pub(crate) async fn cluster<const N: usize>(&mut self, addresses: [&str; N]) -> [Node; N] {
        self.cluster_with(addresses, |node| node).await
    }

    /// As [`cluster`](Self::cluster), with more settings.
    pub(crate) async fn cluster_with<const N: usize>(
        &mut self,
        addresses: [&str; N],
        set: impl Fn(NodeBuilder) -> NodeBuilder,
    ) -> [Node; N] {
        let mut nodes = Vec::new();
        for address in addresses {
            nodes.push(set(self.node(address, &addresses)).start().await.unwrap());
        }
        for node in &nodes {
            within(node.wait_for(N)).await.unwrap();
        }
        nodes.try_into().unwrap()
    }

    /// Nothing gets from one to the other, nor back.
    pub(crate) fn part(&self, one: &str, other: &str) {
        let (one, other) = (Address::new(one), Address::new(other));
        self.network.cut(&one, &other);
        self.network.cut(&other, &one);
    }
}

/// What comes of it, in time.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(BOUND, future).await.expect("not in time")
}

/// Lets that much simulated time go by: the runtime steps from one event to the next.
pub(crate) async fn after(time: Duration) {
    assert!(tokio::time::timeout(time, pending::<()>()).await.is_err());
}
