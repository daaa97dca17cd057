//! What a cluster of a test is started with.

use std::sync::Arc;

use borough_cluster::NodeBuilder;
use borough_cluster::testing::MemoryNetwork;
use tokio::time::Instant;

use super::error::TestClusterError;
use super::kinds::Kinds;
use super::{Configure, ERA, TestCluster};

/// How far apart the chance of two clusters is.
const STRIDE: u64 = 1_000_003;

/// A cluster about to be started; see [`TestCluster::of`].
#[must_use = "nothing is started before `start`"]
pub struct TestClusterBuilder {
    nodes: usize,
    seed: u64,
    configure: Configure,
}

impl TestClusterBuilder {
    pub(super) fn new(nodes: usize) -> Self {
        Self { nodes, seed: 0, configure: Arc::new(|_, builder| builder) }
    }

    /// What everything that is left to chance is drawn from. Default 0: the same test goes the same way every time.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets each node further, by its number: roles, settings, limits. Its address, name and seeds are the cluster's own.
    pub fn configure(
        mut self,
        configure: impl Fn(usize, NodeBuilder) -> NodeBuilder + Send + Sync + 'static,
    ) -> Self {
        self.configure = Arc::new(configure);
        self
    }

    /// Starts the nodes one after the other, and waits until they are one cluster.
    ///
    /// Call it in the runtime of the test, best of one thread with a stopped clock (`#[tokio::test(start_paused = true)]`): then waiting costs no time.
    pub async fn start(self) -> Result<TestCluster, TestClusterError> {
        if self.nodes == 0 {
            return Err(TestClusterError::Empty);
        }
        let mut cluster = TestCluster {
            network: MemoryNetwork::new(self.seed),
            configure: self.configure,
            seeds: self.nodes,
            nodes: Vec::new(),
            kinds: Kinds::default(),
            chance: self.seed.wrapping_mul(STRIDE),
            began: Instant::now(),
            era: ERA,
        };
        for _ in 0..self.nodes {
            cluster.join().await?;
        }
        cluster.until_formed().await?;
        Ok(cluster)
    }
}

impl std::fmt::Debug for TestClusterBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestClusterBuilder")
            .field("nodes", &self.nodes)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
