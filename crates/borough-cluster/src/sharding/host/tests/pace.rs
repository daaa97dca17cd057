//! How long turns take, as a lane says it.

use std::time::Duration;

use borough_actor::IntoEntityId;
use tokio::time::advance;

use super::super::order::{Depth, LaneStats};
use super::rig::{Node, shard_of};
use super::thing::{STARTED, Word, system, things};

/// What the lane of that entity says.
async fn stats(node: &Node<Word>, id: &str) -> LaneStats {
    node.lane(shard_of(&id.into_entity_id().unwrap())).stats(Depth::Entities).await
}

/// Timers ring by the millisecond.
fn is_about(took: Duration, millis: u64) -> bool {
    took >= Duration::from_millis(millis) && took <= Duration::from_millis(millis + 2)
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_awaits_is_timed_from_its_beginning_to_its_end() {
    let system = system();
    let node = Node::running(&system, things());
    node.tell("a", Word::Work(50, 1)).await;
    assert_eq!(node.ask("a", Word::Heard).await.unwrap(), [STARTED, 1]);
    let stats = stats(&node, "a").await;
    let times = stats.turns.times();
    assert_eq!(times.samples, 1, "the first of the lane");
    assert!(is_about(times.longest, 50) && times.p50 == times.longest, "{times:?}");
    let [(id, took)] = stats.slowest.as_slice() else { panic!("{:?}", stats.slowest) };
    assert!(id == "a" && *took == times.longest, "{id}: {took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_turn_in_a_task_of_its_own_is_timed_too() {
    let system = system();
    let mut settings = things();
    settings.task_per_entity = true;
    let node = Node::running(&system, settings);
    node.tell("a", Word::Work(50, 1)).await;
    assert_eq!(node.ask("a", Word::Heard).await.unwrap(), [STARTED, 1]);
    let times = stats(&node, "a").await.turns.times();
    assert!(is_about(times.longest, 50), "{times:?}");
}

#[tokio::test(start_paused = true)]
async fn every_turn_that_awaits_may_be_among_the_slowest_though_few_are_samples() {
    let system = system();
    let node = Node::running(&system, things());
    for note in 0..200 {
        node.tell("a", Word::Note(note)).await;
    }
    // Of the same lane, and between two that are timed.
    node.tell("i", Word::Work(30, 1)).await;
    node.ask("i", Word::Heard).await.unwrap();
    let stats = stats(&node, "i").await;
    assert!(stats.slowest.first().is_some_and(|(id, took)| id == "i" && is_about(*took, 30)), "{stats:?}");
    assert!(!is_about(stats.turns.times().longest, 30), "{:?}", stats.turns.times());
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_does_not_end_is_among_the_slowest_with_what_it_took_so_far() {
    let system = system();
    let node = Node::running(&system, things());
    node.tell("a", Word::Hang).await;
    node.attended().await;
    advance(Duration::from_secs(100)).await;
    let stats = stats(&node, "a").await;
    let [(id, took)] = stats.slowest.as_slice() else { panic!("{:?}", stats.slowest) };
    assert!(id == "a" && *took >= Duration::from_secs(100), "{id}: {took:?}");
    assert_eq!(stats.turns.times().samples, 0, "it has not ended");
}

#[tokio::test(start_paused = true)]
async fn of_turns_that_come_fast_few_are_timed() {
    let system = system();
    let node = Node::running(&system, things());
    for note in 0..10_000 {
        node.tell("a", Word::Note(note)).await;
    }
    node.attended().await;
    let stats = stats(&node, "a").await;
    assert_eq!(stats.handled, 10_000);
    let samples = stats.turns.times().samples;
    assert!((50..=100).contains(&samples), "{samples} were timed");
}
