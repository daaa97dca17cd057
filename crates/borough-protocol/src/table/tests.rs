//! What each change does to the table, and that one which no longer fits does nothing.

mod shards;

use alloc::string::String;
use alloc::sync::Arc;

use super::*;
use crate::incarnation::{Address, NodeId};
use crate::version::Term;
use crate::voters::VoterId;

fn uid(number: u64) -> Uid {
    Uid::new(number).expect("not 0")
}

fn version(index: u64) -> Version {
    Version { term: Term::new(1), index }
}

fn admit(number: u64, address: &str) -> Entry<Change> {
    let facts = Facts {
        id: NodeId::new(address),
        roles: Arc::from([String::from("x")]),
        app_version: "1".into(),
        zone: "".into(),
        disk: None,
    };
    let incarnation = Incarnation { address: Address::new(address), uid: uid(number) };
    Entry::Payload(Change::Admit(Arc::new(Admission { incarnation, facts: Arc::new(facts) })))
}

fn table(entries: &[Entry<Change>]) -> (Table, Applied) {
    let mut table = Table::new(Cluster { name: 1, era: 1, founder: uid(1) });
    let mut last = Applied::Nothing;
    for (index, entry) in (1..).zip(entries) {
        last = table.apply(version(index), entry);
    }
    (table, last)
}

#[test]
fn an_admitted_node_is_as_old_as_its_entry() {
    let (table, applied) = table(&[Entry::Nothing, admit(7, "a:1")]);
    assert_eq!(applied, Applied::Admitted(uid(7)));
    assert_eq!(table.member(uid(7)).expect("admitted").admission, version(2));
}

#[test]
fn a_life_is_admitted_once_and_never_again() {
    let (table, applied) =
        table(&[admit(7, "a:1"), Entry::Payload(Change::Remove(uid(7), Removal::Quiet)), admit(7, "a:1")]);
    assert_eq!(applied, Applied::Nothing);
    assert!(table.member(uid(7)).is_none() && table.is_removed(uid(7)));
}

#[test]
fn two_lives_of_one_address_are_never_members_at_once() {
    assert_eq!(table(&[admit(7, "a:1"), admit(8, "a:1")]).1, Applied::Nothing);
    let remove = Entry::Payload(Change::Remove(uid(7), Removal::Replaced));
    assert_eq!(table(&[admit(7, "a:1"), remove, admit(8, "a:1")]).1, Applied::Admitted(uid(8)));
}

#[test]
fn what_a_removed_node_owned_waits_unless_it_said_goodbye() {
    for (why, freed) in [
        (Removal::Quiet, false),
        (Removal::Goodbye, true),
        (Removal::Replaced, false),
        (Removal::Operator, false),
        (Removal::CutOff, false),
    ] {
        let (table, _) = table(&[admit(7, "a:1"), Entry::Payload(Change::Remove(uid(7), why))]);
        assert_eq!(table.removed()[&uid(7)].freed, freed, "{why:?}");
    }
}

#[test]
fn only_what_is_freed_is_forgotten() {
    let remove = |number| Entry::Payload(Change::Remove(uid(number), Removal::Quiet));
    let entries = [
        admit(7, "a:1"),
        admit(8, "b:1"),
        remove(7),
        remove(8),
        Entry::Payload(Change::Free(uid(7))),
        Entry::Payload(Change::Forget(Arc::from([uid(7), uid(8)]))),
    ];
    let (table, _) = table(&entries);
    assert!(!table.is_removed(uid(7)) && table.is_removed(uid(8)));
}

#[test]
fn nobody_is_admitted_while_the_cluster_shuts_down() {
    assert_eq!(table(&[Entry::Payload(Change::Close), admit(7, "a:1")]).1, Applied::Nothing);
}

#[test]
fn an_entry_applied_twice_counts_once() {
    let (mut table, _) = table(&[admit(7, "a:1")]);
    let before = table.clone();
    assert_eq!(table.apply(version(1), &admit(7, "a:1")), Applied::Nothing);
    assert_eq!(table, before);
}

#[test]
#[should_panic(expected = "a table entry is missing")]
fn a_hole_is_never_passed_over() {
    let (mut table, _) = table(&[Entry::Nothing]);
    table.apply(version(3), &Entry::Nothing);
}

#[test]
fn the_most_voters_are_those_of_the_longest_list_that_was_in_force_alone() {
    let list = |numbers: &[u64]| numbers.iter().filter_map(|number| VoterId::new(*number)).collect();
    let voters = |now: &[u64], next: &[u64]| Entry::Voters { now: list(now), next: list(next) };
    let cases: &[(&[Entry<Change>], usize)] = &[
        (&[], 0),
        (&[voters(&[1], &[])], 1),
        (&[voters(&[1], &[]), voters(&[1], &[1, 2, 3])], 1),
        (&[voters(&[1], &[]), voters(&[1], &[1, 2, 3]), voters(&[1, 2, 3], &[])], 3),
        (&[voters(&[1, 2, 3], &[]), voters(&[1], &[])], 3),
    ];
    for (entries, most) in cases {
        assert_eq!(table(entries).0.most_voters(), *most, "{entries:?}");
    }
}
