//! A shard that moves from one lane to another.

use std::sync::atomic::Ordering;
use std::time::Duration;

use borough_actor::{AskError, EntityId, StopReason};
use borough_protocol::sharding::region::Dropped;
use borough_wire::codec::CodecId;
use tokio::time::timeout;

use super::super::order::Depth;
use super::rig::{Node, e, eventually, uid};
use super::thing::{ARRIVED, ENDS, STARTED, Thing, Word, system, things};
use crate::sharding::host::{Forwarded, LaneReport, Migration, Order, Settings};

/// The shard of "a", "i" and "q".
const SHARD: u32 = 1;

fn migrating() -> Settings<Thing> {
    let mut settings = things();
    settings.migration = Some(Migration::of_serde());
    settings
}

fn freeze(node: &Node<Word>, next: u64) {
    node.order(Order::Freeze { shard: SHARD, epoch: e(1), to: uid(2), next: e(next) });
}

/// Freezes the shard with everything in it that was sent so far.
async fn froze(node: &Node<Word>, next: u64) {
    node.attended().await;
    freeze(node, next);
    node.reported(LaneReport::Froze { shard: SHARD, epoch: e(next) }).await;
}

/// Two nodes; the first has the shard.
fn two(settings: fn() -> Settings<Thing>) -> (borough_actor::System, Node<Word>, Node<Word>) {
    let system = system();
    let (from, to) = (Node::running(&system, settings()), Node::new(&system, settings()));
    (system, from, to)
}

#[tokio::test(start_paused = true)]
async fn a_shard_stays_at_work_while_the_way_to_where_it_moves_is_full_of_others() {
    let (_system, from, _to) = two(migrating);
    from.around.is_busy.store(true, Ordering::Release);
    from.attended().await;
    freeze(&from, 2);
    assert_eq!(from.ask("a", Word::Heard).await.unwrap(), [STARTED], "it works");
    let froze = |report: &LaneReport| matches!(report, LaneReport::Froze { .. });
    assert!(!from.around.reports.lock().unwrap().iter().any(froze));
    // Called off, and ordered anew.
    from.order(Order::Resume { shard: SHARD, epoch: e(1) });
    freeze(&from, 3);
    assert_eq!(from.ask("a", Word::Life).await.unwrap(), 1);
    from.around.is_busy.store(false, Ordering::Release);
    from.reported(LaneReport::Froze { shard: SHARD, epoch: e(3) }).await;
    let reports = from.around.reports.lock().unwrap();
    assert!(!reports.contains(&LaneReport::Froze { shard: SHARD, epoch: e(2) }), "{reports:?}");
}

#[tokio::test(start_paused = true)]
async fn a_shard_moves_with_states_stash_timers_and_what_waits() {
    let (_system, from, to) = two(migrating);
    for word in [Word::Note(1), Word::Stash(9), Word::Timer(5000, 5)] {
        from.tell("a", word).await;
    }
    from.tell("i", Word::Work(100, 2)).await;
    from.tell("i", Word::Note(3)).await;
    froze(&from, 2).await;
    from.carry_to(&to).await;
    to.order(Order::Run { shard: SHARD, epoch: e(2) });
    from.order(Order::Release { shard: SHARD, epoch: e(1), to: uid(2), next: e(2) });
    to.send("a", 2, Word::Unstash).await.unwrap();
    assert_eq!(to.ask_by("a", 2, Word::Heard).await.unwrap(), [STARTED, 1, ARRIVED, 9]);
    assert_eq!(to.ask_by("i", 2, Word::Heard).await.unwrap(), [STARTED, 2, ARRIVED, 3]);
    let _ = timeout(Duration::from_secs(5), std::future::pending::<()>()).await;
    assert_eq!(to.ask_by("a", 2, Word::Heard).await.unwrap().last(), Some(&5));
    for lane in &from.lanes {
        assert!(lane.stats(Depth::Entities).await.shards.iter().all(|(_, _, entities)| *entities == 0));
    }
}

/// What it has heard moves; which life it is, is made of its id where it arrives.
fn migrating_in_part() -> Settings<Thing> {
    let mut settings = things();
    let arrived = |id: &EntityId, heard| Thing { heard, life: 100 + id.len() as u64 };
    settings.migration = Some(Migration::of_part(|thing: &Thing| thing.heard.clone(), arrived));
    settings
}

