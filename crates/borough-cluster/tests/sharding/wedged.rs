//! Handlers that block their worker: real runtimes, real time, loopback.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use borough_actor::{Actor, Context, Fault, Reply};
use borough_cluster::{Failure, GaveUp, LeaveError, Node, NodeBuilder, Region, ShardNews, Standing};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout};

use crate::hearing::Warnings;

/// Longer than anything here takes.
const BOUND: Duration = Duration::from_secs(60);

#[derive(Serialize, Deserialize)]
enum Task {
    /// Says so, and blocks its thread until it is told to go on.
    Block(Reply<()>),
    Answer(Reply<()>),
}

/// Blocks until the test lets it go on.
struct Blocker(Arc<Mutex<Receiver<()>>>);

impl Actor for Blocker {
    type Msg = Task;

    async fn receive(&mut self, task: Task, _: &mut Context<Self>) -> Result<(), Fault> {
        match task {
            Task::Block(reply) => {
                reply.send(());
                self.0.lock().unwrap().recv_timeout(BOUND).map_err(|_| Fault::new("nobody came"))
            }
            Task::Answer(reply) => {
                reply.send(());
                Ok(())
            }
        }
    }
}

/// What lets a blocked handler go on.
type Go = Sender<()>;

async fn start(builder: NodeBuilder) -> (Node, Region<Task>, Go) {
    start_as(("blockers", false), builder).await
}

/// A node with that type of entities, whose turns may run in tasks of their own.
async fn start_as((kind, task_per_entity): (&str, bool), builder: NodeBuilder) -> (Node, Region<Task>, Go) {
    let (go, on): (Go, _) = channel();
    let on = Arc::new(Mutex::new(on));
    let node = builder.listen("127.0.0.1:0").start().await.unwrap();
    let blockers = node.shard(kind, move |_| Blocker(on.clone())).shards(8).keeps_own_state();
    let blockers = if task_per_entity { blockers.task_per_entity() } else { blockers };
    let blockers = blockers.start().await.unwrap();
    (node, blockers, go)
}

/// Waits for that, looked at again and again.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let looks = async {
        let mut every = tokio::time::interval(Duration::from_millis(20));
        while !holds() {
            every.tick().await;
        }
    };
    timeout(BOUND, looks).await.unwrap_or_else(|_| panic!("in vain: {what}"));
}

