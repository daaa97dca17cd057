//! An actor on another node, and the address that leads to it.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::carrier::{Carrier, Interruption};
use super::message::Message;
use super::sending::Outgoing;
use crate::actor_ref::{ActorRef, Asked, Route, SystemRef};
use crate::dead_letters::DeadLetterReason;
use crate::id::ActorId;
use crate::system::Core;
use crate::tell::{Tell, TryTellError};
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
    #[inline]
    fn outgoing(&self) -> Outgoing<'_, impl Fn(&mut Vec<u8>), impl Fn() -> String> {
        let Away { carrier, target, .. } = &self.away;
        Outgoing { carrier, target: *target, head: |_: &mut Vec<u8>| (), recipient: || self.away.path() }
    }
}

impl<M: Message> Route<M> for RemoteRef<M> {
    #[inline]
    fn send(&self, message: M, ask: Option<Asked>) -> Tell<M> {
        self.outgoing().send(message, ask)
    }

    fn try_tell(&self, message: M) -> Result<(), TryTellError<M>> {
        self.outgoing().try_send(message)
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

    fn system(&self) -> SystemRef<'_> {
        SystemRef(&self.core)
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
