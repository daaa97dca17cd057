//! Random histories: replicas that join, see, bury, follow the table and meet each other, in any order.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::time::Duration;

use proptest::prelude::*;

use super::{LIFE, NOW, facts, incarnation, tell, uid, version};
use crate::flaws::Flaws;
use crate::gossip::{Document, Gone};
use crate::incarnation::Uid;
use crate::time::Timestamp;

pub(super) const REPLICAS: usize = 5;

/// One step: what kind, at which replica, and a number to choose by.
pub(super) type Step = (u8, usize, usize);

pub(super) fn steps(count: core::ops::Range<usize>) -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec((0_u8..100, 0..REPLICAS, 0_usize..1000), count)
}

#[derive(Clone, Copy, Debug)]
enum Entry {
    Admit(Uid),
    Drain(Uid),
    Remove(Uid, Gone),
}

/// Replicas, the table's log they follow, and all who ever joined.
pub(super) struct History {
    pub(super) replicas: Vec<Document>,
    /// Documents as they once were: what is still on its way is as good an input as what is there.
    pub(super) past: Vec<Document>,
    pub(super) now: Timestamp,
    log: Vec<Entry>,
    applied: [usize; REPLICAS],
    joined: Vec<Uid>,
    admitted: BTreeSet<Uid>,
    /// Whom gossip took for gone.
    vanished: BTreeSet<Uid>,
    removed: BTreeSet<Uid>,
}

impl History {
    pub(super) fn run(steps: &[Step]) -> Self {
        let mut history = Self {
            replicas: (0..REPLICAS).map(|_| Document::new(LIFE, Flaws::default())).collect(),
            past: Vec::new(),
            now: NOW,
            log: Vec::new(),
            applied: [0; REPLICAS],
            joined: (0..REPLICAS).map(Self::owner).collect(),
            admitted: BTreeSet::new(),
            vanished: BTreeSet::new(),
            removed: BTreeSet::new(),
        };
        for (at, replica) in history.replicas.iter_mut().enumerate() {
            let me = Self::owner(at);
            replica.add_joining(me, incarnation(me), facts(me));
        }
        for step in steps {
            history.step(*step);
        }
        history
    }

    pub(super) fn owner(replica: usize) -> Uid {
        // Scattered, so that no order of uids is an order of joining.
        uid((replica as u64 * 7919) % 101 + 1)
    }

    fn step(&mut self, (kind, at, number): Step) {
        self.now = self.now + Duration::from_millis(number as u64);
        let me = Self::owner(at);
        let before = self.replicas[at].clone();
        let other = self.joined[number % self.joined.len()];
        let replica = &mut self.replicas[at];
        match kind {
            0..8 => self.join(at, number),
            8..16 => self.append(other, number),
            16..40 => self.apply(at),
            40..60 => {
                let known =
                    replica.reports().any(|(by, report)| by == me && report.unreachable.contains(&other));
                replica.set_unreachable(me, other, !known);
            }
            60..63 => {
                if !self.admitted.contains(&other) {
                    replica.bury(me, other, Gone::Vanished, self.now);
                    self.vanished.insert(other);
                }
            }
            63..64 => {
                replica.mark_exiting(me);
            }
            64..67 => self.past.push(replica.clone()),
            67..75 => {
                let source = &self.replicas[number % REPLICAS].clone();
                self.replicas[at].merge(source, self.now);
            }
            _ => {
                let source = &self.replicas[number % REPLICAS].clone();
                tell(source, &mut self.replicas[at], self.now);
            }
        }
        // As the machine does after each change.
        self.replicas[at].see(me);
        self.check(at, &before);
    }

    fn join(&mut self, at: usize, number: usize) {
        let joiner = uid(1000 + number as u64 % 60);
        if !self.removed.contains(&joiner) {
            self.replicas[at].add_joining(Self::owner(at), incarnation(joiner), facts(joiner));
            self.joined.push(joiner);
        }
    }

