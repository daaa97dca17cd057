//! The beginning and the end of an instance: what runs seldom.

use std::future::poll_fn;
use std::pin::pin;
use std::time::Duration;

use super::turn::{Fence, Outcome};
use super::{End, Next, answer, ending};
use crate::actor::Actor;
use crate::cell::interrupt;
use crate::context::Context;
use crate::fault::Fault;
use crate::watch::StopReason;

/// Makes an instance and lets it start, as often as supervision allows; `None`: the actor has ended.
pub(super) async fn begin<A: Actor, F: FnMut() -> A>(
    ctx: &mut Context<A>,
    fence: &mut Fence<A::Msg>,
    make: &mut F,
) -> Option<A> {
    loop {
        let outcome = match Fault::catch(&mut *make) {
            Err(fault) => Outcome::Failed(fault),
            Ok(mut actor) => match start(&mut actor, ctx, fence).await {
                Outcome::Done => return Some(actor),
                other => {
                    bury(actor, ctx);
                    other
                }
            },
        };
        let end = match outcome {
            Outcome::Done => continue,
            Outcome::Stop(reason) => End::Stop(reason),
            Outcome::Failed(fault) => answer(ctx, fault, false).unwrap_or(End::Stop(StopReason::Fault)),
        };
        let reason = match end {
            End::Stop(reason) => Some(reason),
            End::Restart(wait) => rest(ctx, wait).await,
        };
        if let Some(reason) = reason {
            close(ctx, reason).await;
            return None;
        }
    }
}

/// Calls `started`, or `restarted` if another instance failed before.
async fn start<A: Actor>(actor: &mut A, ctx: &mut Context<A>, fence: &mut Fence<A::Msg>) -> Outcome {
    let followed = ctx.take_followed();
    match &followed {
        Some(fault) => fence.run(actor.restarted(fault, ctx)).await,
        None => fence.run(actor.started(ctx)).await,
    }
}

/// Tells the instance that a watched actor is gone.
pub(super) async fn terminated<A: Actor>(
    actor: &mut A,
    ctx: &mut Context<A>,
    fence: &mut Fence<A::Msg>,
) -> Outcome {
    match ctx.take_terminated() {
        Some(who) => fence.run(actor.terminated(who, ctx)).await,
        None => Outcome::Done,
    }
}

/// Drops a failed instance; should that panic, the next one follows all the same.
fn bury<A: Actor>(actor: A, ctx: &Context<A>) {
    if let Err(fault) = Fault::catch(|| drop(actor)) {
        tracing::error!(actor = %ctx.path(), %fault, "a failed instance panicked as it was dropped");
    }
}

/// Ends an instance, and with it the actor unless it is to be restarted.
pub(super) async fn end<A: Actor>(
    mut actor: A,
    ctx: &mut Context<A>,
    fence: &mut Fence<A::Msg>,
    end: End,
) -> Next {
    let reason = match end {
        End::Restart(wait) => {
            bury(actor, ctx);
            match rest(ctx, wait).await {
                None => return Next::Instance,
                Some(reason) => {
                    close(ctx, reason).await;
                    return Next::Nothing;
                }
            }
        }
        End::Stop(reason) => reason,
    };
    let reason = close(ctx, reason).await;
    if reason != StopReason::Killed {
        match fence.run(actor.stopping(reason, ctx)).await {
            Outcome::Done => {}
            Outcome::Failed(fault) => tracing::error!(actor = %ctx.path(), %fault, "failed while stopping"),
            Outcome::Stop(_) => tracing::warn!(actor = %ctx.path(), "killed while stopping"),
        }
    }
    Next::Nothing
}

/// The actor ends: nothing enters any more, what waits is buried, its children go. Gives the reason
/// that held in the end.
async fn close<A: Actor>(ctx: &mut Context<A>, reason: StopReason) -> StopReason {
    ctx.close(reason);
    if reason != StopReason::Killed && children_gone(ctx).await == Some(StopReason::Killed) {
        ctx.close(StopReason::Killed);
        return StopReason::Killed;
    }
    reason
}

/// Between two instances: the children of the old one go, then the backoff passes. Gives a reason if
/// the actor was asked to stop meanwhile.
async fn rest<A: Actor>(ctx: &mut Context<A>, wait: Duration) -> Option<StopReason> {
    ctx.forget_instance();
    if let Some(reason) = children_gone(ctx).await {
        return Some(reason);
    }
    // What those children escalated on their way out was the old instance's affair.
    ctx.forget_escalated();
    let mut wait = pin!(tokio::time::sleep(wait));
    let reason = loop {
        let bits = tokio::select! {
            biased;
            bits = poll_fn(|cx| ctx.cell.mailbox.poll_interrupt(cx)) => bits,
            () = &mut wait => break None,
        };
        if let Some(reason) = ending(bits) {
            break Some(reason);
        }
    };
    ctx.cell.mailbox.take_back_waker();
    reason
}

/// Stops the children and waits until they are gone. Gives a reason if the actor itself was asked
/// to stop meanwhile; a kill is not waited out.
async fn children_gone<A: Actor>(ctx: &mut Context<A>) -> Option<StopReason> {
    let cell = ctx.cell.clone();
    let mut asked = None;
    let mut childless = cell.core.registry.dismiss_children(cell.id, interrupt::PARENT_STOPS);
    while !childless {
        let bits = poll_fn(|cx| cell.mailbox.poll_interrupt(cx)).await;
        childless = bits & interrupt::CHILDLESS != 0;
        asked = ending(bits).or(asked);
        if asked == Some(StopReason::Killed) {
            break;
        }
    }
    asked
}
