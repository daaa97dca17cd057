//! Tests of the register: what each transaction compares, and that none does anything twice.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::incarnation::{Address, Facts, Incarnation, NodeId, Uid};
use crate::lease::{Renew, Verdict};
use crate::log::register::{self, News, Swap};
use crate::settings::{ClusterSettings, Settings};
use crate::table::{Admission, Change, Cluster, Removal, Table};
use crate::version::{Term, Version};
use crate::voters::VoterId;

fn uid(number: u64) -> Uid {
    Uid::new(number).expect("not 0")
}

fn cluster(founder: u64) -> Cluster {
    Cluster { name: 7, era: 1, founder: uid(founder) }
}

fn found(founder: u64, instead_of: Option<Cluster>) -> Ask {
    let settings = ClusterSettings::of(&Settings::default());
    Ask::Found { cluster: cluster(founder), settings, instead_of }
}

fn ask(swap: Swap<Change>, known: Version, of_all: bool) -> Ask {
    Ask::Log { cluster: cluster(1), ask: register::Ask { number: 1, known, of_all, swap } }
}

fn admit(number: u64) -> Change {
    let address = Address::new(alloc::format!("n{number}"));
    let facts = Facts {
        id: NodeId::new("n"),
        roles: Arc::from([]),
        app_version: "1".into(),
        zone: "".into(),
        disk: None,
    };
    let incarnation = Incarnation { address, uid: uid(number) };
    Change::Admit(Arc::new(Admission { incarnation, facts: Arc::new(facts) }))
}

/// Founded by 1, which is in office.
fn founded() -> Register {
    let mut register = Register::default();
    register.handle(uid(1), found(1, None));
    register
}

fn version(register: &Register) -> Version {
    register.table().expect("founded").version()
}

fn append(register: &mut Register, from: u64, changes: &[Change]) {
    let (term, last) = (register.office().0, version(register));
    let swap = Swap::Append { term, last, payloads: changes.into() };
    register.handle(uid(from), ask(swap, last, false));
}

fn stand(register: &mut Register, from: u64, term: Term) {
    register.handle(uid(from), ask(Swap::Stand { term }, Version::ZERO, false));
}

fn renew(
    register: &mut Register,
    from: u64,
    admission: Option<Version>,
    seq: u64,
    answered: u64,
) -> Option<Verdict> {
    let (voters, version) = (Version::ZERO, Version::ZERO);
    let renew = Renew { admission, voters, seq, answered, version, feed: false };
    match register.handle(uid(from), Ask::Renew { cluster: cluster(1), renew }) {
        Answer::Renewed(renewed) => Some(renewed.verdict),
        Answer::Empty | Answer::Holds { .. } | Answer::Log(_) => None,
    }
}

fn look(register: &mut Register, known: Version, of_all: bool) -> register::Answer<Change, Arc<Table>> {
    match register.handle(uid(50), ask(Swap::None, known, of_all)) {
        Answer::Log(answer) => answer,
        Answer::Empty | Answer::Holds { .. } | Answer::Renewed(_) => panic!("no answer of the log"),
    }
}

fn admission(register: &Register, number: u64) -> Option<Version> {
    register.table().and_then(|table| table.member(uid(number))).map(|member| member.admission)
}

#[test]
fn of_two_founders_the_first_wins_and_the_other_learns_of_it() {
    let mut register = founded();
    let answer = register.handle(uid(2), found(2, None));
    assert!(matches!(answer, Answer::Holds { cluster: held, closed: false, .. } if held == cluster(1)));
    assert_eq!(register.office(), (Term::new(1), Some(uid(1))));
    assert_eq!(register.table().expect("founded").voters().now, BTreeSet::from([VoterId::STORE]));
}

#[test]
fn only_a_cluster_that_was_shut_down_can_be_replaced_and_terms_go_on() {
    let mut register = founded();
    register.handle(uid(2), found(2, Some(cluster(1))));
    assert_eq!(register.table().expect("founded").cluster(), cluster(1));
    append(&mut register, 1, &[Change::Close]);
    let before = version(&register);
    register.handle(uid(2), found(2, Some(cluster(1))));
    register.handle(uid(3), found(3, Some(cluster(1))));
    assert_eq!(register.table().expect("founded").cluster(), cluster(2));
    assert_eq!(register.office(), (Term::new(2), Some(uid(2))));
    assert!(version(&register) > before);
}

#[test]
fn whoever_is_of_another_cluster_is_told_which_one_is_there() {
    let mut register = founded();
    let other = Cluster { era: 9, ..cluster(1) };
    let renew = Renew {
        admission: None,
        voters: Version::ZERO,
        seq: 1,
        answered: 0,
        version: Version::ZERO,
        feed: false,
    };
    let answer = register.handle(uid(5), Ask::Renew { cluster: other, renew });
    assert!(matches!(answer, Answer::Holds { cluster: held, .. } if held == cluster(1)));
}

#[test]
fn of_two_that_stand_at_once_one_wins() {
    let mut register = founded();
    stand(&mut register, 2, Term::new(1));
    stand(&mut register, 3, Term::new(1));
    assert_eq!(register.office(), (Term::new(2), Some(uid(2))));
    // Repeated, late, or of a term that is over: nothing.
    stand(&mut register, 2, Term::new(1));
    assert_eq!(register.office(), (Term::new(2), Some(uid(2))));
    assert_eq!(version(&register), Version { term: Term::new(2), index: 2 });
}

