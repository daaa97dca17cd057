//! This node's copy of the log: what noraft does not keep.
//!
//! noraft knows where each entry stands and in which term; what an entry says is kept here, beside it, and so are the
//! lists that follow from the entries. The promise: entry by entry both hold the same places, after every step.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec;
use alloc::vec::Vec;

use crate::log::Entry;
use crate::version::Version;
use crate::voters::{VoterId, Voters};

/// The lists that one entry brought.
#[derive(Clone, Debug)]
pub(super) struct Lists {
    /// The place of the entry, or of the last compaction if it lies below.
    pub(super) at: u64,
    /// The voters, with the version of the entry that last changed them: perhaps an earlier one.
    pub(super) voters: Voters,
    /// Those who catch up.
    pub(super) learners: BTreeSet<VoterId>,
}

impl Lists {
    pub(super) fn names(&self, uid: VoterId) -> bool {
        self.voters.names(uid) || self.learners.contains(&uid)
    }
}

/// Entries from behind the last compaction to the end of the log, and their lists.
#[derive(Debug)]
pub(super) struct LogCopy<P> {
    base: u64,
    entries: VecDeque<Entry<P>>,
    /// In the order of their places. The first is in force at `base`, so there is always one.
    lists: Vec<Lists>,
    /// The last place up to which nothing was cut or appended since [`take_unchanged`](Self::take_unchanged).
    unchanged: u64,
}

impl<P> LogCopy<P> {
    pub(super) fn new() -> Self {
        let nobody = Lists { at: 0, voters: Voters::default(), learners: BTreeSet::new() };
        Self { base: 0, entries: VecDeque::new(), lists: vec![nobody], unchanged: 0 }
    }

    /// The place of the last compaction.
    pub(super) fn base(&self) -> u64 {
        self.base
    }

