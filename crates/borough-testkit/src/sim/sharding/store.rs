//! A store that all nodes reach: it takes what the newest that fenced it writes, and nothing of anybody before.

use std::collections::BTreeMap;

use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::Epoch;

use super::message::Key;
use crate::sim::violation::Violation;

/// What is stored of all shards.
#[derive(Debug, Default)]
pub(in crate::sim) struct Store {
    shards: BTreeMap<Key, Stored>,
}

#[derive(Debug, Default)]
struct Stored {
    fence: Option<(Epoch, Uid)>,
    /// The newest that has read what is stored.
    read_by: Epoch,
    counts: BTreeMap<u8, u32>,
}

impl Store {
    /// From now on only that owner writes, unless a newer one was here before: then this is refused with the epoch of that one.
    pub(in crate::sim) fn fence(&mut self, key: Key, epoch: Epoch, owner: Uid) -> Result<(), Epoch> {
        let stored = self.shards.entry(key).or_default();
        match stored.fence {
            Some((at, by)) if epoch <= at && (epoch, owner) != (at, by) => Err(at),
            _ => {
                stored.fence = Some((epoch, owner));
                Ok(())
            }
        }
    }

    /// Somebody of another cluster has fenced it at that epoch, and wrote nothing.
    pub(in crate::sim) fn estrange(&mut self, key: Key, epoch: Epoch) {
        let stored = self.shards.entry(key).or_default();
        if let Some(stranger) = Uid::new(u64::MAX)
            && stored.fence.is_none_or(|(at, _)| epoch > at)
        {
            stored.fence = Some((epoch, stranger));
        }
    }

    /// What is stored, for the owner since that epoch.
    pub(in crate::sim) fn read(&mut self, key: Key, epoch: Epoch) -> BTreeMap<u8, u32> {
        let stored = self.shards.entry(key).or_default();
        stored.read_by = stored.read_by.max(epoch);
        stored.counts.clone()
    }

    /// An entity counted once more. Whether it was written.
    pub(in crate::sim) fn write(
        &mut self,
        key: Key,
        (epoch, owner): (Epoch, Uid),
        (entity, count): (u8, u32),
    ) -> Result<bool, Violation> {
        let stored = self.shards.entry(key).or_default();
        if let Some((at, _)) = stored.fence.filter(|(at, _)| *at < epoch) {
            let text = format!("{:?}: {owner:?} wrote at {epoch} and had not fenced it since {at}", key.1);
            return Err(Violation::Safety("fence", text));
        }
        if stored.fence.is_some_and(|fence| fence != (epoch, owner)) {
            return Ok(false);
        }
        if epoch < stored.read_by {
            let text =
                format!("{:?}: {owner:?} wrote at {epoch} after it was read at {}", key.1, stored.read_by);
            return Err(Violation::Safety("fence", text));
        }
        stored.counts.insert(entity, count);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use borough_protocol::sharding::{KindId, ShardId};

    use super::*;

    const KEY: Key = (1, ShardId { kind: KindId(0), number: 0 });

    fn uid(number: u64) -> Uid {
        Uid::new(number).expect("not 0")
    }

    #[test]
    fn a_newer_owner_shuts_the_older_out() {
        let mut store = Store::default();
        let (old, new) = ((Epoch::new(1), uid(1)), (Epoch::new(2), uid(2)));
        assert_eq!(store.fence(KEY, old.0, old.1), Ok(()));
        assert_eq!(store.write(KEY, old, (7, 1)), Ok(true));
        assert_eq!(store.fence(KEY, new.0, new.1), Ok(()));
        assert_eq!(store.read(KEY, new.0), BTreeMap::from([(7, 1)]));
        assert_eq!(store.write(KEY, old, (7, 2)), Ok(false));
        assert_eq!(store.fence(KEY, old.0, old.1), Err(new.0), "the older cannot come back");
        assert_eq!(store.fence(KEY, new.0, uid(3)), Err(new.0), "nor can another of the same epoch");
    }

    #[test]
    fn a_write_after_a_newer_one_has_read_is_noticed() {
        let mut store = Store::default();
        let old = (Epoch::new(1), uid(1));
        assert_eq!(store.fence(KEY, old.0, old.1), Ok(()));
        store.read(KEY, Epoch::new(2));
        assert_eq!(store.write(KEY, old, (7, 1)).expect_err("the rule is broken").rule(), "fence");
    }

    #[test]
    fn a_write_at_an_epoch_that_was_not_fenced_is_noticed() {
        let mut store = Store::default();
        assert_eq!(store.fence(KEY, Epoch::new(1), uid(1)), Ok(()));
        let broken = store.write(KEY, (Epoch::new(2), uid(1)), (7, 1));
        assert_eq!(broken.expect_err("the rule is broken").rule(), "fence");
    }
}
