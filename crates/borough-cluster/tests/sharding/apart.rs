//! Types whose turns run in tasks of their own: what holds of others holds of them.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use borough_actor::{Actor, Context, Fault, Reply};
use borough_cluster::{Node, Region};
use serde::{Deserialize, Serialize};

use crate::book::{Book, Writer};
use crate::rig::{BOUND, Rig, after, within};

async fn books(node: &Node) -> Region<Book> {
    let books = node.shard("books", |_| Writer::default()).shards(16).migrate_state();
    books.task_per_entity().handoff_timeout(Duration::from_secs(5)).start().await.unwrap()
}

#[derive(Serialize, Deserialize)]
enum Task {
    /// Blocks its thread until it is told to go on.
    Block,
    Answer(Reply<()>),
}

/// Blocks until it is told to go on.
struct Blocker(std::sync::Arc<Mutex<Receiver<()>>>);

impl Actor for Blocker {
    type Msg = Task;

    async fn receive(&mut self, task: Task, _: &mut Context<Self>) -> Result<(), Fault> {
        match task {
            Task::Block => self.0.lock().unwrap().recv_timeout(BOUND).map_err(|_| Fault::new("nobody came")),
            Task::Answer(reply) => {
                reply.send(());
                Ok(())
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_handler_that_blocks_its_thread_does_not_hold_up_others_of_its_shard() {
    let (go, on): (Sender<()>, _) = channel();
    let on = std::sync::Arc::new(Mutex::new(on));
    let node = Node::builder("test").listen("127.0.0.1:0").start().await.unwrap();
    let blockers = node.shard("blockers", move |_| Blocker(on.clone())).shards(1).keeps_own_state();
    let blockers = blockers.task_per_entity().start().await.unwrap();
    within(blockers.ask("slow", Task::Answer)).await.unwrap();
    within(blockers.tell("slow", Task::Block)).await.unwrap();
    let waits = blockers.ask("slow", Task::Answer).timeout(BOUND);
    for id in 0..50_u64 {
        within(blockers.ask(id.to_string(), Task::Answer)).await.unwrap();
    }
    go.send(()).unwrap();
    within(waits).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn order_and_state_are_kept_through_moves_with_a_task_for_each_entity() {
    let [a, b] = Rig::new(101).cluster(["a:1", "b:1"]).await;
    let region = books(&a).await;
    books(&b).await;
    let sends = async {
        for number in 1..=50 {
            for id in 0..20_u64 {
                within(region.tell(id.to_string(), Book::Note { sender: 1, number })).await.unwrap();
            }
            after(Duration::from_millis(2)).await;
        }
    };
    let leaves = async {
        after(Duration::from_millis(30)).await;
        b.leave().await.unwrap();
    };
    tokio::join!(sends, leaves);
    for id in 0..20_u64 {
        let pages = within(region.ask(id.to_string(), Book::Read)).await.unwrap();
        assert_eq!((pages.notes[&1], pages.misplaced), ((50, 50), vec![]), "of {id}");
    }
}

#[tokio::test(start_paused = true)]
async fn faults_and_passivation_are_as_ever_with_a_task_for_each_entity() {
    let [a] = Rig::new(102).cluster(["a:1"]).await;
    let region = books(&a).await;
    within(region.tell("x", Book::Note { sender: 1, number: 1 })).await.unwrap();
    within(region.tell("x", Book::Tear)).await.unwrap();
    within(region.tell("x", Book::Note { sender: 1, number: 2 })).await.unwrap();
    assert_eq!(within(region.ask("x", Book::Read)).await.unwrap().notes[&1], (1, 2));
    within(region.tell("x", Book::Close)).await.unwrap();
    assert!(within(region.ask("x", Book::Read)).await.unwrap().notes.is_empty());
    within(region.start("y")).await.unwrap();
    assert_eq!(region.state().await.entities(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_never_ends_is_ended_as_its_last_host_leaves_with_a_task_for_each_entity() {
    let [a] = Rig::new(103).cluster(["a:1"]).await;
    let region = books(&a).await;
    within(region.tell("x", Book::Hang)).await.unwrap();
    within(region.ask("y", Book::Read)).await.unwrap();
    let waits = region.ask("x", Book::Read).timeout(BOUND);
    let (left, answer) = tokio::join!(within(a.leave()), within(waits));
    left.unwrap();
    assert!(answer.is_err());
}

#[tokio::test(start_paused = true)]
async fn nothing_runs_without_a_lease_with_a_task_for_each_entity() {
    let rig = &mut Rig::new(104);
    let [a, b, c] = rig.cluster(["a:1", "b:1", "c:1"]).await;
    let regions = [books(&a).await, books(&b).await, books(&c).await];
    for id in 0..64_u64 {
        within(regions[2].ask(id.to_string(), Book::Life)).await.unwrap();
    }
    after(Duration::from_secs(8)).await;
    rig.part("c:1", "a:1");
    rig.part("c:1", "b:1");
    after(Duration::from_secs(2)).await;
    for id in 0..64_u64 {
        let life = regions[2].ask(id.to_string(), Book::Life).timeout(Duration::from_millis(300));
        assert!(within(life).await.is_err(), "{id} answered a node that has no lease");
    }
}
