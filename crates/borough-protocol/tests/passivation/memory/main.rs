//! What a ranking takes, counted by the allocator. A program of its own with one test, so that nobody else is counted.

use std::alloc::System;

use borough_protocol::sharding::passivation::{Policy, Ranking};
use peakmem_alloc::{PeakMemAlloc, PeakMemAllocTrait};

#[global_allocator]
static MEMORY: PeakMemAlloc<System> = PeakMemAlloc::new(System);

/// Just above a power of two: the vectors have just grown, and the sketch has the most lines for its limit.
const LIMIT: u32 = (1 << 17) + 16;

#[test]
fn a_slot_takes_no_more_than_is_said() {
    for (policy, per_slot) in [
        (Policy::LeastRecentlyUsed, 12),
        (Policy::MostRecentlyUsed, 12),
        (Policy::SEGMENTED, 12),
        (Policy::LeastFrequentlyUsed { dynamic_aging: true }, 14),
        (Policy::RECOMMENDED, Ranking::BYTES_PER_SLOT),
    ] {
        MEMORY.reset_peak_memory();
        let mut ranking = Ranking::new(policy, LIMIT);
        for id in 0..4 * LIMIT {
            let slot = ranking.victim().unwrap_or(id.min(LIMIT));
            ranking.on_insert(slot, u64::from(id));
            ranking.on_access(slot);
        }
        let peak = MEMORY.get_peak_memory();
        let slots = LIMIT as usize + 1;
        let most = 2 * per_slot * slots + Ranking::BYTES_FIXED;
        assert!(peak <= most, "{policy:?}: {peak} bytes for {slots} slots, not {most}");
        assert!(peak >= per_slot * slots, "{policy:?}: {peak} bytes, so the numbers here are too large");
    }
}