    pub(super) fn last(&self) -> u64 {
        self.base + self.len() as u64
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The newest lists.
    pub(super) fn lists(&self) -> &Lists {
        &self.lists[self.lists.len() - 1]
    }

    /// The lists in force at a place from `base` on.
    pub(super) fn lists_at(&self, index: u64) -> &Lists {
        let after = self.lists.partition_point(|lists| lists.at <= index);
        &self.lists[after.saturating_sub(1)]
    }

    /// What stands there, if it is kept.
    pub(super) fn entry(&self, index: u64) -> Option<&Entry<P>> {
        self.entries.get(self.offset(index.checked_sub(1)?)?)
    }

    /// The payloads above a place, in order.
    pub(super) fn payloads_above(&self, index: u64) -> impl Iterator<Item = &P> {
        let start = self.offset(index).unwrap_or(0).min(self.len());
        self.entries.range(start..).filter_map(|entry| match entry {
            Entry::Payload(payload) => Some(payload),
            Entry::Nothing | Entry::Voters { .. } => None,
        })
    }

    pub(super) fn push(&mut self, entry: Entry<P>) {
        self.entries.push_back(entry);
    }

    /// Appends the entry that brings these lists; `version` is where it stands.
    pub(super) fn push_lists(
        &mut self,
        version: Version,
        now: BTreeSet<VoterId>,
        next: BTreeSet<VoterId>,
        learners: BTreeSet<VoterId>,
    ) {
        let newest = &self.lists().voters;
        let (id, entry) = if newest.now == now && newest.next == next {
            (newest.id, Entry::Nothing)
        } else {
            (version, Entry::Voters { now: now.clone(), next: next.clone() })
        };
        self.lists.push(Lists { at: version.index, voters: Voters { id, now, next }, learners });
        self.push(entry);
    }

    /// Forgets everything above a place.
    pub(super) fn cut_above(&mut self, index: u64) {
        if self.last() <= index {
            return;
        }
        self.entries.truncate(self.offset(index).unwrap_or(0));
        self.unchanged = self.unchanged.min(self.last());
        let keep = self.lists.partition_point(|lists| lists.at <= index).max(1);
        self.lists.truncate(keep);
    }

    /// Forgets the entries up to a place; the lists in force there stay.
    pub(super) fn forget_up_to(&mut self, index: u64) {
        let lists = Lists { at: index, ..self.lists_at(index).clone() };
        self.begin_behind(index, lists);
    }

    /// Everything up to `index` is replaced by a state with these lists; what stands above stays.
    pub(super) fn begin_behind(&mut self, index: u64, lists: Lists) {
        let gone = self.offset(index).unwrap_or(0).min(self.len());
        self.entries.drain(..gone);
        let obsolete = self.lists.partition_point(|lists| lists.at <= index);
        self.lists.splice(..obsolete, [lists]);
        self.base = index;
        self.unchanged = self.unchanged.max(index);
    }

    /// The last place up to which the copy is as it was when this was asked before.
    pub(super) fn take_unchanged(&mut self) -> u64 {
        let last = self.last();
        core::mem::replace(&mut self.unchanged, last)
    }

    fn offset(&self, index: u64) -> Option<usize> {
        usize::try_from(index.checked_sub(self.base)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Term;

    fn uids(numbers: &[u64]) -> BTreeSet<VoterId> {
        numbers.iter().filter_map(|&number| VoterId::new(number)).collect()
    }

    fn version(index: u64) -> Version {
        Version { term: Term::new(1), index }
    }

    /// 1: voters {1}, 2: nothing, 3: 30, 4: learner 2, 5: 50, 6: voters {1} and {1, 2}, 7: 70
    fn copy() -> LogCopy<u32> {
        let mut copy = LogCopy::new();
        copy.push_lists(version(1), uids(&[1]), uids(&[]), uids(&[]));
        copy.push(Entry::Nothing);
        copy.push(Entry::Payload(30));
        copy.push_lists(version(4), uids(&[1]), uids(&[]), uids(&[2]));
        copy.push(Entry::Payload(50));
        copy.push_lists(version(6), uids(&[1]), uids(&[1, 2]), uids(&[]));
        copy.push(Entry::Payload(70));
        copy
    }

    #[test]
    fn a_change_of_learners_keeps_the_voters_id() {
        let mut copy = copy();
        assert_eq!(copy.lists().voters.id, version(6));
        copy.cut_above(5);
        assert_eq!(copy.lists().voters.id, version(1));
        assert_eq!(copy.lists().learners, uids(&[2]));
        assert_eq!(copy.entry(4), Some(&Entry::Nothing));
    }

    #[test]
    fn a_cut_takes_back_the_entries_and_lists_above() {
        let mut copy = copy();
        copy.cut_above(3);
        assert_eq!((copy.last(), copy.len()), (3, 3));
        assert_eq!(copy.lists().learners, uids(&[]));
        assert_eq!(copy.payloads_above(0).copied().collect::<Vec<_>>(), [30]);
    }

    #[test]
    fn what_is_forgotten_leaves_its_lists_behind() {
        let mut copy = copy();
        copy.forget_up_to(5);
        assert_eq!((copy.base(), copy.last(), copy.len()), (5, 7, 2));
        assert_eq!(copy.lists_at(5).learners, uids(&[2]));
        assert_eq!(copy.lists_at(5).voters.id, version(1));
        assert_eq!(copy.lists().voters.id, version(6));
        assert_eq!(copy.entry(5), None);
        assert_eq!(copy.entry(7), Some(&Entry::Payload(70)));
        copy.cut_above(5);
        assert_eq!(copy.lists().learners, uids(&[2]));
    }

    #[test]
    fn the_payloads_above_a_place_are_those_and_no_others() {
        let copy = copy();
        let above = |index| copy.payloads_above(index).copied().collect::<Vec<_>>();
        assert_eq!(above(0), [30, 50, 70]);
        assert_eq!(above(3), [50, 70]);
        assert_eq!(above(6), [70]);
        assert_eq!(above(7), []);
    }

    #[test]
    fn a_state_from_elsewhere_replaces_what_is_below_it() {
        let mut copy = copy();
        copy.cut_above(4);
        let lists = Lists { at: 9, voters: Voters::default(), learners: uids(&[5]) };
        copy.begin_behind(9, lists);
        assert_eq!((copy.base(), copy.last()), (9, 9));
        assert_eq!(copy.lists().learners, uids(&[5]));
    }
}
