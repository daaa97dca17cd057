//! The document itself: what one node knows of who is there.
//!
//! It is bounded by what is, not by what has happened: clock, reports and seen set are about members only, and a
//! member that is gone leaves a tombstone, which ends.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::member::Member;
use super::members::Members;
use super::reachability::{Reachability, Report};
use super::seen::Seen;
use super::tombstones::{Gone, Tombstone, Tombstones};
use crate::flaws::{Flaw, Flaws};
use crate::incarnation::Uid;
use crate::time::Timestamp;
use crate::vector_clock::{Author, VectorClock, mix};

/// What a step did to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It is the same version as before.
    Nothing,
    /// More changes are known to have happened, and none of them shows: it is another version that says the same.
    Clock,
    /// It says something else, or buries somebody more.
    Content,
}

/// What every node has, sooner or later.
#[derive(Clone, Debug)]
pub struct Document {
    pub(super) members: Members,
    pub(super) reachability: Reachability,
    pub(super) tombstones: Tombstones,
    pub(super) clock: Arc<VectorClock>,
    pub(super) seen: Seen,
    /// Members that went down and are shown so until all have heard; a matter of this node's display alone.
    pub(super) fallen: BTreeMap<Uid, Arc<Member>>,
    pub(super) flaws: Flaws,
}

impl Document {
    /// An empty document, whose tombstones will be kept for that long.
    pub fn new(tombstone_life: Duration, flaws: Flaws) -> Self {
        let early = flaws.has(Flaw::TombstoneDroppedEarly);
        let life = if early { Duration::from_secs(1) } else { tombstone_life };
        Self {
            members: Members::default(),
            reachability: Reachability::default(),
            tombstones: Tombstones::new(life),
            clock: Arc::default(),
            seen: Seen::default(),
            fallen: BTreeMap::new(),
            flaws,
        }
    }

    /// `uid` is known to have this very version; true if that is news. Nothing happens if it is no member.
    pub fn see(&mut self, uid: Uid) -> bool {
        self.members.place(uid).is_some_and(|place| self.seen.insert(place))
    }

    /// Forgets tombstones whose life is over.
    pub fn expire(&mut self, now: Timestamp) {
        for uid in self.tombstones.expire(now) {
            self.fallen.remove(&uid);
        }
    }

    /// Identifies the document: all who have the same version know and say the same.
    pub fn version_hash(&self) -> u64 {
        version_of(&self.clock, self.content_hash())
    }

    /// Identifies what the document says of members and their reachability.
    pub fn content_hash(&self) -> u64 {
        self.members.hash() ^ self.reachability.hash()
    }

    /// The changes that have taken effect here.
    pub fn clock(&self) -> &Arc<VectorClock> {
        &self.clock
    }

