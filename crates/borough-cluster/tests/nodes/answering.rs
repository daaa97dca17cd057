//! Answers from another node, many and large: a node that asks for more than the link carries is slowed down, and each ask ends.

use std::future::Future;
use std::time::Duration;

use borough_actor::{Actor, ActorRef, AskError, Context, DeadLetterReason, Fault, Reply};
use borough_cluster::{Node, Region};
use serde::{Deserialize, Serialize, Serializer};
use tokio::time::Instant;

use crate::rig::{Rig, after, within};

#[derive(Serialize, Deserialize)]
enum Draw {
    Text(usize, Reply<String>),
    /// Answered by a task, which cannot be held up.
    LaterText(usize, Reply<String>),
    Brittle(Reply<Brittle>),
}

#[derive(Debug, Deserialize)]
struct Brittle;

impl Serialize for Brittle {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("as this test wants it")
    }
}

struct Well;

impl Actor for Well {
    type Msg = Draw;

    async fn receive(&mut self, draw: Draw, _: &mut Context<Self>) -> Result<(), Fault> {
        match draw {
            Draw::Text(size, reply) => reply.send("x".repeat(size)),
            Draw::LaterText(size, reply) => drop(tokio::spawn(async move { reply.send("x".repeat(size)) })),
            Draw::Brittle(reply) => reply.send(Brittle),
        }
        Ok(())
    }
}

async fn two_nodes() -> ([Node; 2], ActorRef<Draw>) {
    let [here, there] = Rig::new(52).cluster(["a:1", "b:1"]).await;
    let well = there.actor(|| Well).name("well").spawn().unwrap();
    there.expose(&well).unwrap();
    let well = within(here.lookup::<Draw>("/well").on("b:1")).await.unwrap();
    ([here, there], well)
}

/// Has `ask` ask so many times at once; gives why asks failed.
async fn ask_at_once<F>(ask: impl Fn(u64) -> F) -> Vec<AskError>
where
    F: Future<Output = Result<String, AskError>> + Send + 'static,
{
    let asks: Vec<_> = (0..ASKS).map(|number| tokio::spawn(ask(number))).collect();
    let mut failed = Vec::new();
    for ask in asks {
        failed.extend(within(ask).await.unwrap().err());
    }
    failed
}

async fn proxy(node: &Node) -> Region<Draw> {
    let wells = node.shard_proxy::<Draw>("wells").start().await.unwrap();
    within(wells.ask("first", |reply| Draw::Text(1, reply))).await.unwrap();
    wells
}

/// Asks that entity for a text.
async fn text_of(wells: Region<Draw>, id: u64) -> Result<String, AskError> {
    wells.ask(id.to_string(), |reply| Draw::Text(SIZE, reply)).await
}

fn assert_all_answered(failed: &[AskError]) {
    assert!(failed.is_empty(), "{} failed; the first: {}", failed.len(), failed[0]);
}

const ASKS: u64 = 1000;
const SIZE: usize = 60_000;

#[tokio::test(start_paused = true)]
async fn a_burst_of_large_answers_of_one_actor_arrives() {
    let (_nodes, well) = two_nodes().await;
    for what in [Draw::Text, Draw::LaterText] {
        let ask = |_| {
            let well = well.clone();
            async move { well.ask(|reply| what(SIZE, reply)).await }
        };
        assert_all_answered(&ask_at_once(ask).await);
    }
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_large_answers_of_many_entities_arrives() {
    let [here, there] = Rig::new(53).cluster(["a:1", "b:1"]).await;
    let _wells = there.shard("wells", |_| Well).keeps_own_state().start().await.unwrap();
    let wells = proxy(&here).await;
    assert_all_answered(&ask_at_once(|id| text_of(wells.clone(), id)).await);
}

#[tokio::test(start_paused = true)]
async fn a_peer_whose_answers_do_not_leave_holds_up_its_own_asks_alone() {
    let mut rig = Rig::new(54);
    let [slow, there, quick] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    let _wells = there.shard("wells", |_| Well).keeps_own_state().start().await.unwrap();
    let (of_slow, of_quick) = (proxy(&slow).await, proxy(&quick).await);
    rig.network.slow(&there.address(), &slow.address(), 500_000);
    let slow_ones = tokio::spawn(ask_at_once(move |id| text_of(of_slow.clone(), id)));
    after(Duration::from_millis(100)).await;
    for id in 0..100_u64 {
        let asked = Instant::now();
        within(of_quick.ask(format!("own {id}"), |reply| Draw::Text(1, reply))).await.unwrap();
        assert!(asked.elapsed() < Duration::from_millis(100), "{:?}", asked.elapsed());
    }
    let failed = within(slow_ones).await.unwrap();
    assert!(failed.iter().all(|error| matches!(error, AskError::Timeout { .. })), "{failed:?}");
    // Those whose asker gave up before there was room for an answer had no turn.
    let gone = there.dead_letters().count(DeadLetterReason::AskerGone);
    assert!(gone > ASKS / 2, "{gone} of {ASKS}");
}

#[tokio::test(start_paused = true)]
async fn an_ask_whose_answer_panics_as_it_is_encoded_fails_at_once() {
    let (_nodes, well) = two_nodes().await;
    let asked = Instant::now();
    let failed = within(well.ask(Draw::Brittle)).await.unwrap_err();
    assert!(failed.may_have_been_handled(), "{failed}");
    assert!(asked.elapsed() < Duration::from_secs(1), "{failed}, after {:?}", asked.elapsed());
}
