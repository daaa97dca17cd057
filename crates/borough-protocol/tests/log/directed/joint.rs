//! Changes of the lists.

use std::time::Duration;

use borough_protocol::flaws::Flaws;
use borough_protocol::log::raft::{Item, Message};
use borough_protocol::log::{Log, NotTaken, VotersChange};

use super::Group;
use crate::carrier::{TIMING, uid};
use crate::group::uids;

/// Five vote, 5 dies, and the list is to be 1, 2 and 3. Everybody appends that, the answers are lost, and 1 dies. Then 4, whom
/// the next list does not name, takes office; a final list of its own would reach nobody. Whether the rest can go on.
fn goes_on_after_an_outgoing_node_won(flaws: Flaws) -> bool {
    let mut group = Group::voting(5, flaws);
    group.kill(5);
    group.change(1, VotersChange::Begin(uids(1..=3)));
    group.deliver(|from, _, _| from == 1);
    group.kill(1);
    group.pass(TIMING.suspect_after);
    group.stand(4);
    group.deliver(|from, _, message| {
        from != 4
            || !matches!(message, Message::Append { entries, .. }
                if entries.iter().any(|item| matches!(item, Item::Lists { next, .. } if next.is_empty())))
    });
    for round in 0..30 {
        let alive = [2, 3, 4];
        group.pass(Duration::from_secs(1));
        for number in alive {
            group.on(number, Log::on_deadline);
        }
        group.deliver_all();
        if !alive.iter().any(|&number| group.log(number).in_office()) {
            group.stand(alive[round % 3]);
            group.deliver_all();
        }
        group.judge.assert_clean();
        if group.log(2).voters().now == uids(1..=3) && alive.iter().any(|&n| group.log(n).may_act()) {
            return true;
        }
    }
    false
}

#[test]
fn a_joint_phase_is_ended_though_an_outgoing_node_won_the_office() {
    assert!(goes_on_after_an_outgoing_node_won(Flaws::default()));
}

/// The schedule above is the one that blocks without the rule.
#[cfg(feature = "flaws")]
#[test]
fn an_outgoing_coordinator_that_ends_a_joint_phase_can_block_it_for_ever() {
    let broken = Flaws::only(borough_protocol::flaws::Flaw::OutgoingEndsJointPhase);
    assert!(!goes_on_after_an_outgoing_node_won(broken));
}

#[test]
fn an_outgoing_coordinator_takes_nothing_more_and_hands_over_to_the_next_list() {
    let mut group = Group::voting(3, Flaws::default());
    group.change(1, VotersChange::Begin(uids([2, 3])));
    let refused = group.on(1, |log, now, out| log.propose(now, 7, out));
    assert_eq!(refused, Err(NotTaken::HandingOver));
    let refused = group.on(1, |log, now, out| log.change_voters(now, VotersChange::AddLearner(uid(9)), out));
    assert_eq!(refused, Err(NotTaken::HandingOver));
    group.deliver_all();
    assert!(!group.log(1).in_office());
    assert!(group.log(2).may_act() != group.log(3).may_act());
    assert_eq!(group.log(2).voters().now, uids([2, 3]));
    assert_eq!(group.log(3).voters(), group.log(2).voters());
    group.judge.assert_clean();
}

#[test]
fn a_change_of_the_lists_waits_until_the_one_before_is_committed() {
    let mut group = Group::voting(3, Flaws::default());
    group.change(1, VotersChange::AddLearner(uid(8)));
    for change in [VotersChange::AddLearner(uid(9)), VotersChange::Begin(uids([1, 2]))] {
        let refused = group.on(1, |log, now, out| log.change_voters(now, change, out));
        assert_eq!(refused, Err(NotTaken::ChangeUnderWay));
    }
    group.deliver_all();
    group.change(1, VotersChange::AddLearner(uid(9)));
}

#[test]
fn a_node_that_the_newest_list_does_not_name_gets_no_entries() {
    let mut group = Group::voting(3, Flaws::default());
    group.change(1, VotersChange::Begin(uids([1, 2])));
    group.deliver_all();
    assert_eq!(group.log(1).voters().now, uids([1, 2]));
    assert!(group.log(3).voters().is_joint(), "it must not see the list that drops it");
    group.propose(1, 7);
    group.beat(1);
    assert!(group.flight().iter().all(|(_, to, _)| *to != 3));
}

#[test]
fn the_voters_id_is_the_version_of_the_last_entry_that_changed_who_votes() {
    let mut group = Group::voting(3, Flaws::default());
    let before = group.log(1).voters().id;
    group.add(4);
    group.change(1, VotersChange::AddLearner(uid(4)));
    group.deliver_all();
    assert_eq!(group.log(1).voters().id, before);
    assert_eq!(*group.log(2).learners(), uids([4]));
    group.change(1, VotersChange::Begin(uids([1, 2, 4])));
    let joint = group.log(1).last_index();
    assert_eq!(group.log(1).voters().id.index, joint);
    group.deliver_all();
    assert_eq!(group.log(1).voters().id.index, joint + 1);
    for number in [2, 4] {
        assert_eq!(group.log(number).voters(), group.log(1).voters());
        assert!(group.log(number).learners().is_empty());
    }
}

#[test]
fn a_change_that_changes_nothing_is_taken_and_appends_nothing() {
    let mut group = Group::voting(3, Flaws::default());
    let last = group.log(1).last_index();
    for change in [
        VotersChange::AddLearner(uid(2)),
        VotersChange::DropLearner(uid(9)),
        VotersChange::Begin(uids(1..=3)),
        VotersChange::Begin(uids([])),
    ] {
        group.change(1, change);
    }
    assert_eq!(group.log(1).last_index(), last);
}
