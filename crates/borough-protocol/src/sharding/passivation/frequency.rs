//! By the number of messages: the one with the fewest goes (LFU), with dynamic aging if wanted (LFU-DA).
//!
//! A rank is a count on top of an age; with aging, the age is the lowest rank there was when the last victim went, so who starts now
//! is not below all who ever were. All ranks lie within [`RANKS`] above the age, so they are places of a ring of chains, and a rank is
//! found by its number. Each chain has the least recent first.

use alloc::vec::Vec;

use super::chains::Chains;

const RANKS: u16 = 1024;
const MOST: u16 = RANKS - 1;
const WORDS: usize = RANKS as usize / 64;

#[derive(Clone, Debug)]
pub(super) struct Frequency {
    chains: Chains,
    /// Messages of each slot since it started, at most [`MOST`].
    counts: Vec<u16>,
    /// Which chains are not empty.
    filled: [u64; WORDS],
    /// Where in the ring the age is; always 0 without aging.
    age: u16,
    aging: bool,
    len: u32,
}

impl Frequency {
    pub(super) const BYTES_PER_SLOT: usize = Chains::BYTES_PER_SLOT + size_of::<u16>();
    pub(super) const BYTES_FIXED: usize = Chains::BYTES_PER_CHAIN * RANKS as usize;

    pub(super) fn new(aging: bool) -> Self {
        Self { chains: Chains::new(RANKS), counts: Vec::new(), filled: [0; WORDS], age: 0, aging, len: 0 }
    }

    pub(super) fn len(&self) -> u32 {
        self.len
    }

    pub(super) fn contains(&self, slot: u32) -> bool {
        self.chains.chain_of(slot).is_some()
    }

    pub(super) fn insert(&mut self, slot: u32) {
        let place = slot as usize;
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] = 0;
        self.raise(slot);
    }

    pub(super) fn touch(&mut self, slot: u32) {
        if self.contains(slot) {
            self.raise(slot);
        }
    }

    pub(super) fn remove(&mut self, slot: u32) {
        let Some(chain) = self.chains.remove(slot) else { return };
        self.len -= 1;
        if self.chains.first(chain).is_none() {
            self.filled[usize::from(chain / 64)] &= !(1 << (chain % 64));
        }
    }

    pub(super) fn victim(&mut self, last_touched: u32) -> Option<u32> {
        let lowest = self.next_filled(0)?;
        let mut slot = self.chains.first(self.ring(lowest))?;
        // Touched last means last of its chain: as the first it is alone there.
        if slot == last_touched
            && let Some(next) = self.next_filled(lowest + 1)
        {
            slot = self.chains.first(self.ring(next))?;
        }
        if self.aging {
            // Not the victim's own rank: the one that was spared may be below it, and no rank may be below the age.
            self.age = self.ring(lowest);
        }
        self.remove(slot);
        Some(slot)
    }

    /// One message more.
    fn raise(&mut self, slot: u32) {
        self.remove(slot);
        let count = (self.counts[slot as usize] + 1).min(MOST);
        self.counts[slot as usize] = count;
        let chain = self.ring(count);
        self.chains.append(chain, slot);
        self.filled[usize::from(chain / 64)] |= 1 << (chain % 64);
        self.len += 1;
    }

    /// The chain of a rank, counted from the age.
    fn ring(&self, rank: u16) -> u16 {
        (self.age + rank) % RANKS
    }

    /// The lowest rank from `rank` on, counted from the age, that has somebody.
    fn next_filled(&self, rank: u16) -> Option<u16> {
        let mut rank = rank;
        while rank < RANKS {
            let chain = self.ring(rank);
            let ahead = self.filled[usize::from(chain / 64)] >> (chain % 64);
            if ahead != 0 {
                // The end of the ring is the end of a word, so what lies ahead in a word is ahead in the ring too.
                let found = u32::from(rank) + ahead.trailing_zeros();
                return u16::try_from(found).ok().filter(|&found| found < RANKS);
            }
            rank += 64 - chain % 64;
        }
        None
    }
}
