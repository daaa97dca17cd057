//! How a message leaves for another node: encoded for the way it goes, put on it, and taken back if it could not be.
//!
//! Promise: a message that was not let in is given back whole, its replies with it; one that was let in has travelled, and its replies are
//! answered by whoever decodes it.

use std::any::type_name;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::carrier::{Carrier, Head, Sending, Unsent};
use super::message::Message;
use super::passage;
use crate::actor_ref::Asked;
use crate::ask::{take_back, travelled};
use crate::dead_letters::DeadLetterReason;
use crate::fault::Fault;
use crate::room::Room;
use crate::tell::{Queued, Tell, TellError, TryTellError, Unsendable};

/// Where on another node messages go, and what stands before each of them.
#[expect(missing_debug_implementations, reason = "lives for one call")]
pub struct Outgoing<'a, H, R> {
    /// The way there.
    pub carrier: &'a Arc<dyn Carrier>,
    /// To whom, as that node numbers it.
    pub target: u64,
    /// Appends what stands before the message.
    pub head: H,
    /// As which the recipient is counted if the node is lost.
    pub recipient: R,
}

/// How encoding went. In one word if all is well: more would go by memory, written in small pieces and read in large ones, which is waited for.
type Passed<R> = Result<R, Box<Failed>>;

impl<H: Fn(&mut Vec<u8>), R: Fn() -> String> Outgoing<'_, H, R> {
    /// Sends a message; stands in line if there is no room.
    #[inline]
    pub fn send<M: Message>(&self, message: M, ask: Option<Asked>) -> Tell<M> {
        match self.pass(&message, ask, |head, body, _| self.carrier.try_send(head, body)) {
            Ok(()) => {
                travelled(message);
                Tell::accepted()
            }
            Err(failed) => match *failed {
                Failed::Unsent(Unsent::Full) => self.stand_in_line(message, ask),
                failed => Tell::refused(self.refuse(message, failed)),
            },
        }
    }

    /// Sends a message if there is room.
    pub fn try_send<M: Message>(&self, message: M) -> Result<(), TryTellError<M>> {
        match self.pass(&message, None, |head, body, _| self.carrier.try_send(head, body)) {
            Ok(()) => {
                travelled(message);
                Ok(())
            }
            Err(failed) => Err(self.refuse(message, *failed).into()),
        }
    }

    /// Encodes a message that will go by this way, behind others: it has travelled. One that cannot be encoded is given back. `left`
    /// says how long its asker still waits, if it is an ask that came from another node.
    pub fn encode<M: Message>(&self, message: M, left: Option<Duration>) -> Result<(Head, Vec<u8>), M> {
        match self.pass(&message, None, |head, body, _| Ok((head, mem::take(body)))) {
            Ok((mut head, body)) => {
                travelled(message);
                if let (Some((_, timeout)), Some(left)) = (&mut head.ask, left) {
                    *timeout = left;
                }
                Ok((head, body))
            }
            Err(_) => Err(message),
        }
    }

    /// Encodes the message and gives it to `put`, with the asks that stand for replies in it. If that is well the message has travelled, and a
    /// reply in it is answered by whoever decodes it; unless `put` has kept those asks, to take them back if it does not travel after all.
    ///
    /// A tell that carries a reply of its own (to an actor, adapted) travels as the ask of that reply, without an end: who cannot
    /// deliver it says so, and the reply's place here is free again.
    #[inline]
    fn pass<M: Message, T>(
        &self,
        message: &M,
        asked: Option<Asked>,
        put: impl FnOnce(Head, &mut Vec<u8>, &mut Vec<u64>) -> Result<T, Unsent>,
    ) -> Passed<T> {
        let (carrier, codec) = (self.carrier, self.carrier.codec());
        passage::with_scratch(|body| {
            (self.head)(body);
            // The user's code: a panic in it is no reason to lose what others send by the same task.
            let encoded = Fault::catch(|| passage::within(carrier, || codec.encode(message, body)));
            let mut taken = passage::taken();
            let ask = asked.map(|asked| (asked.id.number(), asked.timeout));
            let mut head = Head { target: self.target, codec, ask };
            if let Some(reply) = taken.first() {
                head.ask.get_or_insert((*reply, Duration::MAX));
            }
            let outcome = match encoded {
                Ok(Ok(())) => put(head, body, &mut taken).map_err(|unsent| Box::new(Failed::Unsent(unsent))),
                Ok(Err(error)) => Err(Box::new(Failed::Encode(error.to_string()))),
                Err(panic) => Err(Box::new(Failed::Encode(panic.to_string()))),
            };
            if outcome.is_err() {
                take_back(&carrier.home().system().core().asks, taken);
            }
            outcome
        })
    }

    #[cold]
    fn stand_in_line<M: Message>(&self, message: M, asked: Option<Asked>) -> Tell<M> {
        // Encoded again, because this happens seldom: whoever waits keeps its bytes.
        let carrier = self.carrier.clone();
        let enter = |head, body: &mut Vec<u8>, taken: &mut Vec<u64>| {
            Ok((carrier.clone().send(head, mem::take(body)), mem::take(taken)))
        };
        match self.pass(&message, asked, enter) {
            Ok((waiting, taken)) => {
                let (waiting, message) = (Some(waiting), Some(message));
                let recipient = (self.recipient)();
                let mut line = Box::pin(Line { waiting, message, taken, carrier, recipient });
                // It has its place from now on, not from when it is first awaited.
                match line.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Pending => Tell::waiting(line),
                    Poll::Ready(Ok(())) => Tell::accepted(),
                    Poll::Ready(Err(refused)) => Tell::refused(refused),
                }
            }
            Err(failed) => Tell::refused(self.refuse(message, *failed)),
        }
    }

    fn refuse<M>(&self, message: M, failed: Failed) -> TellError<M> {
        refuse(self.carrier, &self.recipient, message, failed)
    }
}