#[test]
fn an_append_of_an_older_term_of_another_node_or_behind_another_entry_changes_nothing() {
    let mut register = founded();
    let last = version(&register);
    let payloads: Arc<[Change]> = [admit(1)].into();
    stand(&mut register, 2, Term::new(1));
    for (from, term, last) in [
        (1, Term::new(1), last),
        (1, Term::new(2), version(&register)),
        (2, Term::new(1), version(&register)),
        (2, Term::new(2), last),
    ] {
        let before = version(&register);
        let swap = Swap::Append { term, last, payloads: payloads.clone() };
        register.handle(uid(from), ask(swap, last, false));
        assert_eq!(version(&register), before);
    }
    append(&mut register, 2, &[admit(1)]);
    assert!(admission(&register, 1).is_some());
}

#[test]
fn a_renewal_counts_only_while_the_table_has_that_admission() {
    let mut register = founded();
    assert_eq!(renew(&mut register, 1, None, 1, 0), Some(Verdict::NotYet));
    append(&mut register, 1, &[admit(1), admit(2)]);
    let admitted = admission(&register, 2);
    assert_eq!(renew(&mut register, 2, admitted, 1, 0), Some(Verdict::Acked));
    let anothers = admission(&register, 1);
    assert_eq!(renew(&mut register, 2, anothers, 2, 1), Some(Verdict::NotAdmitted));
    assert_eq!(renew(&mut register, 3, admitted, 1, 0), Some(Verdict::NotAdmitted));
    append(&mut register, 1, &[Change::Remove(uid(2), Removal::Quiet)]);
    // Also one that was sent before the removal and comes now.
    assert_eq!(renew(&mut register, 2, admitted, 1, 0), Some(Verdict::NotAdmitted));
    assert_eq!(renew(&mut register, 2, None, 3, 1), Some(Verdict::NotAdmitted));
    append(&mut register, 1, &[Change::Free(uid(2)), Change::Forget([uid(2)].into())]);
    assert_eq!(renew(&mut register, 2, admitted, 3, 1), Some(Verdict::NotAdmitted));
}

#[test]
fn renewals_never_go_back_and_those_of_the_deaf_and_the_removed_are_not_shown() {
    let mut register = founded();
    append(&mut register, 1, &[admit(1), admit(2)]);
    let admitted = admission(&register, 2);
    for (seq, answered, shown) in [(5, 4, 5), (3, 2, 5), (6, 5, 6), (7, 3, 6), (8, 7, 8)] {
        renew(&mut register, 2, admitted, seq, answered);
        let rows = look(&mut register, Version::ZERO, true).renewals;
        assert_eq!(rows, [(uid(2), shown)], "{seq}");
    }
    append(&mut register, 1, &[Change::Remove(uid(2), Removal::Quiet)]);
    renew(&mut register, 2, admitted, 9, 8);
    assert!(look(&mut register, Version::ZERO, true).renewals.is_empty());
}

#[test]
fn guests_that_no_longer_renew_are_forgotten_with_the_next_append() {
    let mut register = founded();
    renew(&mut register, 1, None, 1, 0);
    renew(&mut register, 9, None, 1, 0);
    append(&mut register, 1, &[admit(1)]);
    assert_eq!(look(&mut register, Version::ZERO, true).renewals, [(uid(1), 1)]);
}

#[test]
fn a_coordinator_that_removed_itself_is_in_office_no_more() {
    let mut register = founded();
    append(&mut register, 1, &[admit(1), Change::Remove(uid(1), Removal::Goodbye)]);
    assert_eq!(register.office(), (Term::new(1), None));
    stand(&mut register, 1, Term::new(1));
    assert_eq!(register.office(), (Term::new(1), None));
}

#[test]
fn who_is_far_behind_gets_the_whole_table() {
    let mut register = founded();
    append(&mut register, 1, &[admit(1)]);
    for _ in 0..150 {
        append(&mut register, 1, &[Change::Drain(uid(1)), Change::Drain(uid(1))]);
    }
    let last = version(&register);
    let News::Whole { version, state, .. } = look(&mut register, Version::ZERO, false).news else {
        panic!("entries that are no longer there");
    };
    assert_eq!((version, state.version()), (last, last));
    let known = Version { index: last.index - 3, ..last };
    let News::Entries(entries) = look(&mut register, known, false).news else { panic!("too much") };
    let places: Vec<u64> = entries.iter().map(|(version, _)| version.index).collect();
    assert_eq!(places, [last.index - 2, last.index - 1, last.index]);
}

/// Asks as nodes that follow different states would send them.
fn any_ask() -> impl Strategy<Value = (u64, Ask)> {
    let version = |(term, index)| Version { term: Term::new(term), index };
    let place = || (0..4_u64, 0..8_u64).prop_map(version);
    let swap = prop_oneof![
        (0..4_u64).prop_map(|term| Swap::Stand { term: Term::new(term) }),
        (0..4_u64, place(), 1..4_u64).prop_map(|(term, last, number)| Swap::Append {
            term: Term::new(term),
            last,
            payloads: [admit(number)].into(),
        }),
    ];
    prop_oneof![
        (1..4_u64, swap).prop_map(|(from, swap)| (from, ask(swap, Version::ZERO, true))),
        (1..4_u64).prop_map(|founder| (founder, found(founder, None))),
    ]
}

proptest! {
    #[test]
    fn an_ask_that_comes_again_changes_nothing(asks in prop::collection::vec(any_ask(), 1..60)) {
        let mut register = Register::default();
        for (from, ask) in asks {
            let before = (register.office().0, register.table().map(Table::version));
            register.handle(uid(from), ask.clone());
            let after = (register.office(), register.table().cloned());
            prop_assert!(before <= (after.0.0, after.1.as_ref().map(Table::version)));
            register.handle(uid(from), ask);
            prop_assert_eq!(after, (register.office(), register.table().cloned()));
        }
    }
}
