//! True time: what no node can see, and every rule about "at the same time" is judged by.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A length of true time in nanoseconds.
pub type Nanos = u64;

/// A millisecond.
pub const MILLISECOND: Nanos = 1_000_000;
/// A second.
pub const SECOND: Nanos = 1_000_000_000;

/// A moment of true time. No node has it: what a node sees is a clock of its own.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(Nanos);

impl Moment {
    /// When the run begins.
    pub const START: Self = Self(0);

    /// So long after the beginning of the run.
    pub const fn at(nanos: Nanos) -> Self {
        Self(nanos)
    }

    /// So much later.
    #[must_use]
    pub const fn after(self, nanos: Nanos) -> Self {
        Self(self.0.saturating_add(nanos))
    }

    /// How long ago `earlier` was; 0 if it is later.
    pub const fn since(self, earlier: Self) -> Nanos {
        self.0.saturating_sub(earlier.0)
    }

    /// How long after the beginning of the run.
    pub const fn nanos(self) -> Nanos {
        self.0
    }
}

impl fmt::Debug for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06} s", self.0 / SECOND, self.0 / 1000 % 1_000_000)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
