//! Who voted in the last minutes, and who of them may still be removed for bad links.
//!
//! The promise: of the voters' list as it was [`VOTERS_AGE`] ago, and of every list since, at most a minority is removed in this way, however many rounds and
//! coordinators there are.
//!
//! Every node notes the lists as its table shows them, by its own clock, in office or not: so a coordinator knows those of the terms before its own. A node learns
//! of a list late, never early, so it keeps one for longer rather than for shorter.
//!
//! ```text
//! <------------------- VOTERS_AGE ------------------->
//! ---- unknown ----|------- lists that were noted ----now
//!                  `knows since: it joined, started again, or took a whole table with another list
//! ```
//!
//! Of the unknown part it knows who was removed for bad links. Any member that it found at its end may have voted there, on a list of three: so of these one may go
//! if nobody else was removed then or since, and else none, until the unknown part is too long ago to count.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use core::time::Duration;

use crate::table::Table;
use crate::time::Timestamp;
use crate::voters::VoterId;

/// The voters' list that was in force so long ago bounds how many are removed.
pub(super) const VOTERS_AGE: Duration = Duration::from_secs(5 * 60);

/// The voters' lists as one node has seen them.
#[derive(Clone, Debug, Default)]
pub struct VoterHistory {
    /// Since when each was in force, up to the one of [`VOTERS_AGE`] ago.
    lists: VecDeque<(Timestamp, BTreeSet<VoterId>)>,
    /// When they last changed.
    changed_at: Timestamp,
    /// Since when it knows of all lists.
    knows_since: Timestamp,
    /// The members that it found then, as what they vote.
    found: BTreeSet<VoterId>,
}

impl VoterHistory {
    /// Notes who votes by the table.
    pub fn note(&mut self, now: Timestamp, table: &Table) {
        self.changed_at = now;
        let voters = &table.voters().now;
        match self.lists.back_mut() {
            Some((_, last)) if last == voters => {}
            // While a list only grows nobody is lost: a young cluster is not bound by the few that voted at first.
            Some((_, last)) if last.is_subset(voters) => last.clone_from(voters),
            Some(_) | None => self.lists.push_back((now, voters.clone())),
        }
        while self.lists.get(1).is_some_and(|(since, _)| now.since(*since) >= VOTERS_AGE) {
            self.lists.pop_front();
        }
    }

    /// Notes who votes by a table of which it does not know how it came to be: there may have been lists before that it never saw.
    pub fn begin(&mut self, now: Timestamp, table: &Table, is_durable: bool) {
        self.note(now, table);
        self.knows_since = now;
        // A store votes alone.
        self.found =
            if table.voters().names(VoterId::STORE) { BTreeSet::new() } else { electors(table, is_durable) };
    }

    /// When the lists last changed, as far as it knows.
    pub(super) fn changed_at(&self) -> Timestamp {
        self.changed_at
    }

    /// Whether that member may be removed for bad links. `removed` are those that were and have not come back, and when.
    pub(super) fn allows(
        &self,
        now: Timestamp,
        voter: VoterId,
        removed: &BTreeMap<VoterId, Timestamp>,
    ) -> bool {
        if self.found.contains(&voter) && now.since(self.knows_since) < VOTERS_AGE {
            let counts = |at: &Timestamp| self.knows_since.since(*at) < VOTERS_AGE;
            if removed.values().any(counts) {
                return false;
            }
        }
        let replaced_at = self.lists.iter().skip(1).map(|(since, _)| *since).chain([Timestamp::NEVER]);
        let lately = self.lists.iter().zip(replaced_at).filter(|(_, until)| now.since(*until) < VOTERS_AGE);
        let naming = lately.map(|((_, list), _)| list).filter(|list| list.contains(&voter));
        naming.into_iter().all(|list| {
            let gone = list.iter().filter(|voter| removed.contains_key(voter)).count();
            2 * (gone + 1) < list.len()
        })
    }
}

