//! The address of one entity.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use borough_actor::remote::{Message, current_passage};
use borough_actor::resident::{self, Asked, Route, SystemRef};
use borough_actor::{ActorId, ActorRef, Ask, DeadLetterReason, EntityId, Reply, Tell, TryTellError};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::kind::KindCore;
use super::region::Asking;
use crate::link::Hub;

/// The address of one entity: its type and its id. Wherever the entity lives or moves, the address leads there.
///
/// It travels inside messages between nodes: there it leads to the same entity, if the type was started on that node, as a host or a proxy.
pub struct EntityRef<M: Message> {
    core: Arc<KindCore<M>>,
    id: EntityId,
}

impl<M: Message> EntityRef<M> {
    pub(super) fn new(core: Arc<KindCore<M>>, id: EntityId) -> Self {
        Self { core, id }
    }

    /// Which entity of its type.
    pub fn id(&self) -> &EntityId {
        &self.id
    }

    /// The name of its type.
    pub fn type_name(&self) -> &str {
        &self.core.kind.name
    }

    /// As [`Region::tell`](super::Region::tell).
    pub fn tell(&self, message: M) -> Tell<M> {
        self.core.send(self.id.clone(), message, None)
    }

    /// As [`Region::try_tell`](super::Region::try_tell).
    pub fn try_tell(&self, message: M) -> Result<(), TryTellError<M>> {
        self.core.try_send(self.id.clone(), message)
    }

    /// As [`Region::ask`](super::Region::ask).
    pub fn ask<T, F>(&self, message: F) -> Ask<Asking<'_, M>, T, F>
    where
        T: Send + 'static,
        F: FnOnce(Reply<T>) -> M,
    {
        resident::ask(Asking::new(&self.core, self.id.clone()), None, message)
    }

    /// The same as an actor's address. It never counts as stopped, and watching it tells nothing: entities come and go, and come again with their next message.
    pub fn actor_ref(&self) -> ActorRef<M> {
        resident::through(Arc::new(self.clone()))
    }
}

impl<M: Message> Route<M> for EntityRef<M> {
    fn send(&self, message: M, ask: Option<Asked>) -> Tell<M> {
        self.core.send(self.id.clone(), message, ask)
    }

    fn try_tell(&self, message: M) -> Result<(), TryTellError<M>> {
        self.core.try_send(self.id.clone(), message)
    }

    fn post(&self, message: M) {
        if let Err(refused) = self.core.try_send(self.id.clone(), message) {
            self.core.bury(&self.id, refused.into_message(), DeadLetterReason::Overflow);
        }
    }

    /// An entity stops itself.
    fn stop_when_drained(&self) {}

    fn system(&self) -> SystemRef<'_> {
        self.core.sharding.hub().system_handle().into()
    }

    fn id(&self) -> ActorId {
        self.core.actor_id(&self.id)
    }

    fn path(&self) -> String {
        self.core.path_of(&self.id)
    }

    fn is_lasting(&self) -> bool {
        true
    }
}

impl<M: Message> Clone for EntityRef<M> {
    fn clone(&self) -> Self {
        Self { core: self.core.clone(), id: self.id.clone() }
    }
}

/// Two refs are equal if they lead to the same entity.
impl<M: Message> PartialEq for EntityRef<M> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.core.kind.name == other.core.kind.name
    }
}

impl<M: Message> Eq for EntityRef<M> {}

impl<M: Message> Hash for EntityRef<M> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl<M: Message> fmt::Debug for EntityRef<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EntityRef({})", self.core.path_of(&self.id))
    }
}

/// As it travels: its type and its id.
#[derive(Serialize, Deserialize)]
struct WireRef<'a> {
    kind: Cow<'a, str>,
    id: Cow<'a, EntityId>,
}

impl<M: Message> Serialize for EntityRef<M> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kind = Cow::Borrowed(&*self.core.kind.name);
        WireRef { kind, id: Cow::Borrowed(&self.id) }.serialize(serializer)
    }
}

/// Works only inside a message between nodes, and there only if the type was started on this one.
impl<'de, M: Message> Deserialize<'de> for EntityRef<M> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let WireRef { kind, id } = WireRef::deserialize(deserializer)?;
        let region = current_passage(|passage| {
            let hub = passage.home().as_any().downcast_ref::<Hub>()?;
            Some(hub.sharding()?.region::<M>(&kind))
        });
        match region.flatten() {
            Some(Ok(region)) => Ok(Self::new(region.core().clone(), id.into_owned())),
            Some(Err(error)) => Err(D::Error::custom(error)),
            None => Err(D::Error::custom("an `EntityRef` travels only inside messages between nodes")),
        }
    }
}