#[tokio::test(start_paused = true)]
async fn a_part_of_an_entity_moves_and_the_rest_is_made_where_it_arrives() {
    let (_system, from, to) = two(migrating_in_part);
    from.tell("a", Word::Note(1)).await;
    froze(&from, 2).await;
    from.carry_to(&to).await;
    to.order(Order::Run { shard: SHARD, epoch: e(2) });
    assert_eq!(to.ask_by("a", 2, Word::Heard).await.unwrap(), [STARTED, 1, ARRIVED]);
    assert_eq!(to.ask_by("a", 2, Word::Life).await.unwrap(), 101);
}

#[tokio::test(start_paused = true)]
async fn nothing_of_what_was_installed_runs_before_it_is_owned() {
    let (_system, from, to) = two(migrating);
    from.tell("a", Word::Timer(10, 1)).await;
    froze(&from, 2).await;
    from.carry_to(&to).await;
    let asked = to.ask_by("a", 2, Word::Heard);
    tokio::pin!(asked);
    assert!(timeout(Duration::from_secs(1), asked.as_mut()).await.is_err());
    to.order(Order::Run { shard: SHARD, epoch: e(2) });
    assert_eq!(asked.await.unwrap(), [STARTED, ARRIVED]);
}

#[tokio::test(start_paused = true)]
async fn a_move_that_is_called_off_leaves_everything_as_it_was() {
    let (_system, from, _) = two(migrating);
    for word in [Word::Note(1), Word::Stash(2), Word::Timer(100, 3)] {
        from.tell("a", word).await;
    }
    froze(&from, 2).await;
    let asked = from.ask("a", Word::Heard);
    tokio::pin!(asked);
    assert!(timeout(Duration::from_secs(1), asked.as_mut()).await.is_err(), "nothing runs behind the cut");
    from.order(Order::Resume { shard: SHARD, epoch: e(1) });
    let heard = asked.await.unwrap();
    assert!(heard.starts_with(&[STARTED, 1]));
    from.tell("a", Word::Unstash).await;
    let mut heard = from.ask("a", Word::Heard).await.unwrap();
    heard.sort_unstable();
    assert_eq!(heard, [1, 2, 3, STARTED]);
}

#[tokio::test(start_paused = true)]
async fn what_comes_after_the_cut_is_forwarded_in_order_barriers_among_it() {
    let (_system, from, _) = two(migrating);
    from.tell("a", Word::Note(1)).await;
    froze(&from, 2).await;
    from.tell("a", Word::Note(2)).await;
    from.lane(SHARD).barrier(Node::<Word>::barrier(SHARD, 1, 77)).await;
    from.tell("q", Word::Note(3)).await;
    from.order(Order::Release { shard: SHARD, epoch: e(1), to: uid(2), next: e(2) });
    from.tell("a", Word::Note(4)).await;
    let around = from.around.clone();
    eventually("all is forwarded", || around.forwarded.lock().unwrap().len() == 4).await;
    let forwarded: Vec<_> = around.forwarded.lock().unwrap().drain(..).collect();
    let seen: Vec<_> = forwarded
        .iter()
        .map(|(tag, what)| match what {
            Forwarded::Message { message: Word::Note(note), .. } => (tag.get(), *note),
            Forwarded::Message { .. } => (0, 0),
            Forwarded::Barrier(barrier) => (barrier.tag.get(), barrier.nonce),
        })
        .collect();
    assert_eq!(seen, [(2, 2), (2, 77), (2, 3), (2, 4)]);
}

#[tokio::test(start_paused = true)]
async fn an_ask_that_waits_moves_with_its_shard_and_is_answered_from_there() {
    let (_system, from, to) = two(migrating);
    from.tell("a", Word::Work(200, 1)).await;
    let asked = from.ask("a", Word::Heard);
    tokio::pin!(asked);
    assert!(timeout(Duration::from_millis(100), asked.as_mut()).await.is_err());
    freeze(&from, 2);
    let moved = async {
        from.reported(LaneReport::Froze { shard: SHARD, epoch: e(2) }).await;
        from.carry_to(&to).await;
        to.order(Order::Run { shard: SHARD, epoch: e(2) });
        from.order(Order::Release { shard: SHARD, epoch: e(1), to: uid(2), next: e(2) });
    };
    let (heard, ()) = tokio::join!(asked, moved);
    assert_eq!(heard.unwrap(), [STARTED, 1, ARRIVED]);
}

