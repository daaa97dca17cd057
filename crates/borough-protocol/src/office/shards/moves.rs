//! How moves end: the receiver has everything, or it cannot be.
//!
//! A move that makes no progress is called off because its owner says so; nothing is timed here but how long the shard rests before the next try.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::time::Duration;

use super::survey::Survey;
use super::{Plan, Scene, Shards};
use crate::flaws::Flaw;
use crate::incarnation::Uid;
use crate::sharding::{Epoch, ShardId, Step};
use crate::time::Timestamp;

/// So long a shard stays where it is after its move was called off; twice as long after each further one, up to the most.
const REST: Duration = Duration::from_secs(5);
const REST_MOST: Duration = Duration::from_secs(5 * 60);

/// A shard stays where it is for a while, because its last move was called off.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    /// The epoch at which it is owned meanwhile.
    epoch: Epoch,
    lasts: Duration,
    until: Timestamp,
}

impl Shards {
    /// Forgets shards that have moved, and ends the rests of those whose owner can wait no longer.
    pub(super) fn look_at_rests(&mut self, now: Timestamp, scene: &Scene<'_>) {
        let hurried: BTreeSet<Uid> =
            self.reports.iter().filter(|(_, report)| report.is_forcing).map(|(uid, _)| *uid).collect();
        let is_new = |uid: &Uid| hurried.contains(uid) && !self.hurried.contains(uid);
        self.rests.retain(|shard, rest| {
            let Some(entry) = scene.table.shard(*shard).filter(|entry| entry.epoch == rest.epoch) else {
                return false;
            };
            if is_new(&entry.owner) {
                rest.until = now;
            }
            true
        });
        self.hurried = hurried;
    }

    /// Whether that shard is to stay where it is for now.
    pub(super) fn rests(&self, now: Timestamp, shard: ShardId) -> bool {
        self.rests.get(&shard).is_some_and(|rest| now < rest.until)
    }

    /// The move of that shard, which is owned at that epoch, was called off.
    fn rest(&mut self, now: Timestamp, shard: ShardId, epoch: Epoch) {
        let lasts = self.rests.get(&shard).map_or(REST, |rest| (rest.lasts * 2).min(REST_MOST));
        self.rests.insert(shard, Rest { epoch, lasts, until: now + lasts });
    }

    /// Who has everything owns it. Also if the owner before was removed meanwhile: it had frozen, and ran nothing since.
    pub(super) fn settle(&self, scene: &Scene<'_>, plan: &mut Plan<'_>) {
        for (uid, report) in &self.reports {
            for (shard, epoch) in &report.installed {
                let moving = scene.table.shard(*shard).and_then(|entry| entry.moving);
                if moving == Some((*uid, *epoch)) {
                    plan.put(*shard, Step::Settle(*epoch));
                }
            }
            if scene.settings.flaws.has(Flaw::SettlesWithoutInstalled) {
                for (shard, epoch) in &report.frozen {
                    plan.put(*shard, Step::Settle(*epoch));
                }
            }
        }
    }

    /// What cannot be, or goes to one that leaves, does not take place.
    pub(super) fn call_off(
        &mut self,
        now: Timestamp,
        scene: &Scene<'_>,
        survey: &Survey<'_>,
        plan: &mut Plan<'_>,
    ) {
        let table = scene.table;
        let mut called_off: Vec<(ShardId, Epoch)> = Vec::new();
        for (uid, report) in &self.reports {
            for (shard, epoch) in &report.impossible {
                let Some(entry) = table.shard(*shard) else { continue };
                let concerned = entry.moving.is_some_and(|(to, _)| to == *uid) || entry.owner == *uid;
                if concerned && plan.put(*shard, Step::CallOff(*epoch)) {
                    called_off.push((*shard, entry.epoch));
                }
            }
        }
        for (shard, epoch) in called_off {
            self.rest(now, shard, epoch);
        }
        // One that hosts the type no more had dropped it before the move was decided.
        for (uid, report) in &self.reports {
            for (shard, epoch) in &report.dropped {
                let owned = table.shard(*shard).filter(|entry| entry.owner == *uid && entry.epoch == *epoch);
                if let Some((_, moving)) = owned.and_then(|entry| entry.moving) {
                    plan.put(*shard, Step::CallOff(moving));
                }
            }
        }
        for (shard, entry) in survey.kinds.iter().flat_map(|kind| &kind.moving) {
            let Some((to, epoch)) = entry.moving else { continue };
            if !table.may_host(to, shard.kind) || self.has_ended(to, shard.kind) {
                plan.put(*shard, Step::CallOff(epoch));
            }
        }
    }
}
