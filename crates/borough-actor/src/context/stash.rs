//! Messages an actor has put aside.

use std::collections::VecDeque;
use std::fmt;

use crate::item::Item;

/// How many messages an actor may put aside.
const STASH_CAPACITY: usize = 1024;

pub(crate) struct Stash<M>(VecDeque<Item<M>>);

impl<M> Default for Stash<M> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<M> Stash<M> {
    pub(super) fn put(&mut self, item: Item<M>) -> Result<(), StashFull<M>> {
        if self.0.len() >= STASH_CAPACITY {
            return item.into_message().map_or(Ok(()), |message| Err(StashFull(message)));
        }
        self.0.push_back(item);
        Ok(())
    }

    /// Takes one back that was aside elsewhere, whatever the bound.
    pub(super) fn put_back(&mut self, item: Item<M>) {
        self.0.push_back(item);
    }

    pub(super) fn drain(&mut self) -> impl DoubleEndedIterator<Item = Item<M>> + '_ {
        self.0.drain(..)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Item<M>> {
        self.0.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// The stash holds 1024 messages already; this one is given back.
#[derive(thiserror::Error)]
#[error("the stash is full: {STASH_CAPACITY} messages are put aside already")]
pub struct StashFull<M>(pub M);

impl<M> fmt::Debug for StashFull<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StashFull(..)")
    }
}
