//! The member's side: which answers make a lease, and how long it lasts.

use super::*;

/// A member that goes by the list, and has sent one renewal, at 1 s.
fn asked(list: Voters) -> Holder {
    asked_with(Flaws::default(), list)
}

fn asked_with(flaws: Flaws, list: Voters) -> Holder {
    let mut holder = Holder::new(at(1000), voter(ME), list, flaws);
    holder.admit(at(1000), version(5));
    ask(&mut holder, 1000);
    holder
}

/// Sends a renewal; says to whom.
fn ask(holder: &mut Holder, millis: u64) -> Vec<(VoterId, Renew)> {
    let mut out = vec![];
    holder.on_deadline(at(millis), &timing(), version(7), false, &mut out);
    assert!(!out.is_empty(), "it is not time");
    out
}

fn answer(holder: &mut Holder, millis: u64, from: u64, seq: u64, verdict: Verdict) -> Outcome {
    let renewed = Renewed { seq, coordinator: Some(uid(1)), verdict };
    holder.answered(at(millis), &timing(), voter(from), &renewed)
}

fn ack(holder: &mut Holder, millis: u64, from: u64, seq: u64) {
    assert_eq!(answer(holder, millis, from, seq, Verdict::Acked), Outcome::Noted);
}

#[test]
fn a_node_that_is_no_member_has_no_lease_whoever_acks() {
    let mut holder = Holder::new(at(1000), voter(ME), voters(1, &[1], &[]), Flaws::default());
    let sent = ask(&mut holder, 1000);
    assert_eq!(sent[0].1.admission, None);
    ack(&mut holder, 1010, 1, 1);
    assert_eq!(holder.standing(at(1010)), Standing::Guest);
    holder.admit(at(1020), version(5));
    assert_eq!(holder.standing(at(1020)), Standing::Suspended, "what was acked before counts for nothing");
}

#[test]
fn a_lease_lasts_from_the_sending_and_not_from_the_answers() {
    let mut holder = asked(voters(1, &[1, 2, 3], &[]));
    ack(&mut holder, 1600, 1, 1);
    assert_eq!(holder.standing(at(1600)), Standing::Suspended, "one of three");
    ack(&mut holder, 1700, 3, 1);
    assert_eq!(holder.standing(at(1700)), Standing::Running);
    assert_eq!(holder.lease_end(), at(1000) + timing().lease);
    assert_eq!(holder.standing(at(1999)), Standing::Running);
    assert_eq!(holder.standing(at(2000)), Standing::Suspended);
}

#[test]
fn answers_that_come_after_the_lease_would_have_ended_give_none() {
    let mut holder = asked(voters(1, &[1], &[]));
    ack(&mut holder, 2000, 1, 1);
    assert_eq!(holder.standing(at(2000)), Standing::Suspended);
}

#[cfg(feature = "flaws")]
#[test]
fn a_lease_from_the_answer_is_noticed() {
    let mut holder = asked_with(Flaws::only(crate::flaws::Flaw::LeaseFromTheAnswer), voters(1, &[1], &[]));
    ack(&mut holder, 2000, 1, 1);
    assert_eq!(holder.standing(at(2000)), Standing::Running);
}

