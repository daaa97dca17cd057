//! The turns of the messages in hand, one after the other.

use std::future::Future;

use crate::actor::Actor;
use crate::ask::turn::handling;
use crate::context::Context;
use crate::dead_letters::DeadLetterReason;
use crate::fault::Fault;
use crate::item::{Item, Rare};

/// Runs the turns of the messages in hand. It runs within one fence: a panic ends it, loses its own
/// message, and leaves the others in the inbox.
///
/// Not an `async fn`, and nothing is kept over an await but the turn itself: every idle actor has room
/// for one of these.
pub(super) fn run<'a, A: Actor>(
    actor: &'a mut A,
    ctx: &'a mut Context<A>,
) -> impl Future<Output = Result<(), Fault>> + Send + 'a {
    async move {
        loop {
            let turn = match next_message(ctx) {
                Some(message) => actor.receive(message, ctx),
                None => return Ok(()),
            };
            turn.await?;
        }
    }
}

/// Takes items from the inbox until one is a message to handle. `None`: nothing is left, the actor wants to
/// stop, or it has first to hear that a watched actor is gone.
fn next_message<A: Actor>(ctx: &mut Context<A>) -> Option<A::Msg> {
    while !ctx.is_stopping() {
        let item = ctx.inbox.pop()?;
        let ask = item.ask();
        handling(ask);
        if ask.is_some_and(|ask| !ctx.cell.core.asks.is_open(ask)) {
            ctx.cell.bury(item, DeadLetterReason::AskerGone);
            continue;
        }
        match item {
            Item::Tell(message) | Item::Ask(message, _) => return Some(message),
            Item::Rare(rare) => match *rare {
                Rare::Adapted(adapted) => return Some(adapted.adapt()),
                Rare::StopHere => ctx.stop(),
                Rare::Terminated(watch, who) => match ctx.watch_ended(watch) {
                    Some(Some(message)) => return Some(message),
                    Some(None) => {
                        ctx.note_terminated(who);
                        return None;
                    }
                    None => {}
                },
            },
        }
    }
    None
}
