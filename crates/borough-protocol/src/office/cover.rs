//! Which nodes to give up so that all others hear each other: a smallest vertex cover of the broken pairs.
//!
//! A pure function. Exact as long as at most [`EXACT_MAX`] nodes have broken pairs; while there are more, the node with the most of them is
//! taken (of equals the youngest). Of several smallest covers the one with the younger nodes is taken, compared from the youngest down; so
//! of a pair with no others the younger goes.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// Up to so many nodes all covers are compared: 4096 of them.
const EXACT_MAX: usize = 12;

/// A smallest cover of these pairs. The greater of two nodes is the younger; a node that is paired with itself says nothing.
pub(super) fn smallest_cover<N: Copy + Ord>(pairs: &BTreeSet<(N, N)>) -> BTreeSet<N> {
    let mut left: BTreeSet<(N, N)> = pairs.iter().copied().filter(|(a, b)| a != b).collect();
    let mut cover = BTreeSet::new();
    let mut nodes = nodes_of(&left);
    while nodes.len() > EXACT_MAX {
        let Some(worst) = most_paired(&left, &nodes) else { return cover };
        left.retain(|(a, b)| *a != worst && *b != worst);
        cover.insert(worst);
        nodes = nodes_of(&left);
    }
    cover.extend(exact(&left, &nodes));
    cover
}

/// Of these nodes the one with the most pairs, of equals the youngest.
pub(super) fn most_paired<'a, N: Copy + Ord + 'a>(
    pairs: &BTreeSet<(N, N)>,
    nodes: impl IntoIterator<Item = &'a N>,
) -> Option<N> {
    let count = |node: N| pairs.iter().filter(|(a, b)| *a == node || *b == node).count();
    nodes.into_iter().copied().max_by_key(|node| (count(*node), *node))
}

/// The nodes of the pairs, the oldest first.
fn nodes_of<N: Copy + Ord>(pairs: &BTreeSet<(N, N)>) -> Vec<N> {
    let nodes: BTreeSet<N> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
    nodes.into_iter().collect()
}

/// Looks at every set of nodes as a number whose highest bit is the youngest node: of sets of one size the greater number has the
/// younger nodes.
fn exact<N: Copy + Ord>(pairs: &BTreeSet<(N, N)>, nodes: &[N]) -> Vec<N> {
    let paired_with = |node: &N| {
        let is_pair = |other: &N| pairs.contains(&(*node, *other)) || pairs.contains(&(*other, *node));
        let others = nodes.iter().enumerate().filter(|(_, other)| is_pair(other));
        others.fold(0_u32, |bits, (place, _)| bits | 1 << place)
    };
    let paired: Vec<u32> = nodes.iter().map(paired_with).collect();
    // Who is outside of a cover is paired with nodes inside only.
    let covers = |set: &u32| {
        paired.iter().enumerate().all(|(place, others)| set & (1 << place) != 0 || others & !set == 0)
    };
    let best = (0..1_u32 << nodes.len()).rev().filter(covers).min_by_key(|set| set.count_ones()).unwrap_or(0);
    let chosen = nodes.iter().enumerate().filter(|(place, _)| best & (1 << place) != 0);
    chosen.map(|(_, node)| *node).collect()
}

#[cfg(test)]
mod tests {
    use proptest::collection::btree_set;
    use proptest::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    type Pairs = &'static [(u8, u8)];

    #[test]
    fn the_fewest_go_and_of_equals_the_younger() {
        let cases: &[(&str, Pairs, &[u8])] = &[
            ("nothing is broken", &[], &[]),
            ("a pair: the younger", &[(0, 3)], &[3]),
            ("said by the younger of the two", &[(3, 0)], &[3]),
            ("said by both", &[(3, 0), (0, 3)], &[3]),
            ("a node that does not hear itself", &[(2, 2)], &[]),
            ("the oldest and four others", &[(0, 3), (0, 4), (0, 5), (0, 6)], &[0]),
            ("the oldest and two others", &[(0, 1), (0, 2)], &[0]),
            ("the youngest and two others", &[(0, 6), (1, 6)], &[6]),
            ("two pairs without a common node", &[(0, 3), (1, 5)], &[3, 5]),
            ("a chain of three pairs", &[(0, 1), (1, 2), (2, 3)], &[1, 3]),
            ("a triangle keeps the oldest", &[(0, 1), (1, 2), (0, 2)], &[1, 2]),
            ("four in a ring keep the one with the oldest", &[(0, 1), (1, 2), (2, 3), (0, 3)], &[1, 3]),
            ("two sides: the smaller goes", &[(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)], &[0, 1]),
            ("two equal sides: the younger", &[(0, 2), (0, 3), (1, 2), (1, 3)], &[2, 3]),
        ];
        for (name, pairs, expected) in cases {
            let cover = smallest_cover(&pairs.iter().copied().collect());
            assert_eq!(cover, expected.iter().copied().collect(), "{name}");
        }
    }

    #[test]
    fn of_a_cover_the_node_with_the_most_broken_pairs_goes_first() {
        let pairs: BTreeSet<(u8, u8)> = [(0, 3), (0, 4), (0, 5), (1, 6)].into();
        assert_eq!(most_paired(&pairs, &[0, 6]), Some(0));
        assert_eq!(most_paired(&pairs, &[1, 6]), Some(6));
    }

    /// All covers, by trying both nodes of each pair; the best by the words of the rule.
    fn by_brute_force(pairs: &BTreeSet<(u8, u8)>, chosen: &BTreeSet<u8>) -> Vec<BTreeSet<u8>> {
        let open = pairs.iter().find(|(a, b)| a != b && !chosen.contains(a) && !chosen.contains(b));
        let Some((a, b)) = open else { return Vec::from([chosen.clone()]) };
        let with = |node: u8| chosen.iter().copied().chain([node]).collect();
        [a, b].into_iter().flat_map(|node| by_brute_force(pairs, &with(*node))).collect()
    }

    fn is_cover(pairs: &BTreeSet<(u8, u8)>, cover: &BTreeSet<u8>) -> bool {
        pairs.iter().all(|(a, b)| a == b || cover.contains(a) || cover.contains(b))
    }

    proptest! {
        #[test]
        fn it_is_the_best_of_all_covers(pairs in btree_set((0_u8..8, 0_u8..8), 0..12)) {
            let all = by_brute_force(&pairs, &BTreeSet::new());
            let fewest = all.iter().map(BTreeSet::len).min().unwrap_or(0);
            let smallest = all.into_iter().filter(|cover| cover.len() == fewest);
            // From the youngest down.
            let best = smallest.max_by_key(|cover| cover.iter().rev().copied().collect::<Vec<_>>());
            prop_assert_eq!(Some(smallest_cover(&pairs)), best);
        }

        #[test]
        fn beyond_the_exact_size_it_is_still_a_cover(pairs in btree_set((0_u8..40, 0_u8..40), 0..120)) {
            let cover = smallest_cover(&pairs);
            prop_assert!(is_cover(&pairs, &cover));
            prop_assert!(cover.iter().all(|node| pairs.iter().any(|(a, b)| a == node || b == node)));
        }
    }
}
