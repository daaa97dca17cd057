//! An actor on another node, and the address that leads to it.

use std::any::type_name;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::carrier::{Carrier, Head, Interruption, Sending, Unsent};
use super::message::Message;
use super::passage;
use crate::actor_ref::{ActorRef, Asked, Route};
use crate::ask::{take_back, travelled};
use crate::dead_letters::DeadLetterReason;
use crate::id::ActorId;
use crate::system::Core;
use crate::tell::{Queued, Tell, TellError, TryTellError, Unsendable};
use crate::watch::{StopReason, TargetKey, Terminated, WatchId, Watcher};

/// One actor on another node, whatever its messages are.
#[derive(Clone)]
pub struct Away {
    carrier: Arc<dyn Carrier>,
    target: u64,
    path: Arc<str>,
}

/// The address of an actor on another node, which its node calls `target`.
pub fn actor_at<M: Message>(carrier: Arc<dyn Carrier>, target: u64, path: &str) -> ActorRef<M> {
    let core = carrier.home().system().core().clone();
    let away = Away { carrier, target, path: path.into() };
    ActorRef::through(Arc::new(RemoteRef { away, core, takes: PhantomData }))
}

impl Away {
    pub(crate) fn carrier(&self) -> &Arc<dyn Carrier> {
        &self.carrier
    }

    pub(crate) fn target(&self) -> u64 {
        self.target
    }

    /// Its path on its own node.
    pub(crate) fn own_path(&self) -> &str {
        &self.path
    }

    #[expect(clippy::cast_possible_truncation, reason = "both halves are kept")]
    pub(crate) fn id(&self) -> ActorId {
        ActorId { place: (self.target >> 32) as u32, generation: self.target as u32 }
    }

    pub(crate) fn key(&self) -> TargetKey {
        TargetKey::Away { carrier: self.carrier.number(), id: self.id() }
    }

    pub(crate) fn path(&self) -> String {
        format!("{}{}", self.carrier.address(), self.path)
    }

    pub(crate) fn interrupt(&self, what: Interruption) {
        self.carrier.interrupt(self.target, what);
    }

    pub(crate) fn watch(&self, watch: WatchId, by: Option<ActorId>, watcher: Watcher) {
        let away = self.clone();
        self.carrier.watch(self.target, watch.0, by, Box::new(move |reason| watcher(away.gone(reason))));
    }

    pub(crate) fn unwatch(&self, watch: WatchId) {
        self.carrier.unwatch(self.target, watch.0);
    }

    pub(crate) fn gone(&self, reason: Option<StopReason>) -> Terminated {
        Terminated { id: self.id(), path: self.path(), reason }
    }
}

impl fmt::Debug for Away {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Away({})", self.path())
    }
}

struct RemoteRef<M> {
    away: Away,
    core: Arc<Core>,
    takes: PhantomData<fn(M)>,
}

impl<M: Message> RemoteRef<M> {
    fn head(&self, asked: Option<Asked>) -> Head {
        Head { target: self.away.target, ask: asked.map(|asked| (asked.id.number(), asked.timeout)) }
    }

    /// Encodes the message and gives it to `put`. If that is well the message has travelled: a reply in it is answered by
    /// whoever decodes it.
    ///
    /// Gives also which asks stand for replies in it, to be taken back if it does not travel after all.
    ///
    /// A tell that carries a reply of its own (to an actor, adapted) travels as the ask of that reply, without an end: who cannot
    /// deliver it says so, and the reply's place here is free again.
    #[inline]
    fn pass<R>(
        &self,
        message: &M,
        asked: Option<Asked>,
        put: impl FnOnce(Head, &mut Vec<u8>) -> Result<R, Unsent>,
    ) -> Result<(R, Vec<u64>), Failed> {
        let carrier = &self.away.carrier;
        passage::with_scratch(|body| {
            let encoded = passage::within(carrier, || carrier.codec().encode(message, body));
            let taken = passage::taken();
            let mut head = self.head(asked);
            if let Some(reply) = taken.first() {
                head.ask.get_or_insert((*reply, Duration::MAX));
            }
            let outcome = match encoded {
                Ok(()) => put(head, body).map_err(Failed::Unsent),
                Err(error) => Err(Failed::Encode(error.to_string())),
            };
            match outcome {
                Ok(passed) => Ok((passed, taken)),
                Err(failed) => {
                    take_back(&self.core.asks, taken);
                    Err(failed)
                }
            }
        })
    }

