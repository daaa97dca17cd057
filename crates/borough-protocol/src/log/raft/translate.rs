//! Our types in noraft's words, and back.

use alloc::collections::BTreeSet;

use noraft::{ClusterConfig, LogIndex, LogPosition, NodeId};

use crate::version::{Term, Version};
use crate::voters::VoterId;

pub(super) fn id(uid: VoterId) -> NodeId {
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

pub(super) fn ids(uids: &BTreeSet<VoterId>) -> BTreeSet<NodeId> {
    uids.iter().map(|&uid| id(uid)).collect()
}

/// Every id in noraft came from a uid, so none is lost.
pub(super) fn uids(ids: &BTreeSet<NodeId>) -> BTreeSet<VoterId> {
    ids.iter().filter_map(|id| VoterId::new(id.get())).collect()
}

pub(super) fn config(
    now: &BTreeSet<VoterId>,
    next: &BTreeSet<VoterId>,
    learners: &BTreeSet<VoterId>,
) -> ClusterConfig {
    ClusterConfig { voters: ids(now), new_voters: ids(next), non_voters: ids(learners) }
}
