//! A move that makes no progress.

use super::*;

/// Node 1 owns the shard, and it is to move to node 2.
fn moving() -> Rig {
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(1), e(1)));
    let freeze = Effect::Freeze { shard: SHARD, epoch: e(1), to: uid(2), next: e(2) };
    assert_eq!(rig.step_and_see(Step::Move(uid(2), e(2))), vec![freeze]);
    rig
}

fn taken(from: u64, parts: u32) -> Input {
    Input::Word { from: uid(from), word: Word::Taken { shard: SHARD, epoch: e(2), parts } }
}

#[test]
fn a_transfer_of_which_nothing_arrives_for_ten_seconds_is_late() {
    let mut rig = moving();
    rig.froze(e(2));
    assert_eq!(rig.wait(), (10_000, vec![]));
    assert_eq!(rig.report().impossible, vec![(SHARD, e(2))]);
    assert_eq!(rig.region.next_deadline(), Timestamp::NEVER, "said once, and repeated with the report");
    let resume = Effect::Resume { shard: SHARD, epoch: e(1) };
    assert_eq!(rig.step_and_see(Step::CallOff(e(2))), vec![resume]);
    assert!(rig.report().impossible.is_empty());
}

#[test]
fn a_transfer_is_not_late_as_long_as_something_of_it_arrives() {
    let mut rig = moving();
    rig.froze(e(2));
    for parts in 1..100 {
        rig.now = rig.now + Duration::from_secs(9);
        rig.tell(taken(2, parts));
    }
    assert!(rig.report().impossible.is_empty());
    rig.now = rig.now + Duration::from_secs(9);
    rig.tell(taken(3, 100));
    assert_eq!(rig.wait().0, 1_000, "another node's word is none of it");
    assert_eq!(rig.report().impossible, vec![(SHARD, e(2))]);
}

#[test]
fn turns_have_as_long_as_the_type_says_and_a_lane_that_says_nothing_no_longer() {
    let mut rig = moving();
    assert_eq!(rig.wait(), (70_000, vec![]), "a blocked lane says nothing at all");
    assert_eq!(rig.report().impossible, vec![(SHARD, e(2))]);
    let pace = Pace { turns: Duration::from_secs(600), stall: Duration::from_secs(30) };
    let mut rig = Rig::new();
    rig.tell(Input::Start { kind: kind(), hosts: true, pace });
    rig.step_and_see(Step::Own(uid(1), e(1)));
    rig.step_and_see(Step::Move(uid(2), e(2)));
    rig.now = rig.now + Duration::from_secs(599);
    rig.froze(e(2));
    assert_eq!(rig.wait(), (30_000, vec![]), "once frozen it is only to arrive");
}

#[test]
fn a_move_that_waits_for_others_is_not_late() {
    let mut rig = moving();
    rig.tell(Input::PutOff { shard: SHARD, epoch: e(2) });
    assert_eq!(rig.region.next_deadline(), Timestamp::NEVER);
    rig.now = rig.now + Duration::from_secs(1000);
    rig.tell(Input::Freezing { shard: SHARD, epoch: e(2) });
    assert_eq!(rig.wait(), (70_000, vec![]));
}
