//! Nodes by number, what is done to them, and what must be true afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::future::{Future, pending};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use borough_cluster::testing::MemoryNetwork;
use borough_cluster::{
    Address, Member, Node, NodeBuilder, Region, Standing, StartError, Topology, TopologySnapshot, Uid,
    VoterId,
};
use borough_protocol::random::Random;
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::checker;
use crate::counter::{Add, counters};
use crate::history::{Event, History};

/// What is wrong, or nothing.
pub(crate) type Outcome = Result<(), String>;

/// How many entities there are.
const ENTITIES: usize = 20;
/// Every node asks every entity so often.
const ROUND: Duration = Duration::from_secs(1);
/// How long one of these asks waits.
const ASK: Duration = Duration::from_millis(900);
/// How often a condition is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// What a node says that runs in a simulation: seconds since 2020 at the beginning.
const ERA: u32 = 1000;
/// The most voters, unless it is set otherwise.
const VOTERS_MAX: usize = 5;
/// Longer than any ordinary formation or fail-over takes, on the simulated clock.
pub(crate) const BOUND: Duration = Duration::from_secs(120);

pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

type SetUp = Box<dyn Fn(NodeBuilder) -> NodeBuilder>;

/// A network, nodes by number, and the history of their entities.
pub(crate) struct Rig {
    network: MemoryNetwork,
    pub(crate) history: History,
    pub(crate) random: Random,
    /// How each node is started, now and later.
    set_ups: Vec<SetUp>,
    nodes: Vec<Option<Running>>,
    foundings: Arc<Mutex<BTreeMap<Uid, Founding>>>,
    /// How many should vote once the cluster has settled; by the size of the cluster if it is not set.
    pub(crate) voters: Option<usize>,
    /// Where the nodes have their directories; `None` without disks.
    disks: Option<TempDir>,
}

struct Running {
    node: Node,
    region: Region<Add>,
}

/// Where and when a founding was first seen at work.
#[derive(Clone, Copy, Debug)]
struct Founding {
    node: usize,
    at: Duration,
}

impl Rig {
    /// As many nodes, none of them started and none with seeds.
    pub(crate) fn new(seed: u64, nodes: usize) -> Self {
        let rig = Self {
            network: MemoryNetwork::new(seed),
            history: History::new(),
            random: Random::seeded(seed),
            set_ups: (0..nodes).map(|_| Box::new(|builder| builder) as SetUp).collect(),
            nodes: (0..nodes).map(|_| None).collect(),
            foundings: Arc::default(),
            voters: None,
            disks: None,
        };
        rig.heal();
        rig
    }

    /// The same with data directories.
    pub(crate) fn durable(seed: u64, nodes: usize) -> Self {
        Self { disks: Some(TempDir::new().unwrap()), ..Self::new(seed, nodes) }
    }

    /// The data directory of that node.
    pub(crate) fn directory(&self, number: usize) -> PathBuf {
        self.disks.as_ref().unwrap().path().join(format!("n{number}"))
    }

    /// How that node is set from its next start on.
    pub(crate) fn set_up(&mut self, number: usize, set_up: impl Fn(NodeBuilder) -> NodeBuilder + 'static) {
        self.set_ups[number] = Box::new(set_up);
    }

    /// The same for all nodes.
    pub(crate) fn set_up_all(&mut self, set_up: impl Fn(NodeBuilder) -> NodeBuilder + Clone + 'static) {
        for number in 0..self.nodes.len() {
            self.set_up(number, set_up.clone());
        }
    }

    /// Where that node looks for others.
    pub(crate) fn seeds_of(&mut self, number: usize, seeds: &[usize]) {
        let seeds = names(seeds);
        self.set_up(number, move |builder| builder.seeds(seeds.clone()));
    }

    /// All nodes are started with these seeds, the seeds first and together, the others one after the other; ready once they are one cluster with all
    /// its voters, and every entity lives.
    pub(crate) async fn form(&mut self, seeds: &[usize]) -> Outcome {
        self.form_with(seeds, |builder| builder).await
    }

    /// As [`form`](Self::form), with more settings.
    pub(crate) async fn form_with(
        &mut self,
        seeds: &[usize],
        set_up: impl Fn(NodeBuilder) -> NodeBuilder + Clone + 'static,
    ) -> Outcome {
        let listed = names(seeds);
        self.set_up_all(move |builder| set_up(builder.seeds(listed.clone())));
        let others: Vec<_> = (0..self.nodes.len()).filter(|number| !seeds.contains(number)).collect();
        self.form_in_order(seeds, &others).await
    }

