//! The turns of a resident: its actor and the context it was lent go in, and come back.
//!
//! A panic is caught within, so that nothing but the message is lost. The context is boxed because it is handed on several times in each turn.

#![expect(clippy::manual_async_fn, reason = "they would keep their arguments twice")]

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context as TaskContext, Poll};

use crate::actor::Actor;
use crate::ask::turn::{self, Turn};
use crate::ask::{AskId, answer_room};
use crate::context::Context;
use crate::fault::Fault;
use crate::watch::{StopReason, Terminated};

/// What comes back from a turn.
pub struct Turned<A: Actor> {
    /// Who had it.
    pub actor: A,
    /// With which context.
    pub ctx: Box<Context<A>>,
    /// How it went.
    pub outcome: Result<(), Fault>,
}

/// Why a resident ends after its turn.
#[derive(Debug)]
pub enum Ended<M> {
    /// It wants to stop, or to be passivated.
    For(StopReason),
    /// It wants to be passivated after it handled this.
    After(M),
}

/// User code within a fence: a panic becomes a fault, and an ask inside knows whose turn it is in.
struct Fenced<F> {
    code: F,
    who: Turn,
}

impl<F: Future<Output = Result<(), Fault>>> Fenced<Pin<&mut F>> {
    #[inline]
    fn poll_code(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), Fault>> {
        let entered = turn::enter(self.who);
        let polled = catch_unwind(AssertUnwindSafe(|| self.code.as_mut().poll(cx)));
        self.who.ask = entered.leave();
        polled.unwrap_or_else(|panic| Poll::Ready(Err(Fault::from_panic(panic))))
    }
}

impl<F: Future<Output = Result<(), Fault>>> Future for Fenced<Pin<&mut F>> {
    type Output = Result<(), Fault>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Result<(), Fault>> {
        self.get_mut().poll_code(cx)
    }
}

/// The turn of a message.
#[inline]
pub fn message<A: Actor>(
    mut actor: A,
    mut ctx: Box<Context<A>>,
    message: A::Msg,
    ask: Option<AskId>,
) -> impl Future<Output = Turned<A>> + Send {
    async move {
        let message = match ask {
            Some(ask) if answer_room::has_to_wait(&ctx.cell.core, Some(ask)) => {
                let waits = answer_room::wait(ctx.cell.clone(), ask, message);
                let Some(message) = waits.await else { return Turned { actor, ctx, outcome: Ok(()) } };
                message
            }
            _ => message,
        };
        let who = ctx.turn(ask);
        let outcome = Fenced { who, code: pin!(actor.receive(message, &mut ctx)) }.await;
        Turned { actor, ctx, outcome }
    }
}

/// The first turn of an instance: `started`, or `restarted` if another failed before it.
pub fn begin<A: Actor>(
    mut actor: A,
    mut ctx: Box<Context<A>>,
    followed: Option<Fault>,
) -> impl Future<Output = Turned<A>> + Send {
    async move {
        let who = ctx.turn(None);
        let outcome = match &followed {
            None => Fenced { who, code: pin!(actor.started(&mut ctx)) }.await,
            Some(fault) => Fenced { who, code: pin!(actor.restarted(fault, &mut ctx)) }.await,
        };
        Turned { actor, ctx, outcome }
    }
}

/// The first turn of a resident that came from another node with its state.
pub fn arrive<A: Actor>(mut actor: A, mut ctx: Box<Context<A>>) -> impl Future<Output = Turned<A>> + Send {
    async move {
        let who = ctx.turn(None);
        let outcome = Fenced { who, code: pin!(actor.arrived(&mut ctx)) }.await;
        Turned { actor, ctx, outcome }
    }
}

/// The last turn of a resident.
pub fn end<A: Actor>(
    mut actor: A,
    mut ctx: Box<Context<A>>,
    reason: StopReason,
) -> impl Future<Output = Turned<A>> + Send {
    async move {
        let who = ctx.turn(None);
        let outcome = Fenced { who, code: pin!(actor.stopping(reason, &mut ctx)) }.await;
        Turned { actor, ctx, outcome }
    }
}

/// Somebody who was watched is gone.
pub fn terminated<A: Actor>(
    mut actor: A,
    mut ctx: Box<Context<A>>,
    who: Terminated,
) -> impl Future<Output = Turned<A>> + Send {
    async move {
        let turn = ctx.turn(None);
        let outcome = Fenced { who: turn, code: pin!(actor.terminated(who, &mut ctx)) }.await;
        Turned { actor, ctx, outcome }
    }
}

impl<A: Actor> std::fmt::Debug for Turned<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turned").field("outcome", &self.outcome).finish_non_exhaustive()
    }
}
