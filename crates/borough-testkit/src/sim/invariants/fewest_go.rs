//! Of nodes that do not hear each other no more are removed for bad links than a smallest cover of the broken pairs.
//!
//! Judged by true time over a round of bad links, which all become bad at one moment, and until the next one begins. Who is admitted meanwhile with bad links
//! of that round, because nobody calls its new life unreachable yet, was not there when the others were chosen: it may have to go besides, or another one
//! for it. So such a node counts by itself, and the cover is one of the other pairs.

use std::collections::BTreeSet;

use borough_protocol::incarnation::Uid;

use crate::sim::cover;
use crate::sim::cuts::SlotIndex;
use crate::sim::violation::Violation;

/// A round of bad links, and whom it cost.
#[derive(Debug)]
pub(super) struct FewestGo {
    pairs: BTreeSet<(SlotIndex, SlotIndex)>,
    slots: usize,
    fewest: usize,
    gone: BTreeSet<SlotIndex>,
    /// Those that came during the round, and not because they were removed for bad links.
    late: BTreeSet<SlotIndex>,
}

impl FewestGo {
    /// A round of that many slots begins.
    pub(super) fn begins(pairs: BTreeSet<(SlotIndex, SlotIndex)>, slots: usize) -> Self {
        let mut round = Self { pairs, slots, fewest: 0, gone: BTreeSet::new(), late: BTreeSet::new() };
        round.count();
        round
    }

    fn count(&mut self) {
        let nodes: Vec<SlotIndex> = (0..self.slots).filter(|slot| !self.late.contains(slot)).collect();
        self.fewest = cover::smallest(&nodes, &self.pairs).len() + self.late.len();
    }

    /// A life in that slot is admitted to members in these slots. `is_bad` tells which links of this round still are.
    pub(super) fn admitted(
        &mut self,
        slot: SlotIndex,
        members: &[SlotIndex],
        is_bad: impl Fn(&(SlotIndex, SlotIndex)) -> bool,
    ) {
        let with_member = |(one, other): &&(SlotIndex, SlotIndex)| {
            *one == slot && members.contains(other) || *other == slot && members.contains(one)
        };
        let brings_one = self.pairs.iter().filter(with_member).any(is_bad);
        if brings_one && !self.removed_from(slot) && self.late.insert(slot) {
            self.count();
        }
    }

    /// The pairs of this round.
    pub(super) fn pairs(&self) -> &BTreeSet<(SlotIndex, SlotIndex)> {
        &self.pairs
    }

    /// Whether the node in that slot was removed in this round.
    pub(super) fn removed_from(&self, slot: SlotIndex) -> bool {
        self.gone.contains(&slot)
    }

    /// That node was removed for bad links.
    pub(super) fn removed(&mut self, uid: Uid, slot: SlotIndex) -> Result<(), Violation> {
        self.gone.insert(slot);
        if self.gone.len() <= self.fewest {
            return Ok(());
        }
        let Self { pairs, fewest, gone, late, .. } = self;
        let text = format!(
            "{uid:?} is removed for bad links, as {gone:?} are; of {pairs:?} {fewest} cover all, late {late:?}"
        );
        Err(Violation::Safety("fewest_go", text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::invariants::samples::uid;

    #[test]
    fn one_that_hears_nobody_of_three_is_enough() {
        let mut round = FewestGo::begins([(0, 1), (0, 2), (3, 0)].into(), 4);
        assert!(round.removed(uid(1), 0).is_ok());
        assert!(round.removed(uid(7), 0).is_ok(), "the next life of the same");
        assert!(matches!(round.removed(uid(2), 1), Err(Violation::Safety("fewest_go", _))));
    }

    #[test]
    fn one_that_comes_late_counts_besides_a_cover_of_the_others() {
        let mut round = FewestGo::begins([(0, 1), (0, 2), (1, 3)].into(), 4);
        round.admitted(2, &[0, 1, 3], |_| false);
        round.admitted(2, &[1, 3], |_| true);
        assert!(round.late.is_empty(), "it has no bad link to a member");
        assert!(round.removed(uid(1), 1).is_ok());
        round.admitted(1, &[0, 2, 3], |_| true);
        round.admitted(2, &[0, 3], |_| true);
        assert_eq!(round.late, [2].into());
        // One covers (0, 1) and (1, 3), and one more may go for the late one.
        assert!(round.removed(uid(2), 0).is_ok());
        assert!(round.removed(uid(3), 2).is_err());
    }
}
