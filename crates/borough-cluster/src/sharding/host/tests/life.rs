//! The life of an entity in its lane.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use borough_actor::{
    Actor, AskError, Context, DeadLetterReason, Directive, EntityId, Fault, IntoEntityId, StopReason,
    Supervision,
};
use tokio::time::{advance, timeout};

use super::super::order::Depth;
use super::rig::{Around, Node, SHARDS, e, eventually, shard_of};
use super::thing::{Counts, ENDS, RESTARTED, STARTED, TERMINATED, WORKED, Word, counted, system, things};
use crate::sharding::host::{Order, Passivation, Policy, Settings};

fn ends() -> Vec<(String, StopReason)> {
    ENDS.with_borrow(Clone::clone)
}

#[tokio::test(start_paused = true)]
async fn the_first_message_makes_an_entity_which_starts_before_it() {
    let system = system();
    let node = Node::running(&system, things());
    node.tell("a", Word::Note(7)).await;
    assert_eq!(node.ask("a", Word::Heard).await.unwrap(), [STARTED, 7]);
    assert_eq!(node.ask("b", Word::Heard).await.unwrap(), [STARTED]);
}

#[tokio::test(start_paused = true)]
async fn messages_to_many_entities_are_handled_each_in_order() {
    let system = system();
    let node = Node::running(&system, things());
    for note in 0..50 {
        for entity in 0..300_u64 {
            node.tell(entity, Word::Note(note)).await;
        }
    }
    let expected: Vec<u64> = std::iter::once(STARTED).chain(0..50).collect();
    for entity in 0..300_u64 {
        assert_eq!(node.ask(entity, Word::Heard).await.unwrap(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn an_entity_knows_who_it_is() {
    let system = system();
    let node = Node::running(&system, things());
    let shard = u32::from(b'a') % SHARDS;
    let who = node.ask("a", Word::Who).await.unwrap();
    assert_eq!(who, ("a".to_owned(), shard, 1, "/things/a".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_awaits_holds_up_its_own_entity_alone() {
    let system = system();
    let node = Node::running(&system, things());
    node.tell("a", Word::Work(1000, 1)).await;
    node.tell("a", Word::Note(2)).await;
    // Of the same shard.
    assert_eq!(node.ask("i", Word::Heard).await.unwrap(), [STARTED]);
    assert_eq!(node.ask("a", Word::Heard).await.unwrap(), [STARTED, 1, 2]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_entity_is_restarted_after_a_while_and_keeps_what_waits_and_what_it_stashed() {
    let system = system();
    let node = Node::running(&system, things());
    for word in [Word::Stash(1), Word::Stash(2), Word::Panic, Word::Note(3)] {
        node.tell("a", word).await;
    }
    assert_eq!(node.ask("a", Word::Heard).await.unwrap(), [RESTARTED, 1, 2, 3]);
    assert_eq!(node.ask("a", Word::Life).await.unwrap(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_entity_that_fails_too_often_ends_and_its_queue_is_buried() {
    let system = system();
    let mut settings = things();
    settings.supervision = Supervision::always(Directive::Restart).limit(2, Duration::from_secs(3600));
    let node = Node::running(&system, settings);
    for word in [Word::Fail, Word::Fail, Word::Fail, Word::Note(1), Word::Note(2)] {
        node.tell("a", word).await;
    }
    eventually("the queue is buried", || system.dead_letters().count(DeadLetterReason::Unhandled) == 2).await;
    assert_eq!(node.ask("a", Word::Heard).await.unwrap(), [STARTED], "the next message starts it anew");
}

#[tokio::test(start_paused = true)]
async fn a_fault_is_answered_as_the_supervision_says() {
    let system = system();
    let mut settings = things();
    settings.supervision =
        Supervision::by(|fault| if fault.is_panic() { Directive::Stop } else { Directive::Resume });
    let node = Node::running(&system, settings);
    node.tell("a", Word::Note(1)).await;
    node.tell("a", Word::Fail).await;
    assert_eq!(node.ask("a", Word::Heard).await.unwrap(), [STARTED, 1]);
    node.tell("a", Word::Panic).await;
    assert_eq!(node.ask("a", Word::Heard).await.unwrap(), [STARTED]);
    assert_eq!(ends(), [("a".to_owned(), StopReason::Fault)]);
}

#[tokio::test(start_paused = true)]
async fn a_factory_that_panics_is_supervised() {
    let system = system();
    let counts = Arc::new(Counts::default());
    let mut settings = counted(&counts);
    let make = settings.make.clone();
    let seen = counts.clone();
    settings.make = Arc::new(move |id| {
        assert!(
            seen.made.load(Ordering::Relaxed) != 0 || seen.made.fetch_add(1, Ordering::Relaxed) > 0,
            "not yet"
        );
        make(id)
    });
    let node = Node::running(&system, settings);
    assert_eq!(node.ask("a", Word::Heard).await.unwrap(), [RESTARTED]);
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_an_entity_that_is_passivated_starts_its_next_life() {
    let system = system();
    let node = Node::running(&system, things());
    for word in
        [Word::Note(1), Word::Passivate, Word::Note(2), Word::PassivateWith(3), Word::Note(4), Word::Stop]
    {
        node.tell("a", word).await;
    }
    assert_eq!(node.ask("a", Word::Life).await.unwrap(), 4);
    assert_eq!(node.ask("a", Word::Heard).await.unwrap(), [STARTED]);
    let reasons: Vec<_> = ends().into_iter().map(|(_, reason)| reason).collect();
    assert_eq!(reasons, [StopReason::Passivated, StopReason::Passivated, StopReason::Requested]);
}

#[tokio::test(start_paused = true)]
async fn an_entity_that_is_gone_has_no_place_any_more() {
    let system = system();
    let node = Node::running(&system, things());
    for round in 0..3 {
        for entity in 0..1000_u64 {
            node.tell(entity, Word::Note(round)).await;
            node.tell(entity, Word::Passivate).await;
        }
    }
    node.attended().await;
    for lane in &node.lanes {
        let stats = lane.stats(Depth::Entities).await;
        assert_eq!(stats.shards.iter().map(|(_, _, entities)| entities).sum::<usize>(), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn none_of_ten_thousand_messages_that_race_with_passivation_is_lost() {
    let system = system();
    let counts = Arc::new(Counts::default());
    let mut settings = counted(&counts);
    settings.passivate_after = Some(Duration::from_millis(10));
    let node = Arc::new(Node::running(&system, settings));
    let senders: Vec<_> = (0..4_u64)
        .map(|sender| {
            let node = node.clone();
            tokio::spawn(async move {
                for n in 0..2500 {
                    let entity = (n * 7 + sender) % 50;
                    if n % 3 == 0 {
                        node.tell(entity, Word::Passivate).await;
                    }
                    node.ask(entity, Word::Life).await.expect("it is answered");
                }
            })
        })
        .collect();
    for sender in senders {
        sender.await.unwrap();
    }
    assert!(counts.made.load(Ordering::Relaxed) > 1000);
    assert_eq!(system.dead_letters().total(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_entity_that_is_idle_for_long_enough_goes_and_one_that_is_used_stays() {
    let system = system();
    let mut settings = things();
    settings.passivate_after = Some(Duration::from_secs(10));
    let node = Node::running(&system, settings);
    node.tell("idle", Word::Note(1)).await;
    for _ in 0..20 {
        assert!(node.ask("used", Word::Heard).await.unwrap().contains(&STARTED));
        advance(Duration::from_secs(1)).await;
    }
    eventually("the idle one is gone", || !ends().is_empty()).await;
    assert_eq!(ends(), [("idle".to_owned(), StopReason::Passivated)]);
}

#[tokio::test(start_paused = true)]
async fn when_there_are_too_many_those_unused_for_longest_go() {
    let system = system();
    let mut settings = things();
    settings.max_entities = Some(200);
    let node = Node::running(&system, settings);
    for entity in 0..1000_u64 {
        node.ask(entity, Word::Life).await.unwrap();
        if entity % 10 == 0 {
            advance(Duration::from_millis(10)).await;
        }
    }
    let mut living = 0;
    for lane in &node.lanes {
        living +=
            lane.stats(Depth::Entities).await.shards.iter().map(|(_, _, entities)| entities).sum::<usize>();
    }
    assert!((100..=200).contains(&living), "{living} live");
    let gone: Vec<u64> = ends().iter().map(|(id, _)| id.parse().unwrap()).collect();
    assert!(gone.iter().all(|id| *id < 950), "a young one went");
}

#[tokio::test(start_paused = true)]
async fn a_policy_says_which_go_when_there_are_too_many() {
    let system = system();
    let mut settings = things();
    settings.max_entities = Some(20);
    settings.passivation = Passivation::by(Policy::MostRecentlyUsed);
    let node = Node::running(&system, settings);
    for entity in 0..200_u64 {
        node.ask(entity, Word::Life).await.unwrap();
    }
    let mut living = 0;
    for lane in &node.lanes {
        living +=
            lane.stats(Depth::Entities).await.shards.iter().map(|(_, _, entities)| entities).sum::<usize>();
    }
    assert_eq!(living, 20);
    assert_eq!(node.ask(0_u64, Word::Life).await.unwrap(), 1, "the first is still there");
}

#[tokio::test(start_paused = true)]
async fn timers_ring_and_the_receive_timeout_begins_anew_with_each_message() {
    let system = system();
    let node = Node::running(&system, things());
    node.tell("a", Word::Timer(50, 1)).await;
    node.tell("b", Word::ReceiveTimeout(100, 2)).await;
    for _ in 0..5 {
        let _ = timeout(Duration::from_millis(60), std::future::pending::<()>()).await;
        assert_eq!(node.ask("b", Word::Heard).await.unwrap(), [STARTED]);
    }
    assert_eq!(node.ask("a", Word::Heard).await.unwrap(), [STARTED, 1]);
    let _ = timeout(Duration::from_millis(150), std::future::pending::<()>()).await;
    assert_eq!(node.ask("b", Word::Heard).await.unwrap(), [STARTED, 2]);
}

#[tokio::test(start_paused = true)]
async fn no_turn_that_awaited_something_goes_on_once_the_lease_is_over_however_many_are_to() {
    let system = system();
    let node = Node::running(&system, things());
    for id in 0..100_u64 {
        node.tell(id, Word::Work(10, id)).await;
    }
    node.attended().await;
    node.around.looks.store(20, Ordering::Release);
    let _ = timeout(Duration::from_millis(50), std::future::pending::<()>()).await;
    let before = WORKED.get();
    assert!(before <= 20, "{before} turns went on by 20 looks at the lease");
    node.resume();
    eventually("all have worked", || WORKED.get() == 100).await;
}

/// Takes a while to end.
struct Slowly(Arc<AtomicUsize>);

impl Actor for Slowly {
    type Msg = u64;

    async fn receive(&mut self, _: u64, _: &mut Context<Self>) -> Result<(), Fault> {
        Ok(())
    }

    async fn stopping(&mut self, _: StopReason, _: &mut Context<Self>) -> Result<(), Fault> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let _ = timeout(Duration::from_millis(10), std::future::pending::<()>()).await;
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_go_than_are_too_many_though_they_take_a_while_to_end() {
    let system = system();
    let ended = Arc::<AtomicUsize>::default();
    let by = ended.clone();
    let mut settings = Settings::new(Arc::new(move |_: &EntityId| Slowly(by.clone())));
    settings.max_entities = Some(200);
    let node = Node::running(&system, settings);
    for entity in 0..1000_u64 {
        node.tell(entity, 1).await;
    }
    node.attended().await;
    let (most, gone) = (1000 - 200 + 2 * 200 / 16, ended.load(Ordering::Relaxed));
    assert!((700..=most).contains(&gone), "{gone} of 1000 went");
}

/// Ends the lease in its third turn, as the control thread does: by both marks.
struct Fuse {
    around: Arc<OnceLock<Arc<Around<u64>>>>,
    handled: Arc<Mutex<Vec<u64>>>,
}

impl Actor for Fuse {
    type Msg = u64;

    async fn receive(&mut self, number: u64, _: &mut Context<Self>) -> Result<(), Fault> {
        self.handled.lock().unwrap().push(number);
        if number == 3 {
            let around = self.around.get().unwrap();
            around.halt.store(true, Ordering::Release);
            around.may_run.store(false, Ordering::Release);
        }
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn no_turn_begins_once_the_lease_is_over_though_its_messages_were_taken_together() {
    let system = system();
    let (around, handled) = (Arc::<OnceLock<_>>::default(), Arc::<Mutex<Vec<u64>>>::default());
    let (of, by) = (around.clone(), handled.clone());
    let make = move |_: &EntityId| Fuse { around: of.clone(), handled: by.clone() };
    let node = Node::running(&system, Settings::new(Arc::new(make)));
    let _ = around.set(node.around.clone());
    // All of one lane: some of the same entity, some of others.
    for (number, id) in (1..=20).zip(["i", "q", "a"].into_iter().cycle()) {
        node.tell(id, number).await;
    }
    eventually("the third turn", || handled.lock().unwrap().len() >= 3).await;
    let _ = timeout(Duration::from_secs(1), std::future::pending::<()>()).await;
    assert_eq!(*handled.lock().unwrap(), [1, 2, 3]);
    node.resume();
    eventually("all", || handled.lock().unwrap().len() == 20).await;
    let handled = handled.lock().unwrap();
    for entity in 0..3 {
        assert!(handled.iter().filter(|number| **number % 3 == entity).is_sorted(), "{handled:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn timers_that_are_cancelled_or_end_with_their_entity_leave_no_alarm() {
    const HOUR: u64 = 3_600_000;
    let system = system();
    let node = Node::running(&system, things());
    let alarms =
        async || node.lane(shard_of(&"a".into_entity_id().unwrap())).stats(Depth::Counts).await.alarms;
    node.attended().await;
    let before = alarms().await;
    for note in 0..100 {
        node.tell("a", Word::Timer(HOUR, note)).await;
        node.tell("a", Word::Cancel(note)).await;
        node.tell("a", Word::Timer(HOUR, note)).await;
        node.tell("a", Word::Passivate).await;
    }
    // Each earlier than the one before: one alarm for the earliest is enough.
    for note in 0..100 {
        node.tell("a", Word::Timer(HOUR - note, note)).await;
    }
    node.attended().await;
    assert_eq!(alarms().await - before, 1, "it lives, and has one earliest timer");
    node.tell("a", Word::Passivate).await;
    node.attended().await;
    assert_eq!(alarms().await, before);
}

#[tokio::test(start_paused = true)]
async fn an_entity_has_children_watches_adapters_and_a_ref_to_itself() {
    let system = system();
    let node = Node::running(&system, things());
    node.tell("a", Word::TellSelf(1)).await;
    node.tell("a", Word::Adapt(2)).await;
    node.tell("a", Word::Watch).await;
    let node = &node;
    let until = |count: usize| async move {
        for _ in 0..1000 {
            let heard = node.ask("a", Word::Heard).await.unwrap();
            if heard.len() >= count {
                return heard;
            }
            let _ = timeout(Duration::from_millis(1), std::future::pending::<()>()).await;
        }
        panic!("in vain");
    };
    let mut heard = until(4).await;
    heard.sort_unstable();
    assert_eq!(heard, [1, 3, STARTED, TERMINATED]);
    assert_eq!(node.ask("a", Word::Child).await.unwrap(), 1);
    let actors = system.actors();
    node.tell("a", Word::Passivate).await;
    eventually("the child and the entity's own mailbox are gone", || system.actors() == actors - 2).await;
}

#[tokio::test(start_paused = true)]
async fn an_entity_that_would_wait_for_itself_is_told() {
    let system = system();
    let node = Node::running(&system, things());
    assert!(timeout(Duration::from_millis(100), node.ask("a", Word::AskSelf)).await.unwrap().unwrap());
}

#[tokio::test(start_paused = true)]
async fn nothing_runs_without_a_lease_and_nothing_is_lost() {
    let system = system();
    let node = Node::running(&system, things());
    node.tell("a", Word::Work(10, 1)).await;
    assert_eq!(node.ask("b", Word::Heard).await.unwrap(), [STARTED]);
    node.suspend();
    node.tell("a", Word::Note(2)).await;
    let waits = node.ask("a", Word::Heard);
    tokio::pin!(waits);
    assert!(timeout(Duration::from_secs(1), waits.as_mut()).await.is_err());
    node.resume();
    assert_eq!(waits.await.unwrap(), [STARTED, 1, 2]);
}

#[tokio::test(start_paused = true)]
async fn a_life_that_is_over_ends_without_a_lease() {
    let system = system();
    let node = Node::running(&system, things());
    node.tell("a", Word::Note(1)).await;
    assert_eq!(node.ask("a", Word::Heard).await.unwrap(), [STARTED, 1]);
    node.suspend();
    node.lanes.iter().for_each(|lane| lane.order(Order::DropAll));
    for lane in &node.lanes {
        assert_eq!(lane.stats(Depth::Entities).await.shards, []);
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_of_another_epoch_is_refused_and_one_of_a_newer_waits() {
    let system = system();
    let node = Node::running(&system, things());
    assert!(matches!(node.ask_by("a", 900, Word::Life).await, Err(AskError::Discarded { .. })));
    let newer = node.ask_by("a", 2000, Word::Life);
    tokio::pin!(newer);
    assert!(timeout(Duration::from_secs(1), newer.as_mut()).await.is_err());
    node.order(Order::Start { shard: 1, epoch: e(2000) });
    node.look(3000);
    assert_eq!(newer.await.unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn messages_of_another_node_are_decoded_and_handled_in_order() {
    let system = system();
    let node = Node::running(&system, things());
    let notes: Vec<_> =
        (0..1000).map(|note| (["a", "b", "c"][note % 3], 1, Word::Note(note as u64))).collect();
    for mut inlet in node.come(&notes) {
        std::future::poll_fn(|cx| inlet.poll_flush(cx)).await;
        assert_eq!(inlet.waiting(), 0);
    }
    let expected: Vec<u64> = std::iter::once(STARTED).chain((0..1000).step_by(3)).collect();
    assert_eq!(node.ask("a", Word::Heard).await.unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_message_of_another_node_waits_for_its_epoch_though_its_entity_lives() {
    let system = system();
    let node = Node::running(&system, things());
    assert_eq!(node.ask("a", Word::Heard).await.unwrap(), [STARTED]);
    for mut inlet in node.come(&[("a", 2000, Word::Note(7))]) {
        std::future::poll_fn(|cx| inlet.poll_flush(cx)).await;
    }
    node.attended().await;
    assert_eq!(node.ask("a", Word::Heard).await.unwrap(), [STARTED], "it is for the next life of its shard");
    node.order(Order::Start { shard: 1, epoch: e(2000) });
    node.look(3000);
    assert_eq!(node.ask_by("a", 2000, Word::Heard).await.unwrap(), [STARTED, 7]);
}

#[tokio::test]
async fn a_system_that_shuts_down_takes_its_lanes_with_it() {
    let system = system();
    let node = Node::running(&system, things());
    node.ask("a", Word::Child).await.unwrap();
    system.shutdown().await;
    assert_eq!(system.actors(), 0);
    assert!(node.send("a", 1, Word::Note(1)).await.is_err());
}