    /// The table's coordinator decides: who is removed is never admitted again. Nor, here, who is taken for gone: what was forgotten of such a node is told again, so in
    /// what order documents are merged matters until then.
    fn append(&mut self, other: Uid, number: usize) {
        let how = [Gone::Down, Gone::Left, Gone::Replaced][number % 3];
        let entry = match (self.admitted.contains(&other), self.removed.contains(&other)) {
            (_, true) => return,
            (false, false) if self.vanished.contains(&other) => Entry::Remove(other, how),
            (false, false) if !number.is_multiple_of(7) => Entry::Admit(other),
            (true, false) if !number.is_multiple_of(2) => Entry::Drain(other),
            _ => Entry::Remove(other, how),
        };
        match entry {
            Entry::Admit(uid) => self.admitted.insert(uid),
            Entry::Remove(uid, _) => self.removed.insert(uid),
            Entry::Drain(_) => true,
        };
        self.log.push(entry);
    }

    fn apply(&mut self, at: usize) {
        let Some(entry) = self.log.get(self.applied[at]) else { return };
        self.applied[at] += 1;
        let index = self.applied[at] as u64;
        let replica = &mut self.replicas[at];
        match *entry {
            Entry::Admit(uid) => replica.admit(index, incarnation(uid), facts(uid), version(index)),
            Entry::Drain(uid) => replica.mark_leaving(index, uid),
            Entry::Remove(uid, how) => replica.bury_by_table(index, uid, how, self.now),
        };
    }

    fn check(&self, at: usize, before: &Document) {
        let replica = &self.replicas[at];
        replica.assert_invariants();
        for (uid, stone) in before.tombstones() {
            let is_admitted = replica.member(uid).is_some_and(|member| member.is_admitted());
            let is_disproved = is_admitted && !stone.is_by_table();
            assert!(is_disproved || replica.is_buried(uid) && !replica.is_member(uid), "{uid:?} came back");
        }
        for member in before.members() {
            let now = replica.member(member.uid());
            let risen =
                now.is_some_and(|now| now.status >= member.status && now.admission >= member.admission);
            assert!(risen || replica.is_buried(member.uid()), "{member:?} became {now:?}");
        }
        for (author, count) in before.clock().iter() {
            assert!(
                replica.clock().count(author) >= count || !replica.is_author(author),
                "clock of {author:?}"
            );
        }
        assert_eq!(
            before.version_hash() == replica.version_hash(),
            said(before) == said(replica),
            "version hash"
        );
    }

    /// Lets all replicas tell each other until nobody has news.
    pub(super) fn exchange(&mut self) {
        for _ in 0..REPLICAS + 2 {
            for from in 0..REPLICAS {
                for to in 0..REPLICAS {
                    let source = self.replicas[from].clone();
                    tell(&source, &mut self.replicas[to], self.now);
                    self.replicas[to].see(Self::owner(to));
                }
            }
        }
    }
}

/// What a document says, and what it knows to have happened: what its version hash stands for.
pub(super) fn said(document: &Document) -> impl PartialEq + core::fmt::Debug + use<> {
    let members: Vec<_> =
        document.members().map(|member| (member.uid(), member.status, member.admission)).collect();
    let reports: Vec<_> = document.reports().map(|(uid, report)| (uid, report.clone())).collect();
    (members, reports, document.clock().clone())
}

/// All of a document that the laws are about, dots and tombstones included.
pub(super) fn whole(document: &Document) -> impl PartialEq + core::fmt::Debug + use<> {
    let members: Vec<_> = document.members().cloned().collect();
    let reports: Vec<_> = document.reports().map(|(uid, report)| (uid, report.clone())).collect();
    let tombstones: Vec<_> = document.tombstones().map(|(uid, stone)| (uid, *stone)).collect();
    (members, reports, tombstones, document.clock().clone(), document.version_hash())
}
