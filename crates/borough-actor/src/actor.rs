//! What a user writes: an actor.

use std::future::Future;

use crate::context::Context;
use crate::fault::Fault;
use crate::watch::{StopReason, Terminated};

/// A piece of state that handles one message at a time.
///
/// `receive` is written as an `async fn`; while it awaits, the actor handles nothing else. The state
/// is the actor's own, so nothing needs a lock.
///
/// ```
/// use borough_actor::{Actor, Context, Fault, Reply, System};
///
/// enum Counter {
///     Add(u64),
///     Total(Reply<u64>),
/// }
///
/// #[derive(Default)]
/// struct CounterActor {
///     total: u64,
/// }
///
/// impl Actor for CounterActor {
///     type Msg = Counter;
///     async fn receive(&mut self, msg: Counter, _ctx: &mut Context<Self>) -> Result<(), Fault> {
///         match msg {
///             Counter::Add(n) => self.total += n,
///             Counter::Total(reply) => reply.send(self.total),
///         }
///         Ok(())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let system = System::new("counting")?;
/// let counter = system.spawn(CounterActor::default);
/// counter.tell(Counter::Add(2)).await?;
/// counter.tell(Counter::Add(3)).await?;
/// assert_eq!(counter.ask(Counter::Total).await?, 5);
/// system.shutdown().await;
/// # Ok(())
/// # }
/// ```
///
/// ```text
/// made --started--> running --receive--> running
///                      | fault: see `Supervision` --restarted (new instance)--> running
///                      | stop --children gone, stopping--> gone
/// ```
///
/// An error returned and a panic are the same: a [`Fault`], answered by the actor's
/// [`Supervision`](crate::Supervision). Calling `self.receive` from within `receive` makes the compiler speak of
/// recursion in an async fn; put what both need into a method of its own instead.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an actor",
    note = "an actor has a `type Msg` and an `async fn receive(&mut self, msg: Self::Msg, ctx: &mut Context<Self>) -> Result<(), Fault>`",
    note = "`spawn` takes a function that makes the actor, as in `spawn(MyActor::default)` or `spawn(move || MyActor::new(..))`"
)]
pub trait Actor: Sized + Send + 'static {
    /// What may be said to the actor, most often an enum.
    type Msg: Send + 'static;

    /// Handles one message.
    fn receive(
        &mut self,
        msg: Self::Msg,
        ctx: &mut Context<Self>,
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Called before the first message. A fault here is answered like any other; `Resume` means `Restart`.
    fn started(&mut self, ctx: &mut Context<Self>) -> impl Future<Output = Result<(), Fault>> + Send {
        let _ = ctx;
        async { Ok(()) }
    }

    /// Called on the new instance after a restart, in place of `started`, which it calls unless overridden.
    ///
    /// The failed instance is simply dropped.
    fn restarted(
        &mut self,
        fault: &Fault,
        ctx: &mut Context<Self>,
    ) -> impl Future<Output = Result<(), Fault>> + Send {
        let _ = fault;
        self.started(ctx)
    }

    /// Called on an entity that came from another node with its state, in place of `started`, which it calls unless overridden.
    ///
    /// Timers that send once come with it, after this, and take the place of those that this sets by the same keys; timers that repeat, the
    /// receive timeout, watches and children do not come.
    fn arrived(&mut self, ctx: &mut Context<Self>) -> impl Future<Output = Result<(), Fault>> + Send {
        self.started(ctx)
    }

    /// Called last, when the actor's children are gone and no message can reach it any more.
    ///
    /// Not called for an actor that is killed, nor when there is no instance that has started: it failed to, or
    /// the actor is stopped while it waits to be restarted. A fault here is logged, and the actor stops all the same.
    fn stopping(
        &mut self,
        reason: StopReason,
        ctx: &mut Context<Self>,
    ) -> impl Future<Output = Result<(), Fault>> + Send {
        let _ = (reason, ctx);
        async { Ok(()) }
    }

    /// Called when an actor watched with [`Context::watch`] is gone.
    fn terminated(
        &mut self,
        who: Terminated,
        ctx: &mut Context<Self>,
    ) -> impl Future<Output = Result<(), Fault>> + Send {
        let _ = (who, ctx);
        async { Ok(()) }
    }
}
