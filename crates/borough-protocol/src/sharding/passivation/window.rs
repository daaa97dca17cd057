//! W-TinyLFU: a small window for those who are new, an admission by frequency, a segmented LRU for the others.
//!
//! ```text
//! insert -> window (LRU) --its oldest--> used more often than the lowest of the others? --yes--> the others (segmented LRU); the lowest goes
//!                                                                                        --no---> it goes itself
//! ```
//!
//! What is used once passes through the window and drives out nobody; what comes in bursts is found in the window. Counts are kept by
//! id, in a sketch, so an id that was passivated is known when it comes again.

use alloc::vec::Vec;

use super::chains::Chains;
use super::climber::Climber;
use super::policy::{Levels, Window, hundredths};
use super::segments::Segments;
use super::sketch::Sketch;

const WINDOW: u16 = 0;
const MAIN: u16 = 1;

#[derive(Clone, Debug)]
pub(super) struct WindowTinyLfu {
    chains: Chains,
    /// The id's hash of each slot.
    hashes: Vec<u32>,
    sketch: Sketch,
    levels: Levels,
    main: Segments,
    main_len: u32,
    limit: u32,
    window_limit: u32,
    window: Window,
    climber: Option<Climber>,
}

impl WindowTinyLfu {
    pub(super) const BYTES_PER_SLOT: usize =
        Chains::BYTES_PER_SLOT + size_of::<u32>() + Sketch::BYTES_PER_SLOT;

    pub(super) fn new(window: Window, levels: Levels, limit: u32) -> Self {
        let mut policy = Self {
            chains: Chains::new(MAIN + levels.count()),
            hashes: Vec::new(),
            sketch: Sketch::new(limit),
            levels,
            main: Segments::new(MAIN, &levels, 0),
            main_len: 0,
            limit,
            window_limit: 0,
            window,
            climber: None,
        };
        policy.set_limit(limit);
        policy
    }

    pub(super) fn set_limit(&mut self, limit: u32) {
        self.limit = limit;
        if !self.sketch.fits(limit) {
            self.sketch = Sketch::new(limit);
        }
        let percent = match self.window {
            Window::Percent(percent) => percent,
            Window::Adaptive => {
                self.climber = Some(Climber::new(limit));
                1
            }
        };
        self.set_window(hundredths(limit, percent));
    }

    pub(super) fn len(&self) -> u32 {
        self.chains.len(WINDOW) + self.main_len
    }

    pub(super) fn contains(&self, slot: u32) -> bool {
        self.chains.chain_of(slot).is_some()
    }

    pub(super) fn insert(&mut self, slot: u32, hash: u32) {
        let place = slot as usize;
        if place >= self.hashes.len() {
            self.hashes.resize(place + 1, 0);
        }
        self.hashes[place] = hash;
        self.count(hash, false);
        self.chains.append(WINDOW, slot);
        // Who is too many in the window need not compete while there is room. There may be more than one after the window became smaller.
        for _ in 0..2 {
            if self.chains.len(WINDOW) > self.window_limit
                && self.main_len < self.main_limit()
                && let Some(oldest) = self.chains.first(WINDOW)
            {
                self.admit(oldest);
            }
        }
    }

    pub(super) fn touch(&mut self, slot: u32) {
        let Some(chain) = self.chains.chain_of(slot) else { return };
        self.count(self.hashes[slot as usize], true);
        if chain == WINDOW {
            self.chains.append(WINDOW, slot);
        } else {
            self.main.touch(&mut self.chains, slot, chain);
        }
    }

    pub(super) fn remove(&mut self, slot: u32) {
        if self.chains.remove(slot).is_some_and(|chain| chain != WINDOW) {
            self.main_len -= 1;
        }
    }

    pub(super) fn victim(&mut self, last_touched: u32) -> Option<u32> {
        let lowest = self.main.lowest(&self.chains, last_touched);
        // Where the window has grown at the others' cost, they make room first. Else the window has two at least, and its oldest is not
        // the one touched last.
        let oldest = self.chains.first(WINDOW).filter(|_| self.main_len <= self.main_limit());
        let victim = match (oldest, lowest.filter(|&slot| slot != last_touched)) {
            (Some(candidate), Some(lowest)) if self.estimate(candidate) > self.estimate(lowest) => {
                self.admit(candidate);
                lowest
            }
            (Some(candidate), _) => candidate,
            (None, Some(lowest)) => lowest,
            (None, None) => self.chains.first(WINDOW).or(lowest)?,
        };
        self.remove(victim);
        Some(victim)
    }

    fn admit(&mut self, slot: u32) {
        self.main.insert(&mut self.chains, slot);
        self.main_len += 1;
    }

    fn estimate(&self, slot: u32) -> u64 {
        self.sketch.estimate(self.hashes[slot as usize])
    }

    fn count(&mut self, hash: u32, hit: bool) {
        self.sketch.count(hash);
        let climber = self.climber.as_mut();
        if let Some(window) = climber.and_then(|climber| climber.count(hit, self.window_limit, self.limit)) {
            self.set_window(window);
        }
    }

    fn set_window(&mut self, limit: u32) {
        self.window_limit = limit.clamp(1, self.limit);
        self.main.set_limit(&self.levels, self.main_limit());
    }

    fn main_limit(&self) -> u32 {
        self.limit - self.window_limit
    }
}

#[cfg(test)]
mod tests;
