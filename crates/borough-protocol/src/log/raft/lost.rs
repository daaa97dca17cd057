//! Voters whose disk came back shorter than what they had confirmed: a restored backup, a lost tail.
//!
//! What is committed is never cut, so a voter that once showed a committed entry has it in every later message. Two ways to
//! notice that it does not:
//!
//! - a message of a later term than the one that showed the entry: terms only rise, so it is a later message. This needs only
//!   that this node heard both, under any coordinator;
//! - in one term, by its coordinator alone: every answer for `suspect_after` ends below what the voter had confirmed, and none is
//!   missing among them for half of that. Single such answers may have been overtaken on the way.
//!
//! Nothing can be known of what only other nodes were told. A voter that forgot a vote, too, can vote again in the same term;
//! that is why a disk must not be copied back.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::Raft;
use crate::version::{Term, Version};
use crate::voters::VoterId;

/// What others have shown to have on their disks.
#[derive(Debug, Default)]
pub(super) struct Confirmed {
    /// The newest committed place each has shown, and its term then.
    shown: BTreeMap<VoterId, (Term, u64)>,
    lost: BTreeSet<VoterId>,
}

impl Confirmed {
    /// That node, in that term, has the committed entry at that place.
    fn show(&mut self, uid: VoterId, term: Term, index: u64) {
        let newest = self.shown.entry(uid).or_insert((term, index));
        if newest.1 < index {
            *newest = (term, index);
        }
    }

    /// The log of that node, in that term, ends at that place.
    fn judge(&mut self, uid: VoterId, term: Term, index: u64) {
        if self.shown.get(&uid).is_some_and(|&(then, shown)| then < term && index < shown) {
            self.lose(uid);
        }
    }

    /// That node has lost what it had. What it shows from now on counts again.
    pub(super) fn lose(&mut self, uid: VoterId) {
        self.shown.remove(&uid);
        self.lost.insert(uid);
    }

    pub(super) fn retain(&mut self, named: impl Fn(VoterId) -> bool) {
        self.shown.retain(|uid, _| named(*uid));
        self.lost.retain(|uid| named(*uid));
    }

    pub(super) fn lost(&self) -> Vec<VoterId> {
        self.lost.iter().copied().collect()
    }
}

impl<P: Clone, S: Clone> Raft<P, S> {
    /// Compares where another's log ends, in its term, with what it has shown before.
    pub(super) fn compare(&mut self, from: VoterId, term: Term, last: Version) {
        if self.journal.is_none() || !self.copy.lists().names(from) {
            return;
        }
        self.confirmed.judge(from, term, last.index);
        if last.index <= self.commit && self.version_at(last.index) == Some(last) {
            self.confirmed.show(from, term, last.index);
        }
    }

    /// Notes that another has everything that is committed here up to a place: it said so in that term.
    pub(super) fn confirm(&mut self, from: VoterId, term: Term, index: u64) {
        if self.journal.is_some() && self.copy.lists().names(from) {
            let committed = index.min(self.commit);
            self.confirmed.show(from, term, committed);
        }
    }
}