/// The lists, who acks, and whether that is a lease.
type Quorum = (&'static [u64], &'static [u64], &'static [u64], bool);

#[rustfmt::skip]
const QUORUMS: &[Quorum] = &[
    (&[1], &[], &[1], true),
    (&[1], &[], &[2, 3], false),
    (&[1, 2, 3], &[], &[2], false),
    (&[1, 2, 3], &[], &[2, 2, 2], false),
    (&[1, 2, 3], &[], &[2, 3], true),
    (&[1, 2, 3, 4, 5], &[], &[4, 5], false),
    (&[1, 2, 3, 4, 5], &[], &[1, 4, 5], true),
    (&[1, 2, 3], &[3, 4, 5], &[1, 2], false),
    (&[1, 2, 3], &[3, 4, 5], &[4, 5], false),
    (&[1, 2, 3], &[3, 4, 5], &[3, 4], false),
    (&[1, 2, 3], &[3, 4, 5], &[1, 3, 5], true),
    (&[1, 2, 3], &[1], &[2, 3], false),
    (&[1, 2, 3], &[1], &[1, 3], true),
    (&[1], &[1, 2, 3], &[1], false),
    (&[1], &[1, 2, 3], &[1, 2], true),
    (&[], &[], &[1, 2], false),
];

#[test]
fn a_lease_needs_a_quorum_of_both_lists_in_force() {
    for (now, next, acks, expected) in QUORUMS {
        let mut holder = Holder::new(at(1000), voter(ME), voters(1, now, next), Flaws::default());
        holder.admit(at(1000), version(5));
        let mut out = vec![];
        holder.on_deadline(at(1000), &timing(), version(7), false, &mut out);
        acks.iter().for_each(|from| ack(&mut holder, 1010, *from, 1));
        let runs = holder.standing(at(1010)) == Standing::Running;
        assert_eq!(runs, *expected, "{now:?} {next:?} {acks:?}");
    }
}

#[test]
fn answers_to_different_renewals_are_not_added_up() {
    let mut holder = asked(voters(1, &[1, 2, 3], &[]));
    ack(&mut holder, 1010, 1, 1);
    ask(&mut holder, 1250);
    ack(&mut holder, 1260, 2, 2);
    assert_eq!(holder.standing(at(1260)), Standing::Suspended);
    ack(&mut holder, 1270, 2, 1);
    assert_eq!(holder.lease_end(), at(2000), "the first renewal has its two now");
    ack(&mut holder, 1280, 3, 2);
    assert_eq!(holder.lease_end(), at(2250), "and the second");
}

#[test]
fn an_old_answer_never_shortens_a_lease() {
    let mut holder = asked(voters(1, &[1, 2, 3], &[]));
    ask(&mut holder, 1250);
    ack(&mut holder, 1260, 1, 2);
    ack(&mut holder, 1260, 2, 2);
    ack(&mut holder, 1270, 1, 1);
    ack(&mut holder, 1270, 2, 1);
    assert_eq!(holder.lease_end(), at(2250));
}

#[test]
fn an_answer_to_what_was_never_asked_counts_for_nothing() {
    let mut holder = asked(voters(1, &[1], &[]));
    ack(&mut holder, 1010, 1, 2);
    ack(&mut holder, 1010, 1, u64::MAX);
    assert_eq!(holder.standing(at(1010)), Standing::Suspended);
    assert_eq!(answer(&mut holder, 1010, 1, 2, Verdict::NotAdmitted), Outcome::Noted);
    assert_eq!((holder.heard(), holder.coordinator()), (at(1000), None));
    assert_eq!(ask(&mut holder, 1250)[0].1.answered, 0, "nobody is said to have answered");
}

#[test]
fn a_renewal_counts_by_the_list_it_was_sent_under() {
    let mut holder = asked(voters(1, &[1, 2, 3], &[]));
    ack(&mut holder, 1010, 1, 1);
    holder.follow(at(1020), &voters(2, &[1], &[]));
    ack(&mut holder, 1030, 1, 1);
    assert_eq!(holder.standing(at(1030)), Standing::Suspended, "one of the three it was sent to");
    let sent = ask(&mut holder, 1030);
    assert_eq!(sent.len(), 1, "it asks by the new list at once");
    assert_eq!(sent[0].1.voters, version(2));
    ack(&mut holder, 1040, 1, 2);
    assert_eq!(holder.lease_end(), at(2030));
}

#[test]
fn a_voter_that_goes_by_a_newer_list_makes_it_ask_again() {
    let mut holder = asked(voters(1, &[1, 2, 3], &[]));
    let newer = Arc::new(voters(2, &[1, 2, 3], &[1]));
    let outcome = answer(&mut holder, 1010, 1, 1, Verdict::NewVoters(newer.clone()));
    assert_eq!(outcome, Outcome::AskAgain);
    assert_eq!(holder.voters(), &*newer);
    assert_eq!(holder.next_deadline(), at(1010));
    assert_eq!(holder.standing(at(1010)), Standing::Suspended, "it is no ack");
}

#[test]
fn a_list_that_only_one_voter_has_yields_to_the_one_that_a_quorum_has() {
    let (old, lost) = (voters(1, &[1, 2, 3], &[]), voters(2, &[1, 2, 3], &[1]));
    let mut holder = asked(old.clone());
    assert_eq!(answer(&mut holder, 1010, 1, 1, Verdict::NewVoters(Arc::new(lost))), Outcome::AskAgain);
    ask(&mut holder, 1010);
    // The list vanished with the coordinator that appended it.
    for from in [2, 3] {
        answer(&mut holder, 1020, from, 2, Verdict::NewVoters(Arc::new(old.clone())));
    }
    assert_eq!(holder.voters(), &old);
    ask(&mut holder, 1020);
    for from in [2, 3] {
        ack(&mut holder, 1030, from, 3);
    }
    assert_eq!(holder.standing(at(1030)), Standing::Running);
}

#[test]
fn it_never_goes_back_behind_a_list_that_is_committed() {
    let old = voters(1, &[1, 2, 3], &[]);
    let mut holder = asked(old.clone());
    holder.follow(at(1010), &voters(3, &[4], &[]));
    for from in [1, 2, 3] {
        answer(&mut holder, 1020, from, 1, Verdict::NewVoters(Arc::new(old.clone())));
    }
    assert_eq!(holder.voters().id, version(3));
}

#[test]
fn who_is_told_of_other_voters_without_having_asked_asks_those() {
    let mut holder = asked(voters(1, &[1], &[]));
    let newer = Arc::new(voters(3, &[2], &[]));
    assert_eq!(answer(&mut holder, 1400, 2, 0, Verdict::NewVoters(newer)), Outcome::AskAgain);
    let sent = ask(&mut holder, 1400);
    assert_eq!((sent[0].0, sent[0].1.voters), (voter(2), version(3)));
}

#[test]
fn a_voter_that_has_not_heard_it_is_sent_the_same_renewal_again() {
    let list = voters(1, &[1, 2, 3], &[]);
    let mut holder = asked(list.clone());
    ack(&mut holder, 1010, 2, 1);
    let second = ask(&mut holder, 1200);
    let told = Verdict::NewVoters(Arc::new(list));
    assert_eq!(answer(&mut holder, 1375, 1, 0, told.clone()), Outcome::SayAgain);
    assert_eq!(holder.newest(voter(1), version(7), false), second[0].1);
    assert_eq!(holder.next_deadline(), at(1400), "the next one comes when it would have come");
    // What is acked is the renewal of the first time.
    ack(&mut holder, 1380, 1, 2);
    ack(&mut holder, 1390, 2, 2);
    assert_eq!(holder.lease_end(), at(1200) + timing().lease);
    assert_eq!(answer(&mut holder, 1395, 1, 2, told), Outcome::Noted, "this is an answer to what it asked");
}

#[test]
fn a_stranger_is_sent_nothing_again() {
    let list = voters(1, &[1, 2, 3], &[]);
    let mut holder = asked(list.clone());
    assert_eq!(answer(&mut holder, 1375, 4, 0, Verdict::NewVoters(Arc::new(list))), Outcome::Noted);
}

#[test]
fn the_word_of_its_removal_is_passed_on() {
    let mut holder = asked(voters(1, &[1, 2, 3], &[]));
    assert_eq!(answer(&mut holder, 1010, 1, 1, Verdict::NotAdmitted), Outcome::Removed);
}

#[test]
fn one_of_three_voters_that_answers_is_no_sign_of_life() {
    let mut holder = asked(voters(1, &[1, 2, 3], &[]));
    answer(&mut holder, 1010, 1, 1, Verdict::NotYet);
    assert_eq!(holder.heard(), at(1000));
    answer(&mut holder, 1020, 2, 1, Verdict::NotYet);
    assert_eq!(holder.heard(), at(1020));
}

#[test]
fn not_yet_is_no_ack_but_the_voter_was_heard() {
    let mut holder = asked(voters(1, &[1], &[]));
    assert_eq!(answer(&mut holder, 1010, 1, 1, Verdict::NotYet), Outcome::Noted);
    assert_eq!(holder.standing(at(1010)), Standing::Suspended);
    assert_eq!(holder.heard(), at(1010));
    assert_eq!(ask(&mut holder, 1250)[0].1.answered, 1);
}

#[test]
fn every_voter_is_told_what_it_answered_last_itself() {
    let mut holder = asked(voters(1, &[1, 2, 3], &[]));
    ack(&mut holder, 1010, 1, 1);
    let sent = ask(&mut holder, 1250);
    let answered: Vec<u64> = sent.iter().map(|(_, renew)| renew.answered).collect();
    assert_eq!(answered, [1, 0, 0]);
    ack(&mut holder, 1260, 2, 2);
    ack(&mut holder, 1270, 2, 1);
    let answered: Vec<u64> = ask(&mut holder, 1500).iter().map(|(_, renew)| renew.answered).collect();
    assert_eq!(answered, [1, 2, 0], "an old answer takes nothing back");
}

#[test]
fn a_voter_asked_for_the_first_time_is_not_told_that_it_left_others_unanswered() {
    let mut holder = asked(voters(1, &[1], &[]));
    ask(&mut holder, 1250);
    holder.follow(at(1300), &voters(2, &[1, 2, 3], &[]));
    let answered: Vec<u64> = ask(&mut holder, 1300).iter().map(|(_, renew)| renew.answered).collect();
    assert_eq!(answered, [0, 2, 2]);
    let answered: Vec<u64> = ask(&mut holder, 1550).iter().map(|(_, renew)| renew.answered).collect();
    assert_eq!(answered, [0, 2, 2], "the next one is left unanswered like any other");
}

#[test]
fn of_two_lists_that_a_quorum_of_each_goes_by_the_newer_counts() {
    let (old, new) = (voters(1, &[1], &[]), voters(3, &[2], &[]));
    let mut holder = asked(old);
    ack(&mut holder, 1010, 1, 1);
    // Its last word is still fresh when the other speaks.
    assert_eq!(answer(&mut holder, 1020, 2, 1, Verdict::NewVoters(Arc::new(new.clone()))), Outcome::AskAgain);
    assert_eq!(holder.voters(), &new);
}

#[test]
fn it_asks_again_and_again_and_not_before() {
    let mut holder = asked(voters(1, &[1], &[]));
    assert_eq!(holder.next_deadline(), at(1000) + timing().renew);
    let mut out = vec![];
    holder.on_deadline(at(1199), &timing(), version(7), false, &mut out);
    assert!(out.is_empty());
}

#[test]
fn one_voter_that_answers_feeds_it_and_another_takes_its_place() {
    let mut holder = asked(voters(1, &[1, 2, 3], &[]));
    let feeder = |sent: &[(VoterId, Renew)]| -> Vec<u64> {
        sent.iter().filter(|(_, renew)| renew.feed).map(|(uid, _)| uid.get()).collect()
    };
    let first = feeder(&ask(&mut holder, 1250));
    assert_eq!(first.len(), 1);
    let others: Vec<u64> = [1, 2, 3].into_iter().filter(|from| *from != first[0]).collect();
    for from in &others {
        ack(&mut holder, 2200, *from, 2);
    }
    let second = feeder(&ask(&mut holder, 2210));
    assert!(others.contains(&second[0]) && second.len() == 1, "{first:?} {second:?}");
}

/// A voter whose disk takes no writes answers no renewal, and still tells members who votes.
#[test]
fn a_voter_that_only_tells_who_votes_does_not_stay_the_feeder() {
    let list = voters(1, &[1, 2, 3], &[]);
    let mut holder = asked(list.clone());
    let mut millis = 1000;
    let mut fed_by = |holder: &mut Holder| {
        millis += 250;
        let sent = ask(holder, millis);
        let feeder = sent.iter().find(|(_, renew)| renew.feed).map(|(voter, _)| voter.get()).unwrap();
        (feeder, sent[0].1.seq, millis)
    };
    let (first, ..) = fed_by(&mut holder);
    let mut feeds = first;
    for _ in 0..5 {
        let (feeder, seq, millis) = fed_by(&mut holder);
        feeds = feeder;
        for from in [1, 2, 3] {
            if from == first {
                answer(&mut holder, millis + 10, from, 0, Verdict::NewVoters(Arc::new(list.clone())));
            } else {
                ack(&mut holder, millis + 10, from, seq);
            }
        }
    }
    assert_ne!(feeds, first);
}

#[test]
fn all_go_by_a_list_once_each_voter_on_it_said_so() {
    let mut holder = asked(voters(2, &[1, 2], &[]));
    ack(&mut holder, 1010, 1, 1);
    assert!(!holder.all_go_by(version(2)));
    ack(&mut holder, 1010, 2, 1);
    assert!(holder.all_go_by(version(2)) && !holder.all_go_by(version(3)));
}

/// Seed 1037506 of the simulator: a voter that gossip had told of the guest's end stood still, and answered once the guest was a member.
#[test]
fn what_a_guest_was_told_late_is_not_said_to_the_member() {
    let list = voters(1, &[1, 2, 3], &[]);
    let mut holder = Holder::new(at(1000), voter(ME), list, Flaws::default());
    ask(&mut holder, 1000);
    ask(&mut holder, 1200);
    let mut guest = holder.clone();
    assert_eq!(answer(&mut guest, 1210, 1, 1, Verdict::NotAdmitted), Outcome::Removed);
    holder.admit(at(1220), version(5));
    ask(&mut holder, 1220);
    assert_eq!(answer(&mut holder, 1230, 1, 1, Verdict::NotAdmitted), Outcome::Noted);
    assert_eq!(answer(&mut holder, 1230, 1, 2, Verdict::NotAdmitted), Outcome::Noted);
    assert_eq!(answer(&mut holder, 1230, 1, 3, Verdict::NotAdmitted), Outcome::Removed);
}
