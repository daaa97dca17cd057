//! To whom shards go that nobody owns, that somebody wants elsewhere, or whose owner leaves.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::survey::{KindSurvey, Survey};
use super::{Plan, Scene, Shards};
use crate::flaws::Flaw;
use crate::incarnation::Uid;
use crate::sharding::allocation::with_strategy;
use crate::sharding::{Entry, ShardId, Step};
use crate::table::Table;
use crate::time::Timestamp;

/// So many shards of one leaving node move at once.
const LEAVING_MAX: usize = 64;

impl Shards {
    /// Gives owners to shards that somebody sends to, and to those whose owner is gone for good.
    pub(super) fn give(&self, scene: &Scene<'_>, survey: &mut Survey<'_>, plan: &mut Plan<'_>) {
        if !scene.is_complete() && !scene.settings.flaws.has(Flaw::OwnsBeforeStaticQuorum) {
            return;
        }
        let wanted = self.reports.values().flat_map(|report| &report.wanted);
        let wanted = wanted.filter(|shard| scene.table.shard(**shard).is_none());
        let orphans = survey.kinds.iter().flat_map(|kind| &kind.orphans);
        let homeless: BTreeSet<ShardId> = wanted.chain(orphans).copied().collect();
        let mut last = None;
        for shard in homeless {
            if last != Some(shard.kind) {
                survey.enter(shard.kind);
                last = Some(shard.kind);
            }
            let Some(kind) = survey.kind(shard.kind).filter(|kind| kind.has_begun()) else { continue };
            let wished = self.wish(shard).filter(|to| kind.is_host(*to));
            let returned = || returned_owner(scene, shard).filter(|to| kind.is_host(*to));
            if let Some(to) = wished.or_else(returned).or_else(|| choose(scene, kind, shard.number))
                && plan.put(shard, Step::Own(to, scene.table.next_epoch(shard)))
            {
                survey.add(shard.kind, to);
            }
        }
    }

    /// Moves shards to where somebody wants them, once for each wish.
    pub(super) fn fulfil(&mut self, now: Timestamp, table: &Table, survey: &Survey<'_>, plan: &mut Plan<'_>) {
        for (uid, report) in &self.reports {
            for (shard, to) in &report.places {
                let Some(entry) = table.shard(*shard) else { continue };
                if entry.owner == *to {
                    self.fulfilled.insert((*uid, *shard, *to));
                }
                let open = !self.fulfilled.contains(&(*uid, *shard, *to)) && !self.rests(now, *shard);
                if open && survey.kind(shard.kind).is_some_and(|kind| kind.is_host(*to)) {
                    plan.put(*shard, Step::Move(*to, table.next_epoch(*shard)));
                }
            }
        }
    }

    /// Moves everything off those that leave.
    pub(super) fn empty(
        &self,
        now: Timestamp,
        scene: &Scene<'_>,
        survey: &mut Survey<'_>,
        plan: &mut Plan<'_>,
    ) {
        let mut under_way: BTreeMap<Uid, usize> = BTreeMap::new();
        for (_, entry) in survey.kinds.iter().flat_map(|kind| &kind.moving) {
            *under_way.entry(entry.owner).or_default() += 1;
        }
        let leaving: Vec<(ShardId, Entry)> =
            survey.kinds.iter().flat_map(|kind| &kind.leaving).copied().collect();
        let mut last = None;
        let mut dropped = BTreeMap::new();
        for (shard, entry) in leaving {
            let dropped = dropped.entry(entry.owner).or_insert_with(|| self.dropped_by(entry.owner));
            if dropped.contains(&(shard, entry.epoch)) {
                continue;
            }
            if last != Some(shard.kind) {
                survey.enter(shard.kind);
                last = Some(shard.kind);
            }
            let count = under_way.entry(entry.owner).or_default();
            let free = entry.moving.is_none() && !plan.has(shard) && !self.rests(now, shard);
            if *count < LEAVING_MAX
                && free
                && let Some(kind) = survey.kind(shard.kind)
                && let Some(to) = choose(scene, kind, shard.number)
                && plan.put(shard, Step::Move(to, scene.table.next_epoch(shard)))
            {
                *count += 1;
                survey.add(shard.kind, to);
            }
        }
    }

    /// Where somebody wants that shard to be.
    fn wish(&self, shard: ShardId) -> Option<Uid> {
        let wishes = self.reports.values().flat_map(|report| &report.places);
        wishes.filter(|(wished, _)| *wished == shard).map(|(_, to)| *to).next()
    }
}

/// The member that is a later life of the shard's last owner, on the same data directory: there the shard goes back to.
fn returned_owner(scene: &Scene<'_>, shard: ShardId) -> Option<Uid> {
    let owner = scene.table.shard(shard)?.owner;
    let disk = scene.table.removed().get(&owner)?.disk?;
    Some(scene.table.member_on(disk)?.incarnation.uid)
}

impl KindSurvey<'_> {
    /// Whether shards may be given away: so many hosts as it needs are there, or have been.
    fn has_begun(&self) -> bool {
        let least = usize::try_from(self.table.kind().min_hosts).unwrap_or(usize::MAX);
        !self.table.shards().is_empty() || self.active >= least
    }

    /// Whether that node may be given shards now.
    pub(super) fn is_host(&self, uid: Uid) -> bool {
        self.hosts.iter().any(|host| host.uid == uid)
    }
}

/// To whom the type's strategy gives that shard: one of the newest version, and one that may have it.
fn choose(scene: &Scene<'_>, kind: &KindSurvey<'_>, shard: u32) -> Option<Uid> {
    let agreed = kind.table.kind();
    let chosen = with_strategy(agreed.allocation, scene.strategies.of(&agreed.name), |strategy| {
        strategy.allocate(shard, &kind.newest)
    });
    chosen.filter(|uid| kind.is_host(*uid))
}
