//! A whole cluster inside one test.
//!
//! The nodes are real ones, with everything but sockets: they speak over a network in memory that can be cut, and live on the test's own clock. With a
//! stopped clock (`#[tokio::test(start_paused = true)]`) a fail-over of three seconds takes milliseconds, and the same test goes the same way every time.

mod builder;
mod error;
mod kinds;
mod settling;

use std::sync::Arc;
use std::time::Duration;

use borough_actor::Actor;
use borough_cluster::testing::MemoryNetwork;
use borough_cluster::{Address, Member, Message, Node, NodeBuilder, Region, ShardBuilder, Standing};
use tokio::time::{Instant, sleep};

pub use self::builder::TestClusterBuilder;
pub use self::error::TestClusterError;
use self::kinds::Kinds;
use self::settling::Settling;

/// What sets a node of that number.
pub(crate) type Configure = Arc<dyn Fn(usize, NodeBuilder) -> NodeBuilder + Send + Sync>;

/// After so long, on the clock of the test, a cluster that can form has formed.
const FORMED_WITHIN: Duration = Duration::from_secs(120);
/// How often is looked.
const LOOK: Duration = Duration::from_millis(50);
/// When the clusters of tests begin, in seconds since 2020.
const ERA: u32 = 1000;

/// Nodes of one process, numbered from 0; see [`TestCluster::of`].
///
/// Dropping it ends all of them.
pub struct TestCluster {
    network: MemoryNetwork,
    configure: Configure,
    /// How many are seeds: those it was started with.
    seeds: usize,
    nodes: Vec<Option<Node>>,
    kinds: Kinds,
    chance: u64,
    began: Instant,
    /// Of the youngest node: a later life of an address has a later one.
    era: u32,
}

impl TestCluster {
    /// A cluster of that many nodes.
    ///
    /// ```
    /// use borough::prelude::*;
    /// use borough_testkit::TestCluster;
    ///
    /// #[derive(Serialize, Deserialize)]
    /// enum Account { Deposit(u64), Balance(Reply<u64>) }
    ///
    /// #[derive(Default, Serialize, Deserialize)]
    /// struct AccountEntity { balance: u64 }
    ///
    /// impl Actor for AccountEntity {
    ///     type Msg = Account;
    ///     async fn receive(&mut self, msg: Account, _: &mut Context<Self>) -> Result<(), Fault> {
    ///         match msg {
    ///             Account::Deposit(amount) => self.balance += amount,
    ///             Account::Balance(reply) => reply.send(self.balance),
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// // In a test: #[tokio::test(start_paused = true)]
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut cluster = TestCluster::of(3).start().await?;
    /// let accounts = cluster
    ///     .shard_everywhere(|node| node.shard("accounts", |_id| AccountEntity::default()).migrate_state())
    ///     .await?;
    /// accounts[0].tell("alice", Account::Deposit(100)).await?;
    /// assert_eq!(accounts[0].ask("alice", Account::Balance).await?, 100);
    ///
    /// // Whoever has the account leaves in order, and the account goes on elsewhere.
    /// let owner = cluster.owner_of("accounts", "alice").ok_or("nobody has it")?;
    /// cluster.leave(owner).await?;
    /// let other = (owner + 1) % 3;
    /// assert_eq!(accounts[other].ask("alice", Account::Balance).await?, 100);
    /// # Ok(()) }
    /// ```
    pub fn of(nodes: usize) -> TestClusterBuilder {
        TestClusterBuilder::new(nodes)
    }

    /// The node of that number.
    ///
    /// # Panics
    /// If it was never started, has crashed or has left.
    #[track_caller]
    pub fn node(&self, number: usize) -> &Node {
        let node = self.nodes.get(number).and_then(Option::as_ref);
        node.unwrap_or_else(|| panic!("there is no node {number} now; there are {:?}", self.living()))
    }

