//! Whether this node can work: what its tasks and the control thread's pings say.
//!
//! ```text
//!         +--ends in order------------------------------> nothing
//! a task -+--dropped with its runtime, or panicked------> Failure: the lease is given up, without a goodbye
//!         +--does not answer 15 pings, a second apart---> wedged: ERROR, not ready; the lease is given up if `wedged_after` says so
//! ```
//! Promise: nothing here is on the way of a message but a few stores that no other thread reads meanwhile.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::Sharding;
use super::desk::Errand;
use super::host::Probe;
use crate::node::Node;
use crate::topology::Failure;

/// How often workers are pinged.
pub(crate) const PING_EVERY: Duration = Duration::from_secs(1);
/// A worker that has not answered so many pings in a row is wedged.
pub(crate) const PINGS: u32 = 15;

/// A node that leaves or drains does not wait any longer for a worker that has not answered so many pings in a row: 60 s for its entities to move, and a shutdown's
/// patience beyond that.
const LEAVE_PINGS: u32 = 75;

/// A worker that does not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WedgedWorker {
    /// The type whose entities it runs; `None`: the region driver, which follows the table.
    pub kind: Option<String>,
    /// The entity whose handler it is in; `None` if it is in none, so that the runtime does not get to run it.
    pub entity: Option<String>,
    /// For how long it has not answered, to the second.
    pub silent: Duration,
}

impl fmt::Display for WedgedWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let silent = self.silent.as_secs();
        match (&self.kind, &self.entity) {
            (Some(kind), Some(entity)) => write!(
                f,
                "a worker of {kind} has not answered for {silent} s: the handler of {kind}/{entity} blocks it"
            ),
            (Some(kind), None) => {
                write!(f, "a worker of {kind} has not answered for {silent} s: the runtime does not run it")
            }
            (None, _) => {
                write!(f, "the region driver has not answered for {silent} s: the runtime does not run it")
            }
        }
    }
}

/// See the module.
pub(crate) struct Watchdog {
    failure: watch::Sender<Option<Failure>>,
    /// Of the region driver.
    desk: Probe,
    wedged: Mutex<Vec<WedgedWorker>>,
    /// Whether one of them has not answered for so long that neither a leave nor a drain waits for it.
    is_hopeless: watch::Sender<bool>,
}

impl Default for Watchdog {
    fn default() -> Self {
        Self {
            failure: watch::Sender::new(None),
            desk: Probe::default(),
            wedged: Mutex::default(),
            is_hopeless: watch::Sender::new(false),
        }
    }
}

impl Watchdog {
    /// What a task keeps that the node cannot work without.
    pub(super) fn guard(&self) -> TaskGuard {
        TaskGuard { failure: self.failure.clone(), is_done: false }
    }

    /// The node gives up its lease for that reason, unless it did for another.
    pub(super) fn fail(&self, failure: Failure) {
        set(&self.failure, failure);
    }

    /// Ready once it cannot work any more. Cancel safe.
    pub(crate) async fn failed(&self) -> Failure {
        let mut failure = self.failure.subscribe();
        match failure.wait_for(Option::is_some).await.ok().and_then(|failure| *failure) {
            Some(failure) => failure,
            // The sender is here.
            None => std::future::pending().await,
        }
    }

    /// Ready once a worker has not answered for so long that neither a leave nor a drain waits for it: the one that has been silent for longest. Cancel safe,
    /// and needs no runtime.
    pub(crate) async fn is_hopeless(&self) -> WedgedWorker {
        let mut hopeless = self.is_hopeless.subscribe();
        // The sender is here.
        drop(hopeless.wait_for(|is_hopeless| *is_hopeless).await);
        let worst = self.wedged().into_iter().max_by_key(|worker| worker.silent);
        // One that answers just now was silent for that long.
        worst.unwrap_or(WedgedWorker { kind: None, entity: None, silent: silence(LEAVE_PINGS) })
    }

    /// The region driver answers.
    pub(super) fn answer(&self) {
        self.desk.answer();
    }

