//! Our types in noraft's words, and back.

use alloc::collections::BTreeSet;

use noraft::{ClusterConfig, LogIndex, LogPosition, NodeId};

use crate::incarnation::Uid;
use crate::version::{Term, Version};

pub(super) fn id(uid: Uid) -> NodeId {
    NodeId::new(uid.get())
}

pub(super) fn term(term: Term) -> noraft::Term {
    noraft::Term::new(term.get())
}

pub(super) fn position(version: Version) -> LogPosition {
    LogPosition::new(term(version.term), LogIndex::new(version.index))
}

pub(super) fn version(position: LogPosition) -> Version {
    Version { term: Term::new(position.term.get()), index: position.index.get() }
}

pub(super) fn ids(uids: &BTreeSet<Uid>) -> BTreeSet<NodeId> {
    uids.iter().map(|&uid| id(uid)).collect()
}

/// Every id in noraft came from a uid, so none is lost.
pub(super) fn uids(ids: &BTreeSet<NodeId>) -> BTreeSet<Uid> {
    ids.iter().filter_map(|id| Uid::new(id.get())).collect()
}

pub(super) fn config(now: &BTreeSet<Uid>, next: &BTreeSet<Uid>, learners: &BTreeSet<Uid>) -> ClusterConfig {
    ClusterConfig { voters: ids(now), new_voters: ids(next), non_voters: ids(learners) }
}
