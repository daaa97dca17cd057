//! Moves that make no progress.

use alloc::vec::Vec;

use super::Region;
use super::residence::Residence;
use crate::sharding::ShardId;
use crate::time::Timestamp;

impl Region {
    /// When the move of that shard is late unless it makes progress.
    pub(super) fn late_at(&self, shard: ShardId) -> Timestamp {
        let Some(residence) = self.residences.get(&shard) else { return Timestamp::NEVER };
        let started = self.table.kind(shard.kind).and_then(|kind| self.kinds.get(&kind.kind().name));
        residence.late_at(started.map(|started| started.pace).unwrap_or_default())
    }

    /// Moves that have made no progress for too long cannot be: the coordinator calls them off.
    pub(super) fn call_late_ones_off(&mut self, now: Timestamp) {
        self.going.retain(|shard| self.residences.get(shard).is_some_and(Residence::is_moving));
        let late: Vec<ShardId> =
            self.going.iter().filter(|shard| self.late_at(**shard) <= now).copied().collect();
        for shard in late {
            if let Some(residence) = self.residences.get_mut(&shard) {
                residence.give_up();
            }
        }
    }
}