    /// The numbers of those that run.
    pub fn living(&self) -> Vec<usize> {
        let running = self.nodes.iter().enumerate().filter(|(_, node)| node.is_some());
        running.map(|(number, _)| number).collect()
    }

    /// Starts a type of entities on every node, and on each that is started later; gives the regions, by the numbers of the living nodes.
    ///
    /// `prepare` says how, as the program itself does: `|node| node.shard("accounts", ..).migrate_state()`.
    pub async fn shard_everywhere<A>(
        &mut self,
        prepare: impl Fn(&Node) -> ShardBuilder<A> + Send + Sync + 'static,
    ) -> Result<Vec<Region<A::Msg>>, TestClusterError>
    where
        A: Actor,
        A::Msg: Message,
    {
        let mut regions = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            let Some(node) = node else { continue };
            let started = prepare(node).start().await;
            regions.push(started.map_err(|source| TestClusterError::Shard { node: number, source })?);
        }
        self.kinds.add(prepare);
        Ok(regions)
    }

    /// The region of a type that was started on that node.
    ///
    /// # Panics
    /// If there is no such node, or no such type with those messages on it.
    #[track_caller]
    pub fn region<M: Message>(&self, number: usize, kind: &str) -> Region<M> {
        let region = self.node(number).region(kind);
        region.unwrap_or_else(|error| panic!("node {number}: {error}"))
    }

    /// Who has that entity now, as the first living node sees it; nobody if its shard has no owner.
    pub fn owner_of(&self, kind: &str, id: &str) -> Option<usize> {
        let node = self.nodes.iter().flatten().next()?;
        let (_, uid) = node.explain(kind, id).ok()?.owner?;
        self.nodes.iter().position(|node| node.as_ref().is_some_and(|node| node.uid() == uid))
    }

    /// That node is gone from one moment to the next: the others are told nothing, and what was in it is lost. Nothing happens if it is gone already.
    pub fn crash(&mut self, number: usize) {
        if let Some(node) = self.nodes.get_mut(number) {
            drop(node.take());
        }
    }

    /// That node leaves in order: what it has moves to others first. Ready once it is gone. Not cancel safe: half-way it counts as crashed.
    pub async fn leave(&mut self, number: usize) -> Result<(), TestClusterError> {
        let node = self.nodes.get_mut(number).and_then(Option::take);
        let node = node.ok_or(TestClusterError::NotRunning { node: number })?;
        node.leave().await.map_err(|source| TestClusterError::Leave { node: number, source })
    }

    /// Starts that node again, after it crashed or left: at the same address, as another life that knows nothing. One that runs is crashed before.
    ///
    /// Ready once it listens and its types are started; [`until_formed`](Self::until_formed) waits until it is a member.
    pub async fn restart(&mut self, number: usize) -> Result<(), TestClusterError> {
        if number >= self.nodes.len() {
            return Err(TestClusterError::NotRunning { node: number });
        }
        self.crash(number);
        // Whoever was there before has let go of the address once its tasks had their turn.
        sleep(Duration::from_millis(1)).await;
        self.start_node(number).await
    }

    /// Starts one more node, which joins by the first ones, and gives its number. Ready as [`restart`](Self::restart) is.
    pub async fn join(&mut self) -> Result<usize, TestClusterError> {
        self.nodes.push(None);
        let number = self.nodes.len() - 1;
        self.start_node(number).await?;
        Ok(number)
    }

    async fn start_node(&mut self, number: usize) -> Result<(), TestClusterError> {
        self.chance = self.chance.wrapping_add(1);
        let elapsed = u32::try_from(self.began.elapsed().as_secs()).unwrap_or(u32::MAX / 2);
        self.era = (ERA + elapsed).max(self.era + 1);
        let builder = Node::builder("test")
            .listen(address(number).as_str())
            .node_id(format!("node-{number}"))
            .seeds((0..self.seeds).map(|seed| address(seed).as_str().to_owned()))
            .simulated(&self.network, self.chance, self.era);
        let started = (self.configure)(number, builder).start().await;
        let node = started.map_err(|source| TestClusterError::Start { node: number, source })?;
        let kinds = self.kinds.start(&node).await;
        self.nodes[number] = Some(node);
        kinds.map_err(|source| TestClusterError::Shard { node: number, source })
    }

    /// From now on nothing gets from any of the first to any of the others, nor back; neither side is told. Those that stand in neither group see both.
    pub fn partition(&self, one: impl AsRef<[usize]>, others: impl AsRef<[usize]>) {
        for from in one.as_ref() {
            for to in others.as_ref() {
                self.network.cut(&address(*from), &address(*to));
                self.network.cut(&address(*to), &address(*from));
            }
        }
    }

    /// From now on what that node sends and gets waits so long on its way, drawn anew for each piece; order is kept.
    pub fn slow_down(&self, number: usize, delay: std::ops::RangeInclusive<Duration>) {
        for other in (0..self.nodes.len()).filter(|other| *other != number) {
            self.network.delay(&address(number), &address(other), delay.clone());
            self.network.delay(&address(other), &address(number), delay.clone());
        }
    }

    /// Breaks all connections between two nodes; they make new ones.
    pub fn reset(&self, one: usize, other: usize) {
        self.network.reset(&address(one), &address(other));
    }

    /// Ends all that is wrong with the network. What was held back arrives.
    pub fn heal(&self) {
        self.network.heal_all();
    }

    /// Waits until all nodes that run are members of one cluster, see each other and nobody else, and those who vote are chosen: from then on the cluster
    /// survives the loss of any node, if there are three or more.
    ///
    /// A crash shows at once, because the crashed node is still seen. A cut shows only when it is noticed: let some seconds go by before. It takes five
    /// seconds and more on the test's clock after nodes came. Fails after two minutes, with one who does not agree and what it sees. Cancel safe.
    pub async fn until_formed(&self) -> Result<(), TestClusterError> {
        let mut settling = Settling::new();
        self.until(|cluster| cluster.not_whole().or_else(|| settling.not_settled(cluster))).await
    }

    /// As [`until_formed`](Self::until_formed), whoever votes.
    pub(crate) async fn until_whole(&self) -> Result<(), TestClusterError> {
        self.until(Self::not_whole).await
    }

    /// Waits until there is no reason why not.
    async fn until(&self, mut why_not: impl FnMut(&Self) -> Option<String>) -> Result<(), TestClusterError> {
        let until = Instant::now() + FORMED_WITHIN;
        while let Some(why) = why_not(self) {
            if Instant::now() >= until {
                return Err(TestClusterError::NotFormed { why });
            }
            sleep(LOOK).await;
        }
        Ok(())
    }

    /// Why the nodes that run are not one cluster.
    fn not_whole(&self) -> Option<String> {
        let living =
            || self.nodes.iter().enumerate().filter_map(|(number, node)| Some((number, node.as_ref()?)));
        let mut running: Vec<_> = living().map(|(_, node)| node.uid()).collect();
        running.sort_unstable();
        let mut cluster = None;
        for (number, node) in living() {
            let topology = node.topology().current();
            let mut up: Vec<_> = topology.up().map(Member::uid).collect();
            up.sort_unstable();
            let sees_all = up == running && topology.members.len() == running.len();
            if topology.standing != Standing::Member || !sees_all {
                let seen: Vec<_> = topology.members.iter().map(|member| member.node_id().as_str()).collect();
                let standing = &topology.standing;
                return Some(format!(
                    "node-{number} is {standing} and sees {seen:?}; {:?} run",
                    self.living()
                ));
            }
            if *cluster.get_or_insert(topology.cluster) != topology.cluster {
                return Some(format!("node-{number} is in another cluster than those before it"));
            }
        }
        None
    }
}

/// Where the node of that number listens.
fn address(number: usize) -> Address {
    Address::new(format!("node-{number}:1"))
}

impl std::fmt::Debug for TestCluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestCluster").field("living", &self.living()).finish_non_exhaustive()
    }
}
