//! Which quorum system a cluster has: the answer to "which side of a split lives".

use core::fmt;

/// A quorum system. The same on all nodes of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// More than half of the voters; the voters are the oldest members, and their number follows the cluster's size.
    KeepMajority,
    /// `quorum` of the `2 * quorum - 1` oldest members; their number never shrinks.
    StaticQuorum {
        /// How many must agree, a count of 1 or more.
        quorum: usize,
    },
    /// The oldest member alone.
    KeepOldest,
    /// As [`KeepMajority`](Strategy::KeepMajority), and besides, who loses a peer stops.
    DownAll,
    /// The shared store is the one voter: any side that reaches it lives.
    LeaseMajority,
}

/// The name as settings files have it. Nodes compare this text when one joins: it must not change.
impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeepMajority => f.write_str("keep-majority"),
            Self::StaticQuorum { quorum } => write!(f, "static-quorum({quorum})"),
            Self::KeepOldest => f.write_str("keep-oldest"),
            Self::DownAll => f.write_str("down-all"),
            Self::LeaseMajority => f.write_str("lease-majority"),
        }
    }
}
