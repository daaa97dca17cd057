//! A node that loses messages on purpose: whoever looks for losses has to find these.

use std::sync::atomic::{AtomicU64, Ordering};

/// One in so many is lost; none, if that is 0. For all entities of the process: they are made again from bytes alone when they have moved.
static ONE_IN: AtomicU64 = AtomicU64::new(0);
static TOLD: AtomicU64 = AtomicU64::new(0);

/// From now on one tell in so many is lost here.
pub(super) fn plant(one_in: u64) {
    ONE_IN.store(one_in, Ordering::Relaxed);
}

/// Whether this tell is to be lost.
pub(super) fn strikes() -> bool {
    let one_in = ONE_IN.load(Ordering::Relaxed);
    one_in > 0 && (TOLD.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(one_in)
}
