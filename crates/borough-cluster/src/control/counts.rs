//! What went wrong on the control lane, counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// What the control lane lost or refused since the node was started. Some loss is normal while others are away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ControlCounts {
    /// Messages that were not sent: their peer could not be reached, or took them too slowly.
    pub dropped: u64,
    /// Connections closed because what came by them could not be read.
    pub unreadable: u64,
    /// Connections that broke, or whose other end fell silent.
    pub broken: u64,
}

/// The counters themselves.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(super) dropped: AtomicU64,
    pub(super) unreadable: AtomicU64,
    pub(super) broken: AtomicU64,
    /// When something unreadable was last logged, in nanoseconds by the node's clock.
    pub(super) logged: AtomicU64,
}

impl Counters {
    /// What they show.
    pub(crate) fn read(&self) -> ControlCounts {
        ControlCounts {
            dropped: self.dropped.load(Ordering::Relaxed),
            unreadable: self.unreadable.load(Ordering::Relaxed),
            broken: self.broken.load(Ordering::Relaxed),
        }
    }
}

/// Counts up.
pub(super) fn add(counter: &AtomicU64, count: usize) {
    counter.fetch_add(count as u64, Ordering::Relaxed);
}
