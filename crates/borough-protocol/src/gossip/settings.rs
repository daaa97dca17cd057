//! How fast gossip goes, and how long it remembers the dead.

use core::time::Duration;

/// The pace of gossip. All nodes of a cluster should have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// From one round to the next while nothing is new; default 1 s. Shorter finds differences sooner and costs one
    /// small message a round.
    pub interval: Duration,
    /// From one round to the next while a change is spreading; default 200 ms.
    pub interval_spreading: Duration,
    /// How many rounds after the last change the faster pace lasts at most; default 10.
    pub spreading_rounds: u32,
    /// How long a tombstone is kept; default 24 h. Longer than any node can be cut off and yet come back with its old
    /// document.
    pub tombstone_life: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(1),
            interval_spreading: Duration::from_millis(200),
            spreading_rounds: 10,
            tombstone_life: Duration::from_secs(24 * 60 * 60),
        }
    }
}
