//! Who should vote: the quorum system that a downing strategy is.
//!
//! Strategies are no second opinion on who lives: they choose the voters, and a quorum of those decides everything.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::incarnation::Uid;
use crate::settings::Strategy;
use crate::version::Version;

/// A member that could vote.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Who.
    pub uid: Uid,
    /// Its age.
    pub admission: Version,
    /// Where it stands; empty if nobody said.
    pub zone: &'a str,
}

/// Who should vote, out of those that are there and stay; the answer is empty if nobody is.
///
/// `voting` are those that vote now: a strategy whose list never shrinks keeps them, dead or not, until there is somebody
/// in their place.
pub fn wanted(
    strategy: Strategy,
    max_voters: usize,
    candidates: &[Candidate<'_>],
    voting: &BTreeSet<Uid>,
) -> BTreeSet<Uid> {
    let there = candidates.len();
    match strategy {
        Strategy::KeepMajority | Strategy::DownAll => oldest(candidates, odd(there.min(max_voters))),
        Strategy::KeepOldest => oldest(candidates, there.min(1)),
        // The store, from the founding on and for ever.
        Strategy::LeaseMajority => voting.clone(),
        Strategy::StaticQuorum { quorum } => {
            let full = 2 * quorum - 1;
            let size = odd(there.min(full)).max(voting.len().min(full));
            let mut wanted = oldest(candidates, size);
            let missing = size - wanted.len();
            let absent =
                voting.iter().filter(|uid| candidates.iter().all(|candidate| candidate.uid != **uid));
            wanted.extend(absent.take(missing));
            wanted
        }
    }
}

/// The largest odd number up to `count`.
const fn odd(count: usize) -> usize {
    if count == 0 { 0 } else { count - (count + 1) % 2 }
}

/// The `size` oldest, spread over the zones: of each zone as many as of the others, as far as there are.
fn oldest(candidates: &[Candidate<'_>], size: usize) -> BTreeSet<Uid> {
    let mut by_age: Vec<&Candidate<'_>> = candidates.iter().collect();
    by_age.sort_by_key(|candidate| candidate.admission);
    let mut in_zone: BTreeMap<&str, usize> = BTreeMap::new();
    let mut chosen = BTreeSet::new();
    while chosen.len() < size && !by_age.is_empty() {
        let of_zone = |candidate: &Candidate<'_>| in_zone.get(candidate.zone).copied().unwrap_or(0);
        let best = (0..by_age.len()).min_by_key(|&place| (of_zone(by_age[place]), place)).unwrap_or(0);
        let candidate = by_age.remove(best);
        *in_zone.entry(candidate.zone).or_insert(0) += 1;
        chosen.insert(candidate.uid);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Term;

    fn uids(numbers: &[u64]) -> BTreeSet<Uid> {
        numbers.iter().filter_map(|&number| Uid::new(number)).collect()
    }

    fn check(strategy: Strategy, there: &[(u64, &'static str)], voting: &[u64], expected: &[u64]) {
        let candidates: Vec<Candidate<'_>> = there
            .iter()
            .map(|&(number, zone)| Candidate {
                uid: Uid::new(number).expect("not 0"),
                // Their age is the order in which they are written, not that of their uids.
                admission: Version {
                    term: Term::new(1),
                    index: there.iter().position(|other| other.0 == number).expect("there") as u64,
                },
                zone,
            })
            .collect();
        assert_eq!(wanted(strategy, 5, &candidates, &uids(voting)), uids(expected), "{strategy:?} {there:?}");
    }

    fn plain(numbers: &[u64]) -> Vec<(u64, &'static str)> {
        numbers.iter().map(|&number| (number, "")).collect()
    }

    #[test]
    fn keep_majority_wants_the_largest_odd_number_of_the_oldest() {
        let cases: &[(&[u64], &[u64])] = &[
            (&[], &[]),
            (&[9], &[9]),
            (&[9, 1], &[9]),
            (&[9, 1, 5], &[9, 1, 5]),
            (&[9, 1, 5, 4], &[9, 1, 5]),
            (&[9, 1, 5, 4, 2], &[9, 1, 5, 4, 2]),
            (&[9, 1, 5, 4, 2, 7, 8], &[9, 1, 5, 4, 2]),
        ];
        for (there, expected) in cases {
            check(Strategy::KeepMajority, &plain(there), &[], expected);
            check(Strategy::DownAll, &plain(there), &[], expected);
        }
    }

    #[test]
    fn keep_oldest_wants_the_oldest_alone() {
        check(Strategy::KeepOldest, &plain(&[3, 1, 2]), &[1], &[3]);
        check(Strategy::KeepOldest, &[], &[1], &[]);
    }

    #[test]
    fn the_store_votes_for_ever() {
        check(Strategy::LeaseMajority, &plain(&[3, 1, 2]), &[9], &[9]);
    }

    #[test]
    fn a_static_quorum_grows_to_its_size_and_never_shrinks() {
        let strategy = Strategy::StaticQuorum { quorum: 2 };
        check(strategy, &plain(&[1]), &[1], &[1]);
        check(strategy, &plain(&[1, 2]), &[1], &[1]);
        check(strategy, &plain(&[1, 2, 3]), &[1], &[1, 2, 3]);
        check(strategy, &plain(&[1, 2, 3, 4]), &[1, 2, 3], &[1, 2, 3]);
        // Voter 3 is gone: 4 takes its place; without a 4 it stays on the list.
        check(strategy, &plain(&[1, 2, 4]), &[1, 2, 3], &[1, 2, 4]);
        check(strategy, &plain(&[1, 2]), &[1, 2, 3], &[1, 2, 3]);
        check(strategy, &plain(&[1]), &[1, 2, 3], &[1, 2, 3]);
    }

    #[test]
    fn voters_are_spread_over_the_zones() {
        let there = [(1, "a"), (2, "a"), (3, "a"), (4, "b"), (5, "c"), (6, "b")];
        check(Strategy::KeepMajority, &there, &[], &[1, 4, 5, 2, 6]);
        check(Strategy::KeepMajority, &there[..4], &[], &[1, 4, 2]);
    }
}