    #[cold]
    fn refuse(&self, message: M, failed: Failed) -> TellError<M> {
        match failed {
            Failed::Encode(why) => TellError::Unsendable(message, Unsendable::Encode(why)),
            Failed::Unsent(Unsent::Full) => TellError::Full(message),
            Failed::Unsent(Unsent::TooLarge { size, max }) => {
                TellError::Unsendable(message, Unsendable::TooLarge { size, max })
            }
            Failed::Unsent(Unsent::Lost) => {
                super::bury(
                    self.away.carrier.home().system(),
                    type_name::<M>(),
                    || self.away.path(),
                    DeadLetterReason::NodeLost,
                );
                TellError::NodeLost(message)
            }
        }
    }

    #[cold]
    fn stand_in_line(&self, message: M, asked: Option<Asked>) -> Tell<M> {
        // Encoded again, because this happens seldom: whoever waits keeps its bytes.
        let carrier = self.away.carrier.clone();
        match self.pass(&message, asked, |head, body| Ok(carrier.send(head, std::mem::take(body)))) {
            Ok((waiting, taken)) => {
                let route = Self { away: self.away.clone(), core: self.core.clone(), takes: PhantomData };
                Tell::waiting(Box::pin(Line { waiting: Some(waiting), message: Some(message), taken, route }))
            }
            Err(failed) => Tell::refused(self.refuse(message, failed)),
        }
    }
}

enum Failed {
    Encode(String),
    Unsent(Unsent),
}

impl<M: Message> Route<M> for RemoteRef<M> {
    #[inline]
    fn send(&self, message: M, ask: Option<Asked>) -> Tell<M> {
        match self.pass(&message, ask, |head, body| self.away.carrier.try_send(head, body)) {
            Ok(_) => {
                travelled(message);
                Tell::accepted()
            }
            Err(Failed::Unsent(Unsent::Full)) => self.stand_in_line(message, ask),
            Err(failed) => Tell::refused(self.refuse(message, failed)),
        }
    }

    fn try_tell(&self, message: M) -> Result<(), TryTellError<M>> {
        match self.pass(&message, None, |head, body| self.away.carrier.try_send(head, body)) {
            Ok(_) => {
                travelled(message);
                Ok(())
            }
            Err(failed) => Err(self.refuse(message, failed).into()),
        }
    }

    fn post(&self, message: M) {
        if self.try_tell(message).is_err_and(|error| error.is_full()) {
            let system = self.away.carrier.home().system();
            super::bury(system, type_name::<M>(), || self.away.path(), DeadLetterReason::Overflow);
        }
    }

    fn stop_when_drained(&self) {
        self.away.interrupt(Interruption::StopWhenDrained);
    }

    fn core(&self) -> &Arc<Core> {
        &self.core
    }

    fn id(&self) -> ActorId {
        self.away.id()
    }

    fn path(&self) -> String {
        self.away.path()
    }

    fn away(&self) -> Option<&Away> {
        Some(&self.away)
    }
}

/// A sender that stands in line for room on the way.
struct Line<M: Message> {
    /// None once it has been taken back.
    waiting: Option<Pin<Box<dyn Sending>>>,
    message: Option<M>,
    /// The asks that stand for replies in it.
    taken: Vec<u64>,
    route: RemoteRef<M>,
}

impl<M: Message> Line<M> {
    /// The message stays here after all, and its replies with it.
    fn take_back(&mut self) {
        take_back(&self.route.core.asks, std::mem::take(&mut self.taken));
    }
}

impl<M: Message> Line<M> {
    /// Takes the message back; false if it was let in before: it has travelled then.
    fn give_up(&mut self) -> bool {
        let Some(message) = self.message.take() else { return false };
        let withdrawn = self.waiting.take().is_none_or(Sending::withdraw);
        if withdrawn {
            self.take_back();
            drop(message);
        } else {
            travelled(message);
        }
        withdrawn
    }
}

impl<M: Message> Queued<M> for Line<M> {
    fn withdraw(mut self: Pin<Box<Self>>) -> bool {
        self.give_up()
    }
}

/// Whoever gives up in line withdraws the message.
impl<M: Message> Drop for Line<M> {
    fn drop(&mut self) {
        self.give_up();
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
                    Err(this.route.refuse(message, Failed::Unsent(unsent)))
                }
            }
        })
    }
}

/// The message is never pinned.
impl<M: Message> Unpin for Line<M> {}
