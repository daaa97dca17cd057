//! Entities that wait in their turns for each other's room.

#![allow(clippy::unwrap_used, reason = "a helper of tests that cannot go on panics, as a test does")]

#[allow(dead_code, reason = "other tests need more of it")]
#[path = "nodes/rig.rs"]
mod rig;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use borough_actor::{Actor, Context, Fault, Reply};
use borough_cluster::{Node, Region};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::rig::{Rig, within};

#[derive(Serialize, Deserialize)]
enum Msg {
    Note,
    /// In one turn: waits until turns may go on, and sends that many notes to that entity; says how many were taken, and why no more.
    Tell {
        to: String,
        notes: u32,
        reply: Reply<Outcome>,
    },
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Outcome {
    taken: u32,
    refused: Option<String>,
}

/// What the entities of one node share.
#[derive(Clone)]
struct Shared {
    region: Arc<OnceLock<Region<Msg>>>,
    /// How many turns have begun, here the one that says so; and whether they may go on.
    begun: watch::Sender<u32>,
    go_on: watch::Sender<bool>,
}

struct Teller(Shared);

impl Actor for Teller {
    type Msg = Msg;

    async fn receive(&mut self, msg: Msg, _: &mut Context<Self>) -> Result<(), Fault> {
        let Msg::Tell { to, notes, reply } = msg else { return Ok(()) };
        self.0.begun.send_modify(|begun| *begun += 1);
        let _ = self.0.go_on.subscribe().wait_for(|go_on| *go_on).await;
        let region = self.0.region.get().unwrap();
        let mut outcome = Outcome { taken: 0, refused: None };
        for _ in 0..notes {
            match region.tell(&to, Msg::Note).await {
                Ok(()) => outcome.taken += 1,
                Err(error) => outcome.refused = Some(error.to_string()),
            }
        }
        reply.send(outcome);
        Ok(())
    }
}

impl Shared {
    fn new() -> Self {
        Self { region: Arc::default(), begun: watch::Sender::new(0), go_on: watch::Sender::new(false) }
    }

    async fn start(&self, node: &Node) -> Region<Msg> {
        let shared = self.clone();
        let tellers = node.shard("tellers", move |_| Teller(shared.clone())).shards(16).keeps_own_state();
        let region = tellers.start().await.unwrap();
        let _ = self.region.set(region.clone());
        region
    }

    /// Has an entity begin such a turn, and fills it up.
    async fn begin(&self, from: &str, to: &str, notes: u32) -> JoinHandle<Outcome> {
        let before = *self.begun.borrow();
        let (region, id, to) = (self.region.get().unwrap().clone(), from.to_owned(), to.to_owned());
        let turn = tokio::spawn(async move {
            let told = region.ask(id, |reply| Msg::Tell { to, notes, reply });
            told.timeout(Duration::from_secs(600)).await.unwrap()
        });
        within(self.begun.subscribe().wait_for(|begun| *begun > before)).await.unwrap();
        self.fill(from).await;
        turn
    }

    /// Sends notes to an entity until there is no room for more.
    async fn fill(&self, id: &str) {
        let region = self.region.get().unwrap();
        while timeout(Duration::from_secs(1), region.tell(id, Msg::Note)).await.is_ok() {}
    }
}

#[tokio::test(start_paused = true)]
async fn two_full_entities_that_tell_each_other_go_on_and_one_gets_its_message_back() {
    let [node] = Rig::new(501).cluster(["a:1"]).await;
    let shared = Shared::new();
    shared.start(&node).await;
    let turns = [shared.begin("x", "y", 1).await, shared.begin("y", "x", 1).await];
    let begun = Instant::now();
    shared.go_on.send_replace(true);
    let [x, y] = turns;
    let outcomes = [within(x).await.unwrap(), within(y).await.unwrap()];
    assert_eq!(outcomes.iter().map(|outcome| outcome.taken).sum::<u32>(), 1, "{outcomes:?}");
    let why = outcomes.iter().find_map(|outcome| outcome.refused.as_ref()).unwrap();
    // Whose tell closes the circle is open.
    let circles = [
        "x waits for tellers/y, which waits for tellers/x",
        "y waits for tellers/x, which waits for tellers/y",
    ];
    assert!(circles.iter().any(|circle| why.contains(circle)), "{why}");
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn an_entity_that_tells_itself_never_waits_and_is_refused_far_beyond_its_bound() {
    let [node] = Rig::new(502).cluster(["a:1"]).await;
    let shared = Shared::new();
    shared.start(&node).await;
    let turn = shared.begin("x", "x", 1500).await;
    let begun = Instant::now();
    shared.go_on.send_replace(true);
    let outcome = within(turn).await.unwrap();
    assert_eq!(outcome.taken, 1024);
    let why = outcome.refused.unwrap();
    assert!(why.contains("tellers/x waits for tellers/x"), "{why}");
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
}

/// A circle over two nodes is not found: it ends with the time of the wait.
#[tokio::test(start_paused = true)]
async fn full_entities_of_two_nodes_that_tell_each_other_wait_as_long_as_an_ask_at_most() {
    let [a, b] = Rig::new(503).cluster(["a:1", "b:1"]).await;
    let (here, there) = (Shared::new(), Shared::new());
    let region = here.start(&a).await;
    there.start(&b).await;
    let lives_on = |id: &u64, node: &Node| {
        let owner = a.explain("tellers", id.to_string()).unwrap().owner;
        owner.is_some_and(|(_, uid)| uid == node.uid())
    };
    let (x, y) = within(async {
        loop {
            for id in 0..32_u64 {
                region.tell(id, Msg::Note).await.unwrap();
            }
            rig::after(Duration::from_secs(5)).await;
            let found = [&a, &b].map(|node| (0..32).find(|id| lives_on(id, node)));
            if let [Some(x), Some(y)] = found {
                return (x.to_string(), y.to_string());
            }
        }
    })
    .await;
    let turns = [here.begin(&x, &y, 1).await, there.begin(&y, &x, 1).await];
    here.fill(&y).await;
    there.fill(&x).await;
    let begun = Instant::now();
    here.go_on.send_replace(true);
    there.go_on.send_replace(true);
    let mut refused = 0;
    for turn in turns {
        if let Some(why) = within(turn).await.unwrap().refused {
            assert!(why.contains("had no room for 5s"), "{why}");
            refused += 1;
        }
    }
    assert!(refused > 0, "there was no circle");
    assert!(begun.elapsed() < Duration::from_secs(7), "{:?}", begun.elapsed());
}
