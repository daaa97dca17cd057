//! Your own entities in a whole cluster, from one seed: nodes that crash, are cut off, join, leave and are replaced while messages are sent.
//!
//! Everything runs on one thread and a stopped clock, and all that is left to chance is drawn from the seed: a run that broke a promise breaks it again
//! with the same seed. What is checked: the promises of Borough itself, by an entity of its own beside yours, and what you say must hold of yours.
//!
//! ```text
//! mod.rs      what is set, and many seeds      plan.rs      what a seed draws        world.rs   one run
//! sender.rs   who sends                        books.rs     what was sent            witness.rs the entity beside yours
//! history.rs  what an invariant is shown       invariant.rs a question and a check   failure.rs how a failure is told
//! ```

mod books;
mod failure;
mod history;
mod invariant;
mod plan;
mod sender;
mod witness;
mod world;

use std::fmt;
use std::ops::{Bound, RangeBounds, RangeInclusive};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use borough_actor::{Actor, Reply};
use borough_cluster::{Message, Node, ShardBuilder};
use borough_protocol::random::Random;
use tokio::runtime::Builder;

pub use self::failure::SimulationFailure;
pub use self::history::{Fate, History, Sent};
use self::invariant::Invariant;
pub use self::plan::Faults;
use self::world::World;

/// What names the one seed that is run instead of those that were set: how a failure is repeated.
pub const SEED_VARIABLE: &str = "BOROUGH_SEED";

/// Draws one message, and whom it is for.
pub(crate) type Workload<M> = Arc<dyn Fn(&mut Random) -> (String, M) + Send + Sync>;
/// Prepares the type on a node.
pub(crate) type Prepare<A> = Arc<dyn Fn(&Node) -> ShardBuilder<A> + Send + Sync>;

/// Runs of a whole cluster with your entities in it; see [`Simulation::of`].
#[must_use = "nothing is run before `run`"]
pub struct Simulation<A: Actor>
where
    A::Msg: Message,
{
    prepare: Prepare<A>,
    nodes: RangeInclusive<usize>,
    seeds: Vec<u64>,
    faults: Faults,
    workload: Option<Workload<A::Msg>>,
    invariants: Vec<Invariant<A::Msg>>,
}

/// What came of runs in which every promise was kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SimulationSummary {
    /// How many seeds were run.
    pub seeds: u64,
    /// How many messages were sent to your entities.
    pub messages: u64,
    /// How many entities were looked at in the end.
    pub entities: u64,
    /// How many crashes, cuts, joins, leaves and other things struck.
    pub strikes: u64,
    /// All that happened, as one number: the same seeds give the same.
    pub trace_hash: u64,
}

