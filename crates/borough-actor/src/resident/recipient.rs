//! Who can be asked.

use crate::actor_ref::{ActorRef, Asked, SystemRef};
use crate::id::ActorId;
use crate::tell::Tell;

/// Somebody who can be asked: an [`ActorRef`], or an entity somewhere in the cluster.
pub trait Recipient {
    /// What can be said to it.
    type Message: Send + 'static;

    /// Sends the message of an ask; stands in line if there is no room.
    fn send(&self, message: Self::Message, ask: Asked) -> Tell<Self::Message>;

    /// The system of the asker.
    fn system(&self) -> SystemRef<'_>;

    /// Who it is, if it is known to live in this process: an ask that would wait for itself is then refused.
    fn id_here(&self) -> Option<ActorId>;

    /// What it is called, for errors.
    fn path(&self) -> String;
}

impl<M: Send + 'static> Recipient for &ActorRef<M> {
    type Message = M;

    #[inline]
    fn send(&self, message: M, ask: Asked) -> Tell<M> {
        ActorRef::send(self, message, Some(ask))
    }

    #[inline]
    fn system(&self) -> SystemRef<'_> {
        SystemRef(self.core())
    }

    #[inline]
    fn id_here(&self) -> Option<ActorId> {
        self.away().is_none().then(|| self.id())
    }

    fn path(&self) -> String {
        ActorRef::path(self)
    }
}
