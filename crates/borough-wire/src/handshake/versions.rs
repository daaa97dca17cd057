//! Which versions of the wire a node speaks, and which one two nodes agree on.

use core::fmt;

/// What this program speaks. It speaks at least the version before its newest, so that a cluster is upgraded node by node.
pub const SPOKEN: Versions = Versions { min: 1, max: 1 };

/// A range of versions, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The oldest.
    pub min: u16,
    /// The newest.
    pub max: u16,
}

impl Versions {
    /// The newest version that both speak.
    pub fn newest_common(self, other: Self) -> Option<u16> {
        let newest = self.max.min(other.max);
        (newest >= self.min.max(other.min)).then_some(newest)
    }

    /// Whether it is a range at all; there is no version 0.
    pub(super) fn is_sound(self) -> bool {
        1 <= self.min && self.min <= self.max
    }

    pub(super) fn contain(self, version: u16) -> bool {
        self.min <= version && version <= self.max
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.min == self.max {
            write!(f, "{}", self.min)
        } else {
            write!(f, "{} to {}", self.min, self.max)
        }
    }
}
