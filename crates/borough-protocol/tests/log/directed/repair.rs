//! Catching up, and taking back.

use borough_protocol::flaws::Flaws;
use borough_protocol::log::raft::Message;
use borough_protocol::log::{Log, VotersChange};

use super::Group;
use crate::carrier::{TIMING, uid};
use crate::group::among;

fn tail(group: &Group, number: u64) -> Vec<u64> {
    group.log(number).tail().copied().collect()
}

fn compact(group: &mut Group, number: u64) {
    let state = group.applied(number);
    group.on(number, |log, _, _| log.compact(state.version, state));
}

#[test]
fn a_learner_far_behind_gets_a_snapshot_and_what_stands_behind_it() {
    let mut group = Group::founded(2, Flaws::default());
    for payload in 0..100 {
        group.propose(1, payload);
    }
    compact(&mut group, 1);
    assert_eq!(group.log(1).kept(), 0);
    group.propose(1, 100);
    group.change(1, VotersChange::AddLearner(uid(2)));
    group.deliver_all();
    group.pass(TIMING.repair_every);
    group.beat(1);
    group.deliver_all();
    assert_eq!(group.judge.snapshots, 1);
    assert_eq!(group.applied(2), group.applied(1));
    assert_eq!(group.log(2).voters(), group.log(1).voters());
    assert_eq!(group.log(2).kept(), 2);
    group.judge.assert_clean();
}

#[test]
fn a_compaction_leaves_the_lists_and_their_id() {
    let mut group = Group::voting(3, Flaws::default());
    let voters = group.log(2).voters().clone();
    compact(&mut group, 2);
    assert_eq!(group.log(2).kept(), 0);
    assert_eq!(*group.log(2).voters(), voters);
    group.propose(1, 7);
    group.deliver_all();
    assert_eq!(group.applied(2), group.applied(1));
    assert_eq!(group.log(2).kept(), 1);
}

#[test]
fn a_long_catch_up_goes_in_bounded_parts_without_waiting_in_between() {
    let mut group = Group::founded(2, Flaws::default());
    for payload in 0..5000 {
        group.propose(1, payload);
    }
    group.change(1, VotersChange::AddLearner(uid(2)));
    let mut rounds = 0;
    while !group.flight().is_empty() {
        let bounded = group.flight().iter().all(|(_, _, message)| match message {
            Message::Append { entries, .. } => entries.len() <= 1024,
            _ => true,
        });
        assert!(bounded);
        group.deliver_once(|_, _, _| true);
        rounds += 1;
    }
    assert!(rounds < 30, "{rounds}");
    assert_eq!(group.applied(2), group.applied(1));
}

#[test]
fn what_a_node_lacks_is_sent_once_in_an_interval() {
    let mut group = Group::voting(3, Flaws::default());
    group.pass(TIMING.repair_every);
    group.propose(1, 7);
    group.deliver(among(&[1, 2]));
    let repairs = |group: &mut Group| {
        group.propose(1, 7);
        group.deliver_once(|_, to, _| to == 3);
        group.deliver_once(|_, _, _| true);
        let count = group.flight().iter().filter(|(_, to, message)| {
            *to == 3 && matches!(message, Message::Append { entries, .. } if !entries.is_empty())
        });
        let count = count.count();
        group.lose_all();
        count
    };
    assert_eq!(repairs(&mut group), 1);
    assert_eq!(repairs(&mut group), 0);
    group.pass(TIMING.repair_every);
    assert_eq!(repairs(&mut group), 1);
}

#[test]
fn the_tail_shows_what_is_appended_and_not_told_yet() {
    let mut group = Group::voting(3, Flaws::default());
    group.propose(1, 7);
    assert_eq!(tail(&group, 1), [7]);
    group.deliver_once(|_, _, _| true);
    assert_eq!(tail(&group, 2), [7]);
    group.deliver_all();
    assert_eq!(tail(&group, 1), []);
    assert_eq!(tail(&group, 2), []);
}

#[test]
fn a_diverged_tail_is_cut_and_the_tail_shows_it() {
    let mut group = Group::voting(3, Flaws::default());
    group.propose(1, 7);
    group.propose(1, 8);
    group.lose_all();
    assert_eq!(tail(&group, 1), [7, 8]);
    group.pass(TIMING.suspect_after);
    group.stand(2);
    group.deliver(among(&[2, 3]));
    assert!(group.log(2).may_act());
    group.beat(2);
    group.deliver_all();
    assert_eq!(tail(&group, 1), []);
    assert_eq!(group.applied(1), group.applied(2));
    group.judge.assert_clean();
}

#[test]
fn lists_in_a_diverged_tail_are_taken_back() {
    let mut group = Group::voting(3, Flaws::default());
    let voters = group.log(1).voters().clone();
    group.change(1, VotersChange::Begin(crate::group::uids([1, 2, 9])));
    group.lose_all();
    assert!(group.log(1).voters().is_joint());
    group.pass(TIMING.suspect_after);
    group.stand(2);
    group.deliver(among(&[2, 3]));
    group.beat(2);
    group.deliver_all();
    assert_eq!(*group.log(1).voters(), voters);
}

#[test]
fn a_long_diverged_tail_is_cut_within_a_few_messages() {
    let mut group = Group::voting(3, Flaws::default());
    for payload in 0..300 {
        group.propose(1, payload);
    }
    group.lose_all();
    group.pass(TIMING.suspect_after);
    group.stand(2);
    group.deliver(among(&[2, 3]));
    for payload in 0..400 {
        group.propose(2, payload);
        group.deliver(among(&[2, 3]));
    }
    group.pass(TIMING.repair_every);
    group.beat(2);
    let mut rounds = 0;
    while !group.flight().is_empty() {
        group.deliver_once(|_, _, _| true);
        rounds += 1;
    }
    assert!(rounds < 12, "{rounds}");
    assert_eq!(group.log(1).last_index(), group.log(2).last_index());
    assert_eq!(tail(&group, 1), []);
    group.judge.assert_clean();
}

#[test]
fn how_far_the_others_are_is_known_in_office_only() {
    let group = Group::voting(3, Flaws::default());
    let last = group.log(1).last_index();
    assert_eq!([1, 2, 3].map(|number| group.log(1).matched(uid(number))), [last; 3]);
    assert_eq!(group.log(2).matched(uid(1)), 0);
    assert_eq!(group.log(1).matched(uid(9)), 0);
}
