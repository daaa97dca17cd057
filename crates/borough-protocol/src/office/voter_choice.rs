//! Who should vote: the quorum system that a downing strategy is.
//!
//! Strategies are no second opinion on who lives: they choose the voters, and a quorum of those decides everything.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::settings::Strategy;
use crate::version::Version;
use crate::voters::VoterId;

/// A member that could vote.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Its identity as a voter.
    pub voter: VoterId,
    /// Its age.
    pub admission: Version,
    /// Where it stands; empty if nobody said.
    pub zone: &'a str,
}

/// Out of whom the voters are chosen.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// The members that are there and stay.
    pub candidates: &'a [Candidate<'a>],
    /// Those that vote now: a strategy whose list never shrinks keeps them, dead or not, until there is somebody in their place.
    pub voting: &'a BTreeSet<VoterId>,
    /// Of these, those that are no members at the moment and expected back, because their votes are on their disks: a crash makes no list shorter.
    pub expected: &'a BTreeSet<VoterId>,
}

/// Who should vote; the answer is empty if nobody is there.
pub fn wanted(strategy: Strategy, max_voters: usize, choice: &Choice<'_>) -> BTreeSet<VoterId> {
    let Choice { candidates, voting, expected } = choice;
    let there = candidates.len();
    match strategy {
        Strategy::KeepMajority | Strategy::DownAll => {
            let size = odd((there + expected.len()).min(max_voters));
            filled(oldest(candidates, size), size, expected)
        }
        Strategy::KeepOldest => oldest(candidates, there.min(1)),
        // The store, from the founding on and for ever.
        Strategy::LeaseMajority => (*voting).clone(),
        Strategy::StaticQuorum { quorum } => {
            let full = 2 * quorum - 1;
            let size = odd(there.min(full)).max(voting.len().min(full));
            let is_there = |voter: &VoterId| candidates.iter().any(|candidate| candidate.voter == *voter);
            let absent = voting.iter().copied().filter(|voter| !is_there(voter)).collect();
            filled(oldest(candidates, size), size, &absent)
        }
    }
}

/// With absent voters in the places that are left; empty as long as nobody is there.
fn filled(mut chosen: BTreeSet<VoterId>, size: usize, absent: &BTreeSet<VoterId>) -> BTreeSet<VoterId> {
    let missing = size.saturating_sub(chosen.len());
    chosen.extend(absent.iter().copied().take(missing));
    chosen
}

/// The largest odd number up to `count`.
const fn odd(count: usize) -> usize {
    if count == 0 { 0 } else { count - (count + 1) % 2 }
}

/// The `size` oldest, spread over the zones: of each zone as many as of the others, as far as there are.
fn oldest(candidates: &[Candidate<'_>], size: usize) -> BTreeSet<VoterId> {
    let mut by_age: Vec<&Candidate<'_>> = candidates.iter().collect();
    by_age.sort_by_key(|candidate| candidate.admission);
    let mut in_zone: BTreeMap<&str, usize> = BTreeMap::new();
    let mut chosen = BTreeSet::new();
    while chosen.len() < size && !by_age.is_empty() {
        let of_zone = |candidate: &Candidate<'_>| in_zone.get(candidate.zone).copied().unwrap_or(0);
        let best = (0..by_age.len()).min_by_key(|&place| (of_zone(by_age[place]), place)).unwrap_or(0);
        let candidate = by_age.remove(best);
        *in_zone.entry(candidate.zone).or_insert(0) += 1;
        chosen.insert(candidate.voter);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Term;

    fn uids(numbers: &[u64]) -> BTreeSet<VoterId> {
        numbers.iter().filter_map(|&number| VoterId::new(number)).collect()
    }

    fn check(strategy: Strategy, there: &[(u64, &'static str)], voting: &[u64], chosen: &[u64]) {
        check_with(strategy, there, (voting, &[]), chosen);
    }

    fn check_with(
        strategy: Strategy,
        there: &[(u64, &'static str)],
        (voting, expected): (&[u64], &[u64]),
        chosen: &[u64],
    ) {
        let candidates: Vec<Candidate<'_>> = there
            .iter()
            .map(|&(number, zone)| Candidate {
                voter: VoterId::new(number).expect("not 0"),
                // Their age is the order in which they are written, not that of their uids.
                admission: Version {
                    term: Term::new(1),
                    index: there.iter().position(|other| other.0 == number).expect("there") as u64,
                },
                zone,
            })
            .collect();
        let choice = Choice { candidates: &candidates, voting: &uids(voting), expected: &uids(expected) };
        assert_eq!(wanted(strategy, 5, &choice), uids(chosen), "{strategy:?} {there:?}");
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
    fn a_crash_makes_no_list_of_durable_voters_shorter() {
        type Case = (&'static [u64], &'static [u64], &'static [u64]);
        let cases: &[Case] = &[
            // One of three is away: it stays on the list, until somebody is there for it.
            (&[9, 1], &[5], &[9, 1, 5]),
            (&[9, 1, 4], &[5], &[9, 1, 4]),
            (&[9], &[1, 5], &[9, 1, 5]),
            (&[9, 1, 5, 4], &[2], &[9, 1, 5, 4, 2]),
            (&[9, 1, 5, 4, 7], &[2], &[9, 1, 5, 4, 7]),
            (&[9, 1], &[], &[9]),
        ];
        for (there, expected, chosen) in cases {
            check_with(Strategy::KeepMajority, &plain(there), (expected, expected), chosen);
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
