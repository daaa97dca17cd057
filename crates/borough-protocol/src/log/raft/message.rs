//! What one log says to another, in types of our own: plain data that a wire can carry whole.
//!
//! An entry has no place of its own: it stands behind the one before it, and its term is that of the last [`Item::Term`].
//! So a message cannot say that two entries stand at one place, nor that terms fall, except in the ways `check` looks for.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::version::{Term, Version};
use crate::voters::{VoterId, Voters};

/// A message between the logs of two nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(bound(deserialize = "P: serde::Deserialize<'de>, S: serde::Deserialize<'de>"))
)]
pub enum Message<P, S> {
    /// Would you vote for me in this term, my log ending there? Nothing changes by asking.
    PreVote {
        /// The term that would begin.
        term: Term,
        /// Where the log of who asks ends.
        last: Version,
    },
    /// I would, in the term you asked for.
    PreVoteReply {
        /// The term that would begin.
        term: Term,
    },
    /// Vote for me in this term, my log ending there.
    Vote {
        /// The term that began.
        term: Term,
        /// Where the log of who stands ends.
        last: Version,
        /// The coordinator itself asked for it: vote although you hear one.
        forced: bool,
    },
    /// My term, and whether you have my vote in it.
    VoteReply {
        /// The voter's term.
        term: Term,
        /// Whether it votes for who asked.
        granted: bool,
    },
    /// The coordinator of the term is there; behind `prev` stand `entries`.
    Append {
        /// The coordinator's term.
        term: Term,
        /// What the entries stand behind.
        prev: Version,
        /// The newest place the coordinator knows to be committed; it may lie beyond these entries.
        committed: u64,
        /// What stands there.
        #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::list"))]
        entries: Vec<Item<P>>,
    },
    /// My term, and where my log ends.
    AppendReply {
        /// The term of who answers.
        term: Term,
        /// Where its log ends.
        last: Version,
    },
    /// Stand at once: the coordinator of the term wants you to take over, and you have all it has.
    StandNow {
        /// The coordinator's term.
        term: Term,
    },
    /// What you lack is no longer there as entries.
    Snapshot(Box<Snapshot<S>>),
}

/// What stands at one place of the log, as it travels.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Item<P> {
    /// The first entry of a term.
    Term(Term),
    /// The lists from here on.
    Lists {
        /// Those who vote.
        #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::somebody"))]
        now: BTreeSet<VoterId>,
        /// Those who are to vote; empty while no change is under way.
        next: BTreeSet<VoterId>,
        /// Those who catch up.
        learners: BTreeSet<VoterId>,
    },
    /// Something of the table's.
    Payload(P),
}

/// A state in place of all entries up to a version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Snapshot<S> {
    /// The coordinator's term.
    pub term: Term,
    /// The last entry the state stands for.
    pub version: Version,
    /// The lists then.
    pub voters: Voters,
    /// Those who caught up then.
    pub learners: BTreeSet<VoterId>,
    /// The state.
    pub state: S,
}

impl<P, S> Message<P, S> {
    /// The term it speaks of.
    pub fn term(&self) -> Term {
        match self {
            Self::PreVote { term, .. }
            | Self::PreVoteReply { term }
            | Self::Vote { term, .. }
            | Self::VoteReply { term, .. }
            | Self::Append { term, .. }
            | Self::AppendReply { term, .. }
            | Self::StandNow { term } => *term,
            Self::Snapshot(snapshot) => snapshot.term,
        }
    }
}
