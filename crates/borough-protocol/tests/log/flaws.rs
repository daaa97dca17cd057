//! The judge is tested: each rule of consensus is broken once, by a schedule made for it, and the judge must say so; the same
//! schedule with the rule kept must leave it silent.

use borough_protocol::flaws::Flaw;
use borough_protocol::log::{Log, VotersChange};

use crate::carrier::uid;
use crate::group::{Group, among, uids};
use crate::toy::{Toy, ToyMessage};

type Schedule = fn(Option<Flaw>) -> Group<Toy>;

fn assert_found_only_when_broken(flaw: Flaw, schedule: Schedule) {
    let kept = schedule(None);
    assert_eq!(kept.judge.violation(), None, "the rule is kept");
    let broken = schedule(Some(flaw));
    assert!(broken.judge.violation().is_some(), "{flaw:?} was not noticed");
}

/// The coordinator and two newcomers go on with a list the old majority never had.
fn list_without_the_old_majority(broken: Option<Flaw>) -> Group<Toy> {
    let mut group = Group::<Toy>::voting(3, broken);
    group.add(4);
    group.add(5);
    group.change(1, VotersChange::AddLearner(uid(4)));
    group.deliver_all();
    group.change(1, VotersChange::AddLearner(uid(5)));
    group.deliver_all();
    group.change(1, VotersChange::Begin(uids([1, 4, 5])));
    group.deliver(among(&[1, 4, 5]));
    group.propose(1, 7);
    group.deliver(among(&[1, 4, 5]));
    group.stand(2);
    group.deliver(among(&[2, 3]));
    group.propose(2, 8);
    group.deliver(among(&[2, 3]));
    group
}

#[test]
fn voters_changed_by_the_new_majority_alone_is_found() {
    assert_found_only_when_broken(Flaw::VotersChangedByNewMajorityAlone, list_without_the_old_majority);
}

/// Two stand in one term, and the third is asked by both.
fn two_in_one_term(broken: Option<Flaw>) -> Group<Toy> {
    let mut group = Group::<Toy>::voting(3, broken);
    group.stand(2);
    group.stand(3);
    group.deliver_once(|_, to, _| to == 1);
    group.deliver_once(|_, _, _| true);
    group.lose_all();
    for (number, payload, side) in [(2, 7, among(&[1, 2])), (3, 8, among(&[1, 3]))] {
        if group.log(number).in_office() {
            group.propose(number, payload);
        }
        group.deliver(side);
    }
    group
}

#[test]
fn equal_terms_accepted_is_found() {
    assert_found_only_when_broken(Flaw::EqualTermsAccepted, two_in_one_term);
}

/// One that missed a commit stands.
fn office_for_an_old_log(broken: Option<Flaw>) -> Group<Toy> {
    let mut group = Group::<Toy>::voting(3, broken);
    group.propose(1, 7);
    group.deliver(among(&[1, 2]));
    group.stand(3);
    group.deliver(among(&[2, 3]));
    group
}

#[test]
fn office_with_its_own_copy_is_found() {
    assert_found_only_when_broken(Flaw::OfficeWithOwnCopy, office_for_an_old_log);
}

/// An entry of an older term reaches a majority and is overwritten all the same.
fn old_entry_on_a_majority(broken: Option<Flaw>) -> Group<Toy> {
    let mut group = Group::<Toy>::voting(5, broken);
    group.propose(1, 7);
    group.deliver_once(|_, to, _| to == 2);
    group.lose_all();
    let index = group.log(1).last_index();
    // 5 takes office with the votes of 3 and 4; only 1 hears of it, and gets nothing new.
    group.stand(5);
    group.deliver_once(among(&[3, 4, 5]));
    group.deliver_once(among(&[3, 4, 5]));
    assert!(group.log(5).in_office());
    group.deliver_once(|_, to, _| to == 1);
    group.lose_all();
    // 1 takes office again, and 3 gets the old entry from it, but not the one of the new term.
    group.stand(1);
    let up_to_the_entry = |message: &ToyMessage| match message {
        ToyMessage::Append { prev, .. } => prev.index < index,
        ToyMessage::Vote { .. }
        | ToyMessage::Granted { .. }
        | ToyMessage::Appended { .. }
        | ToyMessage::StandNow { .. } => true,
    };
    group.deliver(|from, to, message| from.max(to) <= 3 && up_to_the_entry(message));
    assert!(group.log(1).in_office());
    assert_eq!(group.log(3).last_index(), index);
    // 5 has a later term at that place. It left office when it heard of 1's term.
    group.beat(5);
    group.deliver(among(&[3, 5]));
    group.stand(5);
    group.deliver(among(&[2, 3, 4, 5]));
    assert!(group.log(5).in_office());
    group
}

#[test]
fn commit_counted_over_older_terms_is_found() {
    assert_found_only_when_broken(Flaw::CommitCountedOverOlderTerms, old_entry_on_a_majority);
}

/// Two newcomers become voters before they have anything, and get everything but the last entry.
fn voters_without_a_copy(broken: Option<Flaw>) -> Group<Toy> {
    let mut group = Group::<Toy>::founded(3, broken);
    group.change(1, VotersChange::Begin(uids(1..=3)));
    group.propose(1, 7);
    let index = group.log(1).last_index();
    group.deliver(|_, _, message| match message {
        ToyMessage::Append { prev, .. } => prev.index + 1 < index,
        ToyMessage::Vote { .. }
        | ToyMessage::Granted { .. }
        | ToyMessage::Appended { .. }
        | ToyMessage::StandNow { .. } => true,
    });
    for _ in 0..2 {
        group.stand(2);
        group.deliver(among(&[2, 3]));
    }
    group
}

#[test]
fn a_voter_counted_before_it_has_the_copy_is_found() {
    assert_found_only_when_broken(Flaw::VoterCountedBeforeItHasTheCopy, voters_without_a_copy);
}
