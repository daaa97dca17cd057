//! Why settings are refused, in words: which setting, what it is, what would do.

use alloc::string::String;
use core::time::Duration;

/// Settings that would break what the cluster promises. Nothing was started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsafe {
    /// A time below its bound.
    #[error("{setting} is {value:?} and must be at least {least:?}: {remedy}")]
    TooShort {
        /// The setting.
        setting: &'static str,
        /// What it is.
        value: Duration,
        /// Its bound.
        least: Duration,
        /// What to do.
        remedy: &'static str,
    },
    /// A time above its bound.
    #[error("{setting} is {value:?} and must be at most {most:?}: {remedy}")]
    TooLong {
        /// The setting.
        setting: &'static str,
        /// What it is.
        value: Duration,
        /// Its bound.
        most: Duration,
        /// What to do.
        remedy: &'static str,
    },
    /// A number below its bound.
    #[error("{setting} is {value} and must be at least {least}: {remedy}")]
    TooFew {
        /// The setting.
        setting: &'static str,
        /// What it is.
        value: u64,
        /// Its bound.
        least: u64,
        /// What to do.
        remedy: &'static str,
    },
    /// A number above its bound.
    #[error("{setting} is {value} and must be at most {most}: {remedy}")]
    TooMany {
        /// The setting.
        setting: &'static str,
        /// What it is.
        value: u64,
        /// Its bound.
        most: u64,
        /// What to do.
        remedy: &'static str,
    },
    /// A text that must not be empty.
    #[error("{setting} is empty: {remedy}")]
    Empty {
        /// The setting.
        setting: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A strategy that cannot be had yet.
    #[error(
        "strategy is lease-majority, whose one voter is a shared store, and there is none yet: take keep-majority"
    )]
    NoStore,
    /// An even number of voters bears no more losses than one less, and makes ties.
    #[error("max_voters is {value} and must be odd: set {} or {}", value - 1, value + 1)]
    EvenVoters {
        /// What it is.
        value: usize,
    },
    /// A static quorum asks for more voters than there may be.
    #[error(
        "strategy is static-quorum({quorum}), which needs {} voters, and max_voters is {max_voters}: \
         raise max_voters, or set a quorum of at most {}",
        quorum.saturating_mul(2).saturating_sub(1),
        max_voters.div_ceil(2)
    )]
    QuorumAboveVoters {
        /// How many must agree.
        quorum: usize,
        /// How many may vote.
        max_voters: usize,
    },
    /// A fail-over would take longer than wanted.
    #[error(
        "fail-over takes up to {takes:?} and failover_target is {target:?}: the settings are derived from max_pause; \
         a result above failover_target is refused; lower max_pause ({max_pause:?}), round_trip ({round_trip:?}) or \
         drift_per_mille, or raise failover_target"
    )]
    FailoverTooSlow {
        /// How long it would take when the coordinator's node is lost.
        takes: Duration,
        /// How long it may take.
        target: Duration,
        /// The pause it follows from.
        max_pause: Duration,
        /// The round trip it follows from.
        round_trip: Duration,
    },
}

impl Unsafe {
    pub(super) fn if_too_short(
        setting: &'static str,
        value: Duration,
        least: Duration,
        remedy: &'static str,
    ) -> Result<(), Self> {
        if value < least { Err(Self::TooShort { setting, value, least, remedy }) } else { Ok(()) }
    }

    pub(super) fn if_too_long(
        setting: &'static str,
        value: Duration,
        most: Duration,
        remedy: &'static str,
    ) -> Result<(), Self> {
        if value > most { Err(Self::TooLong { setting, value, most, remedy }) } else { Ok(()) }
    }

    pub(super) fn if_outside(
        setting: &'static str,
        value: usize,
        least: usize,
        most: usize,
        remedy: &'static str,
    ) -> Result<(), Self> {
        let [value, least, most] = [value, least, most].map(|number| number as u64);
        if value < least {
            Err(Self::TooFew { setting, value, least, remedy })
        } else if value > most {
            Err(Self::TooMany { setting, value, most, remedy })
        } else {
            Ok(())
        }
    }
}

/// A node whose settings are not the cluster's. It did not join; nothing changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[error("{setting} is {ours} here and {theirs} there; {}", self.remedy())]
pub struct Refusal {
    /// The first setting that differs.
    pub setting: String,
    /// What it is on the node that says this.
    pub ours: String,
    /// What it is on the other.
    pub theirs: String,
}

impl Refusal {
    pub(super) const VERSIONS: &'static str = "protocol versions";

    /// The same, said by the other node.
    #[must_use]
    pub fn turned(self) -> Self {
        Self { setting: self.setting, ours: self.theirs, theirs: self.ours }
    }

    fn remedy(&self) -> &'static str {
        if self.setting == Self::VERSIONS {
            "no version is known to both: upgrade the older node step by step"
        } else {
            "it must be the same on all nodes of a cluster: change the joining node's, or restart all with the new one"
        }
    }
}
