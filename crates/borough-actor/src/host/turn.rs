//! Running a piece of an actor's life: its user code, fenced.
//!
//! A panic becomes a fault, a kill takes effect at an await, and an ask inside knows whose turn it is in.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::ask::AskId;
use crate::ask::turn::{self, Turn};
use crate::cell::{ActorCell, interrupt};
use crate::fault::Fault;
use crate::watch::StopReason;

/// How a fenced piece of user code ended.
pub(super) enum Outcome {
    Done,
    Failed(Fault),
    Stop(StopReason),
}

/// Stands around the user code of one actor.
pub(super) struct Fence<M> {
    cell: Arc<ActorCell<M>>,
    /// The ask being handled, kept from poll to poll of one piece of code.
    asked: Option<AskId>,
}

impl<M> Fence<M> {
    pub(super) fn new(cell: Arc<ActorCell<M>>) -> Self {
        Self { cell, asked: None }
    }

    /// Polls user code within the fence.
    #[inline]
    fn poll<F>(&mut self, code: Pin<&mut F>, cx: &mut Context<'_>) -> Poll<Outcome>
    where
        F: Future<Output = Result<(), Fault>>,
    {
        let entered = turn::enter(Turn {
            system: self.cell.core.asks.number,
            actor: self.cell.id,
            ask: self.asked,
            is_last: self.cell.mailbox.is_interrupted(interrupt::ENDING),
        });
        let polled = catch_unwind(AssertUnwindSafe(|| code.poll(cx)));
        self.asked = entered.leave();
        let outcome = match polled {
            Ok(Poll::Pending) if self.cell.mailbox.leave_waker(cx.waker(), interrupt::KILL) => {
                return Poll::Pending;
            }
            Ok(Poll::Pending) => Outcome::Stop(StopReason::Killed),
            Ok(Poll::Ready(Ok(()))) => Outcome::Done,
            Ok(Poll::Ready(Err(fault))) => Outcome::Failed(fault),
            Err(panic) => Outcome::Failed(Fault::from_panic(panic)),
        };
        self.asked = None;
        Poll::Ready(outcome)
    }

    /// Runs user code within the fence to its end.
    pub(super) async fn run<F>(&mut self, code: F) -> Outcome
    where
        F: Future<Output = Result<(), Fault>>,
    {
        self.around(pin!(code)).await
    }

    #[inline]
    pub(super) fn around<'a, F>(&'a mut self, code: Pin<&'a mut F>) -> Fenced<'a, M, F> {
        Fenced { fence: self, code }
    }
}

/// User code within the fence, as a future. Not a `poll_fn`, for the reason given at `NextTodo`.
pub(super) struct Fenced<'a, M, F> {
    fence: &'a mut Fence<M>,
    code: Pin<&'a mut F>,
}

impl<M, F: Future<Output = Result<(), Fault>>> Future for Fenced<'_, M, F> {
    type Output = Outcome;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let this = self.get_mut();
        this.fence.poll(this.code.as_mut(), cx)
    }
}
