//! A store refuses a shard that is owned here: the region asks for a higher epoch, and the shard goes on at it.

use super::*;

fn raise(epoch: Epoch, next: Epoch) -> Effect {
    Effect::Raise { shard: SHARD, epoch, next }
}

fn refused(epoch: Epoch, seen: Epoch) -> Input {
    Input::Refused { shard: SHARD, epoch, seen }
}

fn published(rig: &mut Rig, input: Input) -> Vec<Event> {
    let event = |effect: Effect| if let Effect::Publish(event) = effect { Some(event) } else { None };
    rig.tell_all(input).into_iter().filter_map(event).collect()
}

/// Node 1 owns the shard at the first epoch, and its store has seen the ninth.
fn refused_rig() -> Rig {
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(1), e(1)));
    rig.tell(refused(e(1), e(9)));
    rig
}

#[test]
fn a_refusal_is_reported_until_the_table_shows_a_higher_epoch() {
    let mut rig = refused_rig();
    assert_eq!(rig.report().refused, vec![(SHARD, e(1), e(9))]);
    rig.remove(4);
    rig.see();
    assert_eq!(rig.report().refused.len(), 1, "other news do not end it");
    assert_eq!(rig.step_and_see(Step::Raise(e(10))), vec![raise(e(1), e(10)), close()]);
    assert!(rig.report().is_empty());
    assert_eq!(rig.closed(true), vec![barrier(1, e(1), 1, None)], "what was sent before is awaited as ever");
    assert_eq!(rig.hear(1, Word::BarrierDone { nonce: 1 }), vec![open(1, e(10))]);
}

#[test]
fn a_refusal_of_another_epoch_or_without_reason_is_not_reported() {
    let mut rig = Rig::new();
    rig.tell(refused(e(1), e(9)));
    rig.step_and_see(Step::Own(uid(1), e(1)));
    rig.tell(refused(e(2), e(9)));
    assert!(rig.report().is_empty(), "nothing lives here at that epoch");
    rig.tell(refused(e(1), Epoch::first(0)));
    assert!(rig.report().is_empty(), "a store that has seen only less would refuse a higher one too");
    rig.tell(refused(e(1), e(1)));
    assert_eq!(rig.report().refused, vec![(SHARD, e(1), e(1))], "another owner had the same one");
}

#[test]
fn a_refusal_is_over_when_the_store_gives_in_or_the_shard_goes() {
    let mut rig = refused_rig();
    rig.tell(Input::Fenced { shard: SHARD, epoch: e(1) });
    assert!(rig.report().is_empty());
    let mut rig = refused_rig();
    rig.remove(1);
    rig.see();
    assert!(rig.report().is_empty());
}

#[test]
fn an_epoch_far_in_the_future_is_published_and_not_reported() {
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(1), e(1)));
    let (shard, epoch, seen) = (SHARD, e(1), Epoch::first(u32::MAX));
    let alarm = Event::Refused { shard, epoch, seen, is_far_ahead: true };
    assert_eq!(published(&mut rig, refused(epoch, seen)), vec![alarm]);
    assert!(rig.report().is_empty());
    assert_eq!(published(&mut rig, refused(epoch, seen)), vec![], "not every second");
    rig.now = rig.now + Duration::from_secs(60);
    assert_eq!(published(&mut rig, refused(epoch, seen)), vec![alarm], "but as long as it lasts");
    let repaired = Event::Refused { shard, epoch, seen: e(9), is_far_ahead: false };
    assert_eq!(published(&mut rig, refused(epoch, e(9))), vec![repaired]);
    assert_eq!(rig.report().refused, vec![(SHARD, e(1), e(9))]);
}

#[test]
fn a_raise_ends_a_move_and_the_next_one_is_of_the_new_epoch() {
    let mut rig = refused_rig();
    rig.step_and_see(Step::Move(uid(2), e(2)));
    let resume = Effect::Resume { shard: SHARD, epoch: e(10) };
    assert_eq!(rig.step_and_see(Step::Raise(e(10))), vec![raise(e(1), e(10)), resume, close()]);
    let freeze = Effect::Freeze { shard: SHARD, epoch: e(10), to: uid(2), next: e(11) };
    assert_eq!(rig.step_and_see(Step::Move(uid(2), e(11))), vec![freeze]);
    rig.froze(e(11));
    let release = Effect::Release { shard: SHARD, epoch: e(10), to: uid(2), next: e(11) };
    assert_eq!(rig.step_and_see(Step::Settle(e(11))), vec![release]);
}

#[test]
fn a_raise_and_a_move_in_one_look_are_done_in_order() {
    let mut rig = refused_rig();
    rig.step(Step::Raise(e(10)));
    let freeze = Effect::Freeze { shard: SHARD, epoch: e(10), to: uid(2), next: e(11) };
    assert_eq!(rig.step_and_see(Step::Move(uid(2), e(11))), vec![raise(e(1), e(10)), freeze, close()]);
}

#[test]
fn a_shard_that_went_and_came_back_between_two_looks_is_not_taken_for_a_raised_one() {
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(1), e(1)));
    rig.step_and_see(Step::Move(uid(2), e(2)));
    rig.froze(e(2));
    rig.step(Step::Settle(e(2)));
    rig.step(Step::Move(uid(1), e(3)));
    rig.installed(e(3));
    let release = Effect::Release { shard: SHARD, epoch: e(1), to: uid(2), next: e(2) };
    let run = Effect::Run { shard: SHARD, epoch: e(3) };
    assert_eq!(rig.step_and_see(Step::Settle(e(3))), vec![release, run, close()]);
}

#[test]
fn whence_a_raised_shard_came_is_forgotten_in_time() {
    let mut rig = Rig::new();
    rig.step_and_see(Step::Own(uid(2), e(1)));
    rig.step_and_see(Step::Move(uid(1), e(2)));
    rig.installed(e(2));
    rig.step_and_see(Step::Settle(e(2)));
    rig.closed(false);
    rig.step_and_see(Step::Raise(e(9)));
    rig.closed(false);
    assert_eq!(rig.wait(), (15_000, vec![Effect::Forget { shard: SHARD, epoch: e(9) }]));
}

/// The type ended here before the coordinator heard that the store refuses no more.
#[test]
fn what_was_raised_after_it_was_dropped_is_reported_as_dropped() {
    let mut rig = Rig::new();
    for number in 2..=4 {
        rig.remove(number);
    }
    rig.see();
    rig.step_and_see(Step::Own(uid(1), e(1)));
    rig.tell(Input::End { kind: kind().name.clone() });
    rig.wait();
    rig.wait();
    assert_eq!(rig.step_and_see(Step::Raise(e(9))), vec![close()], "nothing lives here that could be raised");
    assert!(rig.report().dropped.is_empty(), "its entities have not ended yet");
    rig.tell(Input::Dropped { shard: SHARD, epoch: e(1) });
    assert_eq!(rig.report().dropped, vec![(SHARD, e(9))]);
}
