//! A reply handle that leaves for another node, comes from one, or comes home.

use std::any::type_name;
use std::mem;
use std::sync::Arc;

use borough_wire::codec::CodecId;

use super::AskId;
use super::reply::Reply;
use super::slot::{AnswerSlot, Deliver, Forward, Lost, Went};
use super::table::AskTable;
use crate::remote::passage::{self, note_taken, with_scratch};
use crate::remote::{Carrier, Message, ReplyAddress, Unsent};

/// How a reply handle travels.
pub(crate) enum Travel {
    /// As the ask of this name, of the node it leaves.
    From(u64),
    /// As an ask of another node.
    Further(ReplyAddress),
    /// Nobody waits for its answer, or there is no room to wait for it.
    Unwanted,
}

impl<T: Message> Reply<T> {
    /// The handle leaves by this carrier: whoever decodes it answers.
    pub(crate) fn travel(&self, asks: &Arc<AskTable>, carrier: u32) -> Travel {
        let Some(slot) = self.slot() else { return Travel::Unwanted };
        let decode = |codec: CodecId, answer: &[u8]| codec.decode(answer);
        if slot.is_of(asks) {
            return gone(slot.go_abroad(carrier, decode));
        }
        if let Some(address) = slot.address() {
            return Travel::Further(address);
        }
        // A reply to an actor, an adapted one, or one of another system: a slot of our own takes the answer and hands it on.
        let passed = Forward::To(Box::new(Passed(Self::new(slot.clone()))));
        let Some(taken) = asks.register(|origin| AnswerSlot::forwarding_from(origin, passed)) else {
            return Travel::Unwanted;
        };
        let went = gone(taken.go_abroad(carrier, decode));
        if let Travel::From(ask) = went {
            note_taken(ask);
        }
        went
    }

    /// A handle from another node.
    pub(crate) fn abroad(address: ReplyAddress) -> Self {
        Self::forwarding(Forward::Abroad(address, answer_abroad))
    }

    /// A handle of this node that comes back from another.
    pub(crate) fn home(asks: &AskTable, ask: u64) -> Self {
        asks.awaited::<T>(AskId::of_number(ask)).map_or_else(Self::unwanted, Self::new)
    }
}

fn gone(went: Went) -> Travel {
    match went {
        Went::From(ask) => Travel::From(ask.number()),
        Went::Further(address) => Travel::Further(address),
        Went::Nowhere => Travel::Unwanted,
    }
}

/// Hands an answer from another node to a reply here.
struct Passed<T>(Reply<T>);

impl<T: Send + 'static> Deliver<T> for Passed<T> {
    fn is_wanted(&self) -> bool {
        self.0.is_wanted()
    }

    fn deliver(self: Box<Self>, answer: T) -> Result<(), T> {
        self.0.try_send(answer)
    }

    fn lose(mut self: Box<Self>, why: Lost) {
        self.0.lose(why);
    }
}

/// Sends an answer to the node that asked.
fn answer_abroad<T: Message>(address: ReplyAddress, answer: T) {
    let ReplyAddress { carrier, ask, codec } = address;
    // The ask may have come by way of another node, which knows codecs that the asker does not.
    let codec = if carrier.reads(codec) { codec } else { carrier.codec() };
    let mut unsent = UnsentAnswer { carrier: &carrier, ask, why: Lost::Unreadable };
    let sent = with_scratch(|body| {
        // The user's code: if it panics the ask fails as `unsent` is dropped, and the turn as it would by any panic.
        passage::within(&carrier, || codec.encode(&answer, body)).map_err(|error| error.to_string())?;
        carrier.answer(ask, codec, body).map_err(|refused| {
            if !matches!(refused, Unsent::TooLarge { .. }) {
                unsent.why = Lost::Dropped;
            }
            refused.to_string()
        })
    });
    match sent {
        Ok(()) => {
            mem::forget(unsent);
            drop(passage::taken());
            travelled(answer);
        }
        Err(why) => {
            let answer = type_name::<T>();
            tracing::warn!(answer, to = carrier.address(), why, "an answer was not sent: its ask fails");
        }
    }
}

/// An answer that cannot be sent: its ask fails at once, and the replies inside the answer are still usable here.
struct UnsentAnswer<'a> {
    carrier: &'a Arc<dyn Carrier>,
    ask: u64,
    why: Lost,
}

impl Drop for UnsentAnswer<'_> {
    fn drop(&mut self) {
        take_back(&self.carrier.home().system().core().asks, passage::taken());
        self.carrier.lose(self.ask, self.why);
    }
}

/// Takes back the slots of replies in a message that did not travel: the message has its replies still.
pub(crate) fn take_back(asks: &AskTable, taken: Vec<u64>) {
    for ask in taken {
        super::reply::drop_as(super::reply::Ending::Travelled, asks.vacate(AskId::of_number(ask)));
    }
}

/// Drops a message that has travelled: its replies are answered elsewhere now.
#[inline]
pub fn travelled<T>(message: T) {
    if mem::needs_drop::<T>() {
        super::reply::drop_as(super::reply::Ending::Travelled, message);
    }
}
