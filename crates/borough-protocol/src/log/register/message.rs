//! What a member asks the store about the log, and what the store answers.
//!
//! Each ask is one transaction: a swap that is made only if what it compares is still so, and then a look at what is there. Whether
//! the swap was made shows in what is there, so an ask may be repeated, and come late or twice.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::incarnation::Uid;
use crate::log::Entry;
use crate::version::{Term, Version};
use crate::voters::Voters;

/// One transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ask<P> {
    /// Which ask of this life it is; the same each time it is repeated.
    pub number: u64,
    /// The newest entry the asker has.
    pub known: Version,
    /// Whether it wants the renewals of everybody, or only those of the one in office.
    pub of_all: bool,
    /// What is to be changed.
    pub swap: Swap<P>,
}

/// A change that is made only if what it compares is so.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound(deserialize = "P: serde::Deserialize<'de>")))]
pub enum Swap<P> {
    /// None: the asker only looks.
    None,
    /// If the term is still this one, the next begins, with the asker in office and an entry of its own.
    Stand {
        /// The term to be ended.
        term: Term,
    },
    /// If the asker is in office in this term and the log ends at `last`, these stand behind it.
    Append {
        /// The asker's term.
        term: Term,
        /// Where the log must end.
        last: Version,
        /// What is to be added.
        #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::shared"))]
        payloads: Arc<[P]>,
    },
}

/// What is there after the transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Answer<P, S> {
    /// Which ask is answered.
    pub number: u64,
    /// The term.
    pub term: Term,
    /// Who is in office; `None` if it was removed.
    pub holder: Option<Uid>,
    /// What the asker lacks.
    pub news: News<P, S>,
    /// The newest renewal of each node that was asked for and is known.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::list"))]
    pub renewals: Vec<(Uid, u64)>,
}

/// What somebody lacks: all of it is committed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(bound(deserialize = "P: serde::Deserialize<'de>, S: serde::Deserialize<'de>"))
)]
pub enum News<P, S> {
    /// The entries behind what it knows, in order.
    Entries(
        #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::list"))]
        Vec<(Version, Entry<P>)>,
    ),
    /// The state, because those entries are no longer there.
    Whole {
        /// The last entry the state stands for.
        version: Version,
        /// The voters' list.
        voters: Voters,
        /// The state.
        state: S,
    },
}
