//! Actors on other nodes: exposing, finding, and speaking to one on every node.

use std::any::type_name;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use borough_actor::remote::{ExposeError, Message};
use borough_actor::{ActorRef, AskError, LookupError, Reply, SystemHandle};
use borough_protocol::incarnation::{Incarnation, NodeId};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::{NamedError, Node};
use crate::control::Control;

/// How long a node may take to say whether it has an actor.
const LOOKUP_TIME: Duration = Duration::from_secs(5);

impl Node {
    /// Lets other nodes find this actor by its path. It must have a name, and its messages must be able to travel.
    ///
    /// An actor that is neither exposed nor has sent its ref to another node cannot be reached from there, whoever asks.
    ///
    /// ```
    /// # use borough_cluster::Node;
    /// # use borough_actor::*;
    /// # struct Printer;
    /// # impl Actor for Printer {
    /// #     type Msg = String;
    /// #     async fn receive(&mut self, _: String, _: &mut Context<Self>) -> Result<(), Fault> { Ok(()) }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let node = Node::builder("print").listen("127.0.0.1:0").node_id("node-1").start().await?;
    /// let printer = node.actor(|| Printer).name("printer").spawn()?;
    /// node.expose(&printer)?;
    /// node.wait_for(1).await?;
    /// // On any node of the cluster:
    /// let printer = node.lookup::<String>("/printer").on("node-1").await?;
    /// printer.tell("hello".into()).await?;
    /// # Ok(()) }
    /// ```
    pub fn expose<M: Message>(&self, actor: &ActorRef<M>) -> Result<(), ExposeError> {
        self.shared.hub.exports().expose(actor)
    }

    /// Prepares to find an actor by its path, here or on another node.
    pub fn lookup<M: Message>(&self, path: impl Into<String>) -> Lookup<'_, M> {
        Lookup { node: self, path: path.into(), takes: PhantomData }
    }

    /// How many links, sessions and exported actors this node holds; for tests that they do not pile up.
    #[doc(hidden)]
    pub fn held(&self) -> (usize, usize, usize) {
        self.shared.hub.held()
    }

    /// Prepares to speak to the actor that is exposed at this path on each node.
    pub fn broadcast<M: Message>(&self, path: impl Into<String>) -> Broadcast<'_, M> {
        Broadcast { node: self, path: path.into(), takes: PhantomData }
    }
}

/// An actor to be found; see [`Node::lookup`].
#[must_use = "nothing is looked up until `on` or `here`"]
#[derive(Debug)]
pub struct Lookup<'a, M> {
    node: &'a Node,
    path: String,
    takes: PhantomData<fn(M)>,
}

/// Why an actor was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteLookupError {
    /// The name leads to no node.
    #[error(transparent)]
    Node(#[from] NamedError),
    /// The node has no such actor, or one of another kind. An actor must be exposed to be found.
    #[error("{0}; only what its node has exposed can be found")]
    Actor(#[from] LookupError),
    /// The node was lost before it answered.
    #[error("{node} was lost before it answered")]
    NodeLost {
        /// Which life of which node.
        node: Incarnation,
    },
    /// The node did not answer in time.
    #[error("{node} did not answer within {time:?}")]
    Timeout {
        /// Which life of which node.
        node: Incarnation,
        /// How long it had.
        time: Duration,
    },
}

impl<M: Message> Lookup<'_, M> {
    /// Finds it on the node of that name. Waits at most 5 s. Cancel safe.
    pub async fn on(self, node_id: &str) -> Result<ActorRef<M>, RemoteLookupError> {
        let peer = self.node.member_named(node_id)?;
        find(&self.node.shared, &peer, &self.path, LOOKUP_TIME).await
    }

    /// Finds it in this node's own system, exposed or not.
    pub fn here(self) -> Result<ActorRef<M>, LookupError> {
        SystemHandle::lookup(self.node, &self.path)
    }
}

async fn find<M: Message>(
    control: &Control,
    node: &Incarnation,
    path: &str,
    time: Duration,
) -> Result<ActorRef<M>, RemoteLookupError> {
    if node.uid == control.myself.uid() {
        return Ok(control.hub.look_up_here(path)?);
    }
    match timeout(time, control.hub.look_up(node, path)).await {
        Ok(Some(found)) => Ok(found?),
        Ok(None) => Err(RemoteLookupError::NodeLost { node: node.clone() }),
        Err(_) => Err(RemoteLookupError::Timeout { node: node.clone(), time }),
    }
}

