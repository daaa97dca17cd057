//! Terms and versions: how far a table has come, and under whom.

use core::fmt;

/// A term of office. Each voter votes once in a term, so no two coordinators ever share one.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Term(u64);

impl Term {
    /// Before any election.
    pub const ZERO: Self = Self(0);

    /// The term of that number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

/// Where an entry stands in the log, and in whose term it was appended. Compared by term first, as logs are.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Version {
    /// The term of the coordinator that appended it.
    pub term: Term,
    /// Its place in the log, counted from 1.
    pub index: u64,
}

impl Version {
    /// Before the first entry.
    pub const ZERO: Self = Self { term: Term::ZERO, index: 0 };
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}.{}", self.term, self.index)
    }
}
