//! The document itself: what one node knows of who is there, and the changes it may make.
//!
//! A change is made by a node, which counts it in its own entry of the clock, or by the table, whose entries are
//! numbered already: all nodes that apply one entry write the same thing under the same dot. Members are only added
//! and raised; who is gone gets a tombstone. A node that is no member of its own document changes nothing in it.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::member::{Member, Status};
use super::members::Members;
use super::reachability::{Reachability, Report};
use super::seen::Seen;
use super::tombstones::{Gone, Tombstone, Tombstones};
use crate::flaws::{Flaw, Flaws};
use crate::incarnation::{Facts, Incarnation, Uid};
use crate::time::Timestamp;
use crate::vector_clock::{Author, Dot, VectorClock, mix};
use crate::version::Version;

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

    /// `me` has heard of a node that wants to join, itself perhaps. Nothing happens if it is a member or buried.
    pub fn add_joining(&mut self, me: Uid, incarnation: Incarnation, facts: Arc<Facts>) -> Change {
        let uid = incarnation.uid;
        let writes = uid == me || self.is_member(me);
        if !writes || self.is_member(uid) || self.is_refused(uid) {
            return Change::Nothing;
        }
        self.change(Some(me), |document| {
            let dot = document.advance(me);
            let (status, admission) = (Status::Joining, Version::ZERO);
            document.members.put(Arc::new(Member { incarnation, facts, status, admission, dot }));
        })
    }

    /// `me` cannot reach the subject, or can again.
    pub fn set_unreachable(&mut self, me: Uid, subject: Uid, unreachable: bool) -> Change {
        let report = self.reachability.report(me);
        let known = report.is_some_and(|report| report.unreachable.contains(&subject));
        if known == unreachable || !self.is_member(me) || !self.is_member(subject) {
            return Change::Nothing;
        }
        let mut subjects = report.map(|report| report.unreachable.clone()).unwrap_or_default();
        if unreachable {
            subjects.insert(subject);
        } else {
            subjects.remove(&subject);
        }
        self.change(Some(me), |document| {
            let dot = document.advance(me);
            document.reachability.put(me, Arc::new(Report { dot, unreachable: subjects }));
        })
    }

    /// `me` has dropped all it had and goes.
    pub fn mark_exiting(&mut self, me: Uid) -> Change {
        let Some(member) = self.members.named(me) else { return Change::Nothing };
        if member.status >= Status::Exiting {
            return Change::Nothing;
        }
        let mut member = Member::clone(member);
        self.change(Some(me), |document| {
            member.status = Status::Exiting;
            member.dot = document.advance(me);
            document.members.put(Arc::new(member));
        })
    }

    /// `me` knows that another node, which the table never admitted, is gone.
    pub fn bury(&mut self, me: Uid, uid: Uid, how: Gone, now: Timestamp) -> Change {
        if uid == me || !self.is_member(me) || self.tombstones.contains(uid) {
            return Change::Nothing;
        }
        self.change(Some(me), |document| {
            let dot = document.advance(me);
            let stone = document.tombstones.fresh(how, dot, now);
            document.lay(uid, stone);
        })
    }

    /// The table's entry at `index` admitted the node. It is added if gossip has not heard of it.
    pub fn admit(&mut self, index: u64, node: Incarnation, facts: Arc<Facts>, version: Version) -> Change {
        self.change(None, |document| {
            document.raise_table(index);
            let uid = node.uid;
            if document.is_refused(uid) {
                return;
            }
            let dot = Dot { author: Author::Table, count: index };
            let (status, admission) = (Status::Up, version);
            let admitted = Member { incarnation: node, facts, status, admission, dot };
            let joined = match document.members.named(uid) {
                Some(member) if member.is_admitted() => None,
                Some(member) => member.join(&admitted, Flaws::default()),
                None => Some(admitted),
            };
            if let Some(joined) = joined {
                document.members.put(Arc::new(joined));
            }
        })
    }

    /// The table's entry at `index` lets the node drain.
    pub fn mark_leaving(&mut self, index: u64, uid: Uid) -> Change {
        self.change(None, |document| {
            document.raise_table(index);
            if let Some(member) = document.members.named(uid).filter(|member| member.status < Status::Leaving)
            {
                let dot = Dot { author: Author::Table, count: index };
                let leaving = Member { status: Status::Leaving, dot, ..Member::clone(member) };
                document.members.put(Arc::new(leaving));
            }
        })
    }

    /// The table's entry at `index` removed the node.
    pub fn bury_by_table(&mut self, index: u64, uid: Uid, how: Gone, now: Timestamp) -> Change {
        self.change(None, |document| {
            document.raise_table(index);
            let dot = Dot { author: Author::Table, count: index };
            let stone = document.tombstones.fresh(how, dot, now);
            document.lay(uid, stone);
        })
    }

    /// All entries of the table up to `index` have taken effect here. It makes another version of the document, so it
    /// is meant for steps that count to members, as after a snapshot, and not for each entry of the table.
    pub fn reflect(&mut self, index: u64) -> Change {
        self.change(None, |document| document.raise_table(index))
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

    /// Lays a tombstone and removes all that is known of the node.
    pub(super) fn lay(&mut self, uid: Uid, stone: Tombstone) {
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

    fn advance(&mut self, me: Uid) -> Dot {
        let author = Author::Node(me);
        if self.flaws.has(Flaw::ClockNotAdvanced) {
            return Dot { author, count: self.clock.count(author) };
        }
        Arc::make_mut(&mut self.clock).advance(author)
    }

    fn raise_table(&mut self, index: u64) {
        if self.clock.count(Author::Table) < index {
            Arc::make_mut(&mut self.clock).raise(Author::Table, index);
        }
    }
}

/// Identifies a document by the changes it knows and what it says.
pub(super) fn version_of(clock: &VectorClock, content: u64) -> u64 {
    mix(mix(5, clock.hash()), content)
}
