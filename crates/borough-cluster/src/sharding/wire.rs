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

/// What came for a type of entities.
#[derive(Debug)]
pub(super) enum Came<'a> {
    Message { shard: u32, tag: Epoch, id: &'a [u8], body: &'a [u8] },
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

/// The head of a message: at most 14 bytes and the id.
#[inline]
pub(super) fn message_head(buffer: &mut [u8; HEAD_MAX], shard: u32, tag: Epoch, id: &EntityId) -> usize {
    let length = id.len();
    buffer[0] = MESSAGE;
    buffer[1..5].copy_from_slice(&shard.to_le_bytes());
    buffer[5..13].copy_from_slice(&tag.get().to_le_bytes());
    buffer[13] = u8::try_from(length).unwrap_or(u8::MAX);
    id.with_bytes(|id| buffer[14..14 + length].copy_from_slice(id));
    14 + length
}

/// The most that the head of a message takes.
pub(super) const HEAD_MAX: usize = 14 + 255;

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
    word.id.with_bytes(|id| out.extend_from_slice(id));
    out
}

/// Reads what came; `None` if it is nothing that a node would send.
pub(super) fn read(bytes: &[u8]) -> Option<Came<'_>> {
    let mut reader = Reader(bytes);
    let came = match reader.byte()? {
        MESSAGE => {
            let (shard, tag) = (reader.u32()?, Epoch::new(reader.u64()?));
            let length = usize::from(reader.byte()?);
            let (id, body) = reader.0.split_at_checked(length)?;
            return (length > 0 && tag != Epoch::ZERO).then_some(Came::Message { shard, tag, id, body });
        }
        BARRIER => {
            let (shard, tag) = (reader.u32()?, Epoch::new(reader.u64()?));
            let (origin, nonce) = (Uid::new(reader.u64()?)?, reader.u64()?);
            let min = Version { term: Term::new(reader.u64()?), index: reader.u64()? };
            let min_version = (min != Version::ZERO).then_some(min);
            Came::Barrier(Barrier { shard, tag, origin, nonce, min_version })
        }
        PART => {
            let (shard, epoch) = (reader.u32()?, Epoch::new(reader.u64()?));
            let (number, is_last) = (reader.u32()?, reader.byte()? == 1);
            return Some(Came::Part { shard, epoch, number, is_last, bytes: reader.0 });
        }
        WORD => {
            let (word, rest) = postcard::take_from_bytes(reader.0).ok()?;
            reader.0 = rest;
            Came::Word(word)
        }
        CROWDING => {
            let (what, shard, room) = (reader.byte()?, reader.u32()?, reader.u32()?);
            let what = match (what, room) {
                (0, 0) => What::Crowded,
                (1, room) => What::Room(room),
                (2, 0) => What::InLine,
                _ => return None,
            };
            return Some(Came::Crowding(Crowding { shard, id: EntityId::new(reader.0).ok()?, what }));
        }
        _ => return None,
    };
    reader.0.is_empty().then_some(came)
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
        let mut buffer = [0; HEAD_MAX];
        for text in [&b"a"[..], &[7; 255]] {
            let length = message_head(&mut buffer, 77, Epoch::new(5 << 32 | 9), &id(text));
            let bytes = [&buffer[..length], b"rest"].concat();
            let Some(Came::Message { shard, tag, id, body }) = read(&bytes) else { panic!("{bytes:?}") };
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
            let Some(Came::Barrier(read)) = read(&bytes) else { panic!("{bytes:?}") };
            assert_eq!(read, barrier);
        }
        let bytes = [part_head(8, Epoch::new(2), 3, true), vec![1, 2]].concat();
        let Some(Came::Part { shard: 8, number: 3, is_last: true, bytes: [1, 2], .. }) = read(&bytes) else {
            panic!("{bytes:?}")
        };
        let bytes = put_word(&Word::ChainBroken { nonce: 5, version });
        assert!(matches!(read(&bytes), Some(Came::Word(Word::ChainBroken { nonce: 5, .. }))));
    }

    #[test]
    fn what_is_said_of_a_crowded_entity_is_read_as_it_was_written() {
        for what in [What::Crowded, What::Room(0), What::Room(u32::MAX), What::InLine] {
            for text in [&b"a"[..], &[7; 255]] {
                let word = Crowding { shard: 0x0102_0304, id: id(text), what };
                let bytes = put_crowding(&word);
                let Some(Came::Crowding(read)) = read(&bytes) else { panic!("{bytes:?}") };
                assert_eq!(read, word);
            }
        }
        let nobody = [4, 0, 1, 0, 0, 0, 0, 0, 0, 0];
        assert!(read(&nobody).is_none() && read(&[&nobody[..], &[7; 256]].concat()).is_none());
        assert!(read(&[4, 0, 1, 0, 0, 0, 1, 0, 0, 0, b'a']).is_none(), "only room has a number");
        assert!(read(&[4, 3, 1, 0, 0, 0, 0, 0, 0, 0, b'a']).is_none());
    }

    /// The bytes of version 1, for ever.
    #[test]
    fn the_heads_have_the_bytes_they_always_had() {
        let mut buffer = [0; HEAD_MAX];
        let length = message_head(&mut buffer, 0x0102_0304, Epoch::new(0x0A0B), &id(b"xy"));
        assert_eq!(&buffer[..length], [0, 4, 3, 2, 1, 0x0B, 0x0A, 0, 0, 0, 0, 0, 0, 2, b'x', b'y']);
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
        assert!(read(&[]).is_none() && read(&[9]).is_none() && read(&[0; 14]).is_none());
        assert!(read(&barrier[..barrier.len() - 1]).is_none());
        assert!(read(&[&barrier[..], &[0]].concat()).is_none());
        for length in 0..14 {
            assert!(read(&vec![0; length]).is_none());
        }
    }
}
