//! At any moment of true time one owner runs a shard: no turn ends after one of a newer epoch began.
//!
//! A turn in which the process stood still for longer than a healthy one may is excused: nothing but a store can stop it.

use std::collections::BTreeMap;

use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::Epoch;

use crate::sim::sharding::message::Key;
use crate::sim::violation::Violation;

#[derive(Debug, Default)]
pub(super) struct OneRunner {
    /// The newest epoch at which a turn began, and where.
    newest: BTreeMap<Key, (Epoch, Uid)>,
}

impl OneRunner {
    pub(super) fn begins(&mut self, key: Key, epoch: Epoch, by: Uid) -> Result<(), Violation> {
        let newest = self.newest.entry(key).or_insert((epoch, by));
        if epoch > newest.0 {
            *newest = (epoch, by);
        }
        if epoch == newest.0 && by != newest.1 {
            let text = format!("{:?} runs at {epoch} on {by:?} and on {:?}", key.1, newest.1);
            return Err(Violation::Safety("one_runner", text));
        }
        Ok(())
    }

    pub(super) fn ends(&self, key: Key, epoch: Epoch, by: Uid) -> Result<(), Violation> {
        match self.newest.get(&key) {
            Some((newest, other)) if *newest > epoch => {
                let text = format!("{by:?} ran {:?} at {epoch} after {other:?} ran it at {newest}", key.1);
                Err(Violation::Safety("one_runner", text))
            }
            Some(_) | None => Ok(()),
        }
    }
}
