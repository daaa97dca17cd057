//! The order in which entities go, kept by one policy.

use super::chains::NONE;
use super::frequency::Frequency;
use super::policy::Policy;
use super::recency::Recency;
use super::segments::Segmented;
use super::window::WindowTinyLfu;

/// Who goes next, of those that are awake. An entity is known by its slot: a small number that its host gives it while it is awake, and
/// later to another.
///
/// A slot is used as a place in a vector, so the memory is that of the highest slot ever inserted.
#[derive(Clone, Debug)]
pub struct Ranking {
    order: Order,
    limit: u32,
    last_touched: u32,
}

#[derive(Clone, Debug)]
enum Order {
    Recency(Recency),
    Segmented(Segmented),
    Frequency(Frequency),
    Window(WindowTinyLfu),
}

impl Ranking {
    /// Most bytes a slot takes, under any policy (`LeastRecentlyUsed`, `MostRecentlyUsed` and segments: 12, `LeastFrequentlyUsed`: 14).
    pub const BYTES_PER_SLOT: usize = {
        assert!(WindowTinyLfu::BYTES_PER_SLOT >= Frequency::BYTES_PER_SLOT);
        WindowTinyLfu::BYTES_PER_SLOT
    };

    /// Most bytes the rest takes, under any policy (only `LeastFrequentlyUsed` needs as many).
    pub const BYTES_FIXED: usize = Frequency::BYTES_FIXED + 1024;

    /// An empty one, by that policy. A limit of 0 is taken as 1.
    pub fn new(policy: Policy, limit: u32) -> Self {
        let limit = limit.max(1);
        let order = match policy {
            Policy::LeastRecentlyUsed => Order::Recency(Recency::new(false)),
            Policy::MostRecentlyUsed => Order::Recency(Recency::new(true)),
            Policy::SegmentedLeastRecentlyUsed(levels) => Order::Segmented(Segmented::new(levels, limit)),
            Policy::LeastFrequentlyUsed { dynamic_aging } => Order::Frequency(Frequency::new(dynamic_aging)),
            Policy::WindowTinyLfu { window, levels } => {
                Order::Window(WindowTinyLfu::new(window, levels, limit))
            }
        };
        Self { order, limit, last_touched: NONE }
    }

    /// How many are ranked.
    pub fn len(&self) -> u32 {
        match &self.order {
            Order::Recency(order) => order.len(),
            Order::Segmented(order) => order.len(),
            Order::Frequency(order) => order.len(),
            Order::Window(order) => order.len(),
        }
    }

    /// Whether nobody is ranked.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many may be awake.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Whether that slot is ranked.
    pub fn contains(&self, slot: u32) -> bool {
        match &self.order {
            Order::Recency(order) => order.contains(slot),
            Order::Segmented(order) => order.contains(slot),
            Order::Frequency(order) => order.contains(slot),
            Order::Window(order) => order.contains(slot),
        }
    }

    /// Another limit, 1 at least; ask for victims afterwards. One that differs much makes [`Policy::WindowTinyLfu`] forget how often ids were used.
    pub fn set_limit(&mut self, limit: u32) {
        let limit = limit.max(1);
        if limit == self.limit {
            return;
        }
        self.limit = limit;
        match &mut self.order {
            Order::Recency(_) | Order::Frequency(_) => {}
            Order::Segmented(order) => order.set_limit(limit),
            Order::Window(order) => order.set_limit(limit),
        }
    }

    /// An entity has started in that slot, for a message. `hash` is a hash of its id, the same whenever it starts; only
    /// [`Policy::WindowTinyLfu`] looks at it. A slot that is ranked already is forgotten first.
    pub fn on_insert(&mut self, slot: u32, hash: u64) {
        if slot == NONE {
            return;
        }
        self.on_remove(slot);
        self.last_touched = slot;
        match &mut self.order {
            Order::Recency(order) => order.touch(slot),
            Order::Segmented(order) => order.insert(slot),
            Order::Frequency(order) => order.insert(slot),
            Order::Window(order) => order.insert(slot, fold(hash)),
        }
    }

    /// The entity in that slot has a message. Nothing if it is not ranked.
    #[inline]
    pub fn on_access(&mut self, slot: u32) {
        if !self.contains(slot) {
            return;
        }
        self.last_touched = slot;
        match &mut self.order {
            Order::Recency(order) => order.touch(slot),
            Order::Segmented(order) => order.touch(slot),
            Order::Frequency(order) => order.touch(slot),
            Order::Window(order) => order.touch(slot),
        }
    }

    /// The entity in that slot is gone, or must not be chosen for now. Nothing if it is not ranked.
    pub fn on_remove(&mut self, slot: u32) {
        match &mut self.order {
            Order::Recency(order) => order.remove(slot),
            Order::Segmented(order) => order.remove(slot),
            Order::Frequency(order) => order.remove(slot),
            Order::Window(order) => order.remove(slot),
        }
    }

    /// Whoever should go, if there are more than the limit; it is ranked no more. One that cannot go now may be inserted again, as new.
    pub fn victim(&mut self) -> Option<u32> {
        if self.len() <= self.limit {
            return None;
        }
        match &mut self.order {
            Order::Recency(order) => order.victim(),
            Order::Segmented(order) => order.victim(self.last_touched),
            Order::Frequency(order) => order.victim(self.last_touched),
            Order::Window(order) => order.victim(self.last_touched),
        }
    }
}

/// Ids of one shard have hashes with the same remainder, so all bits have to count.
fn fold(hash: u64) -> u32 {
    (hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32
}
