//! A smallest cover of pairs, by the words of the rule and by trying all sets: of few nodes there are few.

use std::collections::BTreeSet;

/// The fewest of these nodes without which no pair is left. They are given from the oldest to the youngest; of several smallest covers the one with the younger
/// nodes is taken, compared from the youngest down.
pub(super) fn smallest<N: Copy + Ord>(nodes: &[N], pairs: &BTreeSet<(N, N)>) -> BTreeSet<N> {
    let has = |set: u32, node: &N| {
        nodes.iter().position(|other| other == node).is_some_and(|place| set & (1 << place) != 0)
    };
    let counts = |(one, other): &&(N, N)| one != other && nodes.contains(one) && nodes.contains(other);
    let covers =
        |set: &u32| pairs.iter().filter(counts).all(|(one, other)| has(*set, one) || has(*set, other));
    let sets = (0..1_u32 << nodes.len()).rev().filter(covers);
    let best = sets.min_by_key(|set| set.count_ones()).unwrap_or_default();
    nodes.iter().filter(|node| has(best, node)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_and_of_equals_the_younger() {
        let cover = |pairs: &[(u8, u8)]| smallest(&[0, 1, 2, 3], &pairs.iter().copied().collect());
        assert_eq!(cover(&[]), [].into());
        assert_eq!(cover(&[(0, 2)]), [2].into());
        assert_eq!(cover(&[(0, 2), (0, 3)]), [0].into());
        assert_eq!(cover(&[(0, 1), (1, 2), (2, 3)]), [1, 3].into());
        assert_eq!(cover(&[(0, 9)]), [].into(), "a node that is not there");
    }
}
