//! The set of members that have the very version at hand, as bits over the sorted list of members.
//!
//! The list is the same wherever the version is, and a change of it is a change of the version, which empties the set.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use crate::vector_clock::mix;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    words: Vec<u64>,
    size: usize,
    count: usize,
}

impl Seen {
    /// Nobody of a list of that many members.
    pub(super) fn none_of(size: usize) -> Self {
        Self { words: vec![0; size.div_ceil(64)], size, count: 0 }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn contains(&self, place: usize) -> bool {
        self.words.get(place / 64).is_some_and(|word| word & (1 << (place % 64)) != 0)
    }

    /// Adds the member at that place; true if it was not there.
    pub(super) fn insert(&mut self, place: usize) -> bool {
        if place >= self.size || self.contains(place) {
            return false;
        }
        self.words[place / 64] |= 1 << (place % 64);
        self.count += 1;
        true
    }

    /// Adds those whose bits are set; bits beyond the list mean nobody. True if one was not there.
    pub(super) fn union(&mut self, bits: &[u64]) -> bool {
        let before = self.count;
        let mut left = self.size;
        self.count = 0;
        for (at, word) in self.words.iter_mut().enumerate() {
            let mask = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
            *word |= bits.get(at).copied().unwrap_or(0) & mask;
            self.count += word.count_ones() as usize;
            left = left.saturating_sub(64);
        }
        self.count > before
    }

    /// Whether it has somebody that the bits lack.
    pub(super) fn exceeds(&self, bits: &[u64]) -> bool {
        self.words.iter().enumerate().any(|(at, word)| word & !bits.get(at).copied().unwrap_or(0) != 0)
    }

    pub(super) fn bits(&self) -> Arc<[u64]> {
        self.words.as_slice().into()
    }

    /// Differs between different sets over one list, as far as 32 bits can.
    pub(super) fn hash(&self) -> u32 {
        (self.words.iter().fold(4, |hash, word| mix(hash, *word)) >> 32) as u32
    }

    pub(super) fn assert_invariants(&self, members: usize) {
        assert_eq!(self.size, members, "the seen set is over the members");
        assert_eq!(self.words.len(), self.size.div_ceil(64), "a bit for each member");
        let count: u32 = self.words.iter().map(|word| word.count_ones()).sum();
        assert_eq!(self.count, count as usize, "count of the seen set");
        let beyond = self.size % 64;
        let last = self.words.last().copied().unwrap_or(0);
        assert!(beyond == 0 || last >> beyond == 0, "no bit beyond the members");
    }
}