    fn wedged(&self) -> Vec<WedgedWorker> {
        self.wedged.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn set(sender: &watch::Sender<Option<Failure>>, failure: Failure) {
    sender.send_if_modified(|known| {
        let is_first = known.is_none();
        known.get_or_insert(failure);
        is_first
    });
}

/// Kept by a task that the node cannot work without. Dropped before the task is done, it says that the node cannot work.
pub(crate) struct TaskGuard {
    failure: watch::Sender<Option<Failure>>,
    is_done: bool,
}

impl TaskGuard {
    /// The task ended in order.
    pub(crate) fn done(mut self) {
        self.is_done = true;
    }
}

impl Drop for TaskGuard {
    fn drop(&mut self) {
        if !self.is_done {
            // Tokio drops a task for two reasons: its runtime ends, or it panicked.
            let panicked = std::thread::panicking();
            set(&self.failure, if panicked { Failure::WorkerEnded } else { Failure::RuntimeGone });
        }
    }
}

impl Sharding {
    /// Pings every worker and the region driver, and says how many pings in a row the worst of them has not answered. Called once a second by the
    /// control thread; `starts_over` if that thread was late itself, so that silence says nothing.
    pub(crate) fn ping(&self, starts_over: bool) -> u32 {
        let mut wedged = Vec::new();
        for shell in self.shells() {
            wedged.extend(shell.ping(starts_over));
        }
        let (missed, is_new) = self.watchdog.desk.ping(starts_over);
        if is_new {
            self.errand(Errand::Ping);
        }
        if missed == PINGS {
            tracing::error!(
                silent = ?silence(missed),
                "the region driver does not answer: this node's runtime does not run its tasks; see what blocks its threads"
            );
        }
        if missed >= PINGS {
            wedged.push(WedgedWorker { kind: None, entity: None, silent: silence(missed) });
        }
        let worst = wedged.iter().map(|worker| worker.silent.as_secs()).max().unwrap_or(0);
        let before = std::mem::replace(
            &mut *self.watchdog.wedged.lock().unwrap_or_else(PoisonError::into_inner),
            wedged,
        );
        if worst == 0 && !before.is_empty() {
            tracing::info!("all workers answer again");
        }
        let worst = u32::try_from(worst).unwrap_or(u32::MAX);
        let is_hopeless = worst >= LEAVE_PINGS;
        self.watchdog
            .is_hopeless
            .send_if_modified(|known| std::mem::replace(known, is_hopeless) != is_hopeless);
        worst
    }

    /// The workers that do not answer.
    pub(super) fn wedged(&self) -> Vec<WedgedWorker> {
        self.watchdog.wedged()
    }
}

/// For how long a worker has not answered that missed so many pings.
pub(super) fn silence(missed: u32) -> Duration {
    PING_EVERY * missed
}

impl Node {
    /// The workers of this node that have not answered for 15 s, each with the entity whose handler blocks it.
    ///
    /// While there are any, the node is [not ready](Self::is_ready_for): what is sent to entities of that worker waits. It answers again once the handler
    /// returns; with [`wedged_after`](crate::NodeBuilder::wedged_after) the node gives up its lease instead, so that others take over.
    pub fn wedged_workers(&self) -> Vec<WedgedWorker> {
        self.sharding().wedged()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use borough_actor::{Actor, Context, Fault};
    use borough_protocol::settings::{Checked, Settings};
    use borough_protocol::sharding::ShardId;
    use borough_protocol::table::{Removal, Table};
    use tokio::time::{Instant, timeout};

    use super::*;
    use crate::node::{DrainError, LeaveError};
    use crate::testing::MemoryNetwork;
    use crate::topology::Standing;

    /// Longer than anything here takes.
    const BOUND: Duration = Duration::from_secs(120);
    const ADDRESSES: [&str; 3] = ["a:1", "b:1", "c:1"];

    struct Thing;

    impl Actor for Thing {
        type Msg = u64;

        async fn receive(&mut self, _: u64, _: &mut Context<Self>) -> Result<(), Fault> {
            Ok(())
        }
    }

    /// Three nodes with shards, the coordinator first.
    async fn cluster() -> [Node; 3] {
        let network = MemoryNetwork::new(31);
        let mut nodes = Vec::new();
        for (seed, address) in (31..).zip(ADDRESSES) {
            let builder = Node::builder("test").listen(address).seeds(ADDRESSES);
            nodes.push(builder.simulated(&network, seed, 0).start().await.unwrap());
        }
        for node in &nodes {
            timeout(BOUND, node.wait_for(3)).await.unwrap().unwrap();
            let region = node.shard("things", |_| Thing).shards(16).keeps_own_state().start().await.unwrap();
            for id in 0..64_u64 {
                region.tell(id.to_string(), id).await.unwrap();
            }
        }
        let coordinator = nodes[0].topology().current().coordinator;
        nodes.sort_by_key(|node| Some(node.uid()) != coordinator);
        nodes.try_into().unwrap()
    }

    /// A worker that never answers keeps its entities, so nothing else ends the wait.
    #[tokio::test(start_paused = true)]
    async fn leave_and_drain_do_not_wait_for_a_worker_that_never_answers_and_go_on_once_it_does() {
        let [_a, _b, c] = cluster().await;
        // No worker runs between these. The first is not missed.
        c.sharding().ping(false);
        for _ in 0..PINGS {
            c.sharding().ping(false);
        }
        assert_eq!(c.wedged_workers().iter().filter(|worker| worker.kind.is_none()).count(), 1);
        let waits = std::pin::pin!(c.sharding().watchdog.is_hopeless());
        let is_over = waits.poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_ready();
        assert!(!is_over, "it may answer yet");
        for _ in PINGS..LEAVE_PINGS {
            c.sharding().ping(false);
        }
        let drained = timeout(BOUND, c.drain()).await.unwrap();
        assert!(matches!(drained, Err(DrainError::Wedged(_))), "{drained:?}");
        let left = timeout(BOUND, c.leave()).await.unwrap();
        assert!(matches!(left, Err(LeaveError::Wedged(_))), "{left:?}");
        // They answer now that they run, and are asked again.
        let mut hopeless = c.sharding().watchdog.is_hopeless.subscribe();
        drop(timeout(BOUND, hopeless.wait_for(|is_hopeless| !*is_hopeless)).await.unwrap().unwrap());
        assert_eq!(timeout(BOUND, c.leave()).await.unwrap(), Ok(()));
    }

    /// The table of that node, once it is so.
    async fn table_where(node: &Node, is_so: impl Fn(&Table) -> bool) -> Arc<Table> {
        let mut sight = node.sharding().sight.subscribe();
        let found = sight.wait_for(|sight| sight.table.as_deref().is_some_and(&is_so));
        let found = timeout(BOUND, found).await.expect("not in time").unwrap();
        found.table.clone().unwrap()
    }

    /// A goodbye would free its shards at once, although a handler may still run on a thread of the lost runtime.
    #[tokio::test(start_paused = true)]
    async fn a_node_whose_runtime_is_gone_is_removed_as_quiet_and_its_shards_wait_for_its_lease() {
        let [coordinator, _other, failed] = cluster().await;
        let uid = failed.uid();
        let before = table_where(&coordinator, |table| table.owned_by(uid).count() > 2).await;
        let owned: Vec<ShardId> = before.owned_by(uid).map(|(shard, _)| shard).collect();
        // What happens to the guards of its tasks as the runtime drops them.
        drop(failed.sharding().watchdog.guard());
        let is_removed = |table: &Table| table.removed().contains_key(&uid);
        let after = table_where(&coordinator, is_removed).await;
        let removed = Instant::now();
        assert_eq!((after.removed()[&uid].why, after.is_free(uid)), (Removal::Quiet, false));
        assert_eq!(failed.topology().current().standing, Standing::Failed(Failure::RuntimeGone));
        let owner_of = |table: &Table, shard: &ShardId| table.shard(*shard).map(|entry| entry.owner);
        let is_given = |table: &Table| owned.iter().any(|shard| owner_of(table, shard) != Some(uid));
        let given = table_where(&coordinator, |table| table.is_free(uid) || is_given(table)).await;
        assert!(given.is_free(uid), "a shard has a new owner before its old one is free");
        let settings = Settings { cluster: "test".into(), ..Settings::default() };
        let wait = Checked::new(settings).unwrap().timing().wait;
        assert!(removed.elapsed() >= wait, "{:?} of {wait:?}", removed.elapsed());
        table_where(&coordinator, |table| owned.iter().all(|shard| owner_of(table, shard) != Some(uid)))
            .await;
    }

    /// How long the others take to call it quiet is not judged: they suspect it sooner if its address refuses them.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_others_call_a_node_quiet_whose_runtime_was_shut_down() {
        let new_node = |seeds: Vec<String>| Node::builder("test").listen("127.0.0.1:0").seeds(seeds).start();
        let a = new_node(Vec::new()).await.unwrap();
        let seeds = vec![a.address().to_string()];
        let _b = new_node(seeds.clone()).await.unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let c = runtime.spawn(async move { new_node(seeds).await.unwrap() }).await.unwrap();
        timeout(BOUND, a.wait_for(3)).await.unwrap().unwrap();
        let uid = c.uid();
        runtime.shutdown_background();
        let after = table_where(&a, |table| table.removed().contains_key(&uid)).await;
        assert_eq!(after.removed()[&uid].why, Removal::Quiet);
    }

    #[tokio::test]
    async fn a_task_that_is_dropped_before_it_is_done_says_that_its_runtime_is_gone() {
        let watchdog = Watchdog::default();
        watchdog.guard().done();
        assert_eq!(*watchdog.failure.borrow(), None);
        drop(watchdog.guard());
        assert_eq!(watchdog.failed().await, Failure::RuntimeGone);
        watchdog.fail(Failure::Wedged);
        assert_eq!(watchdog.failed().await, Failure::RuntimeGone, "the first reason stays");
    }

    #[tokio::test]
    async fn a_task_that_panics_says_that_a_worker_ended() {
        let watchdog = Watchdog::default();
        let guard = watchdog.guard();
        let task = tokio::spawn(async move {
            let _guard = guard;
            panic!("on purpose");
        });
        assert!(task.await.is_err());
        assert_eq!(watchdog.failed().await, Failure::WorkerEnded);
    }
}
