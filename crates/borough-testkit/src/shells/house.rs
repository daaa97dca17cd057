//! One node, and what lives in it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use borough_actor::{ActorRef, MailboxKind};
use borough_cluster::testing::MemoryNetwork;
use borough_cluster::{Limits, Node};
use borough_protocol::random::Random;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::books::Books;
use super::counter::{Counter, Registrar};
use super::plan::Plan;
use super::sender::Sender;
use super::words::Words;

/// How many bytes a lane sends ahead: not many, so that it has to wait for acknowledgements at times.
const UNACKED: usize = 512 * 1024;
/// When a run begins, in seconds since 2020.
const ERA: u32 = 1000;

/// A node with actors and with tasks that send.
pub(super) struct House {
    pub(super) number: usize,
    pub(super) node: Arc<Node>,
    /// It was told to leave.
    pub(super) is_leaving: bool,
    mortal: (ActorRef<Words>, u32),
    tasks: JoinSet<()>,
    books: Books,
}

/// What all nodes of a run are started with.
pub(super) struct Ground {
    pub(super) network: MemoryNetwork,
    pub(super) books: Books,
    pub(super) names: Arc<[String]>,
    pub(super) addresses: Vec<String>,
    pub(super) quiet: Arc<AtomicBool>,
    pub(super) began: Instant,
}

impl Ground {
    /// What the wall clock says, in seconds since 2020.
    fn era(&self) -> u32 {
        ERA + u32::try_from(self.began.elapsed().as_secs()).unwrap_or(0)
    }
}

impl House {
    /// Starts a node at that place; `seed` is its own.
    pub(super) async fn open(plan: &Plan, ground: &Ground, place: usize, seed: u64) -> Result<Self, String> {
        let mut random = Random::seeded(seed);
        let (frame_max, queue_messages) = (plan.frame_max, plan.queue);
        let limits = Limits { frame_max, queue_messages, unacked_max: UNACKED, ..Limits::default() };
        let builder = Node::builder("sim")
            .listen(&ground.addresses[place])
            .node_id(&ground.names[place])
            .seeds(ground.addresses[..plan.nodes].iter())
            .limits(limits)
            .simulated(&ground.network, random.next_u64(), ground.era());
        let node = Arc::new(builder.start().await.map_err(|error| error.to_string())?);
        let (books, name) = (ground.books.clone(), &ground.names[place]);
        let number = {
            let mut books = books.open();
            let number = books.enrol(name, node.topology(), node.handle());
            books.trace.note(format_args!("h{number} is {}", node.incarnation()));
            number
        };
        let failed = |error: &dyn std::error::Error| error.to_string();
        let registrar = Registrar { books: books.clone(), house: number };
        let mut registrar = Some(registrar);
        let registrar = node
            .actor(move || registrar.take().unwrap_or_else(|| panic!("a registrar is made once")))
            .mailbox(MailboxKind::unbounded())
            .spawn()
            .map_err(|error| failed(&error))?;
        node.events().subscribe_actor(&registrar);
        spawn(&node, &books, number, "counter")?;
        let mortal = spawn(&node, &books, number, "mortal")?;
        let mut tasks = JoinSet::new();
        tasks.spawn(follow(node.clone(), books.clone(), number));
        for _ in 0..plan.senders {
            let sender = Sender {
                books: books.clone(),
                node: node.clone(),
                house: number,
                names: ground.names.clone(),
                random: random.fork(),
                quiet: ground.quiet.clone(),
                contacts: BTreeMap::new(),
            };
            tasks.spawn(sender.run());
        }
        Ok(Self { number, node, is_leaving: false, mortal, tasks, books })
    }

    /// Has the node leave; it takes as long as it takes.
    pub(super) fn leave(&mut self) {
        self.is_leaving = true;
        let (node, books, number) = (self.node.clone(), self.books.clone(), self.number);
        self.tasks.spawn(async move {
            let left = node.leave().await;
            // Tokio wakes two who wait for one topology in any order; this one comes second.
            sleep(Duration::from_millis(1)).await;
            books.open().trace.note(format_args!("h{number} left: {left:?}"));
        });
    }

    /// Stops the actor that may be stopped, and puts another in its place.
    pub(super) async fn stop_actor(&mut self) -> Result<(), String> {
        let (mortal, actor) = &self.mortal;
        self.books.open().stops(self.number, *actor);
        let stopped = mortal.stopped();
        mortal.stop();
        stopped.await;
        self.mortal = spawn(&self.node, &self.books, self.number, "mortal")?;
        Ok(())
    }

    /// The node is gone from one moment to the next, and its tasks with it.
    pub(super) async fn crash(mut self) {
        self.books.open().falls(self.number);
        self.tasks.shutdown().await;
        // The last hold: the node is dropped here.
        drop(self.node);
    }
}

/// An actor that counts, under that name, for others to find.
fn spawn(
    node: &Node,
    books: &Books,
    house: usize,
    name: &'static str,
) -> Result<(ActorRef<Words>, u32), String> {
    let actor = books.open().actor();
    let books = books.clone();
    let spawned = node.actor(move || Counter::new(books.clone(), house, actor)).name(name).spawn();
    let counter = spawned.map_err(|error| error.to_string())?;
    node.expose(&counter).map_err(|error| error.to_string())?;
    Ok((counter, actor))
}

/// Writes down how the node stands, for as long as it does.
async fn follow(node: Arc<Node>, books: Books, house: usize) {
    let mut topology = node.topology();
    drop(node);
    while let Ok(snapshot) = topology.changed().await {
        let mut books = books.open();
        books.lives(house, snapshot.incarnation.uid.get());
        let up = snapshot.up().count();
        books.trace.note(format_args!("h{house} {} is {}, {up} up", snapshot.incarnation, snapshot.standing));
    }
}
