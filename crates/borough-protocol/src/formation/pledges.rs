//! The promises that a node with a data directory gave, as its disk keeps them.
//!
//! A promise can have made a founder. The one that gave it may crash, and a promise expires; the founder may crash, too, before anybody has joined it. So
//! the promise is on the disk before it is said, and it stays there until the one that had it gives it back, or this node belongs to a cluster. Until then
//! everybody that asks this node is told of it, and founds nothing before it has heard the one that had the promise: that is either the voter of a
//! cluster, which goes on with it, or it has founded nothing, and promises.
//!
//! Founders that have nobody in common on their lists still do not know of each other.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::disk::Pledge;
use crate::incarnation::Uid;

/// How many promises are kept. A node that has given so many, and got none of them back, promises nothing to others.
pub(super) const KEPT_MAX: usize = 128;

/// What a node has promised.
#[derive(Clone, Debug, Default)]
pub(super) struct Pledges {
    list: Arc<[Pledge]>,
    /// Those that get their promise once the list is on the disk, each with its attempt.
    waiting: Vec<(Uid, u32)>,
    /// Whether the list is on the disk as it is.
    is_written: bool,
}

impl Pledges {
    /// As they are on the disk.
    pub(super) fn on_disk(list: Arc<[Pledge]>) -> Self {
        Self { list, waiting: Vec::new(), is_written: true }
    }

    /// By each of these a cluster may have been founded.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Pledge> {
        self.list.iter()
    }

    pub(super) fn list(&self) -> Arc<[Pledge]> {
        self.list.clone()
    }

    /// Whether one more can be kept, or that one is kept already.
    pub(super) fn has_room_for(&self, pledge: &Pledge) -> bool {
        self.list.len() < KEPT_MAX || self.list.iter().any(|kept| kept.voter.is_of_directory(pledge.voter))
    }

    /// The node of that pledge asks again: it may listen elsewhere by now. Says whether the list changed.
    pub(super) fn follow(&mut self, asking: &Pledge) -> bool {
        let has_moved =
            |kept: &Pledge| kept.voter.is_of_directory(asking.voter) && kept.address != asking.address;
        if !self.list.iter().any(has_moved) {
            return false;
        }
        let moved = |kept: &Pledge| {
            let address = if has_moved(kept) { &asking.address } else { &kept.address };
            Pledge { address: address.clone(), ..kept.clone() }
        };
        self.set(self.list.iter().map(moved).collect());
        true
    }

    /// Keeps a promise. Says whether it is on the disk; if not, the one that asked gets it once it is.
    pub(super) fn keep(&mut self, pledge: &Pledge) -> bool {
        let waiting = (pledge.uid, pledge.attempt);
        if !self.list.contains(pledge) {
            let is_other = |kept: &&Pledge| !kept.voter.is_of_directory(pledge.voter);
            let kept = self.list.iter().filter(is_other).chain([pledge]);
            self.set(kept.cloned().collect());
        }
        if !self.is_written && !self.waiting.contains(&waiting) {
            self.waiting.retain(|(uid, _)| *uid != waiting.0);
            self.waiting.push(waiting);
        }
        self.is_written
    }

    /// The promise for that attempt is given back. Says whether the list changed.
    pub(super) fn release(&mut self, from: Uid, gone: u32) -> bool {
        self.waiting.retain(|(uid, attempt)| *uid != from || *attempt > gone);
        let is_released = |kept: &Pledge| kept.uid == from && kept.attempt <= gone;
        let is_any = self.list.iter().any(is_released);
        if is_any {
            self.set(self.list.iter().filter(|kept| !is_released(kept)).cloned().collect());
        }
        is_any
    }

    /// The list is on the disk as it is. Says who gets a promise now, each with its attempt.
    pub(super) fn written(&mut self) -> Vec<(Uid, u32)> {
        self.is_written = true;
        core::mem::take(&mut self.waiting)
    }

    fn set(&mut self, list: Arc<[Pledge]>) {
        (self.list, self.is_written) = (list, false);
    }
}