/// The members, as what they vote if they do.
fn electors(table: &Table, is_durable: bool) -> BTreeSet<VoterId> {
    let members = table.members().iter();
    members.map(|(uid, member)| if is_durable { member.voter() } else { VoterId::of_life(*uid) }).collect()
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec::Vec;

    use super::*;
    use crate::incarnation::{Address, Facts, Incarnation, NodeId, Uid};
    use crate::log::Entry;
    use crate::table::{Admission, Change, Cluster};
    use crate::version::{Term, Version};

    fn voters(numbers: impl IntoIterator<Item = u64>) -> BTreeSet<VoterId> {
        numbers.into_iter().filter_map(VoterId::new).collect()
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_millis(1000 * seconds)
    }

    /// A table with these members and voters.
    fn table(members: impl IntoIterator<Item = u64>, list: impl IntoIterator<Item = u64>) -> Table {
        let founder = Uid::new(1).expect("not 0");
        let mut table = Table::new(Cluster { name: 1, era: 1, founder });
        let mut index = 0;
        let mut apply = |entry: Entry<Change>| {
            index += 1;
            table.apply(Version { term: Term::ZERO, index }, &entry);
        };
        apply(Entry::Voters { now: voters(list), next: BTreeSet::new() });
        for uid in members {
            let address = Address::new(format!("n{uid}:1"));
            let incarnation = Incarnation { address, uid: Uid::new(uid).expect("not 0") };
            let facts = Facts {
                id: NodeId::new("n"),
                roles: [].into(),
                app_version: "".into(),
                zone: "".into(),
                disk: None,
            };
            apply(Entry::Payload(Change::Admit(Admission { incarnation, facts: facts.into() }.into())));
        }
        table
    }

    fn with_list(list: impl IntoIterator<Item = u64>) -> Table {
        table([], list)
    }

    /// Who of those may be removed after the others were, at these seconds.
    fn allowed(
        history: &VoterHistory,
        seconds: u64,
        of: impl IntoIterator<Item = u64>,
        removed: &[(u64, u64)],
    ) -> Vec<u64> {
        let removed = removed
            .iter()
            .map(|(number, seconds)| (VoterId::new(*number).expect("not 0"), at(*seconds)))
            .collect();
        let allows =
            |number: &u64| history.allows(at(seconds), VoterId::new(*number).expect("not 0"), &removed);
        of.into_iter().filter(allows).collect()
    }

    #[test]
    fn at_most_a_minority_of_the_voters_of_five_minutes_ago_is_removed() {
        let mut history = VoterHistory::default();
        history.note(at(0), &with_list(1..=5));
        assert_eq!(allowed(&history, 0, 1..=9, &[]), (1..=9).collect::<Vec<_>>());
        history.note(at(20), &with_list([1, 2, 3, 4, 6]));
        assert_eq!(allowed(&history, 20, 1..=9, &[(5, 19)]), (1..=9).collect::<Vec<_>>());
        history.note(at(40), &with_list([1, 2, 3, 6, 7]));
        // Two of the five are gone: the other three stay, and the new voters are not protected.
        let gone = [(4, 39), (5, 19)];
        assert_eq!(allowed(&history, 40, 1..=9, &gone), (6..=9).collect::<Vec<_>>());
        assert_eq!(allowed(&history, 319, [3], &gone), []);
        // The list of five minutes ago lost one, and the present one nobody.
        assert_eq!(allowed(&history, 340, [3], &gone), [3]);
    }

    /// The one of them that was replaced counts for as long as the others, though a longer one is in force.
    #[test]
    fn a_list_of_three_that_grew_by_others_counts_for_five_minutes() {
        let mut history = VoterHistory::default();
        history.note(at(0), &with_list([1, 2, 3]));
        history.note(at(10), &with_list([1, 2, 4]));
        history.note(at(60), &with_list([1, 2, 4, 5, 6]));
        assert_eq!(allowed(&history, 70, [1, 2, 4, 5, 6], &[(3, 9)]), [4, 5, 6]);
        assert_eq!(allowed(&history, 311, [1, 2, 4, 5, 6], &[(3, 9)]), [1, 2, 4, 5, 6]);
    }

    #[test]
    fn a_list_that_only_grew_counts_as_what_it_grew_to() {
        let mut history = VoterHistory::default();
        history.note(at(0), &with_list([1]));
        assert_eq!(allowed(&history, 0, [1], &[]), [], "the only voter");
        history.note(at(10), &with_list([1, 2, 3]));
        assert_eq!(allowed(&history, 10, [1, 2, 3], &[]), [1, 2, 3]);
    }

    /// Of those that it found one may go, and none if another one was removed within five minutes before, or since.
    #[test]
    fn a_node_that_joined_lately_takes_everybody_for_one_of_three_voters() {
        let mut history = VoterHistory::default();
        history.begin(at(400), &table(1..=7, 1..=5), false);
        let all = || 1..=9;
        assert_eq!(allowed(&history, 410, all(), &[]), (1..=9).collect::<Vec<_>>());
        assert_eq!(allowed(&history, 410, all(), &[(9, 101)]), [8, 9], "removed before it came");
        assert_eq!(allowed(&history, 410, all(), &[(9, 99)]), (1..=9).collect::<Vec<_>>(), "long before");
        assert_eq!(allowed(&history, 600, all(), &[(5, 590)]), [8, 9], "removed since");
        assert_eq!(allowed(&history, 700, all(), &[(5, 590)]), (1..=9).collect::<Vec<_>>());
    }

    #[test]
    fn a_founder_and_one_whose_store_votes_know_of_nobody_before() {
        let mut history = VoterHistory::default();
        history.begin(at(0), &table([], []), false);
        assert_eq!(allowed(&history, 1, [1, 2], &[(3, 1)]), [1, 2]);
        history.begin(at(0), &table(1..=3, [VoterId::STORE.get()]), false);
        assert_eq!(allowed(&history, 1, [1, 2], &[(3, 1)]), [1, 2]);
    }
}
