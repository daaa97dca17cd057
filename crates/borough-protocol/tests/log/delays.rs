//! How many message delays a commit takes.

use borough_protocol::flaws::Flaws;
use borough_protocol::log::Log;
use borough_protocol::log::raft::Raft;

use crate::carrier::State;
use crate::group::Group;

#[test]
fn a_commit_takes_two_delays_at_the_coordinator_and_three_everywhere() {
    let mut group = Group::<Raft<u64, State>>::voting(5, Flaws::default());
    let before = group.applied(1).version.index;
    group.propose(1, 7);
    assert_eq!(group.applied(1).version.index, before);
    group.deliver_once(|_, _, _| true);
    assert_eq!(group.applied(1).version.index, before);
    group.deliver_once(|_, _, _| true);
    assert_eq!(group.applied(1).version.index, before + 1);
    assert_eq!(group.applied(2).version.index, before);
    group.deliver_once(|_, _, _| true);
    for number in 1..=5 {
        assert_eq!(group.applied(number).version.index, before + 1, "node {number}");
    }
    group.judge.assert_clean();
}

#[test]
fn a_lone_voter_commits_at_once() {
    let mut group = Group::<Raft<u64, State>>::founded(1, Flaws::default());
    group.propose(1, 7);
    assert_eq!(group.applied(1).version.index, group.log(1).last_index());
    assert!(group.log(1).may_act());
}

#[test]
fn entries_under_way_are_not_sent_again_for_every_answer() {
    let mut group = Group::<Raft<u64, State>>::voting(3, Flaws::default());
    for payload in 0..50 {
        group.propose(1, payload);
    }
    let mut messages = 0;
    while !group.flight().is_empty() {
        messages += group.flight().len();
        group.deliver_once(|_, _, _| true);
    }
    // Each entry: an append and an answer for each of two others. Each commit: the same. One repair for each of them.
    assert!(messages <= 50 * 8 + 8, "{messages} messages for 50 entries");
    assert_eq!(group.applied(3).version.index, group.log(1).last_index());
}
