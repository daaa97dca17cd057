//! The turns of the messages in hand, one after the other.

use std::future::Future;

use crate::actor::Actor;
use crate::ask::answer_room::{has_to_wait, is_any_shut, wait};
use crate::ask::turn::{handled, handling, is_last};
use crate::cell::interrupt;
use crate::context::{Context, OpenPacket};
use crate::dead_letters::DeadLetterReason;
use crate::fault::Fault;
use crate::item::{Item, Rare};

/// Runs the turns of the messages in hand. It runs within one fence: a panic ends it, loses its own
/// message, and leaves the others in the inbox.
///
/// Not an `async fn`, and nothing is kept over an await but the turn itself: every idle actor has room
/// for one of these.
#[expect(clippy::manual_async_fn, reason = "it would keep its arguments twice")]
pub(super) fn run<'a, A: Actor>(
    actor: &'a mut A,
    ctx: &'a mut Context<A>,
) -> impl Future<Output = Result<(), Fault>> + Send + 'a {
    async move {
        loop {
            let Some(mut message) = next_message(ctx) else { return Ok(()) };
            if is_any_shut()
                && let Some(ask) = handled()
                && has_to_wait(&ctx.cell.core, Some(ask))
            {
                let waits = wait(ctx.cell.clone(), ask, message);
                let Some(waited) = waits.await else { continue };
                message = waited;
            }
            actor.receive(message, ctx).await?;
        }
    }
}

/// Takes items from the inbox until one is a message to handle. `None`: nothing is left, the actor wants to
/// stop, or it has first to hear that a watched actor is gone.
#[inline]
fn next_message<A: Actor>(ctx: &mut Context<A>) -> Option<A::Msg> {
    while !ctx.is_stopping() {
        if ctx.has_before_inbox() {
            let mut place = None;
            if ctx.has_terminated() || is_last() || !packed_message(ctx, &mut place) {
                return None;
            }
            if place.is_some() {
                return place;
            }
            continue;
        }
        if is_asked_to_stop(ctx) {
            return None;
        }
        let Some(item) = ctx.inbox.pop() else {
            handling(None);
            return ctx.take_due();
        };
        match item {
            Item::Tell(message) => {
                handling(None);
                return Some(message);
            }
            Item::Ask(message, ask) => {
                let ask = ask.unstow();
                if !ctx.cell.core.asks.is_given_up(ask) {
                    handling(Some(ask));
                    return Some(message);
                }
                bury(ctx, message);
            }
            Item::Rare(rare) => {
                if let Some(message) = rare_message(ctx, rare) {
                    return Some(message);
                }
            }
        }
    }
    None
}

/// How often a batch looks whether somebody wants the actor to stop. Each look costs as much as a message: it
/// is at the lock's cache line, which the senders want too.
const LOOK_EVERY: usize = 16;

/// Whether the actor is to stop after the message it handled. One that awaits is told as it goes on.
#[inline]
fn is_asked_to_stop<A: Actor>(ctx: &Context<A>) -> bool {
    let looks = ctx.inbox.len().is_multiple_of(LOOK_EVERY);
    is_last() || looks && ctx.cell.mailbox.is_interrupted(interrupt::ENDING)
}

/// A message whose asker is gone.
#[cold]
fn bury<A: Actor>(ctx: &mut Context<A>, message: A::Msg) {
    ctx.cell.bury(Item::Tell(message), DeadLetterReason::AskerGone);
}

/// Of a packet one message at a time: the others stay where nothing overtakes them and no fault loses them. `false`: somebody wants the
/// actor to stop.
///
/// The message is left in `place`, because one of some size costs more to hand from call to call than to decode.
#[inline(never)]
fn packed_message<A: Actor>(ctx: &mut Context<A>, place: &mut Option<A::Msg>) -> bool {
    let Some(OpenPacket { packet, cell }) = ctx.packet() else { return true };
    if packet.len().is_multiple_of(LOOK_EVERY) && cell.mailbox.is_interrupted(interrupt::ENDING) {
        return false;
    }
    handling(packet.next(cell, place));
    if packet.len() == 0 {
        ctx.close_packet();
    }
    true
}

#[cold]
fn rare_message<A: Actor>(ctx: &mut Context<A>, rare: Box<Rare<A::Msg>>) -> Option<A::Msg> {
    match *rare {
        Rare::Adapted(adapted) => {
            let ask = adapted.ask();
            if ask.is_some_and(|ask| ctx.cell.core.asks.is_given_up(ask)) {
                ctx.cell.bury(Item::rare(Rare::Adapted(adapted)), DeadLetterReason::AskerGone);
                return None;
            }
            handling(ask);
            Some(adapted.adapt())
        }
        Rare::StopHere => {
            ctx.stop();
            None
        }
        Rare::Terminated(watch, who) => {
            handling(None);
            ctx.watch_ended(watch, who)
        }
        Rare::Packet(_) => {
            ctx.open_packet(rare);
            None
        }
    }
}
