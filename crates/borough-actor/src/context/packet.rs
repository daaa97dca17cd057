//! The packet of another node whose messages are being handled.
//!
//! It is begun with as it leaves the inbox, and its messages come before all that is in there. Whenever the inbox is looked at
//! otherwise, at the end of a batch or of the actor, and when stashed messages go in front, the rest of it is back in its place.

use super::Context;
use crate::actor::Actor;
use crate::cell::ActorCell;
use crate::item::{Item, Rare};
use crate::remote::Packet;

/// A packet, and the actor whose it is.
pub(crate) struct OpenPacket<'a, M> {
    pub(crate) packet: &'a mut Packet<M>,
    pub(crate) cell: &'a ActorCell<M>,
}

impl<A: Actor> Context<A> {
    /// Begins with a packet that was popped from the inbox.
    pub(crate) fn open_packet(&mut self, packet: Box<Rare<A::Msg>>) {
        self.inbox.lighten(packet.weight() - 1);
        self.extras().packet = Some(packet);
    }

    /// The packet that was begun with.
    #[inline]
    pub(crate) fn packet(&mut self) -> Option<OpenPacket<'_, A::Msg>> {
        match &mut **self.extras.as_mut()?.packet.as_mut()? {
            Rare::Packet(packet) => Some(OpenPacket { packet, cell: &self.cell }),
            Rare::Adapted(_) | Rare::StopHere | Rare::Terminated(..) => None,
        }
    }

    /// Puts what is left of the packet that was begun with back into the inbox.
    pub(crate) fn close_packet(&mut self) {
        let packet = self.extras.as_mut().and_then(|extras| extras.packet.take());
        if let Some(packet) = packet.filter(|packet| packet.has_messages()) {
            self.inbox.push_front(Item::Rare(packet));
        }
    }
}
