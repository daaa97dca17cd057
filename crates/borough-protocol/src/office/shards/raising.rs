//! Raising epochs that a store refuses.

use core::time::Duration;

use super::{Plan, Scene, Shards};
use crate::sharding::Step;
use crate::time::Timestamp;

/// So long an epoch stays what it is after it was raised.
const RAISED_FOR: Duration = Duration::from_secs(5);

impl Shards {
    /// Whoever owns a shard and is refused by a store goes on above the epoch that the store has seen. What that owner cannot fence it cannot give
    /// away either: so a move under way ends.
    pub(super) fn raise(&mut self, now: Timestamp, scene: &Scene<'_>, plan: &mut Plan<'_>) {
        self.raised.retain(|_, until| now < *until);
        for (uid, report) in &self.reports {
            for (shard, at, seen) in &report.refused {
                let entry =
                    scene.table.shard(*shard).filter(|entry| entry.owner == *uid && entry.epoch == *at);
                let is_due = entry.is_some() && *seen >= *at && !self.raised.contains_key(shard);
                if is_due
                    && let Some(epoch) = scene.table.epoch_above(*shard, *seen)
                    && plan.put(*shard, Step::Raise(epoch))
                {
                    self.raised.insert(*shard, now + RAISED_FOR);
                }
            }
        }
    }
}
