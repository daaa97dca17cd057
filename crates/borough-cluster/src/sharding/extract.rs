//! Messages that carry the id of the entity they are for.

use std::fmt;
use std::sync::Arc;

use borough_actor::remote::Message;
use borough_actor::resident::{self, Asked, Recipient, SystemRef};
use borough_actor::{ActorId, Ask, EntityId, IntoEntityId, Reply, Tell, TellError, Unsendable};
use serde::{Deserialize, Serialize};

use super::kind::KindCore;
use super::region::bad_id;

/// A message that carries the id of its entity.
///
/// ```
/// use borough_cluster::{EntityId, EntityMessage, IntoEntityId};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// enum Cart {
///     Add { cart: String, item: u64 },
///     Ping,
/// }
/// impl EntityMessage for Cart {
///     type Inner = Cart;
///     fn route(self) -> Result<(EntityId, Cart), Cart> {
///         match &self {
///             Cart::Add { cart, .. } => match cart.as_str().into_entity_id() {
///                 Ok(id) => Ok((id, self)),
///                 Err(_) => Err(self),
///             },
///             Cart::Ping => Err(self),
///         }
///     }
/// }
/// assert!(Cart::Ping.route().is_err());
/// ```
pub trait EntityMessage: Sized + Send + 'static {
    /// What the entity gets: most often the message itself, or what an envelope contains.
    type Inner: Message;

    /// The entity's id and what it gets; the message itself if it is for no entity.
    fn route(self) -> Result<(EntityId, Self::Inner), Self>;
}

/// A message and the id of the entity it is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope<M> {
    /// Who it is for.
    pub id: EntityId,
    /// What it gets.
    pub message: M,
}

impl<M> Envelope<M> {
    /// A message for that entity.
    pub fn new(id: impl IntoEntityId, message: M) -> Result<Self, borough_actor::EntityIdError> {
        Ok(Self { id: id.into_entity_id()?, message })
    }
}

impl<E, M> fmt::Debug for Mail<E, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Whole(_) => "Mail::Whole(..)",
            Self::Inner(_) => "Mail::Inner(..)",
        })
    }
}

impl<M: Message> EntityMessage for Envelope<M> {
    type Inner = M;

    fn route(self) -> Result<(EntityId, M), Self> {
        Ok((self.id, self.message))
    }
}

/// Finds the entity a message is for.
pub(super) type Find<E, M> = Arc<dyn Fn(E) -> Result<(EntityId, M), E> + Send + Sync>;

/// What goes into a region through an extractor: whole, or stripped.
pub enum Mail<E, M> {
    /// As it was given.
    Whole(E),
    /// What the entity was to get.
    Inner(M),
}

/// A way into a region for messages that carry their id.
pub struct Extractor<E, M: Message> {
    core: Arc<KindCore<M>>,
    find: Find<E, M>,
}

impl<E: Send + 'static, M: Message> Extractor<E, M> {
    pub(super) fn new(core: Arc<KindCore<M>>, find: Find<E, M>) -> Self {
        Self { core, find }
    }

    /// Sends a message to the entity it names; one without a route is an error that gives it back.
    pub fn tell(&self, message: E) -> Tell<Mail<E, M>> {
        self.pass(Mail::Whole(message), None)
    }

    /// Asks by a message that names its entity.
    pub fn ask<T, F>(&self, message: F) -> Ask<Self, T, impl FnOnce(Reply<T>) -> Mail<E, M> + use<E, M, T, F>>
    where
        T: Send + 'static,
        F: FnOnce(Reply<T>) -> E,
    {
        self.clone().into_ask(message)
    }

    pub(super) fn into_ask<T, F>(
        self,
        message: F,
    ) -> Ask<Self, T, impl FnOnce(Reply<T>) -> Mail<E, M> + use<E, M, T, F>>
    where
        T: Send + 'static,
        F: FnOnce(Reply<T>) -> E,
    {
        resident::ask(self, None, |reply| Mail::Whole(message(reply)))
    }

    fn pass(&self, mail: Mail<E, M>, ask: Option<Asked>) -> Tell<Mail<E, M>> {
        match mail {
            Mail::Whole(message) => send_routed(&self.core, (self.find)(message), ask),
            Mail::Inner(message) => Tell::refused(no_route(Mail::Inner(message))),
        }
    }
}

/// Sends a message to the entity that it was found to be for.
pub(super) fn send_routed<E: Send + 'static, M: Message>(
    core: &KindCore<M>,
    routed: Result<(EntityId, M), E>,
    ask: Option<Asked>,
) -> Tell<Mail<E, M>> {
    let (id, message) = match routed {
        Ok(routed) => routed,
        Err(message) => return Tell::refused(no_route(Mail::Whole(message))),
    };
    match id.into_entity_id() {
        Ok(id) => core.send(id, message, ask).map(Mail::Inner),
        Err(error) => Tell::refused(bad_id(Mail::Inner(message), error)),
    }
}

pub(super) fn no_route<T>(mail: T) -> TellError<T> {
    TellError::Unsendable(mail, Unsendable::NoRoute)
}

impl<E, M: Message> Clone for Extractor<E, M> {
    fn clone(&self) -> Self {
        Self { core: self.core.clone(), find: self.find.clone() }
    }
}

impl<E, M: Message> fmt::Debug for Extractor<E, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Extractor({})", self.core.kind.name)
    }
}

impl<E: Send + 'static, M: Message> Recipient for Extractor<E, M> {
    type Message = Mail<E, M>;

    fn send(&self, message: Mail<E, M>, asked: Asked) -> Tell<Mail<E, M>> {
        self.pass(message, Some(asked))
    }

    fn system(&self) -> SystemRef<'_> {
        self.core.sharding.hub().system_handle().into()
    }

    fn path(&self) -> String {
        self.core.kind.name.to_string()
    }

    fn id_here(&self) -> Option<ActorId> {
        None
    }
}
