//! What stands before sharding's messages between two nodes.
//!
//! ```text
//! message   0 | shard u32 | tag u64 | length of the id u8 | id | the message, in the codec of the frame, which is the type's
//! barrier   1 | shard u32 | tag u64 | origin u64 | nonce u64 | term u64 | index u64
//! part      2 | shard u32 | epoch u64 | number u32 | last u8 | bytes
//! word      3 | postcard
//! crowding  4 | what u8: 0 crowded, 1 room, 2 in line | shard u32 | how much room u32 | id
//! ```
//! Numbers have the least byte first. All of it for one type of entities goes to one target, so that it stays in order.

use borough_actor::EntityId;
use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::Epoch;
use borough_protocol::sharding::region::Word;
use borough_protocol::version::{Term, Version};

use super::abroad::{Crowding, What};
use super::host::Barrier;

const MESSAGE: u8 = 0;
const BARRIER: u8 = 1;
const PART: u8 = 2;
const WORD: u8 = 3;
const CROWDING: u8 = 4;

/// How much of a message stands before its id.
const MESSAGE_HEAD: usize = 14;

/// A message that came for an entity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'a> {
    pub(super) shard: u32,
    pub(super) tag: Epoch,
    pub(super) id: &'a [u8],
    pub(super) body: &'a [u8],
}

/// What comes for a type of entities beside messages.
#[derive(Debug)]
pub(super) enum Other<'a> {
    Barrier(Barrier),
    Part { shard: u32, epoch: Epoch, number: u32, is_last: bool, bytes: &'a [u8] },
    Word(Word),
    Crowding(Crowding),
}

