//! How a type ends on a node that stays.
//!
//! Its shards move to others that host it. What no other hosts is dropped, and everything is once it takes too long; when the lanes have
//! done so the coordinator is told, and takes this node for no host any more. What was dropped has nobody then, until somebody hosts the type.

use alloc::vec::Vec;
use core::time::Duration;

use super::Region;
use super::interface::{Dropped, Effect};
use crate::incarnation::Uid;
use crate::machine::Effects;
use crate::sharding::{Epoch, KindId, ShardId};
use crate::table::State;
use crate::time::Timestamp;

/// So long it is waited for another host: one that has just started the type is not in the table yet.
const ALONE_FOR: Duration = Duration::from_secs(3);

impl Region {
    /// Drops what no other can host of the types that end here, and the rest once it is too late.
    pub(super) fn end_kinds(&mut self, now: Timestamp, effects: &mut Effects<Effect>) {
        let ending: Vec<(KindId, Timestamp)> = self
            .kinds
            .values()
            .filter_map(|started| started.ended.and_then(|since| Some((self.id_of(started)?, since))))
            .filter(|(id, _)| self.is_host(*id))
            .collect();
        for (id, since) in ending {
            let why = if !self.has_other_host(id) && since + ALONE_FOR <= now {
                Dropped::NoOtherHost
            } else if since + self.patience.drain <= now {
                Dropped::TooLate
            } else {
                continue;
            };
            for (_, residence) in self.residences.range_mut(shards_of(id)) {
                residence.leave(why, effects);
            }
        }
    }

    /// When the next type must have ended that has not yet.
    pub(super) fn next_end(&self) -> Option<Timestamp> {
        let lives = |id| self.residences.range(shards_of(id)).any(|(_, home)| home.lives());
        let ends = self.kinds.values().filter_map(|started| {
            let since = started.ended?;
            let id = self.id_of(started)?;
            let lasts = if self.has_other_host(id) { self.patience.drain } else { ALONE_FOR };
            (self.is_host(id) && lives(id)).then(|| since + lasts)
        });
        ends.min()
    }

    fn is_host(&self, id: KindId) -> bool {
        self.table.kind(id).is_some_and(|kind| kind.hosts().contains(&self.host.me))
    }

    /// Whether a member that stays hosts that type too.
    pub(super) fn has_other_host(&self, id: KindId) -> bool {
        let (me, table) = (self.host.me, &self.table);
        let active = |uid: &Uid| table.member(*uid).is_some_and(|member| member.state == State::Active);
        table.kind(id).is_some_and(|kind| kind.hosts().iter().any(|uid| *uid != me && active(uid)))
    }

    /// What this node owns of that type by the table, and has dropped.
    pub(super) fn dropped_of(&self, id: KindId) -> Vec<(ShardId, Epoch)> {
        let Some(kind) = self.table.kind(id) else { return Vec::new() };
        let mine = kind.shards().iter().filter(|(_, entry)| entry.owner == self.host.me);
        let mine = mine.map(|(number, entry)| (ShardId { kind: id, number: *number }, entry.epoch));
        let is_dropped =
            |shard, epoch| self.residences.get(&shard).is_some_and(|home| home.is_dropped(epoch));
        mine.filter(|(shard, epoch)| is_dropped(*shard, *epoch)).collect()
    }
}

fn shards_of(kind: KindId) -> core::ops::RangeInclusive<ShardId> {
    ShardId { kind, number: 0 }..=ShardId { kind, number: u32::MAX }
}
