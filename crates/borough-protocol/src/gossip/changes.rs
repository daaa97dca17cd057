//! The changes a document can undergo on its own node.
//!
//! A change is made by a node, which counts it in its own entry of the clock, or by the table, whose entries are
//! numbered already: all nodes that apply one entry write the same thing under the same dot. Members are only added
//! and raised; who is gone gets a tombstone. A node that is no member of its own document changes nothing in it.
//!
//! The table's changes leave the seen set empty, as a document does not know whose it is: [`Document::see`] follows.

use alloc::sync::Arc;

use super::document::{Change, Document};
use super::member::{Member, Status};
use super::reachability::Report;
use super::tombstones::Gone;
use crate::flaws::{Flaw, Flaws};
use crate::incarnation::{Facts, Incarnation, Uid};
use crate::time::Timestamp;
use crate::vector_clock::{Author, Dot};
use crate::version::Version;

impl Document {
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
            document.disprove(uid);
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
