//! Messages of another node in a lane's mailbox, as they came: the lane decodes each when its turn has come.
//!
//! So the one who reads from the network does not, and the many messages of a packet move as one.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use borough_actor::remote::{Carrier, Lost, RUN_BYTES, RUN_MESSAGES};
use borough_protocol::sharding::Epoch;
use borough_wire::codec::CodecId;

use super::parcel::Came;

/// See the module.
pub(super) struct Packet {
    /// Messages, one after the other, each behind its head.
    bytes: Vec<u8>,
    at: usize,
    count: usize,
    /// Whether there were asks among them.
    has_asks: bool,
    pub(super) carrier: Arc<dyn Carrier>,
    /// Where its buffer came from, and goes to.
    spares: Arc<Spares>,
}

/// What stands before each message of a packet: its length, shard, tag, the ask and for how long it is waited for, the length of its id, whether
/// it is an ask, and its codec.
const HEAD: usize = 4 + 4 + 8 + 8 + 4 + 1 + 1 + 1;
const IS_ASK: u8 = 1;
const HAS_DEADLINE: u8 = 2;

impl Packet {
    pub(super) fn new(carrier: Arc<dyn Carrier>, spares: Arc<Spares>) -> Self {
        Self { bytes: Vec::new(), at: 0, count: 0, has_asks: false, carrier, spares }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.count
    }

    #[inline]
    pub(super) fn has_asks(&self) -> bool {
        self.has_asks
    }

    /// Whether one more message would make it too large to move as one.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.count >= RUN_MESSAGES || self.bytes.len() >= RUN_BYTES
    }

    #[inline]
    pub(super) fn push(&mut self, came: &Came<'_>) {
        let Came { shard, tag, id, ask, codec, body } = came;
        let (Ok(length), Ok(id_length)) = (u32::try_from(body.len()), u8::try_from(id.len())) else { return };
        if self.count == 0 {
            self.bytes = self.spares.take();
        }
        let flags = match ask {
            None => 0,
            Some((_, None)) => IS_ASK,
            Some((_, Some(_))) => IS_ASK | HAS_DEADLINE,
        };
        let (number, left) = ask.map_or((0, 0), |(number, left)| (number, left.unwrap_or(0)));
        // Written in one piece, and not field by field with a look at the buffer's end for each.
        let mut head = [0; HEAD];
        head[..4].copy_from_slice(&length.to_le_bytes());
        head[4..8].copy_from_slice(&shard.to_le_bytes());
        head[8..16].copy_from_slice(&tag.get().to_le_bytes());
        head[16..24].copy_from_slice(&number.to_le_bytes());
        head[24..28].copy_from_slice(&left.to_le_bytes());
        head[28..].copy_from_slice(&[id_length, flags, codec.number()]);
        self.bytes.reserve(HEAD + id.len() + body.len());
        self.bytes.extend_from_slice(&head);
        self.bytes.extend_from_slice(id);
        self.bytes.extend_from_slice(body);
        self.count += 1;
        self.has_asks |= ask.is_some();
    }

    /// The messages that are left, the next one first.
    pub(super) fn messages(&self) -> impl Iterator<Item = Came<'_>> {
        let mut rest = self.bytes.get(self.at..).unwrap_or_default();
        std::iter::from_fn(move || {
            let (came, after) = first(rest)?;
            rest = after;
            Some(came)
        })
    }

    /// Takes the next message out; with the way it came by.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(Came<'_>, &Arc<dyn Carrier>)> {
        let Some((came, rest)) = self.bytes.get(self.at..).and_then(first) else {
            self.count = 0;
            return None;
        };
        self.at = self.bytes.len() - rest.len();
        self.count -= 1;
        Some((came, &self.carrier))
    }

    /// Nobody will handle what is left: whoever asked learns so.
    pub(super) fn refuse(&mut self) {
        while let Some((came, carrier)) = self.next() {
            if let Some((ask, _)) = came.ask {
                carrier.lose(ask, Lost::Discarded);
            }
        }
    }

    /// Takes the first so many off, as a packet of their own.
    pub(super) fn cut(&mut self, count: usize) -> Self {
        let from = self.at;
        let before = self.count;
        for _ in 0..count.min(before) {
            self.next();
        }
        let (carrier, spares, has_asks) = (self.carrier.clone(), self.spares.clone(), self.has_asks);
        let (bytes, count) = (self.bytes[from..self.at].to_vec(), before - self.count);
        Self { bytes, at: 0, count, has_asks, carrier, spares }
    }
}

/// The first message, and what follows it. What is here was written by [`Packet::push`].
#[inline]
fn first(bytes: &[u8]) -> Option<(Came<'_>, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
    let (length, head) = head.split_first_chunk()?;
    let (shard, head) = head.split_first_chunk()?;
    let (tag, head) = head.split_first_chunk()?;
    let (number, head) = head.split_first_chunk()?;
    let (left, head) = head.split_first_chunk()?;
    let &[id_length, flags, codec] = head.first_chunk()?;
    let (id, rest) = rest.split_at_checked(usize::from(id_length))?;
    let (body, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    let left = (flags & HAS_DEADLINE != 0).then_some(u32::from_le_bytes(*left));
    let came = Came {
        shard: u32::from_le_bytes(*shard),
        tag: Epoch::new(u64::from_le_bytes(*tag)),
        id,
        ask: (flags & IS_ASK != 0).then_some((u64::from_le_bytes(*number), left)),
        codec: CodecId::from_number(codec)?,
        body,
    };
    Some((came, rest))
}

impl Drop for Packet {
    fn drop(&mut self) {
        if self.bytes.capacity() > 0 {
            self.spares.put(std::mem::take(&mut self.bytes));
        }
    }
}

impl fmt::Debug for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Packet({} from {})", self.count, self.carrier.address())
    }
}

/// Buffers of packets to be used again: one that grows anew for each packet is copied as often as it doubles, and is made by one thread and freed
/// by another.
#[derive(Debug, Default)]
pub(super) struct Spares(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    buffers: Vec<Vec<u8>>,
    bytes: usize,
    /// How large the last one was: a new one is made so.
    size: usize,
}

/// How much a lane keeps. A full mailbox has a dozen packets when all of them come from one busy node.
const SPARE_BYTES: usize = RUN_BYTES * 4;
/// A buffer larger than this is not kept.
const SPARE_MAX: usize = RUN_BYTES * 2;

impl Spares {
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().buffers.len()
    }

    /// An empty buffer, one that has served before if there is any.
    fn take(&self) -> Vec<u8> {
        let mut kept = self.lock();
        let (buffer, size) = (kept.buffers.pop(), kept.size);
        kept.bytes -= buffer.as_ref().map_or(0, Vec::capacity);
        drop(kept);
        buffer.unwrap_or_else(|| Vec::with_capacity(size.min(RUN_BYTES)))
    }

    fn put(&self, mut buffer: Vec<u8>) {
        buffer.clear();
        let mut kept = self.lock();
        let size = buffer.capacity();
        if size <= SPARE_MAX && kept.bytes + size <= SPARE_BYTES {
            kept.size = size;
            kept.bytes += size;
            kept.buffers.push(buffer);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
