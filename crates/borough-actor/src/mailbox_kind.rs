//! Which mailbox an actor gets.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use crate::item::Item;
use crate::mailbox::queue::Rank;
use crate::mailbox::{Mailbox, WhenFull};

/// How many messages wait in a mailbox unless it is said otherwise.
pub const DEFAULT_CAPACITY: u32 = 1024;

/// The kind of an actor's mailbox: its bound, what happens at the bound, and its order.
///
/// `capacity` counts the messages that wait. Beside them the actor has taken a batch: at most a
/// quarter of the capacity, and 256. A capacity of 0 is taken as 1.
///
/// The default is [`MailboxKind::bounded`] with 1024 messages.
pub struct MailboxKind<M>(Kind<M>);

enum Kind<M> {
    Fifo(u32, WhenFull),
    Priority(u32, Arc<dyn Fn(&M) -> i64 + Send + Sync>),
}

impl<M> MailboxKind<M> {
    /// Senders wait for room, first come, first served.
    pub fn bounded(capacity: u32) -> Self {
        Self(Kind::Fifo(capacity, WhenFull::Wait))
    }

    /// A message without room is refused and given back, also by `tell`.
    pub fn rejecting(capacity: u32) -> Self {
        Self(Kind::Fifo(capacity, WhenFull::Refuse))
    }

    /// A message without room pushes out the one that waited longest, which becomes a dead letter.
    pub fn dropping_oldest(capacity: u32) -> Self {
        Self(Kind::Fifo(capacity, WhenFull::DropOldest))
    }

    /// A message without room becomes a dead letter itself; its sender is told `Ok`.
    pub fn dropping_newest(capacity: u32) -> Self {
        Self(Kind::Fifo(capacity, WhenFull::DropNewest))
    }

    /// No bound: a sender that outruns the actor fills the memory.
    pub fn unbounded() -> Self {
        Self::bounded(u32::MAX)
    }

    /// Messages of higher rank are handled first, those of equal rank in order of arrival; senders wait for room.
    ///
    /// `rank` runs under the mailbox's lock, in the sender's task: it should only look at the message,
    /// and must not send. If it panics, that is the sender's panic, and the message is dropped.
    pub fn priority(capacity: u32, rank: impl Fn(&M) -> i64 + Send + Sync + 'static) -> Self {
        Self(Kind::Priority(capacity, Arc::new(rank)))
    }

    pub(crate) fn build(self) -> Mailbox<Item<M>>
    where
        M: 'static,
    {
        match self.0 {
            Kind::Fifo(capacity, when_full) => Mailbox::new(at_least_one(capacity), when_full),
            Kind::Priority(capacity, rank) => {
                let rank: Rank<Item<M>> = Arc::new(move |item| match item {
                    Item::Tell(message) | Item::Ask(message, _) => rank(message),
                    // Not the actor's own type before its turn: in the middle. What the system says is not
                    // ranked at all, it keeps its place.
                    Item::Rare(_) => 0,
                });
                Mailbox::ranked(rank, at_least_one(capacity))
            }
        }
    }
}

fn at_least_one(capacity: u32) -> NonZeroU32 {
    NonZeroU32::new(capacity).unwrap_or(NonZeroU32::MIN)
}

impl<M> Default for MailboxKind<M> {
    fn default() -> Self {
        Self::bounded(DEFAULT_CAPACITY)
    }
}

impl<M> fmt::Debug for MailboxKind<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Fifo(capacity, when_full) => write!(f, "MailboxKind({capacity}, {when_full:?})"),
            Kind::Priority(capacity, _) => write!(f, "MailboxKind({capacity}, by priority)"),
        }
    }
}
