//! A shard that lives here, comes or goes.

use super::*;

fn start(epoch: Epoch) -> Effect {
    Effect::Start { shard: SHARD, epoch }
}

fn freeze(epoch: Epoch, to: u64, next: Epoch) -> Effect {
    Effect::Freeze { shard: SHARD, epoch, to: uid(to), next }
}

fn release(epoch: Epoch, to: u64, next: Epoch) -> Effect {
    Effect::Release { shard: SHARD, epoch, to: uid(to), next }
}

/// Node 1 owns the shard and moves it to node 2; it is frozen.
fn frozen(rig: &mut Rig) {
    assert_eq!(rig.step_and_see(Step::Own(uid(1), e(1))), vec![start(e(1)), open(1, e(1))]);
    assert_eq!(rig.step_and_see(Step::Move(uid(2), e(2))), vec![freeze(e(1), 2, e(2))]);
    assert_eq!(rig.froze(e(2)), vec![]);
    assert_eq!(rig.report().frozen, vec![(SHARD, e(2))]);
}

#[test]
fn a_shard_is_released_only_when_another_owns_it() {
    let mut rig = Rig::new();
    frozen(&mut rig);
    assert_eq!(rig.step_and_see(Step::Settle(e(2))), vec![release(e(1), 2, e(2)), close()]);
    assert!(rig.report().is_empty());
    assert_eq!((rig.region.records(), rig.region.is_inhabited()), (1, false));
}

#[test]
fn a_record_ends_by_time_or_with_the_one_it_leads_to() {
    let forget = Effect::Forget { shard: SHARD, epoch: e(1) };
    let mut rig = Rig::new();
    frozen(&mut rig);
    rig.step_and_see(Step::Settle(e(2)));
    rig.closed(false);
    assert_eq!(rig.wait(), (30_000, vec![forget.clone()]));
    let mut rig = Rig::new();
    frozen(&mut rig);
    rig.step_and_see(Step::Settle(e(2)));
    rig.closed(false);
    rig.remove(2);
    assert_eq!(rig.see(), vec![close(), forget]);
    assert_eq!(rig.region.records(), 0);
}

#[test]
fn whence_a_shard_came_is_forgotten_before_where_it_went() {
    let forget = Effect::Forget { shard: SHARD, epoch: e(2) };
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(2), e(1)));
    rig.step_and_see(Step::Move(uid(1), e(2)));
    rig.installed(e(2));
    rig.step_and_see(Step::Settle(e(2)));
    rig.closed(false);
    rig.step_and_see(Step::Move(uid(3), e(3)));
    rig.froze(e(3));
    rig.step_and_see(Step::Settle(e(3)));
    rig.closed(false);
    assert_eq!(rig.wait(), (15_000, vec![forget.clone()]));
    assert_eq!(rig.region.records(), 1);
    rig.remove(3);
    assert_eq!(rig.see(), vec![close(), forget]);
    assert_eq!(
        rig.region.next_deadline().since(rig.now),
        Duration::from_secs(15),
        "nothing is left of it then"
    );
}

#[test]
fn a_move_that_is_called_off_resumes() {
    let mut rig = Rig::new();
    frozen(&mut rig);
    let resume = Effect::Resume { shard: SHARD, epoch: e(1) };
    assert_eq!(rig.step_and_see(Step::CallOff(e(2))), vec![resume]);
    assert!(rig.report().is_empty());
    assert_eq!(rig.froze(e(2)), vec![], "what the lane said before it was told");
    assert!(rig.report().is_empty());
}

#[test]
fn a_frozen_shard_that_moves_elsewhere_is_sent_there() {
    let mut rig = Rig::new();
    frozen(&mut rig);
    rig.step(Step::CallOff(e(2)));
    let transfer = Effect::Transfer { shard: SHARD, epoch: e(1), to: uid(3), next: e(3) };
    assert_eq!(rig.step_and_see(Step::Move(uid(3), e(3))), vec![transfer]);
    assert!(rig.report().frozen.is_empty());
    rig.froze(e(2));
    assert!(rig.report().frozen.is_empty(), "the word of the move before");
    rig.froze(e(3));
    assert_eq!(rig.report().frozen, vec![(SHARD, e(3))]);
}

#[test]
fn what_is_installed_runs_only_when_it_is_owned() {
    let mut rig = Rig::new();
    assert_eq!(rig.step_and_see(Step::Own(uid(2), e(1))), vec![open(2, e(1))]);
    assert_eq!(rig.step_and_see(Step::Move(uid(1), e(2))), vec![]);
    assert_eq!(rig.installed(e(2)), vec![]);
    assert_eq!(rig.report().installed, vec![(SHARD, e(2))]);
    let run = Effect::Run { shard: SHARD, epoch: e(2) };
    assert_eq!(rig.step_and_see(Step::Settle(e(2))), vec![run, close()]);
    assert!(rig.report().is_empty());
}

