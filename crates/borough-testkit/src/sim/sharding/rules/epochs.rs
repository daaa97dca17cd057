//! Who an epoch was handed out to is a function of the epoch, also if the move was called off; and epochs rise.

use std::collections::BTreeMap;

use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::{Epoch, KindId, ShardId};
use borough_protocol::table::Table;
use borough_protocol::version::Version;

use crate::sim::sharding::message::Key;
use crate::sim::violation::Violation;

#[derive(Debug, Default)]
pub(super) struct Epochs {
    handed_out: BTreeMap<(Key, Epoch), Uid>,
    newest: BTreeMap<Key, (Version, Epoch, Epoch)>,
}

impl Epochs {
    pub(super) fn see(&mut self, table: &Table) -> Result<(), Violation> {
        for (place, kind) in (0..).zip(table.kinds()) {
            for (number, entry) in kind.shards() {
                let shard = ShardId { kind: KindId(place), number: *number };
                let key = (table.cluster().tag(), shard);
                for (uid, epoch) in [(entry.owner, entry.epoch)].into_iter().chain(entry.moving) {
                    let before = *self.handed_out.entry((key, epoch)).or_insert(uid);
                    if before != uid {
                        let text = format!("{shard:?}: {epoch} was handed out to {before:?} and to {uid:?}");
                        return Err(Violation::Safety("epochs", text));
                    }
                }
                let (version, epoch, issued) = (table.version(), entry.epoch, entry.issued);
                let newest = self.newest.entry(key).or_insert((version, epoch, issued));
                if version > newest.0 {
                    if epoch < newest.1 || issued < newest.2 {
                        let text =
                            format!("{shard:?} went back from {newest:?} to {:?}", (version, epoch, issued));
                        return Err(Violation::Safety("epochs", text));
                    }
                    *newest = (version, epoch, issued);
                }
            }
        }
        Ok(())
    }
}
