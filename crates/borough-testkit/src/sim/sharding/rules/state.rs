//! A planned move starts from the state of the last turn, and so does a move that is called off: moved state is never rolled back.

use std::collections::BTreeMap;

use borough_protocol::sharding::Epoch;

use crate::sim::sharding::message::Key;
use crate::sim::violation::Violation;

#[derive(Debug, Default)]
pub(super) struct State {
    /// For each shard the newest epoch at which it began anew, and what its entities have counted since.
    counts: BTreeMap<Key, (Epoch, BTreeMap<u8, u32>)>,
}

impl State {
    pub(super) fn begins(&mut self, key: Key, epoch: Epoch, counts: BTreeMap<u8, u32>) {
        let newest = self.counts.entry(key).or_default();
        if epoch > newest.0 {
            *newest = (epoch, counts);
        }
    }

    pub(super) fn counts(&mut self, key: Key, lineage: Epoch, (entity, count): (u8, u32)) {
        if let Some((_, counts)) = self.counts.get_mut(&key).filter(|(newest, _)| *newest == lineage) {
            counts.insert(entity, count);
        }
    }

    pub(super) fn goes_on(
        &self,
        key: Key,
        lineage: Epoch,
        counts: &BTreeMap<u8, u32>,
    ) -> Result<(), Violation> {
        let Some((_, known)) = self.counts.get(&key).filter(|(newest, _)| *newest <= lineage) else {
            return Ok(());
        };
        let all = |counts: &BTreeMap<u8, u32>| {
            counts
                .iter()
                .filter(|(_, count)| **count > 0)
                .map(|(entity, count)| (*entity, *count))
                .collect::<Vec<_>>()
        };
        if all(known) == all(counts) {
            return Ok(());
        }
        let text = format!("{:?} goes on from {:?}, and {:?} was counted", key.1, all(counts), all(known));
        Err(Violation::Safety("state", text))
    }
}
