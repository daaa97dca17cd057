//! The way to all entities of one type.

use std::fmt;
use std::sync::Arc;

use borough_actor::remote::Message;
use borough_actor::resident::{self, Asked, Recipient, SystemRef};
use borough_actor::{
    ActorId, ActorRef, Ask, EntityId, EntityIdError, IntoEntityId, Reply, Tell, TellError, TryTellError,
    Unsendable,
};

use super::entity_ref::EntityRef;
use super::error::{EntitiesError, EntityStartError};
use super::extract::{EntityMessage, Envelope, Extractor, Mail, send_routed};
use super::host::Depth;
use super::kind::KindCore;
use super::listing::EntityPage;
use super::post_office::PostOffice;
use super::queries::KindStats;
use super::shell::Shell;
use crate::node::DrainError;

/// The way to all entities of one type, wherever they live: what [`ShardBuilder::start`](super::ShardBuilder::start) gives.
///
/// It is cheap to clone and may be kept for as long as its node lives. An entity is made by its first message, on the node that hosts its shard.
///
/// Order: messages that one task sends to one entity, through any region of its node, are handled in the order they were accepted, also when the
/// entity's shard moves meanwhile. What was accepted is handled unless a node crashes, or a bound is reached; the latter is counted and said.
pub struct Region<M: Message> {
    core: Arc<KindCore<M>>,
}

impl<M: Message> Region<M> {
    pub(super) fn new(core: Arc<KindCore<M>>) -> Self {
        Self { core }
    }

    pub(super) fn core(&self) -> &Arc<KindCore<M>> {
        &self.core
    }

    /// The type's name.
    pub fn name(&self) -> &str {
        &self.core.kind.name
    }

    /// How many shards the type has.
    pub fn shards(&self) -> u32 {
        self.core.kind.shards
    }

    /// The shard of that id.
    pub fn shard_of(&self, id: impl IntoEntityId) -> Result<u32, EntityIdError> {
        Ok(self.core.shard_of(&id.into_entity_id()?))
    }

    /// Sends a message to an entity; waits for room if there is none.
    ///
    /// `Ok` means accepted, in order, here: not handled. Who needs to know asks. While the entity's shard has no owner, or is on its way to
    /// another, messages are held, up to [`hold_limit`](super::ShardBuilder::hold_limit); beyond it this waits. An error gives the message back.
    #[inline]
    pub fn tell(&self, id: impl IntoEntityId, message: M) -> Tell<M> {
        match id.into_entity_id() {
            Ok(id) => self.core.send(id, message, None),
            Err(error) => Tell::refused(bad_id(message, error)),
        }
    }

    /// Sends a message to an entity if it can be accepted at once; gives it back otherwise.
    #[inline]
    pub fn try_tell(&self, id: impl IntoEntityId, message: M) -> Result<(), TryTellError<M>> {
        match id.into_entity_id() {
            Ok(id) => self.core.try_send(id, message),
            Err(error) => Err(bad_id(message, error).into()),
        }
    }

    /// Asks an entity, and waits for the answer: `region.ask("alice", Account::Balance)`.
    ///
    /// Every error says whether the message may have been handled. The time spent waiting for an owner of the shard counts towards the timeout.
    #[inline]
    pub fn ask<T, F>(&self, id: impl IntoEntityId, message: F) -> Ask<Asking<'_, M>, T, F>
    where
        T: Send + 'static,
        F: FnOnce(Reply<T>) -> M,
    {
        resident::ask(Asking { core: &self.core, id: id.into_entity_id() }, None, message)
    }

    /// The address of one entity.
    pub fn entity(&self, id: impl IntoEntityId) -> Result<EntityRef<M>, EntityIdError> {
        Ok(EntityRef::new(self.core.clone(), id.into_entity_id()?))
    }

    /// Sends a message that carries its entity's id. One that is for no entity is an error that gives it back.
    pub fn send<E: EntityMessage<Inner = M>>(&self, message: E) -> Tell<Mail<E, M>> {
        send_routed(&self.core, message.route(), None)
    }

    /// Asks by a message that carries its entity's id: `region.request(|reply| Cart::Total { cart, reply })`.
    #[expect(clippy::type_complexity, reason = "it cannot be named otherwise: the closure has no name")]
    pub fn request<E, T, F>(
        &self,
        message: F,
    ) -> Ask<Extractor<E, M>, T, impl FnOnce(Reply<T>) -> Mail<E, M> + use<M, E, T, F>>
    where
        E: EntityMessage<Inner = M>,
        T: Send + 'static,
        F: FnOnce(Reply<T>) -> E,
    {
        self.extractor(E::route).into_ask(message)
    }

