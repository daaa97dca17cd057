//! An actor's address that leads to all entities of a type: each message goes to the one that it names.
//!
//! Promise: a message that is not accepted comes back as it was sent. Its route is user code that runs where it is sent, or where it comes in from another
//! node: one that panics harms nobody, and the message is a dead letter.

use std::any::type_name;
use std::sync::Arc;

use borough_actor::remote::{self, Message};
use borough_actor::resident::{self, Asked, Route, SystemRef, discard};
use borough_actor::{ActorId, DeadLetterReason, EntityId, IntoEntityId, Tell, TellError, TryTellError};

use super::extract::no_route;
use super::kind::KindCore;
use super::region::bad_id;

/// See the module.
pub(super) struct PostOffice<E, M: Message> {
    core: Arc<KindCore<M>>,
    route: fn(E) -> Result<(EntityId, M), E>,
    /// Undoes what the route did.
    whole: fn(EntityId, M) -> E,
}

/// What became of a message that was sorted.
enum Sorted<E, M> {
    To(EntityId, M),
    Back(TellError<E>),
    /// Its route panicked, and it was lost by that.
    Lost,
}

impl<E: Send + 'static, M: Message> PostOffice<E, M> {
    pub(super) fn new(
        core: Arc<KindCore<M>>,
        route: fn(E) -> Result<(EntityId, M), E>,
        whole: fn(EntityId, M) -> E,
    ) -> Self {
        Self { core, route, whole }
    }

    fn sort(&self, message: E) -> Sorted<E, M> {
        match resident::decoding(|| (self.route)(message)) {
            Ok(Ok((id, message))) => match id.into_entity_id() {
                Ok(id) => Sorted::To(id, message),
                Err(error) => Sorted::Back(bad_id((self.whole)(EntityId::default(), message), error)),
            },
            Ok(Err(message)) => Sorted::Back(no_route(message)),
            Err(fault) => {
                let kind = &*self.core.kind.name;
                tracing::error!(kind, %fault, "the route of a message panicked; it is a dead letter");
                self.count_dead();
                Sorted::Lost
            }
        }
    }

    /// A message that reaches no entity is a dead letter.
    fn count_dead(&self) {
        let (system, reason) = (self.core.sharding.hub().system_handle(), DeadLetterReason::Stopped);
        remote::bury(system, type_name::<E>(), || self.path(), reason);
        self.core.counts.bury(reason);
    }
}

impl<E: Send + 'static, M: Message> Route<E> for PostOffice<E, M> {
    fn send(&self, message: E, ask: Option<Asked>) -> Tell<E> {
        match self.sort(message) {
            Sorted::To(id, message) => {
                let (whole, to) = (self.whole, id.clone());
                self.core.send(id, message, ask).map(move |message| whole(to, message))
            }
            Sorted::Back(error) => Tell::refused(error),
            Sorted::Lost => Tell::accepted(),
        }
    }

    fn try_tell(&self, message: E) -> Result<(), TryTellError<E>> {
        match self.sort(message) {
            Sorted::To(id, message) => {
                let sent = self.core.try_send(id.clone(), message);
                sent.map_err(|error| error.map(|message| (self.whole)(id, message)))
            }
            Sorted::Back(error) => Err(error.into()),
            Sorted::Lost => Ok(()),
        }
    }

    fn post(&self, message: E) {
        match self.sort(message) {
            Sorted::To(id, message) => {
                if let Err(refused) = self.core.try_send(id.clone(), message) {
                    self.core.bury(&id, refused.into_message(), DeadLetterReason::Overflow);
                }
            }
            Sorted::Back(error) => {
                self.count_dead();
                discard(error.into_message());
            }
            Sorted::Lost => {}
        }
    }

    /// Entities stop themselves.
    fn stop_when_drained(&self) {}

    fn system(&self) -> SystemRef<'_> {
        self.core.sharding.hub().system_handle().into()
    }

    /// That of no entity: whoever asks through it waits for the one that the message names.
    fn id(&self) -> ActorId {
        self.core.actor_id(&EntityId::default())
    }

    fn path(&self) -> String {
        self.core.kind.name.to_string()
    }

    fn is_lasting(&self) -> bool {
        true
    }
}