impl<A: Actor> Simulation<A>
where
    A::Msg: Message,
{
    /// Simulates one type of entities. `prepare` says how it is started on a node, as the program itself does, so that its settings are simulated too.
    ///
    /// ```
    /// use borough::prelude::*;
    /// use borough_testkit::Simulation;
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
    /// Simulation::of(|node| node.shard("accounts", |_id| AccountEntity::default()).migrate_state())
    ///     .seeds(0..2)
    ///     .workload(|random| (format!("account-{}", random.below(10)), Account::Deposit(random.between(1, 100))))
    ///     .invariant(Account::Balance, |history, balance| {
    ///         let amount = |message: &Account| if let Account::Deposit(amount) = message { *amount } else { 0 };
    ///         let sure: u64 = history.sure().map(amount).sum();
    ///         let all: u64 = history.accepted().map(amount).sum();
    ///         if (sure..=all).contains(&balance) { Ok(()) } else { Err(format!("{balance} of {sure} to {all}")) }
    ///     })
    ///     .run();
    /// ```
    pub fn of(prepare: impl Fn(&Node) -> ShardBuilder<A> + Send + Sync + 'static) -> Self {
        Self {
            prepare: Arc::new(prepare),
            nodes: 3..=5,
            seeds: (0..20).collect(),
            faults: Faults::All,
            workload: None,
            invariants: Vec::new(),
        }
    }

    /// With how many nodes a run begins, drawn by its seed. Default 3 to 5. Fewer than two have nobody to give anything to, and are taken as two.
    pub fn nodes(mut self, nodes: RangeInclusive<usize>) -> Self {
        self.nodes = nodes;
        self
    }

    /// Which seeds are run, one after the other. Default `0..20`. `.seeds(17..=17)` repeats one.
    pub fn seeds(mut self, seeds: impl RangeBounds<u64>) -> Self {
        let first = match seeds.start_bound() {
            Bound::Included(first) => *first,
            Bound::Excluded(before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        self.seeds = match seeds.end_bound() {
            Bound::Included(last) => (first..=*last).collect(),
            Bound::Excluded(end) => (first..*end).collect(),
            Bound::Unbounded => (first..first.saturating_add(20)).collect(),
        };
        self
    }

    /// What may strike. Default [`Faults::All`].
    pub fn faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// Draws one message, and the id of the entity it is for. It is told, not asked.
    ///
    /// The function is called again to show an invariant what was sent, so what it gives must follow from the random numbers alone.
    pub fn workload<I: Into<String>>(
        mut self,
        draw: impl Fn(&mut Random) -> (I, A::Msg) + Send + Sync + 'static,
    ) -> Self {
        self.workload = Some(Arc::new(move |random| {
            let (id, message) = draw(random);
            (id.into(), message)
        }));
        self
    }

    /// What must hold of each entity in the end, when the cluster is whole again and everything that was sent has arrived: `question` is asked, and
    /// `check` is shown what was sent to it and what it answers. Several may be given.
    pub fn invariant<T: Send + 'static>(
        mut self,
        question: impl Fn(Reply<T>) -> A::Msg + Send + Sync + 'static,
        check: impl Fn(&History<A::Msg>, T) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.invariants.push(Invariant::new(question, check));
        self
    }

    /// Runs all seeds, and stops at the first that breaks a promise.
    ///
    /// If the environment has `BOROUGH_SEED`, that seed alone is run, and what happens is printed to standard error.
    ///
    /// # Panics
    /// If a promise was broken: the panic names the seed, what broke, what had happened, and the command that repeats it. Also if there is no workload, or
    /// if it is called inside of a tokio runtime: each seed has a runtime of its own, so use a plain `#[test]`.
    #[track_caller]
    pub fn run(self) -> SimulationSummary {
        match self.try_run() {
            Ok(summary) => summary,
            Err(failure) => panic!("{failure}"),
        }
    }

    /// As [`run`](Self::run), and gives the failure back.
    ///
    /// # Panics
    /// If there is no workload, if `BOROUGH_SEED` is no number, or if it is called inside of a tokio runtime.
    pub fn try_run(self) -> Result<SimulationSummary, SimulationFailure> {
        let workload = self.workload.clone();
        let workload = workload.unwrap_or_else(|| panic!("a simulation needs a `workload`: what is sent"));
        let one = seed_of_environment();
        let seeds = one.map_or_else(|| self.seeds.clone(), |seed| vec![seed]);
        let mut summary = SimulationSummary::default();
        for seed in seeds {
            let ran = catch_unwind(AssertUnwindSafe(|| self.run_one(seed, &workload, one.is_some())));
            let ran = ran.unwrap_or_else(|panic| Err(SimulationFailure::of_panic(seed, &*panic)));
            let (messages, entities, strikes, hash) = ran?;
            summary.seeds += 1;
            summary.messages += messages;
            summary.entities += entities;
            summary.strikes += strikes;
            summary.trace_hash = summary.trace_hash.wrapping_mul(31).wrapping_add(hash);
        }
        Ok(summary)
    }

    fn run_one(
        &self,
        seed: u64,
        workload: &Workload<A::Msg>,
        prints: bool,
    ) -> Result<(u64, u64, u64, u64), SimulationFailure> {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.unwrap_or_else(|error| panic!("no runtime: {error}"));
        runtime.block_on(async {
            let mut world = World::new(self, workload.clone(), seed, prints);
            match world.run().await {
                Ok(()) => Ok(world.sums()),
                Err(broken) => Err(world.failure(broken)),
            }
        })
    }
}

/// The one seed that is to be run, if the environment names one.
fn seed_of_environment() -> Option<u64> {
    let text = std::env::var(SEED_VARIABLE).ok()?;
    let seed = text.trim().parse();
    Some(seed.unwrap_or_else(|_| panic!("{SEED_VARIABLE} is {text:?}, which is no seed: a number is")))
}

impl<A: Actor> fmt::Debug for Simulation<A>
where
    A::Msg: Message,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation")
            .field("nodes", &self.nodes)
            .field("seeds", &self.seeds.len())
            .field("faults", &self.faults)
            .finish_non_exhaustive()
    }
}
