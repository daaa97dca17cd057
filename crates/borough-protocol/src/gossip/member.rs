//! What the document says of one member.

use alloc::sync::Arc;

use crate::flaws::{Flaw, Flaws};
use crate::incarnation::{Facts, Incarnation, Uid};
use crate::vector_clock::{Author, Dot, VectorClock, mix};
use crate::version::Version;

/// How far a member has come. It only rises, so of two records the higher one is the newer.
///
/// ```text
/// Joining --admitted by the table--> Up --draining in the table--> Leaving --own word--> Exiting
/// ```
/// A member ends with a tombstone, from any of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Status {
    /// Known to gossip, not to the table.
    Joining,
    /// Admitted by the table.
    Up,
    /// Draining, says the table.
    Leaving,
    /// Has dropped all it had and said goodbye.
    Exiting,
}

/// The record of one member, the same wherever the same changes are known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Member {
    /// Which node, in which life.
    pub incarnation: Incarnation,
    /// What it said of itself when it joined.
    pub facts: Arc<Facts>,
    /// How far it has come.
    pub status: Status,
    /// The version of its admission, which is its age; [`Version::ZERO`] while it is not admitted.
    pub admission: Version,
    /// The change that brought it to this status. The admission has a dot of its own: the table's, at its index.
    pub dot: Dot,
}

impl Member {
    /// Its uid.
    pub fn uid(&self) -> Uid {
        self.incarnation.uid
    }

    /// Whether the table has admitted it.
    pub fn is_admitted(&self) -> bool {
        self.admission != Version::ZERO
    }

    /// Whether a document with that clock has all that this record says.
    pub(super) fn is_covered_by(&self, clock: &VectorClock) -> bool {
        clock.covers(self.dot) && clock.covers(Dot { author: Author::Table, count: self.admission.index })
    }

    /// The least record that has what both have; `None` if that is this one.
    pub(super) fn join(&self, other: &Self, flaws: Flaws) -> Option<Self> {
        let status = if flaws.has(Flaw::MergeTakesOlderStatus) {
            self.status.min(other.status)
        } else {
            self.status.max(other.status)
        };
        let admission = self.admission.max(other.admission);
        let dot = self.dot_rank().max(other.dot_rank()).1;
        if (status, admission, dot) == (self.status, self.admission, self.dot) {
            return None;
        }
        Some(Self { status, admission, dot, ..self.clone() })
    }

    /// Identifies what the record says. Incarnation and facts follow from the uid. The dot is left out: a node that
    /// took the table as a snapshot may know the same by a later dot.
    pub(super) fn hash(&self) -> u64 {
        let hash = mix(mix(2, self.uid().get()), self.status as u64);
        mix(mix(hash, self.admission.term.get()), self.admission.index)
    }

    /// The dot of a later stage stands for those of the stages before: who has its effect has theirs. Within a stage any
    /// fixed choice does. Up and Leaving are one stage, as their dots are the table's, which are in order.
    fn dot_rank(&self) -> (u8, Dot) {
        let stage = match self.status {
            Status::Joining => 0,
            Status::Up | Status::Leaving => 1,
            Status::Exiting => 2,
        };
        (stage, self.dot)
    }
}
