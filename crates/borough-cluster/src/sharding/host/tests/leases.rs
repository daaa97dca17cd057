//! What a lane does between two looks at the lease, and what waits without one.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::timeout;

use super::super::order::Depth;
use super::rig::{Node, e, uid};
use super::thing::{STARTED, Thing, Word, system, things};
use crate::sharding::host::{LaneReport, Migration, Order, Settings};

/// How many messages are attended to by one look.
const CHUNK: u64 = 32;
/// How many things one entity does by one look.
const AT_A_TIME: u64 = 64;

/// How many messages all lanes have handled. They say so without a lease, too.
async fn handled(node: &Node<Word>) -> u64 {
    let mut handled = 0;
    for lane in &node.lanes {
        handled += lane.stats(Depth::Counts).await.handled;
    }
    handled
}

/// How many timers all lanes have set.
async fn alarms(node: &Node<Word>) -> u64 {
    let mut alarms = 0;
    for lane in &node.lanes {
        alarms += lane.stats(Depth::Counts).await.alarms as u64;
    }
    alarms
}

/// Time passes: whatever can run has run by then.
async fn pass(time: Duration) {
    let _ = timeout(time, std::future::pending::<()>()).await;
}

fn migrating() -> Settings<Thing> {
    let mut settings = things();
    settings.migration = Some(Migration::of_serde());
    settings
}

#[tokio::test(start_paused = true)]
async fn a_chunk_of_messages_is_all_that_is_attended_to_by_one_look_at_the_lease() {
    const LOOKS: u64 = 3;
    let system = system();
    let node = Node::running(&system, things());
    node.attended().await;
    let before = handled(&node).await;
    node.around.looks.store(LOOKS, Ordering::Release);
    for note in 0..1000_u64 {
        node.tell(note % 100, Word::Note(note)).await;
    }
    pass(Duration::from_millis(50)).await;
    let done = handled(&node).await - before;
    assert!((1..=LOOKS * CHUNK).contains(&done), "{done} messages by {LOOKS} looks at the lease");
    node.resume();
    node.attended().await;
    assert_eq!(handled(&node).await - before, 1000);
}

#[tokio::test(start_paused = true)]
async fn an_entity_with_much_to_do_does_a_bounded_part_of_it_by_one_look_at_the_lease() {
    const LOOKS: u64 = 4;
    let system = system();
    let node = Node::running(&system, things());
    node.tell("a", Word::Work(10, 0)).await;
    for note in 1..=500 {
        node.tell("a", Word::Note(note)).await;
    }
    node.attended().await;
    let before = handled(&node).await;
    node.around.looks.store(LOOKS, Ordering::Release);
    pass(Duration::from_millis(50)).await;
    let done = handled(&node).await - before;
    assert!((1..=LOOKS * AT_A_TIME).contains(&done), "{done} turns by {LOOKS} looks at the lease");
    node.resume();
    let expected: Vec<u64> = std::iter::once(STARTED).chain(0..=500).collect();
    assert_eq!(node.ask("a", Word::Heard).await.unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn no_timer_rings_once_the_lease_is_over_however_many_are_due() {
    const LOOKS: u64 = 20;
    let system = system();
    let node = Node::running(&system, things());
    for id in 0..100_u64 {
        node.tell(id, Word::Timer(10, id)).await;
    }
    node.attended().await;
    let before = alarms(&node).await;
    node.around.looks.store(LOOKS, Ordering::Release);
    pass(Duration::from_millis(50)).await;
    let rang = before - alarms(&node).await;
    assert!((1..=LOOKS).contains(&rang), "{rang} timers rang by {LOOKS} looks at the lease");
    node.resume();
    for id in 0..100_u64 {
        assert_eq!(node.ask(id, Word::Heard).await.unwrap(), [STARTED, id]);
    }
}

#[tokio::test(start_paused = true)]
async fn orders_that_lead_to_turns_wait_for_the_lease() {
    let froze = LaneReport::Froze { shard: 1, epoch: e(2) };
    let system = system();
    let node = Node::running(&system, migrating());
    node.tell("a", Word::Note(1)).await;
    node.attended().await;
    node.suspend();
    node.order(Order::Freeze { shard: 1, epoch: e(1), to: uid(2), next: e(2) });
    pass(Duration::from_secs(1)).await;
    assert!(!node.around.reports.lock().unwrap().contains(&froze));
    node.resume();
    node.reported(froze).await;
}
