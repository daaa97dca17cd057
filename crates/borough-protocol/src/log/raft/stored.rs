//! What a durable voter has on its disk, and the writes that change it: plain values, for the caller to store.
//!
//! [`Stored::apply`] is the meaning of each write. A store that does the same, one write at a time and each whole or not at all,
//! gives back after a crash what [`Raft::restore`](super::Raft::restore) takes.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::message::Item;
use crate::version::{Term, Version};
use crate::voters::{VoterId, Voters};

/// A change of what is on the disk. Each is made whole or not at all, and in the order of their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write<P, S> {
    /// The term, and the vote in it.
    Vote {
        /// The newest term this voter knows of.
        term: Term,
        /// The node that has its vote in that term.
        vote: Option<VoterId>,
    },
    /// These entries stand behind `prev`, and nothing else does: every entry above `prev` that was there before is replaced.
    /// To remove the old ones first, in a write of its own, would lose entries that this voter has confirmed.
    Entries {
        /// The entry before them.
        prev: Version,
        /// The entries; none if the log is only cut.
        items: Vec<Item<P>>,
    },
    /// A state in place of all entries up to its version.
    Snapshot {
        /// The state.
        snapshot: StoredSnapshot<S>,
        /// Whether the entries above its version stay; if not, they belong to another history and go too.
        keeps_tail: bool,
    },
}

/// A state in place of all entries up to a version, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StoredSnapshot<S> {
    /// The last entry the state stands for.
    pub version: Version,
    /// The lists then.
    pub voters: Voters,
    /// The nodes that were catching up then.
    pub learners: BTreeSet<VoterId>,
    /// The state.
    pub state: S,
}

/// Everything a durable voter has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored<P, S> {
    /// The newest term.
    pub term: Term,
    /// The vote in that term.
    pub vote: Option<VoterId>,
    /// The newest snapshot.
    pub snapshot: Option<StoredSnapshot<S>>,
    /// The entries behind the snapshot, or from the first one on.
    pub entries: Vec<Item<P>>,
}

impl<P, S> Default for Stored<P, S> {
    fn default() -> Self {
        Self { term: Term::ZERO, vote: None, snapshot: None, entries: Vec::new() }
    }
}

impl<P, S> Stored<P, S> {
    /// The last entry that the snapshot stands for.
    pub fn base(&self) -> Version {
        self.snapshot.as_ref().map_or(Version::ZERO, |snapshot| snapshot.version)
    }

    /// The place of the last entry.
    pub fn last_index(&self) -> u64 {
        self.base().index + self.entries.len() as u64
    }

    /// Makes one write.
    pub fn apply(&mut self, write: Write<P, S>) {
        match write {
            Write::Vote { term, vote } => (self.term, self.vote) = (term, vote),
            Write::Entries { prev, items } => {
                self.entries.truncate(self.offset(prev.index));
                self.entries.extend(items);
            }
            Write::Snapshot { snapshot, keeps_tail } => {
                let gone = self.offset(snapshot.version.index);
                self.entries.drain(..if keeps_tail { gone } else { self.entries.len() });
                self.snapshot = Some(snapshot);
            }
        }
    }

    /// How many of the kept entries stand at or below a place.
    fn offset(&self, index: u64) -> usize {
        let above = index.saturating_sub(self.base().index);
        usize::try_from(above).unwrap_or(usize::MAX).min(self.entries.len())
    }
}
