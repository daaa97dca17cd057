//! A question to each entity, and what must hold of its answer.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use borough_actor::Reply;
use borough_cluster::{Message, Region};

use super::history::History;

/// How long an entity may take to answer once the cluster is whole, on the simulated clock.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

type Checking = Pin<Box<dyn Future<Output = Result<(), String>>>>;

/// See [`Simulation::invariant`](super::Simulation::invariant).
pub(super) struct Invariant<M: Message> {
    check: Box<dyn Fn(Region<M>, History<M>) -> Checking + Send + Sync>,
}

impl<M: Message> Invariant<M> {
    pub(super) fn new<T: Send + 'static>(
        question: impl Fn(Reply<T>) -> M + Send + Sync + 'static,
        check: impl Fn(&History<M>, T) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        let (question, check) = (Arc::new(question), Arc::new(check));
        Self {
            check: Box::new(move |region, history| {
                let (question, check) = (question.clone(), check.clone());
                Box::pin(async move {
                    let asked =
                        region.ask(history.id(), |reply| question(reply)).timeout(ANSWER_WITHIN).await;
                    match asked {
                        Ok(answer) => check(&history, answer),
                        Err(error) => Err(format!("it does not answer: {error}")),
                    }
                })
            }),
        }
    }

    /// Asks the entity, and checks what it says.
    pub(super) fn check(&self, region: Region<M>, history: History<M>) -> Checking {
        (self.check)(region, history)
    }
}