#[test]
fn what_is_installed_for_a_move_that_is_called_off_is_discarded() {
    let discard = Effect::Discard { shard: SHARD, epoch: e(2) };
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(2), e(1)));
    rig.step_and_see(Step::Move(uid(1), e(2)));
    rig.installed(e(2));
    assert_eq!(rig.step_and_see(Step::CallOff(e(2))), vec![discard.clone()]);
    assert_eq!(rig.installed(e(2)), vec![discard], "it comes once more, late");
    assert!(rig.report().is_empty());
}

#[test]
fn what_is_half_taken_in_is_discarded_when_its_move_is_over() {
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(2), e(1)));
    rig.step_and_see(Step::Move(uid(1), e(2)));
    assert_eq!(rig.step_and_see(Step::CallOff(e(2))), vec![Effect::Discard { shard: SHARD, epoch: e(2) }]);
}

#[test]
fn a_shard_can_come_back_before_the_table_shows_that_it_went() {
    let mut rig = Rig::new();
    frozen(&mut rig);
    rig.step(Step::Settle(e(2)));
    rig.step(Step::Move(uid(1), e(3)));
    assert_eq!(rig.installed(e(3)), vec![]);
    assert_eq!(rig.report().installed, vec![(SHARD, e(3))]);
    rig.step(Step::Settle(e(3)));
    let run = Effect::Run { shard: SHARD, epoch: e(3) };
    assert_eq!(rig.see(), vec![release(e(1), 2, e(2)), run, close()]);
}

#[test]
fn what_began_anew_elsewhere_is_dropped_here() {
    let mut rig = Rig::new();
    frozen(&mut rig);
    rig.step(Step::Settle(e(2)));
    rig.remove(2);
    rig.change(Change::Free(uid(2)));
    rig.step(Step::Own(uid(3), e(3)));
    let drop = Effect::Drop { shard: SHARD, epoch: e(1), why: Dropped::BeganAnew };
    assert_eq!(rig.see(), vec![drop, close()]);
}

#[test]
fn one_that_is_removed_drops_everything() {
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(1), e(1)));
    rig.remove(1);
    let drop = Effect::Drop { shard: SHARD, epoch: e(1), why: Dropped::NotAdmitted };
    assert_eq!(rig.see(), vec![close(), drop]);
}

#[test]
fn an_impossible_move_is_reported_until_it_is_called_off() {
    let mut rig = Rig::new();
    frozen(&mut rig);
    rig.tell(Input::Impossible { shard: SHARD, epoch: e(2) });
    assert_eq!(rig.report().impossible, vec![(SHARD, e(2))]);
    rig.step_and_see(Step::CallOff(e(2)));
    assert!(rig.report().is_empty());
}

#[test]
fn a_type_is_reported_until_the_table_shows_it_and_again_when_it_ends() {
    let mut rig = Rig::new();
    let other = Arc::new(Kind { name: "order".into(), ..(*kind()).clone() });
    rig.tell(Input::Start { kind: other.clone(), hosts: true, pace: Pace::default() });
    assert_eq!(rig.report().kinds, vec![(other.clone(), true)]);
    rig.change(Change::Declare(other.clone()));
    rig.see();
    assert_eq!(rig.report().kinds, vec![(other, true)], "declared, but not hosted here");
    rig.change(Change::Host(uid(1), KindId(1)));
    rig.see();
    assert!(rig.report().is_empty());
    rig.tell(Input::End { kind: "order".into() });
    assert_eq!(rig.report().ended, vec![KindId(1)]);
    rig.change(Change::EndHosting(uid(1), KindId(1)));
    rig.see();
    assert!(rig.report().is_empty());
}

#[test]
fn a_type_that_no_other_hosts_ends_once_its_lanes_have_dropped_it() {
    let mut rig = Rig::new();
    for number in 2..=4 {
        rig.change(Change::EndHosting(uid(number), KindId(0)));
    }
    rig.step_and_see(Step::Own(uid(1), e(1)));
    assert_eq!(rig.tell(Input::End { kind: kind().name.clone() }), vec![], "another may be about to host it");
    assert_eq!(rig.wait(), (60_000, vec![Effect::Force { kind: KindId(0) }]));
    assert!(rig.report().is_forcing);
    let drop = Effect::Drop { shard: SHARD, epoch: e(1), why: Dropped::NoOtherHost };
    assert_eq!(rig.wait(), (10_000, vec![drop]));
    assert_eq!(
        (&rig.report().ended, rig.report().dropped.len()),
        (&vec![KindId(0)], 0),
        "its lane is not done"
    );
    rig.tell(Input::Dropped { shard: SHARD, epoch: e(1) });
    assert_eq!(rig.report().dropped, vec![(SHARD, e(1))]);
    rig.change(Change::EndHosting(uid(1), KindId(0)));
    assert_eq!(rig.see(), vec![close()], "nobody has it");
    assert!(rig.report().is_empty());
    assert_eq!(rig.tell(Input::Closed { shard: SHARD, used: true }), vec![], "what is sent is held");
    rig.change(Change::Host(uid(2), KindId(0)));
    rig.step(Step::Own(uid(2), e(2)));
    assert_eq!(rig.see(), vec![Effect::Open { shard: SHARD, to: uid(2), tag: e(2) }]);
}

