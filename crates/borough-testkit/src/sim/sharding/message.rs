//! What is under way: messages and barriers, on streams, in mailboxes and in queues.

use std::collections::{BTreeMap, VecDeque};

use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::region::Word;
use borough_protocol::sharding::stance::Origin;
use borough_protocol::sharding::{Epoch, ShardId};
use borough_protocol::version::Version;

/// A shard of one founding: two clusters of a run have nothing to do with each other.
pub(in crate::sim) type Key = (u64, ShardId);

/// Which message of the run, counted from 0.
pub(in crate::sim) type MessageId = usize;

/// What was sent.
#[derive(Clone, Copy, Debug)]
pub(in crate::sim) struct Message {
    /// Which life, and which of its senders.
    pub(in crate::sim) sender: (Uid, u8),
    pub(in crate::sim) key: Key,
    pub(in crate::sim) entity: u8,
    /// Counts what that sender sent to that entity.
    pub(in crate::sim) seq: u32,
}

/// How a message ended, or may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) enum Ended {
    /// The sender is told that it was not handled, and why.
    Refused(&'static str),
    /// It, or a copy of it, was lost, and why. Another copy may still be handled.
    Lost(&'static str),
}

/// What stands in a queue of a shard.
#[derive(Clone, Copy, Debug)]
pub(in crate::sim) enum Item {
    Message { id: MessageId, entity: u8 },
    Barrier { origin: Uid, nonce: u64, min_version: Option<Version> },
}

/// What moves with a shard: for each entity what it counted, and its queue.
pub(in crate::sim) type Cargo = BTreeMap<u8, (u32, VecDeque<MessageId>)>;

/// What goes over a stream.
#[derive(Clone, Debug)]
pub(in crate::sim) enum Frame {
    Item {
        shard: ShardId,
        tag: Epoch,
        item: Item,
    },
    /// The first part of a transfer.
    Begin {
        shard: ShardId,
        next: Epoch,
        origin: Origin,
    },
    /// The last part.
    Whole {
        shard: ShardId,
        next: Epoch,
        cargo: Cargo,
    },
    Word(Word),
}

impl Frame {
    /// The messages that are lost if it is.
    pub(in crate::sim) fn messages(&self) -> Option<MessageId> {
        match self {
            Self::Item { item: Item::Message { id, .. }, .. } => Some(*id),
            // What a transfer carries is still where it came from.
            Self::Item { .. } | Self::Begin { .. } | Self::Whole { .. } | Self::Word(_) => None,
        }
    }
}
