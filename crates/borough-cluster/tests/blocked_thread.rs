//! A handler that blocks its thread holds up its worker and nothing else of its node: real threads, real time, loopback.

#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

use std::future::pending;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use borough_actor::{Actor, ActorRef, Context, Fault, Reply};
use borough_cluster::{Node, Region};
use serde::{Deserialize, Serialize};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, timeout};

/// Longer than anything here takes; a blocked handler waits for twice as long.
const BOUND: Duration = Duration::from_secs(30);
/// How often a handler blocks. Which thread of the runtime it blocks, and who polls sockets and timers then, is chance.
const ROUNDS: u64 = 40;
/// Half of the time from one ping of the control thread to the next, which wakes a thread, too.
const SLOW: Duration = Duration::from_millis(500);

/// Blocks its thread, here in a handler, until the test lets it go on.
struct Gate {
    blocks: Sender<()>,
    goes_on: Receiver<()>,
}

impl Gate {
    fn block(&self) -> Result<(), Fault> {
        self.blocks.send(()).unwrap();
        self.goes_on.recv_timeout(2 * BOUND).map_err(|_| Fault::new("nobody let it go on"))
    }
}

struct Blocker(Arc<Mutex<Gate>>);

#[derive(Serialize, Deserialize)]
struct Block;

impl Actor for Blocker {
    type Msg = Block;

    async fn receive(&mut self, Block: Block, _: &mut Context<Self>) -> Result<(), Fault> {
        self.0.lock().unwrap().block()
    }
}

#[derive(Serialize, Deserialize)]
enum Question {
    AtOnce(Reply<()>),
    /// Answered by a timer.
    Later(Reply<()>),
}

struct Answerer;

impl Actor for Answerer {
    type Msg = Question;

    async fn receive(&mut self, question: Question, _: &mut Context<Self>) -> Result<(), Fault> {
        let reply = match question {
            Question::AtOnce(reply) => reply,
            Question::Later(reply) => {
                assert!(timeout(Duration::from_millis(1), pending::<()>()).await.is_err());
                reply
            }
        };
        reply.send(());
        Ok(())
    }
}

/// The test's side of a [`Gate`].
struct Keeper {
    blocks: Receiver<()>,
    go_on: Sender<()>,
}

fn gate() -> (Gate, Keeper) {
    let (say, blocks) = channel();
    let (go_on, goes_on) = channel();
    (Gate { blocks: say, goes_on }, Keeper { blocks, go_on })
}

impl Keeper {
    /// Returns once a handler blocks.
    async fn blocks(self) -> Self {
        let waits = move || {
            self.blocks.recv_timeout(BOUND).expect("the handler did not begin");
            self
        };
        tokio::task::spawn_blocking(waits).await.unwrap()
    }
}

/// A node whose actors run on a runtime of its own with two workers, and one that sends to it.
struct Rig {
    _sender: Node,
    blockers: Region<Block>,
    answerers: Region<Question>,
    plain: ActorRef<Question>,
    keeper: Keeper,
    host: Option<Node>,
    runtime: Option<Runtime>,
}

async fn rig() -> Rig {
    let sender = Node::builder("test").listen("127.0.0.1:0").start().await.unwrap();
    let seed = sender.address().to_string();
    let (gate, keeper) = gate();
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let host = runtime.spawn(async move {
        let node = Node::builder("test").listen("127.0.0.1:0").seed(seed).role("host").start().await.unwrap();
        node.wait_for(2).await.unwrap();
        let gate = Arc::new(Mutex::new(gate));
        let blockers = node.shard("blockers", move |_| Blocker(gate.clone())).role("host");
        blockers.shards(8).keeps_own_state().start().await.unwrap();
        let answerers = node.shard("answerers", |_| Answerer).role("host");
        answerers.shards(8).keeps_own_state().start().await.unwrap();
        let plain = node.actor(|| Answerer).name("plain").spawn().unwrap();
        node.expose(&plain).unwrap();
        node
    });
    let host = timeout(BOUND, host).await.unwrap().unwrap();
    let blockers = sender.shard_proxy("blockers").role("host").shards(8).start().await.unwrap();
    let answerers = sender.shard_proxy("answerers").role("host").shards(8).start().await.unwrap();
    let there = sender.lookup::<Question>("/plain").on(host.node_id().as_str());
    let plain = timeout(BOUND, there).await.unwrap().unwrap();
    Rig { _sender: sender, blockers, answerers, plain, keeper, host: Some(host), runtime: Some(runtime) }
}

impl Rig {
    /// Returns once a handler blocks.
    async fn wait_for_block(&mut self) {
        let (_, spare) = gate();
        self.keeper = std::mem::replace(&mut self.keeper, spare).blocks().await;
    }

    /// Asks an entity and a plain actor, which needs a timer.
    async fn ask_others(&self, id: u64) {
        let answered = self.answerers.ask(id, Question::AtOnce).timeout(BOUND).await;
        answered.unwrap_or_else(|error| panic!("an entity does not answer: {error}"));
        let answered = self.plain.ask(Question::Later).timeout(BOUND).await;
        answered.unwrap_or_else(|error| panic!("a plain actor does not answer: {error}"));
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        // A handler that still blocks must not hold up the end of the test.
        let (_, keeper) = gate();
        drop(std::mem::replace(&mut self.keeper, keeper));
        drop(self.host.take());
        self.runtime.take().into_iter().for_each(Runtime::shutdown_background);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn remote_asks_and_timers_go_on_while_a_handler_blocks_its_thread() {
    let mut rig = rig().await;
    rig.ask_others(0).await;
    let mut slow = 0;
    for round in 0..ROUNDS {
        timeout(BOUND, rig.blockers.tell(round % 3, Block)).await.unwrap().unwrap();
        rig.wait_for_block().await;
        let begun = Instant::now();
        rig.ask_others(round).await;
        slow += u64::from(begun.elapsed() > SLOW);
        rig.keeper.go_on.send(()).unwrap();
    }
    assert!(slow < ROUNDS / 8, "others were held up in {slow} of {ROUNDS} rounds");
}
