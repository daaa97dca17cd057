//! What lies in an actor's mailbox.

use std::any::Any;

use crate::ask::{AskId, StowedAskId, discard};
use crate::mailbox::Letter;
use crate::remote::Packet;
use crate::watch::{Terminated, WatchId};

/// One thing for the actor to attend to, in order.
pub(crate) enum Item<M> {
    Tell(M),
    Ask(M, StowedAskId),
    /// Boxed, to keep the others small.
    Rare(Box<Rare<M>>),
}

pub(crate) enum Rare<M> {
    /// A message for an adapter of this actor; it is turned into one of the actor's own in its turn.
    Adapted(Box<dyn Adapted<M>>),
    /// Stop, once everything sent before is handled.
    StopHere,
    /// A watched actor is gone.
    Terminated(WatchId, Terminated),
    /// Messages of another node, not decoded yet. Only in mailboxes that pack.
    Packet(Packet<M>),
}

/// A foreign message on its way to becoming one of type `M`.
pub(crate) trait Adapted<M>: Send {
    /// Runs the adapter's function; user code, so in the actor's turn only.
    fn adapt(self: Box<Self>) -> M;
    fn ask(&self) -> Option<AskId>;
    /// The foreign message as it was sent, for giving it back.
    fn into_foreign(self: Box<Self>) -> Box<dyn Any + Send>;
}

impl<M> Item<M> {
    pub(crate) fn rare(rare: Rare<M>) -> Self {
        Self::Rare(Box::new(rare))
    }

    #[inline]
    pub(crate) fn new(message: M, ask: Option<AskId>) -> Self {
        match ask {
            Some(ask) => Self::Ask(message, ask.stow()),
            None => Self::Tell(message),
        }
    }

    /// Drops what no handler saw. The ask that it is learns just that; a reply that was only handed on in it does not: its own
    /// message was handled.
    pub(crate) fn discard(self) {
        let is_ask = match &self {
            Self::Tell(_) => false,
            Self::Ask(..) => true,
            Self::Rare(rare) => matches!(&**rare, Rare::Adapted(adapted) if adapted.ask().is_some()),
        };
        if is_ask { discard(self) } else { drop(self) }
    }

    /// The message of an item made by [`Item::new`].
    pub(crate) fn into_message(self) -> Option<M> {
        match self {
            Self::Tell(message) | Self::Ask(message, _) => Some(message),
            Self::Rare(_) => None,
        }
    }
}

impl<M> Rare<M> {
    /// Whether it is a packet in which something is left.
    pub(crate) fn has_messages(&self) -> bool {
        matches!(self, Self::Packet(packet) if packet.len() > 0)
    }

    /// A packet in which nothing is left is one item all the same.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Packet(packet) => packet.len().max(1),
            Self::Adapted(_) | Self::StopHere | Self::Terminated(..) => 1,
        }
    }
}

impl<M> Letter for Item<M> {
    /// What somebody sent is; what the system says is not, and is no dead letter either.
    fn is_expendable(&self) -> bool {
        match self {
            Self::Tell(_) | Self::Ask(..) => true,
            Self::Rare(rare) => matches!(**rare, Rare::Adapted(_) | Rare::Packet(_)),
        }
    }

    #[inline]
    fn weight(&self) -> usize {
        match self {
            Self::Tell(_) | Self::Ask(..) => 1,
            Self::Rare(rare) => rare.weight(),
        }
    }

    fn cut(&mut self, weight: usize) -> Option<Self> {
        let Self::Rare(rare) = self else { return None };
        let Rare::Packet(packet) = &mut **rare else { return None };
        Some(Self::rare(Rare::Packet(packet.cut(weight))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_costs_eight_bytes_beside_its_message() {
        assert_eq!(size_of::<Item<u64>>(), 16);
        assert_eq!(size_of::<Item<[u64; 2]>>(), 24);
    }
}
