//! Per life of a sender and entity, what is handled is handled in the order it was sent, across any moves and crashes.

use std::collections::BTreeMap;

use borough_protocol::incarnation::Uid;

use crate::sim::sharding::message::{Key, Message};
use crate::sim::violation::Violation;

#[derive(Debug, Default)]
pub(super) struct Order {
    last: BTreeMap<((Uid, u8), Key, u8), u32>,
}

impl Order {
    pub(super) fn handles(&mut self, message: &Message) -> Result<(), Violation> {
        let Message { sender, key, entity, seq } = *message;
        let last = self.last.entry((sender, key, entity)).or_default();
        if seq <= *last {
            let text = format!("{message:?} was handled after the one of number {last}");
            return Err(Violation::Safety("order", text));
        }
        *last = seq;
        Ok(())
    }
}
