//! What lies in a lane's mailbox.

use std::sync::Arc;

use borough_actor::EntityId;
use borough_actor::remote::Carrier;
use borough_actor::resident::{AskId, Letter};
use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::Epoch;
use borough_protocol::version::Version;
use borough_wire::codec::CodecId;
use tokio::sync::oneshot;

use super::packet::Packet;

/// A message on its way to an entity of a lane.
pub(crate) struct Parcel<M> {
    /// The entity's shard.
    pub(crate) shard: u32,
    /// The epoch of the owner it was sent to.
    pub(crate) tag: Epoch,
    /// The entity.
    pub(crate) id: EntityId,
    /// What it is told.
    pub(crate) message: M,
}

/// Stands in line behind messages, to prove that they have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Barrier {
    pub(crate) shard: u32,
    pub(crate) tag: Epoch,
    /// Whose it is.
    pub(crate) origin: Uid,
    /// Which of that one's.
    pub(crate) nonce: u64,
    /// Set if it is a straight one.
    pub(crate) min_version: Option<Version>,
}

/// A message as it came from another node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Came<'a> {
    pub(crate) shard: u32,
    pub(crate) tag: Epoch,
    pub(crate) id: &'a [u8],
    /// If it is an ask, by which number the answer finds its asker, and for how many milliseconds that one waits.
    pub(crate) ask: Option<(u64, Option<u32>)>,
    pub(crate) codec: CodecId,
    pub(crate) body: &'a [u8],
}

/// One thing for a lane to attend to, in order.
pub(super) enum Item<M> {
    Message(Stowed<M>),
    /// Boxed, to keep messages small.
    Rare(Box<Rare>),
}

/// A message, packed so that telling it from the rest takes no word more.
pub(super) struct Stowed<M> {
    pub(super) id: EntityId,
    pub(super) tag: Epoch,
    pub(super) shard: u32,
    #[expect(dead_code, reason = "read by the compiler alone, which tells items apart by it")]
    niche: Niche,
    pub(super) ask: Option<AskId>,
    pub(super) message: M,
}

#[derive(Clone, Copy)]
#[repr(u8)]
enum Niche {
    Only,
}

impl<M> Stowed<M> {
    #[inline]
    pub(super) fn new(parcel: Parcel<M>, ask: Option<AskId>) -> Self {
        let Parcel { shard, tag, id, message } = parcel;
        Self { id, tag, shard, niche: Niche::Only, ask, message }
    }
}

pub(super) enum Rare {
    Barrier(Barrier),
    /// Messages of another node, not decoded yet.
    Packet(Packet),
    /// A piece of a shard that moves here.
    Part(Part),
    /// Somebody waits until all before it was attended to.
    Flush(oneshot::Sender<()>),
}

/// A piece of a shard that moves here.
pub(super) struct Part {
    pub(super) shard: u32,
    pub(super) epoch: Epoch,
    pub(super) number: u32,
    pub(super) is_last: bool,
    pub(super) bytes: Vec<u8>,
    /// The way from the node it came from.
    pub(super) carrier: Arc<dyn Carrier>,
}

impl<M> Letter for Item<M> {
    fn is_expendable(&self) -> bool {
        false
    }

    #[inline]
    fn weight(&self) -> usize {
        match self {
            Self::Message(_) => 1,
            Self::Rare(rare) => match &**rare {
                Rare::Packet(packet) => packet.len().max(1),
                Rare::Barrier(_) | Rare::Part(_) | Rare::Flush(_) => 1,
            },
        }
    }

    fn cut(&mut self, weight: usize) -> Option<Self> {
        let Self::Rare(rare) = self else { return None };
        let Rare::Packet(packet) = &mut **rare else { return None };
        Some(Self::Rare(Box::new(Rare::Packet(packet.cut(weight)))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_in_line_takes_seven_words_beside_itself() {
        assert_eq!(size_of::<Item<u64>>(), 64);
        assert_eq!(size_of::<Item<[u64; 2]>>(), 72);
    }
}
