//! The way to a shard that others own.

use super::*;

/// The shard is at node 2 and was sent to; now it is at node 3, and the old way is closing.
fn moved_away(rig: &mut Rig) {
    assert_eq!(rig.step_and_see(Step::Own(uid(2), e(1))), vec![open(2, e(1))]);
    assert_eq!(
        rig.step_and_see(Step::Move(uid(3), e(2))),
        vec![],
        "that it moves changes nothing for senders"
    );
    assert_eq!(rig.step_and_see(Step::Settle(e(2))), vec![close()]);
}

#[test]
fn a_shard_without_an_owner_is_wanted_until_it_has_one() {
    let mut rig = Rig::new();
    rig.tell(Input::Want(SHARD));
    assert_eq!(rig.report().wanted, vec![SHARD]);
    assert_eq!(rig.step_and_see(Step::Own(uid(2), e(1))), vec![open(2, e(1))]);
    assert!(rig.report().is_empty());
}

#[test]
fn an_unused_way_gives_way_at_once() {
    let mut rig = Rig::new();
    moved_away(&mut rig);
    assert_eq!(rig.closed(false), vec![open(3, e(2))]);
    assert_eq!(rig.closed(true), vec![], "it was answered before");
}

#[test]
fn a_used_way_gives_way_once_the_barrier_has_passed_the_old_one() {
    let mut rig = Rig::new();
    moved_away(&mut rig);
    assert_eq!(rig.closed(true), vec![barrier(2, e(1), 1, None)]);
    assert_eq!(rig.hear(3, Word::BarrierDone { nonce: 9 }), vec![], "that was not sent");
    assert_eq!(rig.hear(3, Word::BarrierDone { nonce: 1 }), vec![open(3, e(2))]);
    assert_eq!(rig.hear(3, Word::BarrierDone { nonce: 1 }), vec![], "twice");
}

#[test]
fn a_barrier_that_is_not_answered_is_sent_again_with_its_number() {
    let mut rig = Rig::new();
    moved_away(&mut rig);
    rig.closed(true);
    assert_eq!(rig.wait(), (500, vec![barrier(2, e(1), 1, None)]));
    assert_eq!(rig.wait(), (500, vec![barrier(2, e(1), 1, None)]));
    assert_eq!(rig.hear(3, Word::BarrierDone { nonce: 1 }), vec![open(3, e(2))]);
    assert_eq!(rig.region.next_deadline(), Timestamp::NEVER);
}

#[test]
fn the_newest_owner_is_sent_to_when_several_moves_happened_meanwhile() {
    let mut rig = Rig::new();
    moved_away(&mut rig);
    rig.closed(true);
    rig.step(Step::Move(uid(4), e(3)));
    assert_eq!(rig.step_and_see(Step::Settle(e(3))), vec![]);
    assert_eq!(rig.hear(4, Word::BarrierDone { nonce: 1 }), vec![open(4, e(3))]);
}

#[test]
fn what_began_anew_is_sent_to_at_once() {
    let mut rig = Rig::new();
    moved_away(&mut rig);
    rig.closed(true);
    rig.remove(3);
    assert_eq!(rig.see(), vec![], "the old way still stands, but nobody can answer");
    rig.change(Change::Free(uid(3)));
    assert_eq!(rig.step_and_see(Step::Own(uid(4), e(3))), vec![open(4, e(3))]);
}

#[test]
fn a_way_whose_owner_is_removed_holds_until_there_is_another() {
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(2), e(1)));
    rig.remove(2);
    assert_eq!(rig.see(), vec![close()]);
    assert_eq!(rig.closed(true), vec![]);
    rig.change(Change::Free(uid(2)));
    assert_eq!(rig.step_and_see(Step::Own(uid(3), e(2))), vec![open(3, e(2))]);
}

#[test]
fn the_barrier_goes_straight_when_the_first_hop_is_removed() {
    let mut rig = Rig::new();
    moved_away(&mut rig);
    rig.closed(true);
    rig.remove(2);
    let removal = rig.table.version();
    assert_eq!(rig.see(), vec![barrier(3, e(2), 2, Some(removal))]);
    assert_eq!(rig.hear(3, Word::BarrierDone { nonce: 1 }), vec![], "that one was given up");
    assert_eq!(rig.hear(3, Word::BarrierDone { nonce: 2 }), vec![open(3, e(2))]);
}

#[test]
fn the_barrier_goes_straight_when_the_chain_is_broken_and_the_table_is_new_enough() {
    let mut rig = Rig::new();
    moved_away(&mut rig);
    rig.closed(true);
    let (now, later) = (rig.table.version(), v(rig.table.version().index + 1));
    assert_eq!(rig.hear(2, Word::ChainBroken { nonce: 1, version: later }), vec![], "this table is too old");
    rig.step(Step::Move(uid(4), e(3)));
    assert_eq!(rig.see(), vec![barrier(3, e(2), 2, Some(later))]);
    assert_eq!(rig.hear(3, Word::ChainBroken { nonce: 2, version: now }), vec![], "not again at once");
    assert_eq!(rig.wait(), (500, vec![barrier(3, e(2), 3, Some(later))]));
}

#[test]
fn a_straight_barrier_waits_while_the_newest_owner_is_removed_too() {
    let mut rig = Rig::new();
    moved_away(&mut rig);
    rig.closed(true);
    rig.step(Step::Move(uid(4), e(3)));
    rig.remove(2);
    let removal = rig.table.version();
    rig.remove(3);
    assert_eq!(rig.see(), vec![]);
    assert_eq!(rig.step_and_see(Step::Settle(e(3))), vec![barrier(4, e(3), 2, Some(removal))]);
}

#[test]
fn a_broken_barrier_of_another_is_answered_once_the_table_shows_why() {
    let mut rig = Rig::new();
    let broken = |hop| Input::Broken { origin: uid(3), nonce: 5, hop };
    let answer = |version| {
        let word = Word::ChainBroken { nonce: 5, version };
        vec![Effect::Send { to: uid(3), word }]
    };
    assert_eq!(rig.tell(broken(None)), answer(rig.table.version()));
    assert_eq!(rig.tell(broken(Some(uid(2)))), vec![]);
    rig.remove(2);
    assert_eq!(rig.see(), answer(rig.table.version()));
    assert_eq!(rig.tell(broken(Some(uid(2)))), answer(rig.table.version()));
}
