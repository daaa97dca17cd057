//! Coming into office, staying in it, leaving it.

use std::time::Duration;

use borough_protocol::flaws::Flaws;
use borough_protocol::log::raft::Message;
use borough_protocol::log::{Log, NotTaken, VotersChange};
use borough_protocol::version::{Term, Version};

use super::Group;
use crate::carrier::{TIMING, uid};
use crate::group::among;

const JUST_NOT_SUSPECT: Duration = Duration::from_millis(749);

fn hand_over(group: &mut Group, to: u64) -> bool {
    group.on(1, |log, now, out| log.hand_over(now, uid(to), out))
}

#[test]
fn the_founder_is_in_office_at_once() {
    let group = Group::founded(1, Flaws::default());
    assert!(group.log(1).may_act());
    assert_eq!(group.log(1).coordinator().map(|(uid, _)| uid), Some(uid(1)));
}

#[test]
fn an_office_handed_over_is_taken_at_once() {
    let mut group = Group::voting(3, Flaws::default());
    let term = group.log(1).term();
    assert!(hand_over(&mut group, 2));
    group.deliver_all();
    assert!(!group.log(1).in_office() && group.log(2).may_act());
    assert_eq!(group.log(3).coordinator().map(|(uid, _)| uid), Some(uid(2)));
    assert_eq!(group.log(3).term(), Term::new(term.get() + 1));
}

#[test]
fn nobody_is_asked_to_take_over_that_lacks_something_or_does_not_vote() {
    let mut group = Group::voting(3, Flaws::default());
    group.add(4);
    group.change(1, VotersChange::AddLearner(uid(4)));
    group.deliver_all();
    assert!(!hand_over(&mut group, 4), "a learner");
    assert!(!hand_over(&mut group, 1), "itself");
    group.propose(1, 7);
    group.deliver(among(&[1, 3]));
    assert!(!hand_over(&mut group, 2), "it lacks an entry");
    assert!(hand_over(&mut group, 3));
}

#[test]
fn a_coordinator_leaves_office_when_no_quorum_answered_for_suspect_after() {
    let mut group = Group::voting(3, Flaws::default());
    let last_answer = group.now;
    group.propose(1, 7);
    group.lose_all();
    assert!(group.log(1).next_deadline() <= last_answer + TIMING.suspect_after);
    group.pass(JUST_NOT_SUSPECT);
    group.on(1, Log::on_deadline);
    assert!(group.log(1).in_office());
    assert_eq!(group.log(1).next_deadline(), last_answer + TIMING.suspect_after);
    group.pass(Duration::from_millis(1));
    group.on(1, Log::on_deadline);
    assert!(!group.log(1).in_office());
    assert_eq!(group.on(1, |log, now, out| log.propose(now, 7, out)), Err(NotTaken::NotInOffice));
    assert_eq!(group.log(1).coordinator(), None);
}

#[test]
fn a_coordinator_that_left_office_keeps_its_log_and_can_take_it_again() {
    let mut group = Group::voting(3, Flaws::default());
    group.propose(1, 7);
    group.deliver_all();
    let (last, applied) = (group.log(1).last_index(), group.applied(1));
    group.pass(TIMING.suspect_after);
    group.on(1, Log::on_deadline);
    assert!(!group.log(1).in_office());
    assert_eq!((group.log(1).last_index(), group.applied(1)), (last, applied));
    group.stand(1);
    group.deliver_all();
    assert!(group.log(1).may_act());
    assert_eq!(group.applied(3).version.index, last + 1);
    group.judge.assert_clean();
}

#[test]
fn a_lone_voter_never_leaves_office() {
    let mut group = Group::founded(1, Flaws::default());
    for _ in 0..10 {
        group.pass(Duration::from_secs(1));
        group.on(1, Log::on_deadline);
        assert!(group.log(1).may_act());
    }
}

#[test]
fn a_voter_that_hears_a_coordinator_answers_no_vote() {
    let mut group = Group::voting(3, Flaws::default());
    group.pass(JUST_NOT_SUSPECT);
    let term = Term::new(group.log(2).term().get() + 1);
    let last = Version { term: group.log(2).term(), index: group.log(2).last_index() };
    group.send(3, 2, Message::PreVote { term, last });
    group.send(3, 2, Message::Vote { term, last, forced: false });
    group.deliver_once(|_, _, _| true);
    assert!(group.flight().is_empty());
    assert!(group.log(2).term() < term);
    group.pass(Duration::from_millis(1));
    group.send(3, 2, Message::PreVote { term, last });
    group.deliver_once(|_, _, _| true);
    assert_eq!(group.flight(), [(2, 3, Message::PreVoteReply { term })]);
}

#[test]
fn a_coordinator_with_a_quorum_is_not_unseated_by_a_vote() {
    let mut group = Group::voting(3, Flaws::default());
    group.pass(Duration::from_millis(500));
    group.beat(1);
    group.deliver(among(&[1, 2]));
    group.pass(Duration::from_millis(500));
    group.stand(3);
    group.deliver_all();
    assert!(group.log(1).in_office());
    assert_eq!(group.log(3).term(), group.log(1).term());
}

#[test]
fn a_node_that_asks_in_vain_begins_no_term() {
    let mut group = Group::voting(3, Flaws::default());
    let term = group.log(3).term();
    for _ in 0..5 {
        group.pass(TIMING.suspect_after);
        group.stand(3);
        group.lose_all();
    }
    assert_eq!(group.log(3).term(), term);
}

#[test]
fn without_a_coordinator_the_others_elect_one() {
    let mut group = Group::voting(3, Flaws::default());
    group.kill(1);
    group.pass(TIMING.suspect_after);
    group.stand(2);
    group.deliver_all();
    assert!(group.log(2).may_act());
    group.judge.assert_clean();
}

#[test]
fn a_node_that_no_list_names_cannot_stand() {
    let mut group = Group::founded(2, Flaws::default());
    group.stand(2);
    assert!(group.flight().is_empty());
    group.change(1, VotersChange::AddLearner(uid(2)));
    group.deliver_all();
    group.pass(TIMING.suspect_after);
    group.stand(2);
    assert!(group.flight().is_empty());
}

#[test]
fn an_outdated_log_is_not_elected() {
    let mut group = Group::voting(3, Flaws::default());
    group.propose(1, 7);
    group.deliver(among(&[1, 2]));
    group.kill(1);
    group.pass(TIMING.suspect_after);
    group.stand(3);
    group.deliver_all();
    assert!(!group.log(3).in_office());
    group.stand(2);
    group.deliver_all();
    assert!(group.log(2).may_act());
    assert_eq!(group.applied(3), group.applied(2));
}

#[test]
fn a_coordinator_appends_every_interval_and_not_while_it_appends_anyway() {
    let mut group = Group::voting(3, Flaws::default());
    group.pass(TIMING.append_every);
    group.propose(1, 7);
    group.deliver_all();
    assert_eq!(group.log(1).next_deadline(), group.now + TIMING.append_every);
    group.pass(TIMING.append_every);
    group.on(1, Log::on_deadline);
    assert_eq!(group.flight().len(), 2);
}
