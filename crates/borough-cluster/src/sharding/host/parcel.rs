//! What lies in a lane's mailbox.

use std::fmt;
use std::sync::Arc;

use borough_actor::EntityId;
use borough_actor::remote::{Carrier, RUN_BYTES, RUN_MESSAGES};
use borough_actor::resident::{AskId, Letter};
use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::Epoch;
use borough_protocol::version::Version;
use borough_wire::codec::CodecId;

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
                Rare::Packet(packet) => packet.count.max(1),
                Rare::Barrier(_) | Rare::Part(_) => 1,
            },
        }
    }

    fn cut(&mut self, weight: usize) -> Option<Self> {
        let Self::Rare(rare) = self else { return None };
        let Rare::Packet(packet) = &mut **rare else { return None };
        Some(Self::Rare(Box::new(Rare::Packet(packet.cut(weight)))))
    }
}

/// Messages of another node as they came: the lane decodes each when its turn has come.
pub(super) struct Packet {
    /// Messages, one after the other, each behind its head.
    bytes: Vec<u8>,
    at: usize,
    count: usize,
    pub(super) carrier: Arc<dyn Carrier>,
}

/// What stands before each message of a packet: its length, the length of its id, whether it is an ask, its codec, shard, tag, and the ask.
const HEAD: usize = 4 + 1 + 1 + 1 + 4 + 8 + 8 + 4;
const IS_ASK: u8 = 1;
const HAS_DEADLINE: u8 = 2;

impl Packet {
    pub(super) fn new(carrier: Arc<dyn Carrier>) -> Self {
        Self { bytes: Vec::new(), at: 0, count: 0, carrier }
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Whether one more message would make it too large to move as one.
    pub(super) fn is_full(&self) -> bool {
        self.count >= RUN_MESSAGES || self.bytes.len() >= RUN_BYTES
    }

    pub(super) fn push(&mut self, came: &Came<'_>) {
        let Came { shard, tag, id, ask, codec, body } = came;
        let (Ok(length), Ok(id_length)) = (u32::try_from(body.len()), u8::try_from(id.len())) else { return };
        let flags = match ask {
            None => 0,
            Some((_, None)) => IS_ASK,
            Some((_, Some(_))) => IS_ASK | HAS_DEADLINE,
        };
        let (number, left) = ask.map_or((0, 0), |(number, left)| (number, left.unwrap_or(0)));
        self.bytes.reserve(HEAD + id.len() + body.len());
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.bytes.extend_from_slice(&[id_length, flags, codec.number()]);
        self.bytes.extend_from_slice(&shard.to_le_bytes());
        self.bytes.extend_from_slice(&tag.get().to_le_bytes());
        self.bytes.extend_from_slice(&number.to_le_bytes());
        self.bytes.extend_from_slice(&left.to_le_bytes());
        self.bytes.extend_from_slice(id);
        self.bytes.extend_from_slice(body);
        self.count += 1;
    }

    /// The first message, and how many bytes it takes. What is here was written by [`Packet::push`].
    fn first(&self) -> Option<(Came<'_>, usize)> {
        let bytes = self.bytes.get(self.at..)?;
        let (length, rest) = bytes.split_first_chunk()?;
        let (&[id_length, flags, codec], rest) = rest.split_first_chunk()?;
        let (shard, rest) = rest.split_first_chunk()?;
        let (tag, rest) = rest.split_first_chunk()?;
        let (number, rest) = rest.split_first_chunk()?;
        let (left, rest) = rest.split_first_chunk()?;
        let (id, rest) = rest.split_at_checked(usize::from(id_length))?;
        let body = rest.get(..u32::from_le_bytes(*length) as usize)?;
        let left = (flags & HAS_DEADLINE != 0).then_some(u32::from_le_bytes(*left));
        let came = Came {
            shard: u32::from_le_bytes(*shard),
            tag: Epoch::new(u64::from_le_bytes(*tag)),
            id,
            ask: (flags & IS_ASK != 0).then_some((u64::from_le_bytes(*number), left)),
            codec: CodecId::from_number(codec)?,
            body,
        };
        Some((came, HEAD + id.len() + body.len()))
    }

    /// Gives `look` the next message, and takes it out.
    pub(super) fn next<R>(&mut self, look: impl FnOnce(&Came<'_>, &Arc<dyn Carrier>) -> R) -> Option<R> {
        if self.count == 0 {
            return None;
        }
        let Some((came, length)) = self.first() else {
            self.count = 0;
            return None;
        };
        let looked = look(&came, &self.carrier);
        self.at += length;
        self.count -= 1;
        Some(looked)
    }

    fn cut(&mut self, count: usize) -> Self {
        let from = self.at;
        let before = self.count;
        for _ in 0..count.min(before) {
            self.next(|_, _| ());
        }
        let bytes = self.bytes[from..self.at].to_vec();
        Self { bytes, at: 0, count: before - self.count, carrier: self.carrier.clone() }
    }
}

impl fmt::Debug for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Packet({} from {})", self.count, self.carrier.address())
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
