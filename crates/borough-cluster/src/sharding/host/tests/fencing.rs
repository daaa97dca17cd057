//! What a lane does while the store of a shard is fenced, refuses, or is fenced again at a higher epoch.

use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::rig::{Node, e, uid};
use super::thing::{ARRIVED, STARTED, Thing, Word, system, things};
use crate::sharding::host::{LaneReport, Migration, Order, Settings};
use crate::sharding::settings::EpochRefused;

/// The shard of "a".
const SHARD: u32 = 1;

fn migrating() -> Settings<Thing> {
    let mut settings = things();
    settings.migration = Some(Migration::of_serde());
    settings
}

/// The next time the store is fenced it says what is sent.
fn store(node: &Node<Word>) -> oneshot::Sender<Result<(), EpochRefused>> {
    let (say, fence) = oneshot::channel();
    *node.around.fence.lock().unwrap() = Some(fence);
    say
}

fn raise(node: &Node<Word>, epoch: u64, next: u64) {
    node.order(Order::Raise { shard: SHARD, epoch: e(epoch), next: e(next) });
}

async fn epoch(node: &Node<Word>) -> u64 {
    node.ask("a", Word::Who).await.unwrap().2
}

#[tokio::test(start_paused = true)]
async fn the_first_turn_waits_until_the_store_is_fenced() {
    let system = system();
    let node = Node::new(&system, things());
    let fenced = store(&node);
    node.order(Order::Start { shard: SHARD, epoch: e(1) });
    node.tell("a", Word::Note(1)).await;
    let asked = node.ask("a", Word::Heard);
    tokio::pin!(asked);
    assert!(timeout(Duration::from_secs(1), asked.as_mut()).await.is_err());
    fenced.send(Ok(())).unwrap();
    assert_eq!(asked.await.unwrap(), [STARTED, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_refused_shard_says_what_the_store_has_seen_and_goes_on_once_it_is_fenced_above_it() {
    let system = system();
    let node = Node::new(&system, things());
    store(&node).send(Err(EpochRefused { seen: e(8) })).unwrap();
    node.order(Order::Start { shard: SHARD, epoch: e(1) });
    node.tell("a", Word::Note(1)).await;
    node.reported(LaneReport::Refused { shard: SHARD, epoch: e(1), seen: e(8) }).await;
    let fenced = store(&node);
    raise(&node, 1, 9);
    let asked = node.ask("a", Word::Heard);
    tokio::pin!(asked);
    assert!(
        timeout(Duration::from_millis(900), asked.as_mut()).await.is_err(),
        "it ran before it was fenced"
    );
    fenced.send(Ok(())).unwrap();
    assert_eq!(asked.await.unwrap(), [STARTED, 1], "by the tag of the epoch before");
    assert_eq!((epoch(&node).await, node.ask_by("a", 9, Word::Life).await.unwrap()), (9, 1));
    assert_eq!(*node.around.fenced.lock().unwrap(), [e(1), e(9)]);
    let fenced = LaneReport::Fenced { shard: SHARD, epoch: e(9) };
    assert!(!node.around.reports.lock().unwrap().contains(&fenced), "the table says so already");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_gives_in_is_reported() {
    let system = system();
    let node = Node::new(&system, things());
    store(&node).send(Err(EpochRefused { seen: e(8) })).unwrap();
    node.order(Order::Start { shard: SHARD, epoch: e(1) });
    node.reported(LaneReport::Refused { shard: SHARD, epoch: e(1), seen: e(8) }).await;
    store(&node).send(Ok(())).unwrap();
    node.reported(LaneReport::Fenced { shard: SHARD, epoch: e(1) }).await;
    assert_eq!(epoch(&node).await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_running_shard_that_is_raised_ends_its_turns_is_fenced_and_keeps_what_it_has() {
    let system = system();
    let node = Node::running(&system, migrating());
    node.tell("a", Word::Timer(1000, 7)).await;
    node.tell("a", Word::Work(500, 1)).await;
    node.tell("a", Word::Note(2)).await;
    node.attended().await;
    let fenced = store(&node);
    raise(&node, 1, 9);
    let asked = node.ask("a", Word::Heard);
    tokio::pin!(asked);
    assert!(timeout(Duration::from_millis(400), asked.as_mut()).await.is_err());
    assert_eq!(*node.around.fenced.lock().unwrap(), [], "a turn is under way at the epoch before");
    assert!(timeout(Duration::from_millis(1600), asked.as_mut()).await.is_err(), "it was not fenced");
    assert_eq!(*node.around.fenced.lock().unwrap(), [e(9)]);
    fenced.send(Ok(())).unwrap();
    let heard = asked.await.unwrap();
    assert_eq!(heard[..3], [STARTED, 1, 2], "what waited comes first");
    node.attended().await;
    assert_eq!(node.ask("a", Word::Heard).await.unwrap(), [STARTED, 1, 2, 7], "and its timer was kept");
    assert_eq!(epoch(&node).await, 9);
}

#[tokio::test(start_paused = true)]
async fn entities_of_a_raised_shard_that_keep_their_own_state_load_it_again() {
    let system = system();
    let node = Node::running(&system, things());
    node.tell("a", Word::Work(500, 1)).await;
    node.tell("a", Word::Note(2)).await;
    assert_eq!(node.ask("i", Word::Life).await.unwrap(), 2);
    let fenced = store(&node);
    raise(&node, 1, 9);
    assert!(timeout(Duration::from_secs(2), node.ask("a", Word::Heard)).await.is_err(), "it was not fenced");
    fenced.send(Ok(())).unwrap();
    assert_eq!(
        node.ask("a", Word::Heard).await.unwrap(),
        [STARTED, 2],
        "what waited is handled by the next life"
    );
    assert_eq!(node.ask("i", Word::Life).await.unwrap(), 4);
}

#[tokio::test(start_paused = true)]
async fn what_came_with_a_shard_is_there_if_it_is_raised_before_its_first_turn() {
    let system = system();
    let (from, to) = (Node::running(&system, migrating()), Node::new(&system, migrating()));
    from.tell("a", Word::Note(1)).await;
    from.attended().await;
    from.order(Order::Freeze { shard: SHARD, epoch: e(1), to: uid(2), next: e(2) });
    from.reported(LaneReport::Froze { shard: SHARD, epoch: e(2) }).await;
    from.carry_to(&to).await;
    store(&to).send(Err(EpochRefused { seen: e(8) })).unwrap();
    to.order(Order::Run { shard: SHARD, epoch: e(2) });
    to.reported(LaneReport::Refused { shard: SHARD, epoch: e(2), seen: e(8) }).await;
    store(&to).send(Ok(())).unwrap();
    raise(&to, 2, 9);
    to.look_after_call_off(2);
    assert_eq!(to.ask_by("a", 2, Word::Heard).await.unwrap(), [STARTED, 1, ARRIVED]);
}
