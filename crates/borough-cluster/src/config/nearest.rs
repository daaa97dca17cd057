//! The right name that somebody probably meant.

/// The candidate that is nearest to what was said, if one is near enough to be meant.
///
/// A key whose last word is right and stands in the wrong section is near, however its section is called.
pub(super) fn nearest<'a>(said: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let bound = (said.chars().count() / 4).max(2);
    let near = candidates.into_iter().filter_map(|candidate| {
        let apart = distance(said, candidate);
        let is_misplaced = last(said) == last(candidate);
        (apart <= bound || is_misplaced).then_some((apart, candidate))
    });
    near.min().map(|(_, candidate)| candidate)
}

/// How many letters must be put in, taken out, changed, or swapped with the next (Damerau, without overlaps).
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut before = vec![0; other.len() + 1];
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let changed = above[j] + usize::from(a != b);
            let mut least = changed.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == other[j - 1] && one[i - 1] == *b {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_letters() {
        for (one, other, apart) in [
            ("", "", 0),
            ("", "abc", 3),
            ("pause", "pause", 0),
            ("pasue", "pause", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!((distance(one, other), distance(other, one)), (apart, apart), "{one} {other}");
        }
    }

    #[test]
    fn the_nearest_is_found_and_nothing_where_none_is_near() {
        let known = ["cluster.max_pause", "cluster.max_voters", "node.listen"];
        assert_eq!(nearest("cluster.max_paus", known), Some("cluster.max_pause"));
        assert_eq!(nearest("cluster.maxvoters", known), Some("cluster.max_voters"));
        assert_eq!(nearest("max_pause", known), Some("cluster.max_pause"));
        assert_eq!(nearest("cluster.listen", known), Some("node.listen"));
        assert_eq!(nearest("colour", known), None);
    }
}