/// Asks entities until one of them lives on that node.
async fn an_entity_of(node: &Node, kind: &str, blockers: &Region<Task>) -> String {
    let lives_there = |id: &u64| {
        node.explain(kind, id.to_string()).unwrap().owner.is_some_and(|(_, uid)| uid == node.uid())
    };
    let found = timeout(BOUND, async {
        loop {
            for id in 0..24_u64 {
                blockers.ask(id.to_string(), Task::Answer).await.unwrap();
            }
            if let Some(id) = (0..24).find(lives_there) {
                return id.to_string();
            }
            tokio::task::yield_now().await;
        }
    });
    found.await.expect("no shards came to the node")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_worker_that_a_handler_blocks_is_named_makes_the_node_unready_and_is_forgotten_once_it_answers() {
    let warnings = warnings_of_all_threads();
    let (node, blockers, go) = start(Node::builder("test")).await;
    timeout(BOUND, blockers.ask("stuck", Task::Block)).await.unwrap().unwrap();
    assert!(node.is_ready_for(&["blockers"]));
    let begun = Instant::now();
    until("the worker is wedged", || !node.wedged_workers().is_empty()).await;
    assert!(begun.elapsed() > Duration::from_secs(13), "it may take 15 s to answer");
    let wedged = node.wedged_workers();
    let [worker] = wedged.as_slice() else { panic!("{wedged:?}") };
    assert_eq!(worker.kind.as_deref(), Some("blockers"));
    assert_eq!(worker.entity.as_deref(), Some("stuck"));
    let said = errors(&warnings, "a handler blocks its worker", "stuck");
    assert!(matches!(said.as_slice(), [line] if line.contains("pings=15 ")), "{said:?}");
    assert!(!node.is_ready_for(&["blockers"]), "what is sent to that worker waits");
    // What is counted can be read although the worker does not answer.
    let stats = timeout(BOUND, node.sharding_stats_here()).await.unwrap();
    assert_eq!((stats.kinds[0].wedged, stats.kinds[0].overran), (1, 0), "the lease holds");
    go.send(()).unwrap();
    until("it answers again", || node.wedged_workers().is_empty()).await;
    assert!(node.is_ready_for(&["blockers"]));
    timeout(BOUND, node.leave()).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_handler_that_outlasts_its_lease_is_counted_once_and_named_while_it_runs_and_when_it_returns() {
    outlasts_its_lease("shared", false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_handler_in_a_task_of_its_own_that_outlasts_its_lease_is_counted_once_and_named() {
    outlasts_its_lease("apart", true).await;
}

/// Two of three nodes are gone, so the lease of the third is soon over, and its handler runs on.
async fn outlasts_its_lease(kind: &str, task_per_entity: bool) {
    let warnings = warnings_of_all_threads();
    let start = async |builder: NodeBuilder| start_as((kind, task_per_entity), builder).await;
    let (a, _, _) = start(Node::builder("test")).await;
    let seed = a.address().to_string();
    let (b, _, _) = start(Node::builder("test").seed(&seed)).await;
    let (c, blockers, go) = start(Node::builder("test").seed(&seed)).await;
    timeout(BOUND, c.wait_for(3)).await.unwrap().unwrap();
    let here = an_entity_of(&c, kind, &blockers).await;
    timeout(BOUND, blockers.ask(here.clone(), Task::Block)).await.unwrap().unwrap();
    drop((a, b));
    let overran = async || {
        let stats = timeout(BOUND, c.sharding_stats_here()).await.unwrap();
        stats.kinds[0].overran
    };
    timeout(BOUND, async {
        let mut every = tokio::time::interval(Duration::from_millis(50));
        while overran().await == 0 {
            every.tick().await;
        }
    })
    .await
    .expect("the handler was not counted");
    let named =
        |words: &str| errors(&warnings, words, &here).iter().filter(|line| line.contains(kind)).count();
    assert_eq!(
        [named("a handler still runs although the lease"), named("a handler returned although")],
        [1, 0]
    );
    go.send(()).unwrap();
    until("it is said that the handler returned", || named("a handler returned although") == 1).await;
    // It is one, while it runs and when it returns: for a while nothing is added.
    let mut every = tokio::time::interval(Duration::from_millis(50));
    for _ in 0..40 {
        every.tick().await;
        assert_eq!(overran().await, 1);
    }
    assert_eq!(
        [named("a handler still runs although the lease"), named("a handler returned although")],
        [1, 1]
    );
}

/// What all threads of this process log from now on: the control thread of a node is one of its own.
fn warnings_of_all_threads() -> Warnings {
    static ALL: OnceLock<Warnings> = OnceLock::new();
    let listen = || {
        let warnings = Warnings::default();
        tracing::subscriber::set_global_default(warnings.ear(tracing::Level::WARN)).unwrap();
        warnings
    };
    ALL.get_or_init(listen).clone()
}

/// What was logged at ERROR with these words of that entity.
fn errors(warnings: &Warnings, words: &str, entity: &str) -> Vec<String> {
    // `%` writes it bare, a string is quoted.
    let is_of = |line: &String| {
        line.starts_with("ERROR ")
            && [format!("entity={entity} "), format!("entity={entity:?} ")]
                .iter()
                .any(|field| line.contains(field))
    };
    warnings.with(words).into_iter().filter(is_of).collect()
}

/// The cluster removes the node while a handler holds up one of its lanes: the lane cannot say how many entities it has.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_node_that_drops_entities_it_cannot_count_says_so() {
    let (a, _, _) = start(Node::builder("test").node_id("a")).await;
    let (b, blockers, go) = start(Node::builder("test").node_id("b").seed(a.address().to_string())).await;
    timeout(BOUND, a.wait_for(2)).await.unwrap().unwrap();
    let here = an_entity_of(&b, "blockers", &blockers).await;
    timeout(BOUND, blockers.ask(here, Task::Block)).await.unwrap().unwrap();
    let mut news = b.shard_events();
    a.down("b").await.unwrap();
    let loss = timeout(BOUND, async {
        loop {
            if let ShardNews::StateLost(loss) = news.recv().await.unwrap().what {
                return loss;
            }
        }
    });
    let loss = loss.await.expect("the node did not say what it drops");
    assert_eq!((loss.why, loss.entities), (GaveUp::Removed, None));
    assert!(loss.shards > 0, "the table knows its shards: {loss:?}");
    go.send(()).unwrap();
    let counts = timeout(BOUND, b.sharding_stats_here()).await.unwrap().state_losses.removed;
    assert_eq!((counts.times, counts.entities, counts.uncounted), (1, 0, 1));
    assert_eq!(counts.shards, loss.shards as u64);
}

/// Gives up its lease `wedged_after` a handler blocked it: its entities go on elsewhere, although the handler still runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_wedged_node_gives_up_its_lease_if_that_is_set_and_its_entities_go_on_elsewhere() {
    // Nobody was removed, so nobody has to wait for 5 minutes after a removal. Less than 15 s count as 15 s.
    let set =
        |builder: NodeBuilder| builder.wedged_after(Duration::from_secs(1)).wedged_apart(Duration::ZERO);
    let (a, of_a, _) = start(set(Node::builder("test").node_id("a"))).await;
    let seed = a.address().to_string();
    let (b, _, _) = start(set(Node::builder("test").node_id("b").seed(&seed))).await;
    // A runtime of its own: its blocked thread holds up nothing of the others.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let c = set(Node::builder("test").node_id("c").seed(&seed));
    let (c, of_c, go) = runtime.spawn(start(c)).await.unwrap();
    for node in [&a, &b, &c] {
        let topology = node.topology();
        let whole = topology.wait_until(|topology| topology.up().count() == 3 && topology.tolerates() == 1);
        timeout(BOUND, whole).await.unwrap().unwrap();
    }
    let here = an_entity_of(&c, "blockers", &of_c).await;
    let (life, begun) = (c.uid(), Instant::now());
    timeout(BOUND, of_c.ask(here.clone(), Task::Block)).await.unwrap().unwrap();

    let topology = c.topology();
    until("the wedged node gives up", || topology.current().standing.is_final()).await;
    assert_eq!(topology.current().standing, Standing::Failed(Failure::Wedged));
    assert!(begun.elapsed() > Duration::from_secs(13), "it may take 15 s to answer");
    let others = a.topology();
    until("the others go on without it", || others.current().member(life).is_none()).await;
    // Still blocked there, it answers here.
    timeout(BOUND, of_a.ask(here.clone(), Task::Answer)).await.unwrap().unwrap();
    let owner = a.explain("blockers", here).unwrap().owner.unwrap();
    assert!([a.uid(), b.uid()].contains(&owner.1), "{owner:?}");
    assert!(a.wedged_workers().is_empty() && b.wedged_workers().is_empty());
    assert_eq!(timeout(BOUND, c.leave()).await.unwrap(), Err(LeaveError::Failed(Failure::Wedged)));
    go.send(()).unwrap();
    drop(c);
    runtime.shutdown_background();
}
