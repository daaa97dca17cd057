//! How two documents become one, and what one lacks of the other.
//!
//! The merge is the join of a semilattice: commutative, associative and idempotent. Members rise, the newest report of
//! an observer wins, tombstones beat records (those of gossip only records of nodes that were not admitted), clocks take the larger counts. What a delta leaves out is covered by the
//! clock of the one it is for, so merging it is as good as merging the whole document.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use super::document::{Change, Document};
use super::member::Member;
use super::messages::Delta;
use crate::flaws::Flaw;
use crate::incarnation::Uid;
use crate::time::Timestamp;
use crate::vector_clock::{Author, Dot, VectorClock};

impl Document {
    /// Takes all that the other document has. Both keep time by one clock: between nodes it is deltas that travel.
    pub fn merge(&mut self, other: &Self, now: Timestamp) -> Change {
        self.merge_delta(&other.select(now, |_| true), now)
    }

    /// Takes what another node sent. Who has the merged version is who had it before on either side.
    pub fn merge_delta(&mut self, delta: &Delta, now: Timestamp) -> Change {
        let change = self.change(None, |document| {
            for obituary in &delta.tombstones {
                let stone = document.tombstones.told(obituary, now);
                document.lay(obituary.uid, stone);
            }
            document.merge_members(&delta.members);
            document.merge_reports(delta);
            document.merge_clock(&delta.clock);
        });
        if self.version_hash() == delta.version() {
            self.seen.union(&delta.seen);
        }
        change
    }

    /// What a document with that clock lacks. `reply` says whether it answers a delta.
    ///
    /// Who has buried an author counts none of its changes any more, and so gets all of them that still show.
    pub fn delta_for(&self, clock: &VectorClock, now: Timestamp, reply: bool) -> Delta {
        let mut delta = self.select(now, |part| match part {
            Part::Member(member) => !member.is_covered_by(clock),
            Part::Report(dot) => !clock.covers(dot),
            Part::Tombstone { uid, dot, spread } => {
                // A clock that names the buried still counts them as members.
                let named = clock.count(Author::Node(uid)) > 0;
                named || spread && !clock.covers(dot)
            }
        });
        delta.reply = reply;
        delta
    }

    /// All there is to tell, for one whose document differs in ways that clocks do not explain: it has outlived a
    /// tombstone, or skipped the table's entries.
    pub fn everything(&self, now: Timestamp, reply: bool) -> Delta {
        let mut delta = self.select(now, |part| match part {
            Part::Member(_) | Part::Report(_) => true,
            Part::Tombstone { spread, .. } => spread,
        });
        delta.reply = reply;
        delta
    }

    /// Whether the delta, made here, has a record that its receiver is known to lack, and not just may lack because
    /// the author is gone.
    pub(super) fn has_news(&self, delta: &Delta) -> bool {
        delta.members.iter().any(|member| !self.is_orphan(member.dot))
            || !delta.reachability.is_empty()
            || delta.tombstones.iter().any(|obituary| !self.is_orphan(obituary.dot))
    }

    fn select(&self, now: Timestamp, wanted: impl Fn(Part<'_>) -> bool) -> Delta {
        let stones = self.tombstones.iter().filter(|(uid, stone)| {
            wanted(Part::Tombstone {
                uid: *uid,
                dot: stone.dot,
                spread: self.tombstones.is_spread(stone, now),
            })
        });
        let reports = self.reachability.iter().filter(|(_, report)| wanted(Part::Report(report.dot)));
        Delta {
            members: self.members.iter().filter(|member| wanted(Part::Member(member))).cloned().collect(),
            reachability: reports.map(|(observer, report)| (observer, report.clone())).collect(),
            tombstones: stones.map(|(uid, stone)| self.tombstones.obituary(uid, stone, now)).collect(),
            clock: self.clock.clone(),
            content: self.content_hash(),
            seen: self.seen.bits(),
            reply: false,
        }
    }

    /// Whether the change's author is no member any more: then its count is in no clock of those who know it, and the
    /// record goes into every delta for them.
    fn is_orphan(&self, dot: Dot) -> bool {
        !self.is_author(dot.author)
    }

    fn merge_members(&mut self, records: &[Arc<Member>]) {
        let mut fresh: BTreeMap<Uid, Arc<Member>> = BTreeMap::new();
        for record in records {
            let uid = record.uid();
            if record.is_admitted() {
                self.disprove(uid);
            }
            if self.is_refused(uid) {
                continue;
            }
            let Some(known) = self.members.named(uid) else {
                fresh.entry(uid).or_insert_with(|| record.clone());
                continue;
            };
            if let Some(joined) = known.join(record, self.flaws) {
                // Sharing the sender's record keeps one copy of it among nodes in one process.
                self.members.put(if joined == **record { record.clone() } else { Arc::new(joined) });
            }
        }
        self.members.append(fresh.into_values());
    }

    fn merge_reports(&mut self, delta: &Delta) {
        if self.flaws.has(Flaw::MergeForgetsReachability) {
            return;
        }
        let members = &self.members;
        for (observer, report) in &delta.reachability {
            if members.contains(*observer) {
                self.reachability.merge(*observer, report, |subject| members.contains(subject));
            }
        }
    }

    fn merge_clock(&mut self, clock: &Arc<VectorClock>) {
        if Arc::ptr_eq(&self.clock, clock) {
            return;
        }
        let counts = |author| self.is_author(author) || self.flaws.has(Flaw::ClockNotPruned);
        let news: VectorClock = self.clock.missing(clock).filter(|(author, _)| counts(*author)).collect();
        if !news.is_empty() {
            Arc::make_mut(&mut self.clock).merge(&news);
        }
    }
}

/// A part of the document that may go into a delta.
enum Part<'a> {
    Member(&'a Member),
    Report(Dot),
    Tombstone { uid: Uid, dot: Dot, spread: bool },
}
