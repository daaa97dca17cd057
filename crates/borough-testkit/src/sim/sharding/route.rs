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

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: usize) -> Item {
        Item::Message { id, entity: 0 }
    }

    fn way() -> (Uid, Epoch) {
        (Uid::new(1).expect("not 0"), Epoch::new(1))
    }

    #[test]
    fn a_way_is_closed_once_the_last_sender_has_enqueued() {
        let (to, tag) = way();
        let mut route = Route::default();
        assert!(route.open(to, tag).is_empty());
        assert_eq!(route.look(item(0)), Look::Way(to, tag));
        assert_eq!(route.look(item(1)), Look::Way(to, tag));
        assert_eq!(route.close(), None);
        assert_eq!(route.look(item(2)), Look::Held);
        assert_eq!(route.enqueued(), None);
        assert_eq!(route.enqueued(), Some(true));
        assert_eq!(route.open(to, tag).len(), 1);
    }

    #[test]
    fn a_way_nobody_used_is_closed_at_once() {
        let (to, tag) = way();
        let mut route = Route::default();
        route.open(to, tag);
        assert_eq!(route.close(), Some(false));
    }

    #[test]
    fn what_was_held_uses_the_way() {
        let (to, tag) = way();
        let mut route = Route::default();
        assert_eq!(route.look(item(0)), Look::Held);
        route.open(to, tag);
        assert_eq!(route.close(), Some(true));
    }

    #[test]
    fn holds_are_bounded() {
        let mut route = Route::default();
        assert!((0..HELD_MAX).all(|id| route.look(item(id)) == Look::Held));
        assert_eq!(route.look(item(HELD_MAX)), Look::Full);
    }
}
