//! How moves end: the receiver has everything, or it cannot be.

use core::time::Duration;

use super::survey::Survey;
use super::{Plan, Scene, Shards};
use crate::flaws::Flaw;
use crate::sharding::{Epoch, ShardId, Step};
use crate::time::Timestamp;

/// So long after the owner reported that it has frozen the receiver must have it.
const INSTALLED_WITHIN: Duration = Duration::from_secs(10);

/// So long a move may take in all: the time the owner gives its entities for their turns, and some for the transfer.
const SETTLED_WITHIN: Duration = Duration::from_secs(60 + 15);

/// So long a shard stays where it is after its move was called off.
const REST: Duration = Duration::from_secs(5);

/// A move as this coordinator has seen it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watch {
    epoch: Epoch,
    since: Timestamp,
    frozen: Option<Timestamp>,
}

impl Watch {
    pub(super) fn forgive(&mut self, away: Duration) {
        self.since = self.since + away;
        self.frozen = self.frozen.map(|at| at + away);
    }

    fn is_late(&self, now: Timestamp) -> bool {
        let frozen_for = |at: Timestamp| now.since(at) >= INSTALLED_WITHIN;
        self.frozen.is_some_and(frozen_for) || now.since(self.since) >= SETTLED_WITHIN
    }
}

impl Shards {
    /// Notes which moves have begun, which are frozen and which are over.
    pub(super) fn watch(&mut self, now: Timestamp, survey: &Survey<'_>) {
        let under_way = |shard: &ShardId, epoch| {
            let entry = survey.kind(shard.kind).and_then(|kind| kind.table.shards().get(&shard.number));
            entry.and_then(|entry| entry.moving).is_some_and(|(_, at)| at == epoch)
        };
        self.watches.retain(|shard, watch| under_way(shard, watch.epoch));
        for (shard, entry) in survey.kinds.iter().flat_map(|kind| &kind.moving) {
            let Some((_, epoch)) = entry.moving else { continue };
            self.watches.entry(*shard).or_insert(Watch { epoch, since: now, frozen: None });
        }
        for (shard, epoch) in self.reports.values().flat_map(|report| &report.frozen) {
            if let Some(watch) = self.watches.get_mut(shard).filter(|watch| watch.epoch == *epoch) {
                watch.frozen.get_or_insert(now);
            }
        }
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

    /// What cannot be, takes too long, or goes to one that leaves does not take place.
    pub(super) fn call_off(&mut self, now: Timestamp, scene: &Scene<'_>, plan: &mut Plan<'_>) {
        let table = scene.table;
        for (uid, report) in &self.reports {
            for (shard, epoch) in &report.impossible {
                let Some(entry) = table.shard(*shard) else { continue };
                let concerned = entry.moving.is_some_and(|(to, _)| to == *uid) || entry.owner == *uid;
                if concerned && plan.put(*shard, Step::CallOff(*epoch)) {
                    self.resting.insert(*shard, now + REST);
                }
            }
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
        for (shard, watch) in &self.watches {
            let Some((to, epoch)) = table.shard(*shard).and_then(|entry| entry.moving) else { continue };
            if !table.may_host(to, shard.kind) || self.has_ended(to, shard.kind) {
                plan.put(*shard, Step::CallOff(epoch));
            } else if watch.is_late(now) && plan.put(*shard, Step::CallOff(epoch)) {
                self.resting.insert(*shard, now + REST);
            }
        }
    }
}
