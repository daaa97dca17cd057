//! A message for a node that is lost, while the table does not say so yet.
//!
//! Between the moment a link ends and the moment this node follows the table that says why, the way is known to lead nowhere. Nothing has been sent:
//! the message waits and goes by the next way.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use borough_actor::remote::Message;
use borough_actor::resident::{Asked, Queued};
use borough_actor::{EntityId, Tell, TellError};
use tokio::time::{Instant, Sleep, sleep};

use super::hold::Held;
use super::kind::KindCore;

/// How often it is looked, and for how long: longer than it takes to follow a table, however busy the node is.
const LOOK_EVERY: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_secs(5);

/// See the module.
pub(super) struct Retry<M: Message> {
    core: Arc<KindCore<M>>,
    id: EntityId,
    ask: Option<Asked>,
    state: State<M>,
    until: Instant,
}

enum State<M: Message> {
    Waits(Option<M>, Pin<Box<Sleep>>),
    Goes(Tell<M>),
}

impl<M: Message> Retry<M> {
    pub(super) fn new(core: Arc<KindCore<M>>, letter: Held<M>) -> Self {
        let Held { id, message, ask } = letter;
        let state = State::Waits(Some(message), Box::pin(sleep(LOOK_EVERY)));
        Self { core, id, ask, state, until: Instant::now() + PATIENCE }
    }
}

impl<M: Message> Future for Retry<M> {
    type Output = Result<(), TellError<M>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        loop {
            match &mut this.state {
                State::Goes(tell) => return Pin::new(tell).poll(cx),
                State::Waits(message, sleep) => {
                    if sleep.as_mut().poll(cx).is_pending() {
                        return Poll::Pending;
                    }
                    let Some(message) = message.take() else { return Poll::Ready(Ok(())) };
                    if Instant::now() >= this.until {
                        return Poll::Ready(Err(TellError::NodeLost(message)));
                    }
                    match this.core.send_unless_lost(this.id.clone(), message, this.ask) {
                        Ok(tell) => this.state = State::Goes(tell),
                        Err(message) => {
                            this.state =
                                State::Waits(Some(message), Box::pin(tokio::time::sleep(LOOK_EVERY)));
                        }
                    }
                }
            }
        }
    }
}

impl<M: Message> Queued<M> for Retry<M> {
    fn withdraw(self: Pin<Box<Self>>) -> Option<M> {
        match Pin::into_inner(self).state {
            State::Waits(message, _) => message,
            State::Goes(tell) => tell.reclaim(),
        }
    }
}

/// The message is never pinned.
impl<M: Message> Unpin for Retry<M> {}
