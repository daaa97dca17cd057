//! Snapshots as messages to an actor.

use std::sync::Arc;
use std::time::Duration;

use borough_actor::{ActorRef, TellError};
use tokio::sync::watch;

use super::snapshot::TopologySnapshot;

/// A mailbox that refuses when it is full says nothing when there is room again: it is asked again after this time.
const ASK_AGAIN: Duration = Duration::from_millis(20);

/// Sends the newest snapshot, and the newest again whenever it changed, until the actor or the node ends.
pub(super) async fn run(
    mut newest: watch::Receiver<Arc<TopologySnapshot>>,
    actor: ActorRef<Arc<TopologySnapshot>>,
) {
    loop {
        let snapshot = newest.borrow_and_update().clone();
        match actor.tell(snapshot).await {
            Ok(()) => {}
            Err(TellError::Full(_)) => {
                tokio::time::sleep(ASK_AGAIN).await;
                continue;
            }
            Err(_) => return,
        }
        tokio::select! {
            biased;
            changed = newest.changed() => if changed.is_err() { return },
            _ = actor.stopped() => return,
        }
    }
}
