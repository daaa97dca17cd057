//! Where the entities of one shard lie: from a tag, 32 bits of an id's hash, to slots.
//!
//! Open addressing, one word an entry, so that a look-up costs one cache line most often. Entries know their tags, so that growing touches no
//! slot. Tags that are equal are told apart by whoever asks.

/// An entry: the tag above, the slot and one below. Nothing is 0.
#[derive(Debug)]
pub(super) struct Index {
    entries: Box<[u64]>,
    len: usize,
}

const SMALLEST: usize = 16;

impl Default for Index {
    fn default() -> Self {
        Self { entries: vec![0; SMALLEST].into(), len: 0 }
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "both halves are looked at apart")]
const fn parts(entry: u64) -> (u32, u32) {
    ((entry >> 32) as u32, entry as u32)
}

impl Index {
    #[inline]
    fn mask(&self) -> usize {
        self.entries.len() - 1
    }

    /// Reads where the search for that tag begins.
    #[inline]
    pub(super) fn touch(&self, tag: u32) -> u64 {
        self.entries[tag as usize & self.mask()]
    }

    /// The first slot with that tag; most often it is the one, and if there is none most often there is none.
    #[inline]
    pub(super) fn candidate(&self, tag: u32) -> Option<u32> {
        self.find(tag, |_| true)
    }

    /// The slot with that tag that `is_it` says it is.
    #[inline]
    pub(super) fn find(&self, tag: u32, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let mask = self.mask();
        let mut at = tag as usize & mask;
        loop {
            let (other, slot) = parts(self.entries[at]);
            if slot == 0 {
                return None;
            }
            if other == tag && is_it(slot - 1) {
                return Some(slot - 1);
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds a slot that is not there yet; slots are below `u32::MAX`.
    pub(super) fn insert(&mut self, tag: u32, slot: u32) {
        if (self.len + 1) * 4 > self.entries.len() * 3 {
            self.grow();
        }
        self.len += 1;
        put(&mut self.entries, u64::from(tag) << 32 | u64::from(slot + 1));
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = vec![0; self.entries.len() * 2].into_boxed_slice();
        for entry in self.entries.iter().filter(|entry| **entry != 0) {
            put(&mut larger, *entry);
        }
        self.entries = larger;
    }

    /// Takes a slot out; those behind it that it stood in the way of move up, so that no gap is left.
    pub(super) fn remove(&mut self, tag: u32, slot: u32) {
        let mask = self.mask();
        let gone = u64::from(tag) << 32 | u64::from(slot + 1);
        let mut at = tag as usize & mask;
        while self.entries[at] != gone {
            if self.entries[at] == 0 {
                return;
            }
            at = (at + 1) & mask;
        }
        self.len -= 1;
        let mut gap = at;
        loop {
            at = (at + 1) & mask;
            let entry = self.entries[at];
            if entry == 0 {
                self.entries[gap] = 0;
                return;
            }
            let home = parts(entry).0 as usize & mask;
            // It may move up if its own place is not between the gap and where it is.
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(gap) & mask) {
                self.entries[gap] = entry;
                gap = at;
            }
        }
    }
}

#[inline]
fn put(entries: &mut [u64], entry: u64) {
    let mask = entries.len() - 1;
    let mut at = parts(entry).0 as usize & mask;
    while entries[at] != 0 {
        at = (at + 1) & mask;
    }
    entries[at] = entry;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Few tags, so that many are equal or stand in each other's way.
    fn tag(slot: u32) -> u32 {
        (slot.wrapping_mul(0x9E37_79B9) >> 28) | (slot % 3) << 30
    }

    #[test]
    fn whatever_is_added_and_taken_out_the_others_are_found() {
        let mut index = Index::default();
        let mut there = BTreeSet::new();
        let mut chance = 7_u32;
        for _ in 0..20_000 {
            chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let slot = chance >> 22;
            if there.insert(slot) {
                index.insert(tag(slot), slot);
            } else {
                there.remove(&slot);
                index.remove(tag(slot), slot);
            }
            let probe = chance >> 12 & 0x3FF;
            let found = index.find(tag(probe), |slot| slot == probe);
            assert_eq!(found.is_some(), there.contains(&probe));
        }
        for slot in 0..1024 {
            assert_eq!(index.find(tag(slot), |other| other == slot).is_some(), there.contains(&slot));
        }
    }
}
