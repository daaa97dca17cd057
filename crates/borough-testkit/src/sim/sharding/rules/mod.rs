//! What must hold of shards, messages and entities: one file a rule, with what it says and why.

mod ends;
mod epochs;
mod one_runner;
mod order;
mod owners;
mod state;
mod taken;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::Epoch;
use borough_protocol::table::Table;

use self::ends::Ends;
use self::epochs::Epochs;
use self::one_runner::OneRunner;
use self::order::Order;
use self::owners::Owners;
use self::state::State;
pub(in crate::sim) use self::taken::is_taken;
use super::message::{Ended, Key, Message, MessageId};
use crate::sim::moment::Moment;
use crate::sim::violation::Violation;

/// Everything the rules remember.
#[derive(Debug, Default)]
pub(in crate::sim) struct Books {
    ends: Ends,
    epochs: Epochs,
    one_runner: OneRunner,
    order: Order,
    owners: Owners,
    state: State,
}

/// A message that is handled.
#[derive(Clone, Copy, Debug)]
pub(in crate::sim) struct Handling {
    pub(in crate::sim) id: MessageId,
    pub(in crate::sim) by: Uid,
    pub(in crate::sim) epoch: Epoch,
    pub(in crate::sim) lineage: Epoch,
    /// What the entity has counted with it.
    pub(in crate::sim) count: u32,
    /// The piece of the turn took longer than a healthy node may: nothing is promised of it but what the store refuses.
    pub(in crate::sim) is_excused: bool,
}

impl Books {
    /// A message is sent.
    pub(in crate::sim) fn send(&mut self, message: Message) -> MessageId {
        self.ends.send(message)
    }

    pub(in crate::sim) fn message(&self, id: MessageId) -> &Message {
        self.ends.message(id)
    }

    pub(in crate::sim) fn end(&mut self, id: MessageId, ended: Ended) -> Result<(), Violation> {
        self.ends.end(id, ended)
    }

    /// An entity begins a turn.
    pub(in crate::sim) fn begin_turn(&mut self, key: Key, epoch: Epoch, by: Uid) -> Result<(), Violation> {
        self.one_runner.begins(key, epoch, by)
    }

    /// A message was handled.
    pub(in crate::sim) fn handle(&mut self, handling: Handling) -> Result<(), Violation> {
        let message = *self.ends.message(handling.id);
        self.state.counts(message.key, handling.lineage, (message.entity, handling.count));
        if handling.is_excused {
            return self.ends.end(handling.id, Ended::Lost(ends::EXCUSED));
        }
        self.one_runner.ends(message.key, handling.epoch, handling.by)?;
        self.ends.handle(handling.id)?;
        self.order.handles(&message)
    }

    /// A shard begins anew with that state.
    pub(in crate::sim) fn begins(&mut self, key: Key, epoch: Epoch, counts: BTreeMap<u8, u32>) {
        self.state.begins(key, epoch, counts);
    }

    /// A shard goes on with that state.
    pub(in crate::sim) fn goes_on(
        &self,
        key: Key,
        lineage: Epoch,
        counts: &BTreeMap<u8, u32>,
    ) -> Result<(), Violation> {
        self.state.goes_on(key, lineage, counts)
    }

    /// Somebody has another table.
    pub(in crate::sim) fn see(&mut self, now: Moment, table: &Table) -> Result<(), Violation> {
        self.epochs.see(table)?;
        self.owners.see(now, table)
    }

    /// When anything of shards changed last.
    pub(in crate::sim) fn changed(&self) -> Moment {
        self.owners.changed()
    }

    /// The last host of that shard has left: what was sent to it may be lost.
    pub(in crate::sim) fn excuse(&mut self, key: Key) {
        self.ends.excuse(key);
    }

    /// What has not ended yet, in words.
    pub(in crate::sim) fn unended(&self) -> Option<String> {
        self.ends.unended()
    }

    /// What ended badly although nothing was wrong.
    pub(in crate::sim) fn lost_in_calm(&self) -> Result<(), Violation> {
        self.ends.lost_in_calm()
    }

    /// How many messages were sent, handled, refused and lost.
    pub(in crate::sim) fn tally(&self) -> [usize; 4] {
        self.ends.tally()
    }
}