/// The target of a type's messages: apart from the numbers of actors, and the same on every node.
pub(super) fn target(name: &str) -> u64 {
    // FNV-1a, written down here because all nodes must agree on it for ever.
    let number = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |number, byte| {
        (number ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    number | 1 << 63
}

/// Whether a target is that of a type of entities.
pub(crate) fn is_kind(target: u64) -> bool {
    target >> 63 == 1
}

/// Appends the head of a message.
#[inline]
pub(super) fn put_message_head(out: &mut Vec<u8>, shard: u32, tag: Epoch, id: &EntityId) {
    let mut head = [0; MESSAGE_HEAD];
    head[0] = MESSAGE;
    head[1..5].copy_from_slice(&shard.to_le_bytes());
    head[5..13].copy_from_slice(&tag.get().to_le_bytes());
    head[MESSAGE_HEAD - 1] = u8::try_from(id.len()).unwrap_or(u8::MAX);
    out.extend_from_slice(&head);
    id.append_to(out);
}

pub(super) fn put_barrier(barrier: &Barrier) -> Vec<u8> {
    let Barrier { shard, tag, origin, nonce, min_version } = barrier;
    let min = min_version.unwrap_or(Version::ZERO);
    let mut out = vec![BARRIER];
    out.extend_from_slice(&shard.to_le_bytes());
    for number in [tag.get(), origin.get(), *nonce, min.term.get(), min.index] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out
}

pub(super) fn part_head(shard: u32, epoch: Epoch, number: u32, is_last: bool) -> Vec<u8> {
    let mut out = vec![PART];
    out.extend_from_slice(&shard.to_le_bytes());
    out.extend_from_slice(&epoch.get().to_le_bytes());
    out.extend_from_slice(&number.to_le_bytes());
    out.push(u8::from(is_last));
    out
}

pub(super) fn put_word(word: &Word) -> Vec<u8> {
    // Words have no part that cannot be written.
    postcard::to_extend(word, vec![WORD]).unwrap_or_default()
}

pub(super) fn put_crowding(word: &Crowding) -> Vec<u8> {
    let (what, room) = match word.what {
        What::Crowded => (0, 0),
        What::Room(room) => (1, room),
        What::InLine => (2, 0),
    };
    let mut out = vec![CROWDING, what];
    out.extend_from_slice(&word.shard.to_le_bytes());
    out.extend_from_slice(&room.to_le_bytes());
    word.id.append_to(&mut out);
    out
}

/// Reads a message; `None` if it is something else.
#[inline]
pub(super) fn read_message(bytes: &[u8]) -> Option<Message<'_>> {
    let (head, rest) = bytes.split_first_chunk::<MESSAGE_HEAD>()?;
    let (&what, head) = head.split_first()?;
    let (shard, head) = head.split_first_chunk()?;
    let (tag, head) = head.split_first_chunk()?;
    let (&length, _) = head.split_first()?;
    let (id, body) = rest.split_at_checked(usize::from(length))?;
    let (shard, tag) = (u32::from_le_bytes(*shard), Epoch::new(u64::from_le_bytes(*tag)));
    (what == MESSAGE && length > 0 && tag != Epoch::ZERO).then_some(Message { shard, tag, id, body })
}

/// Reads what is no message; `None` if it is nothing that a node would send.
pub(super) fn read_other(bytes: &[u8]) -> Option<Other<'_>> {
    let mut reader = Reader(bytes);
    let other = match reader.byte()? {
        BARRIER => {
            let (shard, tag) = (reader.u32()?, Epoch::new(reader.u64()?));
            let (origin, nonce) = (Uid::new(reader.u64()?)?, reader.u64()?);
            let min = Version { term: Term::new(reader.u64()?), index: reader.u64()? };
            let min_version = (min != Version::ZERO).then_some(min);
            Other::Barrier(Barrier { shard, tag, origin, nonce, min_version })
        }
        PART => {
            let (shard, epoch) = (reader.u32()?, Epoch::new(reader.u64()?));
            let (number, is_last) = (reader.u32()?, reader.byte()? == 1);
            return Some(Other::Part { shard, epoch, number, is_last, bytes: reader.0 });
        }
        WORD => {
            let (word, rest) = postcard::take_from_bytes(reader.0).ok()?;
            reader.0 = rest;
            Other::Word(word)
        }
        CROWDING => {
            let (what, shard, room) = (reader.byte()?, reader.u32()?, reader.u32()?);
            let what = match (what, room) {
                (0, 0) => What::Crowded,
                (1, room) => What::Room(room),
                (2, 0) => What::InLine,
                _ => return None,
            };
            return Some(Other::Crowding(Crowding { shard, id: EntityId::new(reader.0).ok()?, what }));
        }
        _ => return None,
    };
    reader.0.is_empty().then_some(other)
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn u32(&mut self) -> Option<u32> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*first))
    }

    fn u64(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(bytes: &[u8]) -> EntityId {
        EntityId::new(bytes).unwrap()
    }

    #[test]
    fn a_message_is_read_as_it_was_written() {
        for text in [&b"a"[..], &[7; 8], &[7; 23], &[7; 24], &[7; 255]] {
            let mut bytes = Vec::new();
            put_message_head(&mut bytes, 77, Epoch::new(5 << 32 | 9), &id(text));
            bytes.extend_from_slice(b"rest");
            let Some(Message { shard, tag, id, body }) = read_message(&bytes) else { panic!("{bytes:?}") };
            assert!(read_other(&bytes).is_none());
            assert_eq!((shard, tag.get(), id, body), (77, 5 << 32 | 9, text, &b"rest"[..]));
        }
    }

    #[test]
    fn barriers_parts_and_words_are_read_as_they_were_written() {
        let version = Version { term: Term::new(3), index: 4 };
        for min_version in [None, Some(version)] {
            let origin = Uid::new(6).unwrap();
            let barrier = Barrier { shard: 1, tag: Epoch::new(2), origin, nonce: 9, min_version };
            let bytes = put_barrier(&barrier);
            let Some(Other::Barrier(read)) = read_other(&bytes) else { panic!("{bytes:?}") };
            assert_eq!(read, barrier);
        }
        let bytes = [part_head(8, Epoch::new(2), 3, true), vec![1, 2]].concat();
        let Some(Other::Part { shard: 8, number: 3, is_last: true, bytes: [1, 2], .. }) = read_other(&bytes)
        else {
            panic!("{bytes:?}")
        };
        let bytes = put_word(&Word::ChainBroken { nonce: 5, version });
        assert!(matches!(read_other(&bytes), Some(Other::Word(Word::ChainBroken { nonce: 5, .. }))));
    }

    #[test]
    fn what_is_said_of_a_crowded_entity_is_read_as_it_was_written() {
        for what in [What::Crowded, What::Room(0), What::Room(u32::MAX), What::InLine] {
            for text in [&b"a"[..], &[7; 255]] {
                let word = Crowding { shard: 0x0102_0304, id: id(text), what };
                let bytes = put_crowding(&word);
                let Some(Other::Crowding(read)) = read_other(&bytes) else { panic!("{bytes:?}") };
                assert_eq!(read, word);
            }
        }
        let nobody = [4, 0, 1, 0, 0, 0, 0, 0, 0, 0];
        assert!(read_other(&nobody).is_none() && read_other(&[&nobody[..], &[7; 256]].concat()).is_none());
        assert!(read_other(&[4, 0, 1, 0, 0, 0, 1, 0, 0, 0, b'a']).is_none(), "only room has a number");
        assert!(read_other(&[4, 3, 1, 0, 0, 0, 0, 0, 0, 0, b'a']).is_none());
    }

    /// The bytes of version 1, for ever.
    #[test]
    fn the_heads_have_the_bytes_they_always_had() {
        let mut head = Vec::new();
        put_message_head(&mut head, 0x0102_0304, Epoch::new(0x0A0B), &id(b"xy"));
        assert_eq!(head, [0, 4, 3, 2, 1, 0x0B, 0x0A, 0, 0, 0, 0, 0, 0, 2, b'x', b'y']);
        assert_eq!(put_word(&Word::BarrierDone { nonce: 7 }), [3, 0, 7]);
        let word = Crowding { shard: 0x0102_0304, id: id(b"xy"), what: What::Room(5) };
        assert_eq!(put_crowding(&word), [4, 1, 4, 3, 2, 1, 5, 0, 0, 0, b'x', b'y']);
        assert_eq!(target("accounts"), 0xf69c_a481_5453_0abd);
    }

    #[test]
    fn what_no_node_would_send_is_nothing() {
        let barrier = put_barrier(&Barrier {
            shard: 1,
            tag: Epoch::new(2),
            origin: Uid::new(6).unwrap(),
            nonce: 9,
            min_version: None,
        });
        assert!(read_other(&[]).is_none() && read_other(&[9]).is_none());
        assert!(read_other(&barrier[..barrier.len() - 1]).is_none());
        assert!(read_other(&[&barrier[..], &[0]].concat()).is_none());
        let mut message = Vec::new();
        put_message_head(&mut message, 1, Epoch::new(2), &id(b"xy"));
        assert!(read_message(&message).is_some() && read_message(&barrier).is_none());
        for length in 0..message.len() {
            assert!(read_message(&message[..length]).is_none() && read_other(&message[..length]).is_none());
        }
        // To nobody, and by no tag.
        assert!(read_message(&[0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0]).is_none());
        assert!(read_message(&[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, b'x']).is_none());
    }
}
