//! How often ids were used lately, roughly: a count-min sketch of small counters that age.
//!
//! An id has four counters of four bits, all in one line of the cache; its estimate is the smallest of them, so others that share
//! some can only raise it. With every few uses one word of counters is halved, in turn, so all are halved once in about ten times the
//! limit of uses, and no use takes long.

use alloc::vec;
use alloc::vec::Vec;

const WORDS: usize = 8;
/// Half of each counter, without the bit that came from its neighbour.
const HALVED: u64 = 0x7777_7777_7777_7777;
/// Uses between two halvings of a counter, as a multiple of the limit.
const PERIOD: u64 = 10;

/// A line of the cache: 128 counters, 32 for each of an id's four.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Line([u64; WORDS]);

#[derive(Clone, Debug)]
pub(super) struct Sketch {
    /// A power of two of them.
    lines: Vec<Line>,
    /// Uses until the next word is halved.
    until_next: u64,
    /// Uses between two words.
    interval: u64,
    /// The next word to be halved.
    hand: usize,
}

impl Sketch {
    /// Most bytes for each of the limit: a line serves eight to sixteen.
    pub(super) const BYTES_PER_SLOT: usize = size_of::<Line>() / 8;

    pub(super) fn new(limit: u32) -> Self {
        let count = Self::lines_for(limit);
        let interval = (PERIOD * u64::from(limit) / (count * WORDS) as u64).max(1);
        Self { lines: vec![Line::default(); count], until_next: interval, interval, hand: 0 }
    }

    /// Whether it is of the size for that limit.
    pub(super) fn fits(&self, limit: u32) -> bool {
        self.lines.len() == Self::lines_for(limit)
    }

    /// One use of an id, by its hash.
    pub(super) fn count(&mut self, hash: u32) {
        let line = self.line_of(hash);
        for (word, shift) in places(hash) {
            let word = &mut self.lines[line].0[word];
            if (*word >> shift) & 0xF != 0xF {
                *word += 1 << shift;
            }
        }
        self.until_next -= 1;
        if self.until_next == 0 {
            self.until_next = self.interval;
            self.age();
        }
    }

    /// How often an id was used lately: 0 to 15.
    pub(super) fn estimate(&self, hash: u32) -> u64 {
        let line = &self.lines[self.line_of(hash)].0;
        let counts = places(hash).map(|(word, shift)| (line[word] >> shift) & 0xF);
        counts.into_iter().min().unwrap_or(0)
    }

    fn age(&mut self) {
        let word = &mut self.lines[self.hand / WORDS].0[self.hand % WORDS];
        *word = (*word >> 1) & HALVED;
        self.hand = (self.hand + 1) % (self.lines.len() * WORDS);
    }

    fn line_of(&self, hash: u32) -> usize {
        mix(hash, 0x9E37_79B9) as usize & (self.lines.len() - 1)
    }

    fn lines_for(limit: u32) -> usize {
        (limit as usize / 16).next_power_of_two()
    }
}

/// The words of an id's counters within its line, and how far up in them they are.
fn places(hash: u32) -> [(usize, u32); 4] {
    let bits = mix(hash, 0x85EB_CA6B);
    core::array::from_fn(|row| {
        // Five bits each: one says which of the row's two words, four which of its counters.
        let bits = bits >> (5 * row);
        (2 * row + (bits as usize & 1), (bits >> 1 & 0xF) * 4)
    })
}

/// Spreads a hash over all bits, differently for each factor.
fn mix(hash: u32, factor: u32) -> u32 {
    let spread = u64::from(hash ^ hash >> 15) * u64::from(factor);
    (spread >> 32) as u32 ^ hash.wrapping_mul(factor)
}

#[cfg(test)]
mod tests;