#[tokio::test(start_paused = true)]
async fn entities_that_do_not_migrate_hear_that_they_end_and_their_queues_move() {
    let (_system, from, to) = two(things);
    from.tell("a", Word::Note(1)).await;
    from.tell("i", Word::Work(100, 2)).await;
    from.tell("i", Word::Note(3)).await;
    froze(&from, 2).await;
    let ends = ENDS.with_borrow(Clone::clone);
    assert_eq!(ends, [("a".to_owned(), StopReason::Moved), ("i".to_owned(), StopReason::Moved)]);
    from.carry_to(&to).await;
    to.order(Order::Run { shard: SHARD, epoch: e(2) });
    assert_eq!(to.ask_by("i", 2, Word::Heard).await.unwrap(), [STARTED, 3]);
    assert_eq!(to.ask_by("a", 2, Word::Heard).await.unwrap(), [STARTED]);
}

#[tokio::test(start_paused = true)]
async fn entities_that_end_with_a_move_get_the_stop_message_first() {
    let system = system();
    let mut settings = things();
    settings.stop_with = Some(std::sync::Arc::new(|| Word::TellSelf(4)));
    let from = Node::running(&system, settings);
    from.tell("a", Word::Note(1)).await;
    froze(&from, 2).await;
    from.order(Order::Resume { shard: SHARD, epoch: e(1) });
    assert_eq!(
        from.ask("a", Word::Heard).await.unwrap(),
        [STARTED, 4],
        "what it said to itself began its next life"
    );
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_does_not_end_makes_the_move_of_a_type_that_migrates_impossible() {
    let (_system, from, _) = two(migrating);
    from.tell("a", Word::Hang).await;
    from.tell("i", Word::Note(1)).await;
    from.attended().await;
    freeze(&from, 2);
    from.reported(LaneReport::Impossible { shard: SHARD, epoch: e(2) }).await;
    from.order(Order::Resume { shard: SHARD, epoch: e(1) });
    assert_eq!(from.ask("i", Word::Heard).await.unwrap(), [STARTED, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_does_not_end_is_ended_if_the_type_does_not_migrate() {
    let (_system, from, to) = two(things);
    from.tell("a", Word::Hang).await;
    from.tell("a", Word::Note(1)).await;
    froze(&from, 2).await;
    from.carry_to(&to).await;
    to.order(Order::Run { shard: SHARD, epoch: e(2) });
    assert_eq!(to.ask_by("a", 2, Word::Heard).await.unwrap(), [STARTED, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_frozen_shard_can_be_sent_to_another_instead() {
    let (_system, from, to) = two(migrating);
    from.tell("a", Word::Note(1)).await;
    froze(&from, 2).await;
    from.order(Order::Transfer { shard: SHARD, epoch: e(1), to: uid(3), next: e(3) });
    from.reported(LaneReport::Froze { shard: SHARD, epoch: e(3) }).await;
    from.carry_to(&to).await;
    to.order(Order::Run { shard: SHARD, epoch: e(3) });
    assert_eq!(to.ask_by("a", 3, Word::Heard).await.unwrap(), [STARTED, 1, ARRIVED]);
}

#[tokio::test(start_paused = true)]
async fn what_is_installed_and_then_discarded_is_gone() {
    let (_system, from, to) = two(migrating);
    from.tell("a", Word::Note(1)).await;
    froze(&from, 2).await;
    from.carry_to(&to).await;
    to.order(Order::Discard { shard: SHARD, epoch: e(2) });
    to.order(Order::Run { shard: SHARD, epoch: e(2) });
    assert!(matches!(to.ask_by("a", 2, Word::Heard).await, Err(AskError::Discarded { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_transfer_that_was_changed_on_its_way_is_not_taken() {
    let (_system, from, to) = two(migrating);
    from.tell("a", Word::Note(1)).await;
    froze(&from, 2).await;
    let (shard, epoch, parts) = from.around.transfers.lock().unwrap().pop().unwrap();
    for at in 0..parts[0].len() {
        let mut changed = parts.clone();
        changed[0][at] ^= 1;
        // Each for a move of its own: a second one for the same is not looked at.
        let next = e(epoch.get() + 1 + at as u64);
        to.take_parts(shard, next, &changed).await;
        to.reported(LaneReport::Impossible { shard, epoch: next }).await;
    }
    let short = &parts[0][..parts[0].len() - 9];
    to.take_parts(shard, e(900), &[short.to_vec()]).await;
    to.reported(LaneReport::Impossible { shard, epoch: e(900) }).await;
    let reports = to.around.reports.lock().unwrap();
    assert!(!reports.iter().any(|report| matches!(report, LaneReport::Installed { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_transfer_in_another_codec_than_the_type_s_is_not_taken() {
    let (_system, from, to) = two(migrating);
    from.tell("a", Word::Note(1)).await;
    froze(&from, 2).await;
    *to.around.codec.lock().unwrap() = CodecId::Json;
    let (shard, epoch, parts) = from.around.transfers.lock().unwrap().pop().unwrap();
    to.take_parts(shard, epoch, &parts).await;
    to.reported(LaneReport::Impossible { shard, epoch }).await;
}

#[tokio::test(start_paused = true)]
async fn a_large_shard_travels_in_many_parts() {
    let (_system, from, to) = two(migrating);
    for entity in 0..64_u64 {
        for note in 0..4000 {
            from.tell(entity * 8, Word::Note(note << 50)).await;
        }
    }
    from.attended().await;
    let shard = super::rig::shard_of(&borough_actor::IntoEntityId::into_entity_id(8_u64).unwrap());
    from.order(Order::Freeze { shard, epoch: e(1), to: uid(2), next: e(2) });
    from.reported(LaneReport::Froze { shard, epoch: e(2) }).await;
    assert!(from.around.transfers.lock().unwrap()[0].2.len() > 1);
    from.carry_to(&to).await;
    to.order(Order::Run { shard, epoch: e(2) });
    assert_eq!(to.ask_by(8_u64, 2, Word::Heard).await.unwrap().len(), 4002);
}

#[tokio::test(start_paused = true)]
async fn a_shard_that_is_dropped_refuses_what_waits() {
    let (_system, from, _) = two(migrating);
    from.tell("a", Word::Hang).await;
    for note in 0..5 {
        from.tell("a", Word::Note(note)).await;
    }
    assert_eq!(from.ask("i", Word::Heard).await.unwrap(), [STARTED]);
    let why = Dropped::BeganAnew;
    from.order(Order::Drop { shard: SHARD, epoch: e(1), why });
    let around = from.around.clone();
    eventually("all is refused", || around.refused.load(Ordering::Relaxed) == 5).await;
    assert!(matches!(from.ask("a", Word::Heard).await, Err(AskError::Discarded { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_running_host_answers_barriers_and_one_without_a_record_cannot() {
    let (_system, from, to) = two(migrating);
    let barrier = Node::<Word>::barrier(SHARD, 1, 5);
    from.lane(SHARD).barrier(barrier).await;
    from.reported(LaneReport::Done(barrier)).await;
    to.lane(SHARD).barrier(barrier).await;
    to.reported(LaneReport::Broken { barrier, hop: None }).await;
}

#[tokio::test(start_paused = true)]
async fn what_came_to_an_adapter_moves_with_its_entity() {
    let (_system, from, to) = two(migrating);
    // Its turn is under way while the shard freezes: what the adapter is told waits, and no turn begins any more.
    from.tell("a", Word::AdaptAndWork(7, 50)).await;
    from.attended().await;
    let shard = SHARD;
    from.order(Order::Freeze { shard, epoch: e(1), to: uid(2), next: e(2) });
    from.reported(LaneReport::Froze { shard, epoch: e(2) }).await;
    from.carry_to(&to).await;
    to.order(Order::Run { shard, epoch: e(2) });
    assert_eq!(to.ask_by("a", 2, Word::Heard).await.unwrap(), [STARTED, ARRIVED, 8]);
}

#[tokio::test(start_paused = true)]
async fn a_transfer_whose_move_the_table_never_showed_is_dropped() {
    let (_system, from, to) = two(migrating);
    from.tell("a", Word::Note(1)).await;
    let shard = SHARD;
    from.order(Order::Freeze { shard, epoch: e(1), to: uid(2), next: e(2) });
    from.reported(LaneReport::Froze { shard, epoch: e(2) }).await;
    from.carry_to(&to).await;
    to.look_after_call_off(2);
    // Had it been kept it would run.
    to.order(Order::Run { shard, epoch: e(2) });
    to.order(Order::Start { shard, epoch: e(3) });
    assert_eq!(to.ask_by("a", 3, Word::Heard).await.unwrap(), [STARTED]);
    let lane = to.lane(shard).stats(Depth::Counts).await;
    assert_eq!(lane.shards, [(shard, e(3), 1)]);
}

#[tokio::test(start_paused = true)]
async fn a_shard_that_is_dropped_gently_is_said_to_be_gone_once_its_entities_have_ended() {
    let system = system();
    let node = Node::running(&system, things());
    node.tell("a", Word::Note(1)).await;
    node.attended().await;
    let shard = SHARD;
    node.order(Order::Drop { shard, epoch: e(1), why: Dropped::NoOtherHost });
    node.reported(LaneReport::Dropped { shard, epoch: e(1) }).await;
    assert!(ENDS.with_borrow(|ends| ends.contains(&("a".to_owned(), StopReason::Moved))));
}
