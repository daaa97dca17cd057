//! One run: a cluster, those who send, what strikes, and the last looks after everything has healed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use borough_actor::Actor;
use borough_cluster::Message;
use borough_protocol::random::Random;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::books::Books;
use super::failure::{Broken, SimulationFailure};
use super::history::Fate;
use super::plan::{Plan, Strike};
use super::sender::Sender;
use super::witness::{Ledger, witnesses};
use super::{Simulation, Workload};
use crate::cluster::TestCluster;
use crate::shells::Trace;

/// After so long the cluster has made up its mind about who was silent.
const FAIL_OVER: Duration = Duration::from_secs(4);
/// A leave that takes longer than entities have to move away.
const LEAVE_WITHIN: Duration = Duration::from_secs(90);
/// A `tell` in a cluster that is being repaired waits no longer.
const SENT_WITHIN: Duration = Duration::from_secs(60);
/// What was sent has arrived after so long in a whole cluster.
const ARRIVED_WITHIN: Duration = Duration::from_secs(10);

/// Who sends from one node.
struct Sending {
    is_quiet: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

/// See the module.
pub(super) struct World<'a, A: Actor>
where
    A::Msg: Message,
{
    simulation: &'a Simulation<A>,
    workload: Workload<A::Msg>,
    seed: u64,
    random: Random,
    ledger: Ledger,
    books: Books,
    /// By the numbers of their nodes.
    senders: BTreeMap<usize, Sending>,
    lives: u32,
    kind: String,
    began: Instant,
    events: Vec<String>,
    entities: u64,
}

impl<'a, A: Actor> World<'a, A>
where
    A::Msg: Message,
{
    pub(super) fn new(
        simulation: &'a Simulation<A>,
        workload: Workload<A::Msg>,
        seed: u64,
        prints: bool,
    ) -> Self {
        let lines: Option<crate::shells::Lines> =
            if prints { Some(Box::new(|line| eprintln!("{line}"))) } else { None };
        Self {
            simulation,
            workload,
            seed,
            random: Random::seeded(seed),
            ledger: Ledger::begin(Trace::new(seed, lines)),
            books: Books::default(),
            senders: BTreeMap::new(),
            lives: 0,
            kind: String::new(),
            began: Instant::now(),
            events: Vec::new(),
            entities: 0,
        }
    }

    /// Messages, entities, strikes, and all that happened as one number.
    pub(super) fn sums(&self) -> (u64, u64, u64, u64) {
        let messages = self.books.open().len() as u64;
        (messages, self.entities, self.events.len() as u64, self.ledger.open().trace.hash())
    }

    pub(super) fn failure(&self, Broken(broken): Broken) -> SimulationFailure {
        SimulationFailure { seed: self.seed, broken, events: self.events.clone() }
    }

    /// The whole run; what was broken.
    pub(super) async fn run(&mut self) -> Result<(), Broken> {
        let nodes = &self.simulation.nodes;
        let plan = Plan::draw(&mut self.random, (*nodes.start(), *nodes.end()), self.simulation.faults);
        let started = TestCluster::of(plan.nodes).seed(self.random.next_u64()).start().await;
        let mut cluster = started?;
        self.open(&mut cluster).await?;
        weather(&cluster, &plan);
        for (before, strike, waits) in &plan.strikes {
            sleep(*before).await;
            self.strike(&mut cluster, *strike, &plan).await?;
            if *waits {
                cluster.until_whole().await?;
            }
            self.check()?;
        }
        cluster.until_whole().await?;
        for number in cluster.living() {
            self.end_sending(number).await?;
        }
        sleep(ARRIVED_WITHIN).await;
        self.check()?;
        self.nothing_is_lost()?;
        self.look(&cluster).await
    }

    /// Starts both types everywhere, and those who send.
    async fn open(&mut self, cluster: &mut TestCluster) -> Result<(), Broken> {
        let prepare = self.simulation.prepare.clone();
        let regions = cluster.shard_everywhere(move |node| prepare(node)).await?;
        cluster.shard_everywhere(witnesses).await?;
        regions[0].name().clone_into(&mut self.kind);
        for number in cluster.living() {
            self.begin_sending(cluster, number);
        }
        Ok(())
    }

    fn begin_sending(&mut self, cluster: &TestCluster, number: usize) {
        self.lives += 1;
        let is_quiet = Arc::new(AtomicBool::new(false));
        let sender = Sender {
            number: self.lives,
            random: self.random.fork(),
            workload: self.workload.clone(),
            entities: cluster.region(number, &self.kind),
            witnesses: cluster.region(number, super::witness::KIND),
            books: self.books.clone(),
            is_quiet: is_quiet.clone(),
        };
        self.senders.insert(number, Sending { is_quiet, task: tokio::spawn(sender.run()) });
    }

    /// Whoever sends from that node sends no more, once what is being sent is accepted or given back.
    async fn end_sending(&mut self, number: usize) -> Result<(), Broken> {
        let Some(Sending { is_quiet, task }) = self.senders.remove(&number) else { return Ok(()) };
        is_quiet.store(true, Ordering::Relaxed);
        match timeout(SENT_WITHIN, task).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(Broken(format!("workload: {error}"))),
            Err(_) => {
                Err(Broken(format!("tell: what node-{number} sends is neither accepted nor given back")))
            }
        }
    }

