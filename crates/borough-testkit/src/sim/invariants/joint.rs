//! The voters' lists change only jointly: from a list to that list and the next together, from both to the next.
//!
//! A change by which one list follows another at once would let two majorities that share nobody decide. And only who votes
//! in the next list ends the joint phase: anybody else could be left in office with a list that does not name it.

use std::collections::BTreeMap;

use borough_protocol::table::{Cluster, Table};
use borough_protocol::version::Term;
use borough_protocol::voters::{VoterId, Voters};

use crate::sim::violation::Violation;

/// The committed lists of each cluster, by the place of the entry that brought them.
#[derive(Debug, Default)]
pub(super) struct Joint {
    lists: BTreeMap<Cluster, BTreeMap<u64, Voters>>,
}

impl Joint {
    /// Somebody's table has another version. `holder` says who was in office in a term.
    pub(super) fn moves(
        &mut self,
        table: &Table,
        holder: impl Fn((Cluster, Term)) -> Option<VoterId>,
    ) -> Result<(), Violation> {
        let lists = self.lists.entry(table.cluster()).or_default();
        let voters = table.voters();
        if voters.now.is_empty() || lists.contains_key(&voters.id.index) {
            return Ok(());
        }
        let place = voters.id.index;
        let below = lists.range(..place).next_back().map(|(_, below)| (below, voters));
        let above = lists.range(place..).next().map(|(_, above)| (voters, above));
        for (from, to) in below.into_iter().chain(above) {
            // Lists between that nobody was seen with may have come and gone, one at each place.
            if steps(from, to) > to.id.index - from.id.index {
                let text = format!("the voters changed from {from:?} to {to:?}");
                return Err(Violation::Safety("joint", text));
            }
        }
        let ended_by = holder((table.cluster(), voters.id.term));
        let is_end = below.is_some_and(|(below, _)| below.is_joint() && below.next == voters.now);
        let is_out = |voter: &VoterId| is_end && !voters.is_joint() && !voters.names(*voter);
        if let Some(voter) = ended_by.filter(is_out) {
            let text = format!("{voter:?} ended a joint phase after which it is no voter: {voters:?}");
            return Err(Violation::Safety("joint", text));
        }
        lists.insert(place, voters.clone());
        Ok(())
    }
}

/// How many joint changes lead from one state of the lists to another, at least.
fn steps(from: &Voters, to: &Voters) -> u64 {
    if from.now == to.now && from.next == to.next {
        return 0;
    }
    // Whoever is on the way to a list can only arrive there first; whoever begins, begins from a list alone.
    let (arrived, first) = if from.is_joint() { (&from.next, 1) } else { (&from.now, 0) };
    let last = u64::from(to.is_joint());
    first + if *arrived == to.now { 0 } else { 2 } + last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::invariants::samples::{table, voter, voters};

    #[test]
    fn a_list_that_follows_another_at_once_is_found() {
        let mut joint = Joint::default();
        assert_eq!(joint.moves(&table(&[(1, voters(&[1], &[]))]), |_| None), Ok(()));
        let at_once = table(&[(1, voters(&[1], &[])), (1, voters(&[1, 2, 3], &[]))]);
        assert!(joint.moves(&at_once, |_| None).is_err());
    }

    #[test]
    fn a_joint_change_passes_also_when_its_middle_was_never_seen() {
        let entries = [(1, voters(&[1], &[])), (1, voters(&[1], &[1, 2, 3])), (1, voters(&[1, 2, 3], &[]))];
        let mut joint = Joint::default();
        for length in [1, 3, 2] {
            assert_eq!(joint.moves(&table(&entries[..length]), |_| None), Ok(()), "{length}");
        }
    }

    #[test]
    fn a_joint_phase_that_is_ended_by_one_who_goes_is_found() {
        let entries = [(1, voters(&[1], &[2])), (1, voters(&[2], &[]))];
        for (ended_by, is_found) in [(1, true), (2, false)] {
            let mut joint = Joint::default();
            let holder = |_| Some(voter(ended_by));
            assert_eq!(joint.moves(&table(&entries[..1]), holder), Ok(()));
            assert_eq!(joint.moves(&table(&entries), holder).is_err(), is_found);
        }
    }

    #[test]
    fn each_step_counts() {
        let lists = |now: &[u64], next: &[u64]| Voters {
            now: now.iter().map(|n| voter(*n)).collect(),
            next: next.iter().map(|n| voter(*n)).collect(),
            ..Voters::default()
        };
        let cases = [
            (lists(&[1], &[]), lists(&[1], &[2]), 1),
            (lists(&[1], &[2]), lists(&[2], &[]), 1),
            (lists(&[1], &[]), lists(&[2], &[]), 2),
            (lists(&[1], &[2]), lists(&[2], &[3]), 2),
            (lists(&[1], &[]), lists(&[2], &[3]), 3),
            (lists(&[1], &[2]), lists(&[3], &[]), 3),
            (lists(&[1], &[2]), lists(&[3], &[4]), 4),
        ];
        for (from, to, expected) in cases {
            assert_eq!(steps(&from, &to), expected, "{from:?} {to:?}");
        }
    }
}
