//! Segmented LRU: who is used again rises a level, and who is not sinks; the least recent of the lowest level goes.
//!
//! ```text
//! insert -> level 0 --touched--> level 1 --touched--> ... highest
//!              ^                   |  ^                  |
//!              |                   |  |                  |
//!           victim <- 0 <--- full -+  +------- full -----+
//! ```

use super::chains::Chains;
use super::policy::Levels;

/// The levels as chains from `base` on; the chains may hold others before them.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    base: u16,
    count: u16,
    /// How many may be in each level. Nobody is held to that of the lowest: it has what the others leave of the whole limit.
    limits: [u32; Levels::MOST],
}

impl Segments {
    pub(super) fn new(base: u16, levels: &Levels, limit: u32) -> Self {
        let mut segments = Self { base, count: levels.count(), limits: [0; Levels::MOST] };
        segments.set_limit(levels, limit);
        segments
    }

    /// Another limit for all levels together. Who is too many in a level sinks with later touches.
    pub(super) fn set_limit(&mut self, levels: &Levels, limit: u32) {
        self.limits = levels.share(limit);
    }

    pub(super) fn len(&self, chains: &Chains) -> u32 {
        (0..self.count).map(|level| chains.len(self.base + level)).sum()
    }

    /// A new one begins below.
    pub(super) fn insert(&self, chains: &mut Chains, slot: u32) {
        chains.append(self.base, slot);
    }

    /// One that is in a level is used again.
    pub(super) fn touch(&self, chains: &mut Chains, slot: u32, chain: u16) {
        let highest = self.count - 1;
        let level = (chain - self.base + 1).min(highest);
        chains.append(self.base + level, slot);
        for level in (1..=level).rev() {
            self.settle(chains, level);
        }
    }

    /// Who is at the end of all levels; the spared one only if there is no other.
    pub(super) fn lowest(&self, chains: &Chains, spared: u32) -> Option<u32> {
        // Behind the spared one there may be others of its level, who sank or were admitted after it was touched.
        let other = |slot| if slot == spared { chains.after(slot) } else { Some(slot) };
        let mut firsts = (0..self.count).filter_map(|level| chains.first(self.base + level));
        firsts.clone().find_map(other).or_else(|| firsts.next())
    }

    /// Lets the least recent of a level sink if there are too many. After a smaller limit there may be many more than one too many;
    /// two at a time, they become fewer and no touch takes long.
    fn settle(&self, chains: &mut Chains, level: u16) {
        let chain = self.base + level;
        for _ in 0..2 {
            if chains.len(chain) <= self.limits[usize::from(level)] {
                return;
            }
            if let Some(least_recent) = chains.first(chain) {
                chains.append(chain - 1, least_recent);
            }
        }
    }
}

/// Segmented LRU as a policy of its own.
#[derive(Clone, Debug)]
pub(super) struct Segmented {
    chains: Chains,
    levels: Levels,
    segments: Segments,
}

impl Segmented {
    pub(super) fn new(levels: Levels, limit: u32) -> Self {
        let segments = Segments::new(0, &levels, limit);
        Self { chains: Chains::new(levels.count()), levels, segments }
    }

    pub(super) fn set_limit(&mut self, limit: u32) {
        self.segments.set_limit(&self.levels, limit);
    }

    pub(super) fn len(&self) -> u32 {
        self.segments.len(&self.chains)
    }

    pub(super) fn contains(&self, slot: u32) -> bool {
        self.chains.chain_of(slot).is_some()
    }

    pub(super) fn insert(&mut self, slot: u32) {
        self.segments.insert(&mut self.chains, slot);
    }

    pub(super) fn touch(&mut self, slot: u32) {
        if let Some(chain) = self.chains.chain_of(slot) {
            self.segments.touch(&mut self.chains, slot, chain);
        }
    }

    pub(super) fn remove(&mut self, slot: u32) {
        self.chains.remove(slot);
    }

    pub(super) fn victim(&mut self, last_touched: u32) -> Option<u32> {
        let slot = self.segments.lowest(&self.chains, last_touched)?;
        self.chains.remove(slot);
        Some(slot)
    }
}
