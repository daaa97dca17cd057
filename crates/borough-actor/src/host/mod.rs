//! The life of a stand-alone actor: one task that makes it, runs its turns, answers its faults and
//! sees it out.
//!
//! ```text
//! make --> started/restarted --> wait for messages <--> run a batch
//!  ^              |                     |                   |
//!  |            fault            stop interrupt           fault
//!  +--backoff-- Restart <-----------------------------------+-- Resume: back to waiting
//!                                       v                   v
//!                                   farewell <------------ Stop, Escalate
//! ```
//! The task may be dropped at any point (its runtime goes): what must happen at the end in every
//! case is in `Context`'s drop.
//!
//! An idle actor is this task's future, so its size counts: what runs seldom is boxed, nothing is kept
//! over an await that need not be, and the test at the end holds it.

mod batch;
mod instance;
mod pace;
mod turn;

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{self, Poll};
use std::time::Duration;

pub(crate) use self::pace::Pace;
use self::turn::{Fence, Outcome};
use crate::actor::Actor;
use crate::cell::interrupt;
use crate::context::Context;
use crate::fault::Fault;
use crate::mailbox::Taken;
use crate::supervision::Directive;
use crate::watch::StopReason;

/// How an instance's time ended.
enum End {
    Stop(StopReason),
    /// A new instance follows, after the wait.
    Restart(Duration),
}

/// Runs an actor from its first instance to its end.
///
/// Not an `async fn`: that would keep its arguments twice.
pub(crate) fn run<A: Actor, F: FnMut() -> A + Send>(
    ctx: Context<A>,
    make: F,
) -> impl Future<Output = ()> + Send {
    let (mut ctx, mut make) = (ctx, make);
    let mut fence = Fence::new(ctx.cell.clone());
    async move {
        loop {
            let Some(mut actor) = Box::pin(instance::begin(&mut ctx, &mut fence, &mut make)).await else {
                return;
            };
            let end = loop {
                let outcome = match (NextTodo { ctx: &mut ctx }).await {
                    Todo::Interrupted(bits) => interrupted(&mut ctx, bits),
                    Todo::Terminated => {
                        Box::pin(instance::terminated(&mut actor, &mut ctx, &mut fence)).await
                    }
                    Todo::Batch => {
                        ctx.batch_begins();
                        let outcome = {
                            let batch = pin!(batch::run(&mut actor, &mut ctx));
                            fence.around(batch).await
                        };
                        ctx.batch_ended();
                        outcome
                    }
                };
                if let Some(end) = judge(&mut ctx, outcome) {
                    break end;
                }
            };
            if Box::pin(instance::end(actor, &mut ctx, &mut fence, end)).await == Next::Nothing {
                return;
            }
        }
    }
}

/// What comes after an instance.
#[derive(PartialEq, Eq)]
enum Next {
    Instance,
    Nothing,
}

/// What an instance does next.
enum Todo {
    Batch,
    /// Hear that a watched actor is gone.
    Terminated,
    Interrupted(u8),
}

/// Waits for the next thing to do. Not a `poll_fn`: its `poll` is compiled apart from the rest of this task, which
/// costs an ask some 15 ns.
struct NextTodo<'a, A: Actor> {
    ctx: &'a mut Context<A>,
}

impl<A: Actor> Future for NextTodo<'_, A> {
    type Output = Todo;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Todo> {
        poll_next(self.get_mut().ctx, cx)
    }
}

