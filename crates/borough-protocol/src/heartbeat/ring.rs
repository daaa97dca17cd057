//! Which peers a node watches: those that stand next to it on a ring.
//!
//! The order on the ring is that of a fixed hash of the uids, so neighbours have nothing in common, be it a rack or the
//! moment they joined. The promise: on a ring of the same members each is watched by as many as it watches, `monitors`
//! or all others if they are fewer.

use alloc::vec::Vec;

use crate::incarnation::Uid;

/// The place of one node on the ring, and who stands next.
#[derive(Clone, Debug)]
pub struct Ring {
    me: Uid,
    monitors: usize,
    /// The next ones with their distances, nearest first.
    nearest: Vec<(u64, Uid)>,
}

impl Ring {
    /// A ring on which nobody stands but this node.
    pub fn new(me: Uid, monitors: usize) -> Self {
        Self { me, monitors, nearest: Vec::new() }
    }

    /// These are on the ring now, in any order; whether this node is among them changes nothing.
    ///
    /// Looks at each once and keeps only the nearest: the ring itself is never built.
    pub fn set_members(&mut self, members: impl IntoIterator<Item = Uid>) {
        self.nearest.clear();
        let here = place(self.me);
        for uid in members {
            // Places are as different as uids, so only this node is at distance 0, and a second mention is found.
            let distance = place(uid).wrapping_sub(here);
            let full = self.nearest.len() == self.monitors;
            if distance == 0 || full && self.nearest.last().is_none_or(|(farthest, _)| distance >= *farthest)
            {
                continue;
            }
            if let Err(at) = self.nearest.binary_search_by_key(&distance, |(distance, _)| *distance) {
                if full {
                    self.nearest.pop();
                }
                self.nearest.insert(at, (distance, uid));
            }
        }
    }

    /// Those that this node watches, nearest first.
    pub fn watched(&self) -> impl Iterator<Item = Uid> + '_ {
        self.nearest.iter().map(|(_, uid)| *uid)
    }

    /// Whether this node watches it.
    pub fn watches(&self, uid: Uid) -> bool {
        self.watched().any(|watched| watched == uid)
    }
}

/// Where a uid stands: a mixing that has an inverse, so no two stand in one place. The same on all nodes, for ever.
fn place(uid: Uid) -> u64 {
    let mut z = uid.get();
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use alloc::collections::{BTreeMap, BTreeSet};

    use proptest::collection::btree_set;
    use proptest::{prop_assert_eq, proptest};

    use super::*;

    fn uids(numbers: impl IntoIterator<Item = u64>) -> BTreeSet<Uid> {
        numbers.into_iter().filter_map(Uid::new).collect()
    }

    fn ring_of(me: Uid, monitors: usize, members: &BTreeSet<Uid>) -> Vec<Uid> {
        let mut ring = Ring::new(me, monitors);
        ring.set_members(members.iter().copied());
        ring.watched().collect()
    }

    /// A change here would make nodes of two builds disagree about who watches whom.
    #[test]
    fn the_order_on_the_ring_is_frozen() {
        let watched = ring_of(Uid::new(1).unwrap(), 9, &uids(1..=6));
        assert_eq!(watched.iter().map(|uid| uid.get()).collect::<Vec<_>>(), [5, 4, 6, 2, 3]);
    }

    #[test]
    fn neighbours_have_nothing_to_do_with_the_order_of_uids() {
        let members = uids(1..=1000);
        let next = |number: u64| ring_of(Uid::new(number).unwrap(), 1, &members)[0].get();
        let beside = (1..=1000).filter(|&number| next(number).abs_diff(number) == 1).count();
        assert!(beside < 20, "{beside} of 1000 watch the uid beside them");
    }

    #[test]
    fn a_change_far_away_changes_nothing_here() {
        let before = uids(1..=1000);
        let me = Uid::new(7).unwrap();
        let watched = ring_of(me, 9, &before);
        let mut changed = 0;
        for gone in &before {
            let mut after = before.clone();
            after.remove(gone);
            changed += usize::from(ring_of(me, 9, &after) != watched);
        }
        assert_eq!(changed, 9);
    }

    proptest! {
        #[test]
        fn each_is_watched_by_as_many_as_it_watches(
            numbers in btree_set(1_u64.., 1..60), monitors in 1_usize..12,
        ) {
            let members = uids(numbers);
            let expected = monitors.min(members.len() - 1);
            let mut watchers: BTreeMap<Uid, usize> = BTreeMap::new();
            for &me in &members {
                let watched = ring_of(me, monitors, &members);
                prop_assert_eq!(watched.len(), expected);
                for uid in watched {
                    *watchers.entry(uid).or_default() += 1;
                }
            }
            prop_assert_eq!(watchers.values().filter(|&&count| count == expected).count(), watchers.len());
            prop_assert_eq!(watchers.len(), if expected == 0 { 0 } else { members.len() });
        }

        #[test]
        fn the_nearest_are_those_of_the_sorted_ring(numbers in btree_set(1_u64.., 2..60)) {
            let members = uids(numbers);
            let mut sorted: Vec<Uid> = members.iter().copied().collect();
            sorted.sort_by_key(|uid| place(*uid));
            let me = sorted[0];
            let expected: Vec<Uid> = sorted[1..].iter().copied().take(9).collect();
            prop_assert_eq!(ring_of(me, 9, &members), expected);
            let twice: Vec<Uid> = sorted.iter().rev().chain(&sorted).copied().collect();
            let mut ring = Ring::new(me, 9);
            ring.set_members(twice);
            prop_assert_eq!(ring.watched().collect::<Vec<_>>(), ring_of(me, 9, &members));
        }
    }
}
