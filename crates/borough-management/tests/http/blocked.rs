//! A handler blocks its worker: the node says so, and is not ready until it returns.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use borough_actor::{Actor, Context, Fault, Reply};
use borough_management::Management;
use borough_management::view::Health;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use crate::client::{BOUND, get};
use crate::fleet::{node, until};

/// Says that it begins, and blocks its thread until it is told to go on.
#[derive(Serialize, Deserialize)]
struct Block(Reply<()>);

struct Blocker(Arc<Mutex<Receiver<()>>>);

impl Actor for Blocker {
    type Msg = Block;

    async fn receive(&mut self, Block(reply): Block, _: &mut Context<Self>) -> Result<(), Fault> {
        reply.send(());
        self.0.lock().unwrap().recv_timeout(BOUND).map_err(|_| Fault::new("nobody came"))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_node_whose_worker_is_blocked_lives_is_not_ready_and_names_the_entity() {
    let (go, on) = channel();
    let on = Arc::new(Mutex::new(on));
    let node = node("blocked", None).await;
    let blockers = node.shard("blockers", move |_| Blocker(on.clone())).keeps_own_state();
    let blockers = blockers.start().await.unwrap();
    let management = Management::builder(&node).listen("127.0.0.1:0").start().await.unwrap();
    let address = management.address();
    until(address, "/health/ready?types=blockers", |health: &Health| health.ok).await;
    timeout(BOUND, blockers.ask("alice", Block)).await.unwrap().unwrap();
    let health: Health = until(address, "/health/ready", |health: &Health| !health.ok).await;
    assert!(health.why.unwrap().contains("the handler of blockers/alice has blocked its worker"));
    assert_eq!(get(address, "/health/live").await.status, 200, "a restart would cost what it holds");
    let metrics = get(address, "/metrics").await.body;
    assert!(metrics.contains("borough_workers_wedged_total{type=\"blockers\"} 1"), "{metrics}");
    assert!(metrics.contains("borough_turns_outlasting_lease_total{type=\"blockers\"} 0"), "{metrics}");
    go.send(()).unwrap();
    until(address, "/health/ready", |health: &Health| health.ok).await;
}