enum Failed {
    Encode(String),
    Unsent(Unsent),
}

#[cold]
fn refuse<M>(
    carrier: &Arc<dyn Carrier>,
    recipient: &dyn Fn() -> String,
    message: M,
    failed: Failed,
) -> TellError<M> {
    match failed {
        Failed::Encode(why) => TellError::Unsendable(message, Unsendable::Encode(why)),
        Failed::Unsent(Unsent::Full) => TellError::Full(message),
        Failed::Unsent(Unsent::TooLarge { size, max }) => {
            TellError::Unsendable(message, Unsendable::TooLarge { size, max })
        }
        Failed::Unsent(Unsent::Lost) => {
            let system = carrier.home().system();
            super::bury(system, type_name::<M>(), recipient, DeadLetterReason::NodeLost);
            TellError::NodeLost(message)
        }
    }
}

/// A sender that stands in line for room on the way.
struct Line<M: Message> {
    /// None once it has been taken back.
    waiting: Option<Pin<Box<dyn Sending>>>,
    message: Option<M>,
    /// The asks that stand for replies in it.
    taken: Vec<u64>,
    carrier: Arc<dyn Carrier>,
    recipient: String,
}

impl<M: Message> Line<M> {
    /// The message stays here after all, and its replies with it.
    fn take_back(&mut self) {
        take_back(&self.carrier.home().system().core().asks, mem::take(&mut self.taken));
    }

    /// Takes the message back; none if it was let in before: it has travelled then.
    fn give_up(&mut self) -> Option<M> {
        let message = self.message.take()?;
        if self.waiting.take().is_none_or(Sending::withdraw) {
            self.take_back();
            Some(message)
        } else {
            travelled(message);
            None
        }
    }
}

impl<M: Message> Queued<M> for Line<M> {
    fn withdraw(mut self: Pin<Box<Self>>) -> Option<M> {
        self.give_up()
    }

    fn room(&self) -> Option<Room> {
        Some(Room::of(self.carrier.home().system().into(), self.recipient.clone()))
    }
}

/// Whoever gives up in line withdraws the message.
impl<M: Message> Drop for Line<M> {
    fn drop(&mut self) {
        drop(self.give_up());
    }
}

impl<M: Message> Future for Line<M> {
    type Output = Result<(), TellError<M>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let Some(waiting) = &mut this.waiting else { return Poll::Ready(Ok(())) };
        waiting.as_mut().poll(cx).map(|outcome| {
            let Some(message) = this.message.take() else { return Ok(()) };
            match outcome {
                Ok(()) => {
                    travelled(message);
                    Ok(())
                }
                Err(unsent) => {
                    this.take_back();
                    let recipient = || this.recipient.clone();
                    Err(refuse(&this.carrier, &recipient, message, Failed::Unsent(unsent)))
                }
            }
        })
    }
}

/// The message is never pinned.
impl<M: Message> Unpin for Line<M> {}
