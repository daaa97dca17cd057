//! The node leaves, or another does.

use super::*;

fn leaving(to: u64, version: Version) -> Effect {
    Effect::Send { to: uid(to), word: Word::Leaving { version } }
}

const FORCE: Effect = Effect::Force { kind: KindId(0) };

fn clear(to: u64, version: Version) -> Effect {
    Effect::Send { to: uid(to), word: Word::Clear { version } }
}

#[test]
fn a_node_has_drained_once_all_has_moved_away_and_all_others_are_clear() {
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(1), e(1)));
    rig.change(Change::Drain(uid(1)));
    rig.see();
    assert_eq!(rig.tell(Input::Drain), vec![]);
    rig.step_and_see(Step::Move(uid(2), e(2)));
    rig.froze(e(2));
    rig.step(Step::Settle(e(2)));
    let version = rig.table.version();
    let effects = rig.see();
    assert_eq!(effects[2..], [leaving(2, version), leaving(3, version), leaving(4, version)]);
    rig.closed(false);
    rig.hear(2, Word::Clear { version });
    assert_eq!(rig.wait(), (500, vec![leaving(3, version), leaving(4, version)]));
    rig.hear(3, Word::Clear { version });
    assert_eq!(rig.hear(4, Word::Clear { version: v(1) }), vec![], "the answer to something else");
    assert_eq!(rig.hear(4, Word::Clear { version }), vec![Effect::Drained]);
}

#[test]
fn one_that_is_removed_need_not_be_clear() {
    let mut rig = Rig::new();
    rig.change(Change::Drain(uid(1)));
    rig.see();
    rig.tell(Input::Drain);
    let version = rig.table.version();
    rig.hear(2, Word::Clear { version });
    rig.hear(3, Word::Clear { version });
    rig.remove(4);
    assert_eq!(rig.see(), vec![Effect::Drained]);
}

#[test]
fn a_node_that_leaves_waits_for_what_moves_to_it() {
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(2), e(1)));
    rig.step(Step::Move(uid(1), e(2)));
    rig.change(Change::Drain(uid(1)));
    rig.see();
    assert_eq!(rig.tell(Input::Drain), vec![], "the move was decided before");
    rig.installed(e(2));
    rig.step_and_see(Step::Settle(e(2)));
    rig.step_and_see(Step::Move(uid(3), e(3)));
    rig.froze(e(3));
    rig.step(Step::Settle(e(3)));
    let version = rig.table.version();
    assert!(rig.see().contains(&leaving(2, version)), "now nothing is here, and nothing comes");
}

#[test]
fn a_node_that_leaves_asks_the_others_once_a_move_to_it_is_called_off() {
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(2), e(1)));
    rig.step(Step::Move(uid(1), e(2)));
    rig.change(Change::Drain(uid(1)));
    rig.see();
    assert_eq!(rig.tell(Input::Drain), vec![]);
    rig.step(Step::CallOff(e(2)));
    let version = rig.table.version();
    let discard = Effect::Discard { shard: SHARD, epoch: e(2) };
    assert_eq!(rig.see(), [discard, leaving(2, version), leaving(3, version), leaving(4, version)]);
}

#[test]
fn a_node_that_leaves_asks_nobody_before_its_table_shows_that_it_leaves() {
    let mut rig = Rig::new();
    assert_eq!(rig.tell(Input::Drain), vec![], "a move to it may be decided still");
    rig.change(Change::Drain(uid(1)));
    let version = rig.table.version();
    assert_eq!(rig.see(), [leaving(2, version), leaving(3, version), leaving(4, version)]);
}

#[test]
fn a_move_to_a_node_that_leaves_holds_it_no_longer_than_its_patience() {
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(2), e(1)));
    rig.step(Step::Move(uid(1), e(2)));
    rig.change(Change::Drain(uid(1)));
    rig.see();
    assert_eq!(rig.tell(Input::Drain), vec![]);
    assert_eq!(rig.wait(), (60_000, vec![FORCE]));
    let discard = Effect::Discard { shard: SHARD, epoch: e(2) };
    let version = rig.table.version();
    let asks = [leaving(2, version), leaving(3, version), leaving(4, version)];
    assert_eq!(rig.wait(), (10_000, [vec![discard], asks.to_vec()].concat()));
}

#[test]
fn what_no_other_hosts_is_dropped() {
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(1), e(1)));
    for number in 2..=4 {
        rig.change(Change::EndHosting(uid(number), KindId(0)));
    }
    rig.change(Change::Drain(uid(1)));
    rig.see();
    let effects = rig.tell(Input::Drain);
    assert_eq!(effects[0], Effect::Drop { shard: SHARD, epoch: e(1), why: Dropped::NoOtherHost });
    assert_eq!(effects[1], leaving(2, rig.table.version()));
}

