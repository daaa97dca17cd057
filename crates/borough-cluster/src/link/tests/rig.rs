//! A few systems with a door and a hub each.

use std::future::{Future, pending};
use std::sync::Arc;
use std::time::Duration;

use borough_actor::{Actor, ActorRef, Context, Fault, Reply, System, Terminated};
use borough_protocol::incarnation::{Address, Incarnation, Uid};
use borough_wire::codec::CodecId;
use borough_wire::limits::Limits;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::chance::Chance;
use crate::door::{Admission, Connection, Door, Doorman, Guest, NotAdmitted};
use crate::link::Hub;
use crate::myself::Myself;
use crate::transport::Transport;
use crate::transport::memory::MemoryNetwork;

/// One system on the network.
pub(super) struct Place {
    pub(super) system: System,
    pub(super) hub: Arc<Hub>,
    pub(super) me: Incarnation,
    pub(super) myself: Myself,
    listening: JoinHandle<()>,
}

impl Place {
    /// Nobody listens here any more once this is done.
    pub(super) async fn leave(mut self) {
        self.listening.abort();
        let _ = (&mut self.listening).await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.listening.abort();
        self.hub.end();
    }
}

struct Porter(Arc<Hub>);

impl Doorman for Porter {
    fn admit(&self, guest: &Guest) -> Result<Admission, NotAdmitted> {
        self.0.admit(guest)
    }

    fn enter(&self, connection: Connection) {
        self.0.enter(connection);
    }
}

/// The system of that number, listening. Those from 1000 on are no members of the cluster.
pub(super) async fn place(network: &MemoryNetwork, number: u64) -> Place {
    place_with(network, number, Limits::default()).await
}

pub(super) async fn place_with(network: &MemoryNetwork, number: u64, limits: Limits) -> Place {
    let address = Address::new(format!("node-{}:1", number % 100));
    place_on(Arc::new(network.transport(address)), number, limits).await
}

pub(super) async fn place_on(transport: Arc<dyn Transport>, number: u64, limits: Limits) -> Place {
    let address = Address::new(format!("node-{}:1", number % 100));
    let me = Incarnation { address: address.clone(), uid: Uid::new(number).unwrap() };
    let (myself, chance) = (Myself::new(me.clone()), Chance::seeded(number));
    let door =
        Arc::new(Door::new(transport.clone(), None, "test".into(), myself.clone(), limits.clone(), chance));
    let system = System::new("test").unwrap();
    let hub = Hub::new(
        system.handle(),
        myself.clone(),
        Handle::current(),
        door.clone(),
        limits,
        CodecId::Postcard,
        Box::new(|uid| uid.get() < 1000),
    );
    let listener = transport.bind(&address).await.unwrap();
    let listening = tokio::spawn(door.listen(listener, Arc::new(Porter(hub.clone()))));
    Place { system, hub, me, myself, listening }
}

impl Place {
    /// An actor that keeps what it is told, reachable as `/keeper`.
    pub(super) fn keeper(&self) -> ActorRef<Note> {
        let keeper = self.system.actor(Keeper::default).name("keeper").spawn().unwrap();
        self.hub.exports().expose(&keeper).unwrap();
        keeper
    }

    /// The keeper of another place.
    pub(super) async fn keeper_of(&self, other: &Self) -> ActorRef<Note> {
        soon(self.hub.look_up(&other.me, "/keeper")).await.unwrap().unwrap()
    }
}

/// What can be said to a keeper.
#[derive(Serialize, Deserialize)]
pub(super) enum Note {
    Keep(u64),
    Load(Vec<u8>),
    Pour(Vec<u8>, Reply<usize>),
    Kept(Reply<Vec<u64>>),
    Loaded(Reply<usize>),
    /// Asks another keeper to answer instead.
    PassOn(ActorRef<Note>, Reply<Vec<u64>>),
    /// Says nothing.
    Ignore(Reply<u64>),
    Forget(Reply<u64>),
    Watch(ActorRef<Note>),
    /// Takes so many milliseconds.
    Busy(u64),
    Gone(Reply<Option<String>>),
    Whoami(Reply<ActorRef<Note>>),
}

#[derive(Default)]
pub(super) struct Keeper {
    kept: Vec<u64>,
    loaded: usize,
    ignored: Vec<Reply<u64>>,
    gone: Option<String>,
    wants_gone: Option<Reply<Option<String>>>,
}

impl Actor for Keeper {
    type Msg = Note;

    async fn receive(&mut self, note: Note, ctx: &mut Context<Self>) -> Result<(), Fault> {
        match note {
            Note::Keep(number) => self.kept.push(number),
            Note::Pour(bytes, reply) => reply.send(bytes.len()),
            Note::Load(bytes) => self.loaded += bytes.len(),
            Note::Kept(reply) => reply.send(self.kept.clone()),
            Note::Loaded(reply) => reply.send(self.loaded),
            Note::PassOn(other, reply) => {
                other.tell(Note::Kept(reply)).await.map_err(|error| Fault::new(error.to_string()))?;
            }
            Note::Ignore(reply) => self.ignored.push(reply),
            Note::Forget(reply) => drop(reply),
            Note::Watch(other) => ctx.watch(&other),
            Note::Busy(ms) => pass(Duration::from_millis(ms)).await,
            Note::Gone(reply) => match self.gone.take() {
                Some(path) => reply.send(Some(path)),
                None => self.wants_gone = Some(reply),
            },
            Note::Whoami(reply) => reply.send(ctx.self_ref()),
        }
        Ok(())
    }

    async fn terminated(&mut self, who: Terminated, _: &mut Context<Self>) -> Result<(), Fault> {
        let words = format!("{} {:?}", who.path, who.reason);
        match self.wants_gone.take() {
            Some(reply) => reply.send(Some(words)),
            None => self.gone = Some(words),
        }
        Ok(())
    }
}

/// Lets that much time pass.
pub(super) async fn pass(time: Duration) {
    drop(timeout(time, pending::<()>()).await);
}

/// Waits, but not for ever.
pub(super) async fn soon<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(60), future).await.expect("it takes too long")
}