/// The actors of one name on all nodes; see [`Node::broadcast`].
#[must_use = "nothing is sent until `tell` or `ask`"]
#[derive(Debug)]
pub struct Broadcast<'a, M> {
    node: &'a Node,
    path: String,
    takes: PhantomData<fn(M)>,
}

/// Why one node has no part in a broadcast.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BroadcastError {
    /// Its actor was not found; it was told nothing.
    #[error(transparent)]
    Lookup(#[from] RemoteLookupError),
    /// Its actor did not take the message; it was not handled.
    #[error("a {message} was not accepted: {why}")]
    NotAccepted {
        /// The type of the message.
        message: &'static str,
        /// Why, in words.
        why: String,
    },
    /// Its actor did not answer.
    #[error(transparent)]
    Ask(#[from] AskError),
}

/// What became of a broadcast on each node that was up as it began.
pub type Gathered<T> = Vec<(NodeId, Result<T, BroadcastError>)>;

impl<M: Message> Broadcast<'_, M> {
    /// Sends the message to the actor of each node that is up, this one included, and says of each whether it was accepted.
    ///
    /// All at once, each with its own fate; it takes as long as the slowest. Dropped, it may have reached some.
    pub async fn tell(self, message: M) -> Gathered<()>
    where
        M: Clone + Sync,
    {
        let message = Arc::new(message);
        self.tell_with(move || M::clone(&message)).await
    }

    /// As [`tell`](Self::tell), for messages that cannot be cloned, as those of an enum that has a [`Reply`] in another variant: `make` makes one for each.
    pub async fn tell_with(self, make: impl Fn() -> M + Clone + Send + Sync + 'static) -> Gathered<()> {
        self.each(LOOKUP_TIME, move |actor: ActorRef<M>| {
            let message = make();
            async move {
                actor.tell(message).await.map_err(|error| BroadcastError::NotAccepted {
                    message: type_name::<M>(),
                    why: error.to_string(),
                })
            }
        })
        .await
    }

    /// Asks the actor of each node that is up, this one included, and gathers one answer, or the reason for none, of each.
    pub async fn ask<T: Message>(
        self,
        message: impl Fn(Reply<T>) -> M + Clone + Send + Sync + 'static,
    ) -> Gathered<T> {
        self.each(LOOKUP_TIME, move |actor: ActorRef<M>| {
            let message = message.clone();
            async move { Ok(actor.ask(message).await?) }
        })
        .await
    }

    /// As [`ask`](Self::ask); each node has that long, the finding of its actor included, so that all of it takes no longer.
    pub async fn ask_within<T: Message>(
        self,
        time: Duration,
        message: impl Fn(Reply<T>) -> M + Clone + Send + Sync + 'static,
    ) -> Gathered<T> {
        let began = Instant::now();
        self.each(time.min(LOOKUP_TIME), move |actor: ActorRef<M>| {
            let message = message.clone();
            async move {
                // What the finding took is gone. The error names the time that was given, not the rest of it.
                let asked = actor.ask(message).timeout(time.saturating_sub(began.elapsed())).await;
                asked.map_err(|error| match error {
                    AskError::Timeout { path, accepted, .. } => {
                        AskError::Timeout { path, timeout: time, accepted }.into()
                    }
                    error => error.into(),
                })
            }
        })
        .await
    }

    /// Finds each within that time, and then acts.
    async fn each<T, F>(
        self,
        find_time: Duration,
        act: impl Fn(ActorRef<M>) -> F + Clone + Send + Sync + 'static,
    ) -> Gathered<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, BroadcastError>> + Send,
    {
        let snapshot = self.node.shared.topology.current();
        let mut tasks = JoinSet::new();
        let mut names = Vec::new();
        for member in snapshot.up() {
            let (control, peer) = (self.node.shared.clone(), member.incarnation.clone());
            let (path, act, place) = (self.path.clone(), act.clone(), names.len());
            names.push(member.node_id().clone());
            tasks.spawn(async move {
                let outcome = match find(&control, &peer, &path, find_time).await {
                    Ok(actor) => act(actor).await,
                    Err(error) => Err(error.into()),
                };
                (place, outcome)
            });
        }
        let mut outcomes: Vec<_> = tasks.join_all().await;
        outcomes.sort_by_key(|(place, _)| *place);
        outcomes.into_iter().map(|(place, outcome)| (names[place].clone(), outcome)).collect()
    }
}