    /// A way in for messages of another type that carry an id: `find` says whose they are and what the entity gets, or gives them back.
    ///
    /// For envelopes that are not your own, and for one extractor shared by several regions.
    pub fn extractor<E: Send + 'static>(
        &self,
        find: impl Fn(E) -> Result<(EntityId, M), E> + Send + Sync + 'static,
    ) -> Extractor<E, M> {
        Extractor::new(self.core.clone(), Arc::new(find))
    }

    /// All entities of the type behind one actor's address, for messages in envelopes; otherwise as [`actor_ref`](Self::actor_ref), which is there where
    /// messages carry their id themselves.
    pub fn envelope_ref(&self) -> ActorRef<Envelope<M>> {
        let office =
            PostOffice::new(self.core.clone(), Envelope::route, |id, message| Envelope { id, message });
        resident::through(Arc::new(office))
    }

    /// Starts an entity without a message, wherever its shard lives; at once ready if it lives.
    ///
    /// `Ok` means that it has begun, its `started` included. It waits for an owner of the shard and through its moves, for at most
    /// [10 s](super::ENTITY_START_TIMEOUT). An entity that failed as it began is an error, and its supervision goes on. Cancel safe: dropped, it may
    /// be started or not. An entity that is to be there always is named by [`eager`](super::ShardBuilder::eager).
    pub async fn start(&self, id: impl IntoEntityId) -> Result<(), EntityStartError> {
        self.core.start_entity(id.into_entity_id()?).await
    }

    /// What lives of this type on this node, and what became of its messages here. [`entities_of`](Self::entities_of) has the ids of what lives in a shard.
    pub async fn state(&self) -> KindStats {
        Shell::stats(&*self.core, Depth::Entities).await
    }

    /// Which entities live in that shard of the type, on whatever node it is, a page at a time; see [`Node::entities_of`](crate::Node::entities_of).
    pub async fn entities_of(
        &self,
        shard: u32,
        after: Option<&EntityId>,
    ) -> Result<EntityPage, EntitiesError> {
        self.core.sharding.entities_of(&self.core.kind.name, shard, after.cloned()).await
    }

    /// Ends the hosting of this type on this node: its shards move to others, in order, with what is queued. Ready once nothing of it is here.
    ///
    /// The region goes on as a proxy. As long as no other node hosts the type it waits for one, and its entities live on here. It holds for as long as the node
    /// runs: in no cluster yet it is ready at once, and if the node loses its place meanwhile what lived here is gone, and it comes back as a proxy. Cancel
    /// safe: once begun it goes on.
    ///
    /// Fails as [`Node::drain`](crate::Node::drain), which does the same for all types.
    pub async fn shutdown(&self) -> Result<(), DrainError> {
        self.core.sharding.drain(Some(&self.core.kind.name)).await
    }
}

impl<M: Message + EntityMessage<Inner = M>> Region<M> {
    /// All entities of a type whose messages carry their id, behind one actor's address: each message goes to the entity that it names, and one that names
    /// none comes back with an error.
    ///
    /// It never counts as stopped, and watching it tells nothing. A message whose `route` panics is a dead letter. Circles of asks through it are not
    /// found: they end with a timeout.
    pub fn actor_ref(&self) -> ActorRef<M> {
        resident::through(Arc::new(PostOffice::new(self.core.clone(), M::route, |_, message| message)))
    }
}

#[cold]
pub(super) fn bad_id<M>(message: M, error: EntityIdError) -> TellError<M> {
    TellError::Unsendable(message, Unsendable::BadId(error))
}

impl<M: Message> Clone for Region<M> {
    fn clone(&self) -> Self {
        Self { core: self.core.clone() }
    }
}

impl<M: Message> fmt::Debug for Region<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Region({})", self.core.kind.name)
    }
}

/// An entity that is asked.
pub struct Asking<'a, M: Message> {
    core: &'a Arc<KindCore<M>>,
    id: Result<EntityId, EntityIdError>,
}

impl<'a, M: Message> Asking<'a, M> {
    pub(super) fn new(core: &'a Arc<KindCore<M>>, id: EntityId) -> Self {
        Self { core, id: Ok(id) }
    }
}

impl<M: Message> Recipient for Asking<'_, M> {
    type Message = M;

    #[inline]
    fn send(&self, message: M, asked: Asked) -> Tell<M> {
        match &self.id {
            Ok(id) => self.core.send(id.clone(), message, Some(asked)),
            Err(error) => Tell::refused(bad_id(message, *error)),
        }
    }

    #[inline]
    fn system(&self) -> SystemRef<'_> {
        self.core.sharding.hub().system_handle().into()
    }

    fn path(&self) -> String {
        match &self.id {
            Ok(id) => self.core.path_of(id),
            Err(_) => self.core.kind.name.to_string(),
        }
    }

    fn id_here(&self) -> Option<ActorId> {
        let id = self.id.as_ref().ok().filter(|id| self.core.is_here(id))?;
        Some(self.core.actor_id(id))
    }
}

impl<M: Message> fmt::Debug for Asking<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Asking({})", Recipient::path(self))
    }
}
