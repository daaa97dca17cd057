//! The types of entities that every node of a cluster is to have.

use std::future::Future;
use std::pin::Pin;

use borough_actor::Actor;
use borough_cluster::{Message, Node, ShardBuilder, ShardError};

type Starting = Pin<Box<dyn Future<Output = Result<(), ShardError>> + Send>>;
type Start = Box<dyn Fn(&Node) -> Starting + Send + Sync>;

/// How each type is started, in the order they were.
#[derive(Default)]
pub(super) struct Kinds(Vec<Start>);

impl Kinds {
    pub(super) fn add<A>(&mut self, prepare: impl Fn(&Node) -> ShardBuilder<A> + Send + Sync + 'static)
    where
        A: Actor,
        A::Msg: Message,
    {
        self.0.push(Box::new(move |node| {
            let starting = prepare(node).start();
            Box::pin(async move { starting.await.map(drop) })
        }));
    }

    /// Starts all of them on a node.
    pub(super) async fn start(&self, node: &Node) -> Result<(), ShardError> {
        for start in &self.0 {
            start(node).await?;
        }
        Ok(())
    }
}
