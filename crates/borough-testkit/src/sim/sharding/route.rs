//! The published way to one shard, as senders see it: looked up first, used a little later.

use std::collections::VecDeque;

use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::Epoch;

use super::message::Item;

/// So many messages are held for one shard; more are refused.
pub(in crate::sim) const HELD_MAX: usize = 400;

/// The way of one shard, and what is held for it.
#[derive(Debug, Default)]
pub(in crate::sim) struct Route {
    open: Option<(Uid, Epoch)>,
    /// Whether anything went by the way that is open, or was last.
    used: bool,
    /// Senders that have looked the way up and not yet enqueued.
    guards: u32,
    /// Whether the region waits for the last of them.
    closing: bool,
    held: VecDeque<Item>,
}

/// What a sender sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) enum Look {
    /// It may send there, by that tag, and holds a guard.
    Way(Uid, Epoch),
    /// It was held.
    Held,
    /// Too many are held.
    Full,
}

impl Route {
    /// A sender looks up where to send.
    pub(in crate::sim) fn look(&mut self, item: Item) -> Look {
        match self.open {
            Some((to, tag)) => {
                self.guards += 1;
                Look::Way(to, tag)
            }
            None if self.held.len() < HELD_MAX => {
                self.held.push_back(item);
                Look::Held
            }
            None => Look::Full,
        }
    }

    /// A sender has enqueued what it looked up the way for. Whether the way was used, if the region waits for that.
    pub(in crate::sim) fn enqueued(&mut self) -> Option<bool> {
        self.guards -= 1;
        self.used = true;
        self.closed()
    }

    /// The region closes the way. Whether it was used, if no sender is at it.
    pub(in crate::sim) fn close(&mut self) -> Option<bool> {
        self.open = None;
        self.closing = true;
        self.closed()
    }

    fn closed(&mut self) -> Option<bool> {
        (self.closing && self.guards == 0).then(|| {
            self.closing = false;
            self.used
        })
    }

    /// The region opens another way; what was held goes first.
    pub(in crate::sim) fn open(&mut self, to: Uid, tag: Epoch) -> VecDeque<Item> {
        self.open = Some((to, tag));
        self.used = !self.held.is_empty();
        std::mem::take(&mut self.held)
    }

    /// What is held.
    pub(in crate::sim) fn held(&self) -> &VecDeque<Item> {
        &self.held
    }

    /// Forgets what is held: the flaw, not the rule.
    pub(in crate::sim) fn lose(&mut self) {
        self.held.clear();
    }
}