    fn note(&mut self, what: &str) {
        let line = format!("{:8.3} s {what}", self.began.elapsed().as_secs_f64());
        self.ledger.open().trace.note(format_args!("{what}"));
        self.events.push(line);
    }

    fn check(&self) -> Result<(), Broken> {
        self.ledger.open().broken.clone().map_or(Ok(()), |broken| Err(Broken(broken)))
    }

    async fn strike(&mut self, cluster: &mut TestCluster, strike: Strike, plan: &Plan) -> Result<(), Broken> {
        let living = cluster.living();
        let one = self.random.pick(&living).copied().unwrap_or(0);
        match strike {
            Strike::Join => {
                let number = cluster.join().await?;
                self.note(&format!("node-{number} joins"));
                weather(cluster, plan);
                self.begin_sending(cluster, number);
            }
            Strike::Leave if living.len() > plan.nodes => self.leave(cluster, one).await?,
            Strike::Leave | Strike::Restart => {
                self.leave(cluster, one).await?;
                self.restart(cluster, one).await?;
            }
            Strike::Move => {
                let shards = cluster.region::<A::Msg>(one, &self.kind).shards();
                let shard = u32::try_from(self.random.below(u64::from(shards))).unwrap_or(0);
                let to = self.random.pick(&living).copied().unwrap_or(0);
                self.note(&format!("shard {shard} is to move to node-{to}"));
                // Refused while that node is no host yet; then it does not move.
                let _ = cluster.node(one).move_shard(&self.kind, shard, &format!("node-{to}"));
            }
            Strike::Reset => {
                let other = self.random.pick(&living).copied().unwrap_or(0);
                self.note(&format!("connections of node-{one} and node-{other} break"));
                cluster.reset(one, other);
            }
            Strike::Crash { away } => {
                // Before those who vote are chosen, one crash may stop the cluster.
                cluster.until_formed().await?;
                self.note(&format!("node-{one} crashes"));
                if let Some(sending) = self.senders.remove(&one) {
                    sending.task.abort();
                }
                cluster.crash(one);
                sleep(away).await;
                self.restart(cluster, one).await?;
                self.recover(cluster).await?;
            }
            Strike::Cut { lasts } => {
                cluster.until_formed().await?;
                let others: Vec<_> = living.iter().copied().filter(|other| *other != one).collect();
                self.note(&format!("node-{one} is cut off"));
                cluster.partition([one], &others);
                sleep(lasts).await;
                self.note("the network heals");
                cluster.heal();
                weather(cluster, plan);
                self.recover(cluster).await?;
            }
        }
        Ok(())
    }

    async fn leave(&mut self, cluster: &mut TestCluster, number: usize) -> Result<(), Broken> {
        self.note(&format!("node-{number} leaves"));
        // As a program does: what it serves ends before it leaves.
        self.end_sending(number).await?;
        let left = timeout(LEAVE_WITHIN, cluster.leave(number)).await;
        Ok(left.map_err(|_| Broken(format!("leave: node-{number} does not come to an end")))??)
    }

    async fn restart(&mut self, cluster: &mut TestCluster, number: usize) -> Result<(), Broken> {
        cluster.restart(number).await?;
        self.note(&format!("node-{number} starts again"));
        self.begin_sending(cluster, number);
        Ok(())
    }

    /// Waits until the cluster is whole after something by which messages and state may be lost.
    async fn recover(&mut self, cluster: &TestCluster) -> Result<(), Broken> {
        // Who is to be removed may not be yet, though all see each other again.
        sleep(FAIL_OVER).await;
        cluster.until_whole().await?;
        self.note("the cluster is whole");
        self.books.doubt_all();
        Ok(())
    }

    /// What nothing could have taken was handled.
    fn nothing_is_lost(&self) -> Result<(), Broken> {
        let seen = self.ledger.open();
        let books = self.books.open();
        let mut sure = books.iter().enumerate().filter(|(_, entry)| entry.note == Fate::Sure);
        match sure.find(|(number, _)| !seen.handled.contains(&(*number as u64))) {
            Some((number, entry)) => {
                Err(Broken(format!("lost: {} never got {number} of sender {}", entry.id, entry.sender)))
            }
            None => Ok(()),
        }
    }

    /// Asks every entity, and checks what it says.
    async fn look(&mut self, cluster: &TestCluster) -> Result<(), Broken> {
        let first = cluster.living().first().copied().unwrap_or(0);
        for invariant in &self.simulation.invariants {
            let histories = self.books.histories(&self.workload);
            self.entities = histories.len() as u64;
            for history in histories {
                let id = history.id().to_owned();
                let region = cluster.region(first, &self.kind);
                let checked = invariant.check(region, history).await;
                checked.map_err(|why| Broken(format!("invariant: {id}: {why}")))?;
            }
        }
        Ok(())
    }
}

/// How late the network of this run always is.
fn weather(cluster: &TestCluster, plan: &Plan) {
    if !plan.weather.is_zero() {
        cluster.living().into_iter().for_each(|node| cluster.slow_down(node, Duration::ZERO..=plan.weather));
    }
}