#[test]
fn a_type_that_is_hosted_again_where_it_was_dropped_begins_anew() {
    let mut rig = Rig::new();
    for number in 2..=4 {
        rig.change(Change::EndHosting(uid(number), KindId(0)));
    }
    rig.step_and_see(Step::Own(uid(1), e(1)));
    rig.tell(Input::End { kind: kind().name.clone() });
    rig.wait();
    rig.wait();
    rig.tell(Input::Start { kind: kind(), hosts: true, pace: Pace::default() });
    rig.tell(Input::Dropped { shard: SHARD, epoch: e(1) });
    assert_eq!(
        rig.report().ended,
        vec![KindId(0)],
        "it was dropped: nobody takes this node for its host first"
    );
    rig.change(Change::EndHosting(uid(1), KindId(0)));
    rig.see();
    assert_eq!(rig.report().kinds, vec![(kind(), true)]);
    rig.change(Change::Host(uid(1), KindId(0)));
    let effects = rig.see();
    assert!(effects.contains(&Effect::Start { shard: SHARD, epoch: e(2) }), "{effects:?}");
}

#[test]
fn a_type_whose_shards_do_not_move_away_in_time_is_dropped() {
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(1), e(1)));
    assert_eq!(rig.tell(Input::End { kind: kind().name.clone() }), vec![], "others host it");
    assert_eq!(rig.wait(), (60_000, vec![Effect::Force { kind: KindId(0) }]));
    let drop = Effect::Drop { shard: SHARD, epoch: e(1), why: Dropped::TooLate };
    assert_eq!(rig.wait(), (10_000, vec![drop]));
}

#[test]
fn a_type_that_ends_without_a_bound_is_never_dropped() {
    let mut rig = Rig::without_a_bound();
    for number in 2..=4 {
        rig.change(Change::EndHosting(uid(number), KindId(0)));
    }
    rig.step_and_see(Step::Own(uid(1), e(1)));
    assert_eq!(rig.tell(Input::End { kind: kind().name.clone() }), vec![]);
    assert_eq!(rig.region.next_deadline(), Timestamp::NEVER);
    rig.change(Change::Host(uid(2), KindId(0)));
    rig.step(Step::Move(uid(2), e(2)));
    let freeze = Effect::Freeze { shard: SHARD, epoch: e(1), to: uid(2), next: e(2) };
    assert!(rig.see().contains(&freeze), "it lives on until another hosts it");
}

#[test]
fn a_wish_is_repeated_until_it_is_fulfilled_or_too_old() {
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(2), e(1)));
    rig.tell(Input::Place { shard: SHARD, to: uid(3) });
    assert_eq!(rig.report().places, vec![(SHARD, uid(3))]);
    rig.step(Step::Move(uid(3), e(2)));
    rig.step_and_see(Step::Settle(e(2)));
    assert!(rig.report().is_empty());
    rig.tell(Input::Place { shard: SHARD, to: uid(2) });
    assert_eq!(rig.wait(), (60_000, vec![]));
    assert!(rig.report().is_empty());
}

#[test]
fn changes_are_published() {
    let mut rig = Rig::new();
    let mut published = |step| {
        rig.step(step);
        let all = rig.tell_all(Input::Table(Arc::new(rig.table.clone())));
        let event = |effect: Effect| if let Effect::Publish(event) = effect { Some(event) } else { None };
        all.into_iter().filter_map(event).collect::<Vec<_>>()
    };
    let (shard, one, two) = (SHARD, uid(1), uid(2));
    let began = Event::Allocated { shard, owner: one, epoch: e(1) };
    let hosted = Event::Hosted { shard, epoch: e(1), moved: false };
    assert_eq!(published(Step::Own(one, e(1))), vec![began, hosted]);
    let moving = Event::Moving { shard, from: one, to: two, epoch: e(2) };
    assert_eq!(published(Step::Move(two, e(2))), vec![moving]);
    assert_eq!(published(Step::CallOff(e(2))), vec![Event::CalledOff { shard, epoch: e(2) }]);
    published(Step::Move(two, e(3)));
    assert_eq!(published(Step::Settle(e(3))), vec![Event::Moved { shard, owner: two, epoch: e(3) }]);
}
