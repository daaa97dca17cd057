//! How a type ends on a node that stays.
//!
//! Its shards move to others that host it; as long as there are none, they live on. If there is a bound, what has not moved by then is
//! [forced](Effect::Force), and dropped if that does not help. When nothing is left the coordinator is told, and takes this node for no host any more. What
//! was dropped has nobody then, until somebody hosts the type.

use alloc::vec::Vec;
use core::time::Duration;

use super::Region;
use super::interface::{Dropped, Effect};
use super::residence::Residence;
use crate::incarnation::Uid;
use crate::machine::Effects;
use crate::sharding::{Epoch, KindId, ShardId};
use crate::table::State;
use crate::time::Timestamp;

impl Region {
    /// Forces what has not moved of the types that end here, and drops it later, if there is a bound for that.
    pub(super) fn end_kinds(&mut self, now: Timestamp, effects: &mut Effects<Effect>) {
        let Some(bound) = self.patience.drain else { return };
        let ending: Vec<(KindId, Timestamp)> = self
            .kinds
            .values()
            .filter_map(|started| started.ended.and_then(|since| Some((self.id_of(started)?, since))))
            .filter(|(id, since)| *since + bound <= now && self.is_host(*id))
            .collect();
        for (id, since) in ending {
            if self.force_kind(id) {
                effects.push(Effect::Force { kind: id });
            }
            if since + bound + self.patience.force <= now {
                let hosted = self.has_other_host(id);
                let why = if hosted { Dropped::TooLate } else { Dropped::NoOtherHost };
                for (_, residence) in self.residences.range_mut(shards_of(id)) {
                    residence.leave(why, effects);
                }
            }
        }
    }

    /// Whether that is news.
    fn force_kind(&mut self, id: KindId) -> bool {
        let Some(kind) = self.table.kind(id) else { return false };
        let started = self.kinds.get_mut(&kind.kind().name);
        started.is_some_and(|started| !core::mem::replace(&mut started.is_forced, true))
    }

    /// When the next type must have ended that has not yet.
    pub(super) fn next_end(&self) -> Option<Timestamp> {
        let bound = self.patience.drain?;
        let homes = |id| self.residences.range(shards_of(id)).map(|(_, home)| home);
        let ends = self.kinds.values().filter_map(|started| {
            let since = started.ended?;
            let id = self.id_of(started)?;
            let (is_due, last) = if started.is_forced {
                (homes(id).any(Residence::lives), self.patience.force)
            } else {
                (homes(id).any(Residence::is_inhabited), Duration::ZERO)
            };
            (self.is_host(id) && is_due).then(|| since + bound + last)
        });
        ends.min()
    }

    pub(super) fn is_host(&self, id: KindId) -> bool {
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