    /// The members, in the order of uids.
    pub fn members(&self) -> impl Iterator<Item = &Arc<Member>> + '_ {
        self.members.iter()
    }

    /// How many members there are.
    pub fn member_count(&self) -> usize {
        self.members.len()
    }

    /// The member of that uid.
    pub fn member(&self, uid: Uid) -> Option<&Arc<Member>> {
        self.members.named(uid)
    }

    /// Whether it is a member.
    pub fn is_member(&self, uid: Uid) -> bool {
        self.members.contains(uid)
    }

    /// The tombstones that still live, in the order of uids.
    pub fn tombstones(&self) -> impl Iterator<Item = (Uid, &Tombstone)> + '_ {
        self.tombstones.iter()
    }

    /// How many tombstones still live.
    pub fn tombstone_count(&self) -> usize {
        self.tombstones.len()
    }

    /// The tombstone of that uid.
    pub fn tombstone(&self, uid: Uid) -> Option<&Tombstone> {
        self.tombstones.named(uid)
    }

    /// Whether it has a tombstone.
    pub fn is_buried(&self, uid: Uid) -> bool {
        self.tombstones.contains(uid)
    }

    /// The newest report of each observer, in the order of uids.
    pub fn reports(&self) -> impl Iterator<Item = (Uid, &Arc<Report>)> + '_ {
        self.reachability.iter()
    }

    /// Those whom at least one observer cannot reach, in the order of uids.
    pub fn unreachable(&self) -> impl Iterator<Item = Uid> + '_ {
        self.reachability.unreachable()
    }

    /// Whether an observer cannot reach it.
    pub fn is_unreachable(&self, uid: Uid) -> bool {
        self.reachability.is_unreachable(uid)
    }

    /// The members known to have this very version, in the order of uids.
    pub fn seen(&self) -> impl Iterator<Item = Uid> + '_ {
        let places = 0..self.seen.size();
        places
            .filter(|place| self.seen.contains(*place))
            .filter_map(|place| Some(self.members.at(place)?.uid()))
    }

    /// Whether the member is known to have this very version.
    pub fn has_seen(&self, uid: Uid) -> bool {
        self.members.place(uid).is_some_and(|place| self.seen.contains(place))
    }

    /// Whether every member that nobody calls unreachable is known to have this very version.
    pub fn is_converged(&self) -> bool {
        // Who is unreachable and has not seen it makes up for what the seen set lacks.
        let missing = self.members.len() - self.seen.count();
        missing <= self.reachability.unreachable_count()
            && missing == self.unreachable().filter(|uid| !self.has_seen(*uid)).count()
    }

    /// Checks all that must hold between two steps, in time linear in its size.
    ///
    /// # Panics
    /// If something does not hold.
    pub fn assert_invariants(&self) {
        self.members.assert_invariants();
        self.reachability.assert_invariants(|uid| self.is_member(uid));
        self.seen.assert_invariants(self.members.len());
        for (author, _) in self.clock.iter() {
            assert!(self.is_author(author), "{author:?} is in the clock and no member");
        }
        let recounted: VectorClock = self.clock.iter().collect();
        assert_eq!(*self.clock, recounted, "hash of the clock");
        for (uid, _) in self.tombstones() {
            assert!(!self.is_member(uid), "{uid:?} is buried and a member");
        }
    }

    /// Takes a step. If it makes another version, nobody has seen that but `me`.
    pub(super) fn change(&mut self, me: Option<Uid>, step: impl FnOnce(&mut Self)) -> Change {
        let (version, content, laid) = (self.version_hash(), self.content_hash(), self.tombstones.laid());
        let keeps = self.flaws.has(Flaw::SeenSetForgotten);
        let kept: Vec<Uid> = if keeps { self.seen().collect() } else { Vec::new() };
        step(self);
        let changed = self.version_hash() != version;
        if changed {
            self.seen = Seen::none_of(self.members.len());
            for uid in kept.into_iter().chain(me) {
                self.see(uid);
            }
        }
        if content != self.content_hash() || laid != self.tombstones.laid() {
            Change::Content
        } else if changed {
            Change::Clock
        } else {
            Change::Nothing
        }
    }

    /// Lays a tombstone and removes all that is known of the node; not one that gossip laid for a node which the table has admitted since.
    pub(super) fn lay(&mut self, uid: Uid, stone: Tombstone) {
        if !stone.is_by_table() && self.members.named(uid).is_some_and(|member| member.is_admitted()) {
            return;
        }
        let new = self.tombstones.lay(uid, stone);
        if !new && self.flaws.has(Flaw::StaleIncarnationAccepted) {
            return;
        }
        if let Some(member) = self.members.remove(uid)
            && stone.how == Gone::Down
        {
            self.fallen.insert(uid, member);
        }
        self.reachability.forget(uid);
        let author = Author::Node(uid);
        if self.clock.count(author) > 0 && !self.flaws.has(Flaw::ClockNotPruned) {
            Arc::make_mut(&mut self.clock).remove(author);
        }
    }

    /// The table has admitted the node: gossip was wrong to take it for gone.
    pub(super) fn disprove(&mut self, uid: Uid) {
        if self.tombstones.named(uid).is_some_and(|stone| !stone.is_by_table()) {
            self.tombstones.remove(uid);
        }
    }

    /// Whether records of it are not taken.
    pub(super) fn is_refused(&self, uid: Uid) -> bool {
        self.is_buried(uid) && !self.flaws.has(Flaw::StaleIncarnationAccepted)
    }

    /// Whether its changes are counted.
    pub(super) fn is_author(&self, author: Author) -> bool {
        match author {
            Author::Table => true,
            Author::Node(uid) => self.is_member(uid),
        }
    }
}

/// Identifies a document by the changes it knows and what it says.
pub(super) fn version_of(clock: &VectorClock, content: u64) -> u64 {
    mix(mix(5, clock.hash()), content)
}
