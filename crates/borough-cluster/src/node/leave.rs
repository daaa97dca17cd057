//! Going in order.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use borough_protocol::node::{Command, Input};

use super::builder::{CLUSTER, LEAVE};
use super::{LeaveError, Node};
use crate::control::Control;
use crate::topology::{Ended, Standing};

impl Node {
    /// Leaves the cluster in order; `Ok` means that it is safe to stop the process, and that the data directory, if there is one, is closed and says that the
    /// node left. If all members leave at once the cluster is closed, and the directories say that. If no other node could take its place as a voter, because the last ones went while a voter was away, the directory stays that of a voter, which is logged at
    /// WARN: keep it.
    ///
    /// The last member's leave is `Ok`, and so is that of a node that is in no cluster: it looks for none any more. Actors here go on. Called again, it waits for the
    /// same end. Cancel safe: a leave once begun goes on.
    ///
    /// Shards move to other hosts of their type, and nothing is dropped that could. If none has gone for as long as a turn may last
    /// ([`handoff_timeout`](crate::ShardBuilder::handoff_timeout)) it fails with [`LeaveError::Stuck`], which names what is in the way, while the node stays a member and goes
    /// on trying. Only with [`drop_after`](crate::NodeBuilder::drop_after), or in a [shutdown](borough_actor::SystemHandle::shutdown), what does not move is dropped after a
    /// time: then, and if other members stay but none hosts a type that migrates, [`LeaveError::Dropped`] says what was lost once the node has left. If too few voters can be heard to take note, it ends when the node gives its life
    /// up by itself, after ten lease times (10 s with default settings). Fails at once on a node that gave up its lease because it cannot work, see
    /// [`Standing::Failed`]; and on one of whose workers has not answered for 75 s, because a handler blocks it, see [`LeaveError::Wedged`].
    pub async fn leave(&self) -> Result<(), LeaveError> {
        let stuck = self.shared.sharding.leave_is_stuck();
        tokio::select! {
            biased;
            left = leave(&self.shared) => left,
            stuck = stuck => Err(LeaveError::Stuck(stuck)),
        }
    }

    /// Shuts the whole cluster down: nobody is removed, nothing moves, every node stops taking part once all know. `Ok` when this node has ended so,
    /// and its data directory says so.
    ///
    /// Needs a quorum of the voters; it waits for as long as it takes to hear one. Cancel safe: once begun it goes on.
    pub async fn close_cluster(&self) -> Result<(), LeaveError> {
        self.command(Command::CloseCluster).await.map_err(|()| LeaveError::Stopped)?;
        over(&self.shared).await
    }

    /// What the shutdown of the actors does for the cluster, and the other way round.
    pub(super) fn prepare_shutdown(&self, leave_timeout: Duration) {
        // Some time is left for what was accepted meanwhile to arrive.
        let patience = leave_timeout * 4 / 5;
        let control = self.shared.clone();
        let leaves = self.on_shutdown(LEAVE, "leave the cluster", move || async move {
            match leave_by(&control, patience).await {
                Ok(()) => {}
                Err(error @ LeaveError::Dropped(_)) => {
                    tracing::error!(%error, "node left, and dropped state");
                }
                Err(error) => tracing::warn!(%error, "node did not leave"),
            }
        });
        let control = self.shared.clone();
        let ends = self.on_shutdown(CLUSTER, "end the control thread", || async move {
            control.stop();
            control.ended().await;
        });
        // They fail only if the shutdown has begun, which nobody could ask for before.
        debug_assert!(leaves.is_ok() && ends.is_ok());
        let (control, system) = (Arc::downgrade(&self.shared), self.system.clone());
        let ended = self.shared.ending();
        tokio::spawn(async move {
            ended.await;
            // A machine that found itself broken must not go on, and nothing that relies on it either.
            if control.upgrade().is_some_and(|control| !control.is_stopped()) {
                tracing::error!("the control thread ended by itself: the node shuts down");
                system.begin_shutdown();
            }
        });
    }
}

/// Leaves because the process is about to end: what has not moved after that time is forced to, and dropped if that does not help.
pub(super) async fn leave_by(control: &Arc<Control>, patience: Duration) -> Result<(), LeaveError> {
    control.sharding.give_away_by(patience);
    leave(control).await
}

/// Leaves, whoever asked for it.
async fn leave(control: &Arc<Control>) -> Result<(), LeaveError> {
    control.sharding.hindrances.begin_leave();
    control.is_leaving.store(true, Ordering::Relaxed);
    // Refused only if there is nobody who could leave any more.
    let _ = control.commands.send(Input::Command(Command::Leave)).await;
    // What has come about counts, whatever its workers do.
    tokio::select! {
        biased;
        left = over(control) => left?,
        worker = control.sharding.watchdog.is_hopeless() => return Err(LeaveError::Wedged(worker)),
    }
    match control.sharding.hindrances.dropped_by_leave() {
        None => Ok(()),
        Some(dropped) => Err(LeaveError::Dropped(dropped)),
    }
}

/// Waits until the node has no part in a cluster any more.
async fn over(control: &Control) -> Result<(), LeaveError> {
    match control.topology.wait_until(|_| false).await {
        Err(Ended::Over(Standing::Stopped)) => Err(LeaveError::Stopped),
        Err(Ended::Over(Standing::Failed(failure))) => Err(LeaveError::Failed(failure)),
        Ok(_) | Err(Ended::Over(_) | Ended::Refused(_)) if control.is_unwritten.load(Ordering::Acquire) => {
            Err(LeaveError::Unwritten)
        }
        Ok(_) | Err(Ended::Over(_) | Ended::Refused(_)) => Ok(()),
    }
}
