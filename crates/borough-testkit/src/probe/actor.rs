//! The actor of a probe: it hands on what it gets.

use borough_actor::{Actor, Context, Fault};
use tokio::sync::mpsc::UnboundedSender;

/// What answers by itself; gives back what the test is to see.
pub(super) type Answers<M> = Box<dyn FnMut(M) -> Option<M> + Send>;

pub(super) struct ProbeActor<M> {
    into: UnboundedSender<M>,
    answers: Option<Answers<M>>,
}

impl<M: Send + 'static> ProbeActor<M> {
    /// Makes it. One that answered with a panic begins anew without answers: its test fails by what does not come.
    pub(super) fn maker(
        into: UnboundedSender<M>,
        mut answers: Option<Answers<M>>,
    ) -> impl FnMut() -> Self + Send {
        move || Self { into: into.clone(), answers: answers.take() }
    }
}

impl<M: Send + 'static> Actor for ProbeActor<M> {
    type Msg = M;

    async fn receive(&mut self, message: M, _: &mut Context<Self>) -> Result<(), Fault> {
        let left = match &mut self.answers {
            Some(answers) => answers(message),
            None => Some(message),
        };
        if let Some(message) = left {
            // The probe is gone: nobody asks any more.
            let _ = self.into.send(message);
        }
        Ok(())
    }
}
