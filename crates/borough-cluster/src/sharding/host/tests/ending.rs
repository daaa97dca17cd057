//! A lane that ends leaves nobody waiting.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::rig::{Node, eventually};
use super::thing::{Word, system, things};
use crate::sharding::host::{Depth, Lane, LaneStats, Order};

/// Asks a lane what lives there, as it is woken.
struct AsksAgain {
    lane: Lane<Word>,
    said: Mutex<Option<oneshot::Receiver<LaneStats>>>,
}

impl Wake for AsksAgain {
    fn wake(self: Arc<Self>) {
        let (say, said) = oneshot::channel();
        self.lane.order(Order::Stats(Depth::Counts, say));
        *self.said.lock().unwrap() = Some(said);
    }
}

/// The first is woken as the lane drops what was asked of it: at no moment is there room for an order that nobody looks at any more.
#[tokio::test(start_paused = true)]
async fn who_asks_just_as_a_lane_ends_what_lives_there_is_told_that_it_has() {
    let system = system();
    let node = Node::running(&system, things());
    let lane = node.lane(1).clone();
    let again = Arc::new(AsksAgain { lane: lane.clone(), said: Mutex::default() });
    let waker = Waker::from(again.clone());
    let mut first = pin!(lane.stats(Depth::Counts));
    assert!(first.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    lane.end();
    eventually("the lane ends", || again.said.lock().unwrap().is_some()).await;
    let second = again.said.lock().unwrap().take().unwrap();
    assert!(timeout(Duration::from_secs(1), second).await.expect("still waiting at the bound").is_err());
    assert_eq!(first.await, LaneStats::default());
}

#[tokio::test(start_paused = true)]
async fn what_lives_in_a_lane_that_has_ended_is_nothing() {
    let system = system();
    let node = Node::running(&system, things());
    let lane = node.lane(1);
    lane.end();
    eventually("the lane ends", || lane.0.mailbox.is_closed()).await;
    let stats = timeout(Duration::from_secs(1), lane.stats(Depth::Counts)).await;
    assert_eq!(stats.expect("still waiting at the bound"), LaneStats::default());
}
