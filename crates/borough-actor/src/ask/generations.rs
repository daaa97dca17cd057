//! Which use of each answer slot is the current one, readable without a lock.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::id::SLOTS;

/// How many slots the first chunk has; each further one has as many as all before it.
const FIRST: usize = 1 << FIRST_BITS;
const FIRST_BITS: u32 = 10;
const CHUNKS: usize = 15;
const _: () = assert!(FIRST << (CHUNKS - 1) == SLOTS);

/// Chunks that grow and never move.
#[derive(Debug, Default)]
pub(super) struct Generations {
    chunks: [OnceLock<Box<[AtomicU32]>>; CHUNKS],
}

impl Generations {
    #[inline]
    pub(super) fn current(&self, slot: u32) -> u32 {
        let (chunk, at) = place(slot);
        self.chunks[chunk].get().map_or(0, |chunk| chunk[at].load(Ordering::Acquire))
    }

    /// Ends the current use of a slot. Only the one who uses it may call this, so no two ever do at once.
    #[inline]
    pub(super) fn advance(&self, slot: u32) {
        let (chunk, at) = place(slot);
        let size = FIRST << chunk.saturating_sub(1);
        let chunk = self.chunks[chunk].get_or_init(|| (0..size).map(|_| AtomicU32::new(0)).collect());
        chunk[at].store(chunk[at].load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }
}

/// Where a slot is: which chunk, and where in it.
#[inline]
fn place(slot: u32) -> (usize, usize) {
    let slot = slot as usize;
    let chunk = (usize::BITS - (slot >> FIRST_BITS).leading_zeros()) as usize;
    let before = if chunk == 0 { 0 } else { FIRST << (chunk - 1) };
    (chunk, slot - before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_has_a_place_of_its_own() {
        let generations = Generations::default();
        for slot in (0..10_000).chain([(1 << 24) - 1]) {
            assert_eq!(generations.current(slot), 0, "slot {slot}");
            generations.advance(slot);
            assert_eq!(generations.current(slot), 1, "slot {slot}");
        }
    }
}
