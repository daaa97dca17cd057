//! Of nodes that do not hear each other no more are removed for bad links than a smallest cover of the broken pairs.
//!
//! Judged by true time over a round of bad links, which all become bad at one moment, and until the next one begins.

use std::collections::BTreeSet;

use borough_protocol::incarnation::Uid;

use crate::sim::cover;
use crate::sim::cuts::SlotIndex;
use crate::sim::violation::Violation;

/// A round of bad links, and whom it cost.
#[derive(Debug)]
pub(super) struct FewestGo {
    pairs: BTreeSet<(SlotIndex, SlotIndex)>,
    fewest: usize,
    gone: BTreeSet<SlotIndex>,
}

impl FewestGo {
    /// A round of that many slots begins.
    pub(super) fn begins(pairs: BTreeSet<(SlotIndex, SlotIndex)>, slots: usize) -> Self {
        let nodes: Vec<SlotIndex> = (0..slots).collect();
        let fewest = cover::smallest(&nodes, &pairs).len();
        Self { pairs, fewest, gone: BTreeSet::new() }
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
        let Self { pairs, fewest, gone } = self;
        let text =
            format!("{uid:?} is removed for bad links, as {gone:?} are; of {pairs:?} {fewest} cover all");
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
}
