//! Bytes made of other bytes.

use borough_protocol::random::Random;

/// Numbers as they are written: small, large, and the largest there is.
const NUMBERS: [&[u8]; 7] = [
    &[0],
    &[1],
    &[0x7F],
    &[0xFF, 0x7F],
    &[0xFF, 0xFF, 0xFF, 0xFF, 0x0F],
    &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x3F],
    &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
];

/// One of the pieces, changed a little or a lot; or nothing but chance.
pub(crate) fn bytes(random: &mut Random, pieces: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = random.pick(pieces).cloned().unwrap_or_default();
    if random.below(12) == 0 {
        let tag = u8::try_from(random.below(11)).expect("small");
        let length = random.below(300);
        bytes = (0..length).map(|_| random.next_u64().to_le_bytes()[0]).collect();
        bytes.insert(0, tag);
    }
    for _ in 0..random.between(1, 3) {
        match random.below(7) {
            0 | 1 => flip(random, &mut bytes),
            2 => bytes.truncate(place(random, &bytes)),
            3 => splice(random, &mut bytes, pieces),
            4 | 5 => renumber(random, &mut bytes),
            _ => repeat(random, &mut bytes),
        }
    }
    bytes
}

fn place(random: &mut Random, bytes: &[u8]) -> usize {
    usize::try_from(random.below(bytes.len() as u64 + 1)).expect("within memory")
}

fn flip(random: &mut Random, bytes: &mut [u8]) {
    for _ in 0..random.between(1, 4) {
        let (at, bit) = (place(random, bytes), random.below(8));
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << bit;
        }
    }
}

/// The beginning of the one, the end of another.
fn splice(random: &mut Random, bytes: &mut Vec<u8>, pieces: &[Vec<u8>]) {
    let Some(other) = random.pick(pieces) else { return };
    bytes.truncate(place(random, bytes));
    bytes.extend_from_slice(&other[place(random, other)..]);
}

/// Another number in the place of one: a count that is too large, a place beyond all logs, a tag that nobody knows.
fn renumber(random: &mut Random, bytes: &mut Vec<u8>) {
    let at = place(random, bytes);
    let number = random.pick(&NUMBERS).copied().unwrap_or_default();
    let end = bytes[at..].iter().position(|byte| *byte < 0x80).map_or(bytes.len(), |length| at + length + 1);
    bytes.splice(at..end, number.iter().copied());
}

/// A part of it, once more.
fn repeat(random: &mut Random, bytes: &mut Vec<u8>) {
    let (one, two) = (place(random, bytes), place(random, bytes));
    let part = bytes[one.min(two)..one.max(two)].to_vec();
    let at = place(random, bytes);
    bytes.splice(at..at, part);
}