    /// The first are started together, the others one after the other; ready as [`form`](Self::form) is.
    pub(crate) async fn form_in_order(&mut self, first: &[usize], others: &[usize]) -> Outcome {
        for number in first {
            self.start(*number).await;
        }
        for number in first {
            self.until_member(*number).await?;
        }
        for number in others {
            self.start(*number).await;
            self.until_member(*number).await?;
        }
        self.until_settled(BOUND).await?;
        self.run(secs(3)).await;
        self.answered().await
    }

    /// Starts a node that does not run; ready once it listens.
    pub(crate) async fn start(&mut self, number: usize) {
        assert!(self.try_start(number).await, "node {number} does not start");
    }

    /// The same, unless its data directory cannot be used.
    pub(crate) async fn try_start(&mut self, number: usize) -> bool {
        assert!(self.nodes[number].is_none(), "node {number} runs");
        // The node before has let go of the address once its tasks had their turn.
        after(Duration::from_millis(1)).await;
        let era = ERA + u32::try_from(self.history.elapsed().as_secs()).unwrap();
        let builder = Node::builder("test").listen(name(number));
        let mut builder = builder.simulated(&self.network, self.random.next_u64(), era);
        if self.disks.is_some() {
            builder = builder.data_dir(self.directory(number));
        }
        let node = match (self.set_ups[number])(builder).start().await {
            Ok(node) => node,
            Err(StartError::Data(_)) => return false,
            Err(error) => panic!("{error}"),
        };
        self.history.add(Event::Back { node: number });
        tokio::spawn(note_foundings(number, node.topology(), self.history.clone(), self.foundings.clone()));
        let region = counters(&node, number, &self.history).await;
        self.nodes[number] = Some(Running { node, region });
        true
    }

    /// The process of that node is gone from one moment to the next.
    pub(crate) fn crash(&mut self, number: usize) {
        assert!(self.nodes[number].is_some(), "node {number} does not run");
        self.history.add(Event::Lost { node: number });
        self.nodes[number] = None;
    }

    /// That node leaves in order, and its process ends.
    pub(crate) async fn leave(&mut self, number: usize) -> Outcome {
        let Running { node, .. } = self.nodes[number].take().unwrap();
        let left = tokio::time::timeout(BOUND, node.leave()).await;
        left.map_err(|_| format!("node {number} has not left within {BOUND:?}"))?.map_err(|e| e.to_string())
    }

    pub(crate) fn node(&self, number: usize) -> &Node {
        &self.nodes[number].as_ref().unwrap().node
    }

    /// What that node knows of its cluster.
    pub(crate) fn view(&self, number: usize) -> Arc<TopologySnapshot> {
        self.node(number).topology().current()
    }

    pub(crate) fn running(&self) -> Vec<usize> {
        (0..self.nodes.len()).filter(|number| self.nodes[*number].is_some()).collect()
    }

    /// The nodes by age, the oldest first, as the first one that runs sees it.
    pub(crate) fn by_age(&self) -> Vec<usize> {
        self.view(self.running()[0]).up().map(|member| number(member.address())).collect()
    }

    /// Nothing gets from one side to the other, nor back.
    pub(crate) fn cut(&self, one: &[usize], other: &[usize]) {
        self.cut_one_way(one, other);
        self.cut_one_way(other, one);
    }

    /// Nothing gets from any of the first to any of the others.
    pub(crate) fn cut_one_way(&self, from: &[usize], to: &[usize]) {
        for from in from {
            for to in to.iter().filter(|to| *to != from) {
                self.network.cut(&address(*from), &address(*to));
            }
        }
    }

    /// These nodes are on the side of a cut that has no quorum: what they have may be lost until the cut is healed.
    pub(crate) fn may_lose(&self, nodes: &[usize]) {
        for node in nodes {
            self.history.add(Event::Lost { node: *node });
        }
    }

    /// Ends all that is wrong with the network.
    pub(crate) fn heal(&self) {
        self.network.heal_all();
        for from in 0..self.nodes.len() {
            for to in (0..self.nodes.len()).filter(|to| *to != from) {
                let delay = Duration::from_micros(200)..=Duration::from_millis(2);
                self.network.delay(&address(from), &address(to), delay);
            }
        }
        for node in self.running() {
            self.history.add(Event::Back { node });
        }
    }

    /// Lets time go by, while every node asks every entity once a second.
    pub(crate) async fn run(&self, time: Duration) {
        let until = Instant::now() + time;
        while Instant::now() < until {
            let next = Instant::now() + ROUND;
            self.ask_all(ASK.min(until - Instant::now())).await;
            after(next.min(until).saturating_duration_since(Instant::now())).await;
        }
    }