#[test]
fn one_that_leaves_does_not_want_to_host_again_what_it_dropped() {
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(1), e(1)));
    for number in 2..=4 {
        rig.change(Change::EndHosting(uid(number), KindId(0)));
    }
    rig.change(Change::Drain(uid(1)));
    rig.see();
    rig.tell(Input::Drain);
    rig.tell(Input::Dropped { shard: SHARD, epoch: e(1) });
    assert_eq!(rig.report().dropped, vec![(SHARD, e(1))], "others may have it at once");
    rig.change(Change::EndHosting(uid(1), KindId(0)));
    rig.see();
    assert!(rig.report().is_empty(), "{:?}", rig.report());
}

#[cfg(feature = "flaws")]
#[test]
fn one_that_is_given_a_shard_while_it_asks_the_others_has_not_drained() {
    let mut rig = Rig::new();
    rig.table = rig.table.clone().with_flaws(Flaws::only(Flaw::RebalanceToLeavingNode));
    rig.change(Change::Drain(uid(1)));
    let version = rig.table.version();
    rig.see();
    assert_eq!(rig.tell(Input::Drain), [leaving(2, version), leaving(3, version), leaving(4, version)]);
    rig.hear(2, Word::Clear { version });
    rig.hear(3, Word::Clear { version });
    rig.step_and_see(Step::Own(uid(1), e(1)));
    assert_eq!(rig.hear(4, Word::Clear { version }), vec![], "it lives here");
    rig.step_and_see(Step::Move(uid(2), e(2)));
    rig.froze(e(2));
    rig.step(Step::Settle(e(2)));
    let version = rig.table.version();
    assert!(rig.see().contains(&leaving(4, version)), "it asks all of them again");
    rig.closed(false);
    for number in 2..=3 {
        rig.hear(number, Word::Clear { version });
    }
    assert_eq!(rig.hear(4, Word::Clear { version }), vec![Effect::Drained]);
}

#[test]
fn what_has_not_moved_away_in_time_is_dropped() {
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(1), e(1)));
    assert_eq!(rig.tell(Input::Drain), vec![]);
    assert_eq!(rig.wait(), (60_000, vec![FORCE]));
    assert!(rig.report().is_forcing, "what rests is to be tried again");
    let drop = Effect::Drop { shard: SHARD, epoch: e(1), why: Dropped::TooLate };
    let version = rig.table.version();
    let asks = [leaving(2, version), leaving(3, version), leaving(4, version)];
    assert_eq!(rig.wait(), (10_000, [vec![drop], asks.to_vec()].concat()));
    for _ in 0..19 {
        assert_eq!(rig.wait(), (500, asks.to_vec()));
    }
    assert_eq!(rig.wait(), (500, vec![Effect::Drained]), "nobody has answered");
}

#[test]
fn a_node_that_leaves_without_a_bound_drops_nothing_until_it_is_told_to() {
    let mut rig = Rig::without_a_bound();
    rig.step_and_see(Step::Own(uid(1), e(1)));
    rig.change(Change::Drain(uid(1)));
    rig.see();
    assert_eq!(rig.tell(Input::Drain), vec![]);
    assert_eq!(rig.region.next_deadline(), Timestamp::NEVER);
    rig.now = rig.now + Duration::from_secs(1000);
    let until = rig.now + Duration::from_secs(7);
    assert_eq!(rig.tell(Input::Bound(until)), vec![]);
    assert_eq!(rig.wait(), (7_000, vec![FORCE]));
    let drop = Effect::Drop { shard: SHARD, epoch: e(1), why: Dropped::TooLate };
    let (waited, effects) = rig.wait();
    assert_eq!((waited, &effects[0]), (10_000, &drop));
}

#[test]
fn what_is_forced_and_gets_on_is_not_dropped() {
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(1), e(1)));
    rig.change(Change::Drain(uid(1)));
    rig.see();
    rig.tell(Input::Drain);
    assert_eq!(rig.wait(), (60_000, vec![FORCE]));
    rig.step_and_see(Step::Move(uid(2), e(2)));
    rig.froze(e(2));
    for parts in 1..=5 {
        rig.now = rig.now + Duration::from_secs(9);
        assert_eq!(rig.hear(2, Word::Taken { shard: SHARD, epoch: e(2), parts }), vec![]);
    }
    rig.step(Step::Settle(e(2)));
    let release = Effect::Release { shard: SHARD, epoch: e(1), to: uid(2), next: e(2) };
    assert!(rig.see().contains(&release));
}

#[test]
fn another_that_leaves_is_told_once_every_old_way_is_new() {
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(2), e(1)));
    let version = v(rig.table.version().index + 2);
    assert_eq!(rig.hear(2, Word::Leaving { version }), vec![], "this table is too old to say");
    rig.step(Step::Move(uid(3), e(2)));
    rig.step_and_see(Step::Settle(e(2)));
    assert_eq!(rig.hear(2, Word::Leaving { version }), vec![]);
    rig.closed(true);
    assert_eq!(rig.hear(3, Word::BarrierDone { nonce: 1 }), vec![open(3, e(2)), clear(2, version)]);
    assert_eq!(rig.hear(2, Word::Leaving { version }), vec![clear(2, version)], "it asks again");
}