/// What there is to do: due timers, messages, interrupts.
#[inline]
fn poll_next<A: Actor>(ctx: &mut Context<A>, cx: &mut task::Context<'_>) -> Poll<Todo> {
    if ctx.pace.is_due_to_yield() {
        cx.waker().wake_by_ref();
        return Poll::Pending;
    }
    if ctx.is_stopping() {
        return Poll::Ready(Todo::Interrupted(interrupt::STOP));
    }
    if ctx.has_terminated() {
        return Poll::Ready(Todo::Terminated);
    }
    if !ctx.inbox.is_empty() && !ctx.cell.mailbox.is_interrupted(interrupt::ALL) {
        return Poll::Ready(Todo::Batch);
    }
    let taken = if ctx.cell.mailbox.is_parked() {
        Poll::Pending
    } else {
        ctx.cell.mailbox.poll_take(&mut ctx.inbox, ctx.pace.batch_limit(), cx)
    };
    match taken {
        Poll::Ready(Taken::Batch) => Poll::Ready(Todo::Batch),
        Poll::Ready(Taken::Interrupted(bits)) => Poll::Ready(Todo::Interrupted(bits)),
        Poll::Pending if ctx.poll_timers(cx) => Poll::Ready(Todo::Batch),
        Poll::Pending => {
            ctx.pace.rests();
            Poll::Pending
        }
    }
}

fn interrupted<A: Actor>(ctx: &mut Context<A>, bits: u8) -> Outcome {
    match ending(bits) {
        Some(reason) => Outcome::Stop(reason),
        None => ctx.escalated().map_or(Outcome::Done, Outcome::Failed),
    }
}

/// Which stop the interrupts ask for.
pub(crate) fn ending(bits: u8) -> Option<StopReason> {
    [
        (interrupt::KILL, StopReason::Killed),
        (interrupt::SYSTEM_STOPS, StopReason::SystemStopped),
        (interrupt::PARENT_STOPS, StopReason::ParentStopped),
        (interrupt::STOP, StopReason::Requested),
    ]
    .into_iter()
    .find_map(|(bit, reason)| (bits & bit != 0).then_some(reason))
}

/// What an outcome means for the instance; `None`: it goes on.
fn judge<A: Actor>(ctx: &mut Context<A>, outcome: Outcome) -> Option<End> {
    match outcome {
        Outcome::Done => None,
        Outcome::Stop(reason) => Some(End::Stop(reason)),
        Outcome::Failed(fault) => answer(ctx, fault, true),
    }
}

/// Answers a fault as the actor's supervision says; `None`: go on with the same instance.
///
/// An instance that did not start cannot be resumed; a new one is made.
fn answer<A: Actor>(ctx: &mut Context<A>, fault: Fault, can_resume: bool) -> Option<End> {
    // The decision is user code too; one that panics stops the actor.
    let directive = Fault::catch(|| ctx.supervision().decide(&fault)).unwrap_or(Directive::Stop);
    let directive =
        if directive == Directive::Resume && !can_resume { Directive::Restart } else { directive };
    ctx.report(&fault, directive);
    match directive {
        Directive::Resume => None,
        Directive::Stop => Some(End::Stop(StopReason::Fault)),
        Directive::Escalate => {
            ctx.escalate(fault);
            Some(End::Stop(StopReason::Fault))
        }
        // It said that it wants to stop before it failed.
        Directive::Restart if ctx.is_stopping() => Some(End::Stop(StopReason::Requested)),
        Directive::Restart => Some(match ctx.next_restart(fault) {
            Some(wait) => End::Restart(wait),
            None => End::Stop(StopReason::Fault),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Reply;

    struct Counter {
        sum: u64,
    }

    #[expect(dead_code, reason = "of interest is only its size")]
    enum Count {
        Add(u64),
        Sum(Reply<u64>),
    }

    impl Actor for Counter {
        type Msg = Count;
        async fn receive(&mut self, msg: Count, _ctx: &mut Context<Self>) -> Result<(), Fault> {
            match msg {
                Count::Add(n) => self.sum += n,
                Count::Sum(reply) => reply.send(self.sum),
            }
            Ok(())
        }
    }

    fn size_of_life<A: Actor, F: FnMut() -> A + Send, T>(_: fn(Context<A>, F) -> T, _: &F) -> usize {
        size_of::<T>()
    }

    /// Tokio adds 104 bytes and rounds up to 128: beyond 152 an idle actor costs a third more.
    #[test]
    fn the_future_of_a_small_actor_fits_the_smallest_task() {
        let sum = 7;
        let make = move || Counter { sum };
        let size = size_of_life(run::<Counter, _>, &make);
        assert!(size <= 152, "{size} bytes");
    }
}