    /// Every node asks every entity; gives what was not answered.
    async fn ask_all(&self, timeout: Duration) -> Vec<String> {
        let mut asks = JoinSet::new();
        for number in self.running() {
            for id in (0..ENTITIES).map(|id| format!("e{id}")) {
                let (history, region) =
                    (self.history.clone(), self.nodes[number].as_ref().unwrap().region.clone());
                asks.spawn(async move {
                    let asked = history.len();
                    match region.ask(id.as_str(), Add).timeout(timeout).await {
                        Ok(value) => {
                            history.add(Event::Acknowledged { id, value, asked });
                            None
                        }
                        Err(error) => Some(format!("{id} asked by node {number}: {error}")),
                    }
                });
            }
        }
        asks.join_all().await.into_iter().flatten().collect()
    }

    /// Every entity answers every node, in the end.
    pub(crate) async fn answered(&self) -> Outcome {
        let until = Instant::now() + secs(30);
        loop {
            let unanswered = self.ask_all(secs(5)).await;
            match unanswered.first() {
                None => return Ok(()),
                Some(first) if Instant::now() >= until => {
                    return Err(format!("{} asks are not answered: {first}", unanswered.len()));
                }
                Some(_) => {}
            }
        }
    }

    /// What each entity answers that node.
    pub(crate) async fn counts(&self, number: usize) -> Result<Vec<u64>, String> {
        let region = &self.nodes[number].as_ref().unwrap().region;
        let mut counts = Vec::new();
        for id in (0..ENTITIES).map(|id| format!("e{id}")) {
            counts.push(region.ask(id.as_str(), Add).await.map_err(|error| format!("{id}: {error}"))?);
        }
        Ok(counts)
    }

    /// How many entities that node has in memory.
    pub(crate) async fn hosted(&self, number: usize) -> usize {
        self.nodes[number].as_ref().unwrap().region.state().await.entities()
    }

    /// The shards that node hosts.
    pub(crate) async fn owned(&self, number: usize) -> Vec<u32> {
        let state = self.nodes[number].as_ref().unwrap().region.state().await;
        state.shards.iter().map(|shard| shard.number).collect()
    }

    pub(crate) async fn until_member(&self, number: usize) -> Outcome {
        let is_member = |rig: &Self| {
            let standing = &rig.view(number).standing;
            (*standing != Standing::Member).then(|| format!("node {number} is {standing}"))
        };
        self.until(BOUND, is_member).await
    }

    /// Waits until all nodes that run are members of one cluster and see each other and nobody else.
    pub(crate) async fn until_whole(&self, bound: Duration) -> Outcome {
        self.until(bound, Self::not_whole).await
    }

    /// As [`until_whole`](Self::until_whole), and the voters are chosen.
    pub(crate) async fn until_settled(&self, bound: Duration) -> Outcome {
        self.until(bound, |rig| rig.not_whole().or_else(|| rig.not_settled())).await
    }

    /// Waits until there is no reason why not; every entity is asked once a second meanwhile.
    async fn until(&self, bound: Duration, why_not: impl Fn(&Self) -> Option<String>) -> Outcome {
        let until = Instant::now() + bound;
        let mut next_round = Instant::now();
        while let Some(why) = why_not(self) {
            if Instant::now() >= until {
                return Err(format!("not within {bound:?}: {why}; {}", self.standings()));
            }
            if Instant::now() >= next_round {
                next_round = Instant::now() + ROUND;
                self.ask_all(ASK).await;
            }
            after(LOOK).await;
        }
        Ok(())
    }

    fn not_whole(&self) -> Option<String> {
        let running: BTreeSet<Uid> =
            self.running().into_iter().map(|number| self.node(number).uid()).collect();
        let mut clusters = BTreeSet::new();
        for number in self.running() {
            let view = self.view(number);
            let up: BTreeSet<Uid> = view.up().map(Member::uid).collect();
            if view.standing != Standing::Member || up != running || view.members.len() != running.len() {
                return Some(format!("node {number} is not in one cluster with all others"));
            }
            clusters.insert(view.cluster);
        }
        (clusters.len() > 1).then(|| format!("there are {} clusters", clusters.len()))
    }

    fn not_settled(&self) -> Option<String> {
        let count = self.running().len().min(VOTERS_MAX);
        let wanted = self.voters.unwrap_or(count - (count + 1) % 2);
        let voter = |number| self.view(number).member(self.node(number).uid()).map(Member::voter);
        let running: BTreeSet<VoterId> = self.running().into_iter().filter_map(voter).collect();
        let mut lists = BTreeSet::new();
        for number in self.running() {
            let voters = &self.view(number).voters;
            if !voters.next.is_empty() || voters.now.len() != wanted || !voters.now.is_subset(&running) {
                return Some(format!("node {number} sees {} voters of {wanted}", voters.now.len()));
            }
            lists.insert(voters.now.clone());
        }
        (lists.len() > 1).then(|| "the nodes do not agree about the voters".to_owned())
    }

