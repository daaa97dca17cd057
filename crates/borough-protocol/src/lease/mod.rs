//! Who may run now. A member runs only while it holds a lease, and holds one only while a quorum of the voters has heard it.
//!
//! The promise: once the removal of a node is committed, no renewal it sends from then on is acked by a quorum; so its lease
//! ends at the latest one lease length after the commit, on its own clock. [`Holder`] is the member's side, [`Grants`] a voter's.

mod grants;
mod holder;
#[cfg(test)]
mod tests;

use alloc::sync::Arc;

pub use self::grants::{Grants, Look};
pub use self::holder::{Holder, Outcome, Standing};
use crate::incarnation::Uid;
use crate::version::Version;
use crate::voters::Voters;

/// How many renewals may go unanswered before the one who sends them counts as deaf: as long as silence may last.
const UNANSWERED_MAX: u64 = 3;

/// A member asks a voter for its lease to go on. Sent to every voter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Renew {
    /// The version of its admission; `None` while it has none, and only says that it is there.
    pub admission: Option<Version>,
    /// The list it counts the answers by.
    pub voters: Version,
    /// Which renewal of this life this is.
    pub seq: u64,
    /// The newest renewal that this very voter answered: one who cannot hear is as good as silent.
    pub answered: u64,
    /// How far its table has come.
    pub version: Version,
    /// Whether this voter is to send it the table.
    pub feed: bool,
}

impl Renew {
    /// Whether the one who sends it hears the voter's answers.
    pub fn hears(&self) -> bool {
        self.answered.saturating_add(UNANSWERED_MAX) >= self.seq
    }
}

/// What a voter says to a renewal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Renewed {
    /// Which renewal is answered.
    pub seq: u64,
    /// Who is in office, as far as the voter knows.
    pub coordinator: Option<Uid>,
    /// What it says.
    pub verdict: Verdict,
}

/// Whether a voter counts for a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Verdict {
    /// It does.
    Acked,
    /// It goes by another list: this one.
    NewVoters(Arc<Voters>),
    /// The node is no member yet.
    NotYet,
    /// The node is no member any more.
    NotAdmitted,
}
