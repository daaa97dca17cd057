//! W-TinyLFU beside a naive model, and what it is for.

use std::vec::Vec;

use proptest::prelude::*;

use super::WindowTinyLfu;
use crate::sharding::passivation::chains::NONE;
use crate::sharding::passivation::policy::{Levels, Window};
use crate::sharding::passivation::sketch::Sketch;

/// The same rules over vectors, with a sketch of its own (which has tests of its own).
struct Model {
    /// The oldest first.
    window: Vec<(u32, u32)>,
    /// Two levels, the least recent of each first.
    main: [Vec<(u32, u32)>; 2],
    sketch: Sketch,
    limit: usize,
    window_limit: usize,
}

impl Model {
    fn new(limit: u32, percent: u32) -> Self {
        let window_limit = (limit * percent / 100).max(1) as usize;
        let sketch = Sketch::new(limit);
        Self {
            window: Vec::new(),
            main: [Vec::new(), Vec::new()],
            sketch,
            limit: limit as usize,
            window_limit,
        }
    }

    fn main_len(&self) -> usize {
        self.main[0].len() + self.main[1].len()
    }

    fn hash_of(&self, slot: u32) -> Option<u32> {
        let all = self.window.iter().chain(&self.main[0]).chain(&self.main[1]);
        all.copied().find(|entry| entry.0 == slot).map(|entry| entry.1)
    }

    fn remove(&mut self, slot: u32) {
        for chain in [&mut self.window].into_iter().chain(&mut self.main) {
            chain.retain(|entry| entry.0 != slot);
        }
    }

    fn insert(&mut self, slot: u32, hash: u32) {
        self.sketch.count(hash);
        self.window.push((slot, hash));
        while self.window.len() > self.window_limit && self.main_len() < self.limit - self.window_limit {
            let oldest = self.window.remove(0);
            self.main[0].push(oldest);
        }
    }

    fn touch(&mut self, slot: u32) {
        let Some(hash) = self.hash_of(slot) else { return };
        self.sketch.count(hash);
        let in_window = self.window.iter().any(|entry| entry.0 == slot);
        self.remove(slot);
        if in_window {
            self.window.push((slot, hash));
            return;
        }
        self.main[1].push((slot, hash));
        if self.main[1].len() > (self.limit - self.window_limit) * 80 / 100 {
            let sinks = self.main[1].remove(0);
            self.main[0].push(sinks);
        }
    }

    fn victim(&mut self) -> u32 {
        // It is asked only when the window has one too many, and whoever was inserted last is not its oldest.
        let candidate = self.window.remove(0);
        let lowest = self.main.iter().flatten().next().copied();
        match lowest {
            Some(lowest) if self.sketch.estimate(candidate.1) > self.sketch.estimate(lowest.1) => {
                self.remove(lowest.0);
                self.main[0].push(candidate);
                lowest.0
            }
            _ => candidate.0,
        }
    }
}

proptest! {
    /// As a host uses it: ids get messages, one at a time, and whoever is too many goes at once. Sometimes one ends by itself.
    #[test]
    fn it_chooses_as_its_model_does(
        limit in 2..40_u32,
        percent in 0..60_u32,
        ids in prop::collection::vec((0..60_u32, 0..20_u32), 0..600),
    ) {
        let window = Window::Percent(u8::try_from(percent).expect("small"));
        let mut policy = WindowTinyLfu::new(window, Levels::default(), limit);
        let mut model = Model::new(limit, percent);
        for (id, end) in ids {
            // Ids are their own slots; only a few differ in their hash, so that counts collide.
            let hash = (id / 2).wrapping_mul(0x9E37_79B9);
            if end == 0 {
                policy.remove(id);
                model.remove(id);
            } else if policy.contains(id) {
                policy.touch(id);
                model.touch(id);
            } else {
                policy.insert(id, hash);
                model.insert(id, hash);
                if policy.len() > limit {
                    prop_assert_eq!(policy.victim(id), Some(model.victim()));
                }
            }
            prop_assert_eq!(policy.len() as usize, model.window.len() + model.main_len());
            prop_assert_eq!(policy.main_len as usize, model.main_len());
        }
    }
}

/// Slot `n` of id `n`, used so often.
fn used(policy: &mut WindowTinyLfu, slot: u32, times: u32) {
    policy.insert(slot, slot.wrapping_mul(0x9E37_79B9));
    for _ in 1..times {
        policy.touch(slot);
    }
}

#[test]
fn an_id_that_was_used_often_before_it_went_is_admitted_when_it_comes_again() {
    let mut policy = WindowTinyLfu::new(Window::Percent(1), Levels::default(), 100);
    used(&mut policy, 0, 9);
    policy.remove(0);
    for slot in 1..=100 {
        used(&mut policy, slot, 2);
    }
    used(&mut policy, 0, 1);
    assert_eq!(policy.victim(0), Some(100), "used as often as the lowest: not admitted");
    used(&mut policy, 101, 1);
    assert_eq!(policy.victim(101), Some(1), "the lowest goes for the one that is known");
    assert!(policy.contains(0));
}

#[test]
fn with_room_for_one_only_the_newest_stays() {
    let mut policy = WindowTinyLfu::new(Window::Adaptive, Levels::default(), 1);
    used(&mut policy, 0, 9);
    used(&mut policy, 1, 1);
    assert_eq!(policy.victim(1), Some(0));
    assert_eq!(policy.victim(NONE), Some(1));
    assert_eq!(policy.victim(NONE), None);
}