    /// How each node that runs stands, for people.
    pub(crate) fn standings(&self) -> String {
        let stands = |number: usize| {
            let view = self.view(number);
            let up: Vec<_> = view.up().map(|member| self::number(member.address())).collect();
            format!("{number} {} founder {:?} sees {up:?}", view.standing, view.cluster.map(|c| c.founder))
        };
        self.running().into_iter().map(stands).collect::<Vec<_>>().join(", ")
    }

    /// No second cluster was ever at work.
    pub(crate) fn founded_once(&self) -> Outcome {
        self.founded_times(1)
    }

    /// So many clusters were at work, one after the other or at a time.
    pub(crate) fn founded_times(&self, times: usize) -> Outcome {
        let foundings = self.foundings.lock().unwrap().clone();
        if foundings.len() == times {
            return Ok(());
        }
        let mut seen: Vec<_> = foundings.values().map(|Founding { node, at }| (at, node)).collect();
        seen.sort_unstable();
        let seen: Vec<_> = seen.into_iter().map(|(at, node)| format!("on node {node} at {at:?}")).collect();
        Err(format!("{} foundings, not {times}: {}", seen.len(), seen.join(", ")))
    }

    /// None of the nodes that run works in a cluster, and nothing was handled since the history was that long.
    pub(crate) fn nobody_works(&self, since: usize) -> Outcome {
        if let Some(number) =
            self.running().into_iter().find(|number| self.view(*number).standing == Standing::Member)
        {
            return Err(format!("node {number} works; {}", self.standings()));
        }
        let entries = self.history.entries();
        let handled = entries[since..].iter().filter(|entry| matches!(entry.event, Event::Handled { .. }));
        match handled.count() {
            0 => Ok(()),
            count => Err(format!("{count} messages were handled by nodes without a cluster")),
        }
    }

    /// The history is in order: no entity ran twice at a time, no acknowledged count was taken back.
    pub(crate) fn judge(&self) -> Outcome {
        checker::summary(&checker::check(&self.history.entries())).map_or(Ok(()), Err)
    }

    /// What must be true at the end of every schedule: the nodes are one cluster, every entity answers, the history is in order.
    pub(crate) async fn conclude(&self, bound: Duration) -> Outcome {
        let whole = self.until_whole(bound).await;
        let answered = if whole.is_ok() { self.answered().await } else { Ok(()) };
        all_of([whole, answered, self.judge()])
    }
}

/// All that is wrong.
pub(crate) fn all_of<const N: usize>(outcomes: [Outcome; N]) -> Outcome {
    let wrong: Vec<_> = outcomes.into_iter().filter_map(Result::err).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

/// Runs each case in a runtime of its own with stopped time, and says how many went wrong, and the first of them.
#[track_caller]
pub(crate) fn each<T: Clone + Debug, F: Future<Output = Outcome>>(
    cases: impl IntoIterator<Item = T>,
    run: impl Fn(T) -> F,
) {
    let (mut count, mut failed) = (0, Vec::new());
    for case in cases {
        count += 1;
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        if let Err(wrong) = runtime.block_on(run(case.clone())) {
            failed.push(format!("{case:?}: {wrong}"));
        }
    }
    assert!(failed.is_empty(), "{} of {count} runs failed; first {}", failed.len(), failed[0]);
}

/// Lets that much simulated time go by: the runtime steps from one event to the next.
pub(crate) async fn after(time: Duration) {
    assert!(tokio::time::timeout(time, pending::<()>()).await.is_err());
}

/// Writes down each founding in which that node works.
async fn note_foundings(
    number: usize,
    mut topology: Topology,
    history: History,
    foundings: Arc<Mutex<BTreeMap<Uid, Founding>>>,
) {
    loop {
        let now = topology.current();
        if let (Standing::Member, Some(cluster)) = (&now.standing, now.cluster) {
            let seen = Founding { node: number, at: history.elapsed() };
            foundings.lock().unwrap().entry(cluster.founder).or_insert(seen);
        }
        if topology.changed().await.is_err() {
            return;
        }
    }
}

fn name(number: usize) -> String {
    format!("n{number}:1")
}

fn names(numbers: &[usize]) -> Vec<String> {
    numbers.iter().copied().map(name).collect()
}

pub(crate) fn address(number: usize) -> Address {
    Address::new(name(number))
}

fn number(address: &Address) -> usize {
    address.as_str().trim_start_matches('n').trim_end_matches(":1").parse().unwrap()
}
