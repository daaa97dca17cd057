//! Who finds whom unreachable: one report for each observer, written by that observer alone.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;

use crate::incarnation::Uid;
use crate::vector_clock::{Dot, mix};

/// What one observer says of the others. A later report replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Report {
    /// The observer's change that wrote it.
    pub dot: Dot,
    /// Whom the observer cannot reach. Empty after it could reach all of them again.
    pub unreachable: BTreeSet<Uid>,
}

impl Report {
    fn hash(&self, observer: Uid) -> u64 {
        let start = mix(mix(3, observer.get()), self.dot.count);
        self.unreachable.iter().fold(start, |hash, subject| mix(hash, subject.get()))
    }
}

/// The newest report of each observer.
#[derive(Clone, Debug, Default)]
pub(super) struct Reachability {
    reports: BTreeMap<Uid, Arc<Report>>,
    /// By how many observers each subject is called unreachable; never 0.
    accusers: BTreeMap<Uid, u32>,
    hash: u64,
}

impl Reachability {
    pub(super) fn report(&self, observer: Uid) -> Option<&Arc<Report>> {
        self.reports.get(&observer)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Uid, &Arc<Report>)> + '_ {
        self.reports.iter().map(|(observer, report)| (*observer, report))
    }

    pub(super) fn unreachable(&self) -> impl Iterator<Item = Uid> + '_ {
        self.accusers.keys().copied()
    }

    pub(super) fn unreachable_count(&self) -> usize {
        self.accusers.len()
    }

    pub(super) fn is_unreachable(&self, subject: Uid) -> bool {
        self.accusers.contains_key(&subject)
    }

    /// Replaces the observer's report.
    pub(super) fn put(&mut self, observer: Uid, report: Arc<Report>) {
        self.remove(observer);
        self.hash ^= report.hash(observer);
        for subject in &report.unreachable {
            *self.accusers.entry(*subject).or_insert(0) += 1;
        }
        self.reports.insert(observer, report);
    }

    /// Takes a report that came from elsewhere, as far as it is about members.
    ///
    /// Two reports of one dot differ only in subjects that one side has buried, so their union, less the buried ones,
    /// is what both sides come to.
    pub(super) fn merge(&mut self, observer: Uid, report: &Arc<Report>, is_member: impl Fn(Uid) -> bool) {
        let mine = self.reports.get(&observer);
        if mine.is_some_and(|mine| mine.dot.count > report.dot.count || Arc::ptr_eq(mine, report)) {
            return;
        }
        let same = mine.filter(|mine| mine.dot.count == report.dot.count);
        let adds = |subject: &Uid| same.is_none_or(|mine| !mine.unreachable.contains(subject));
        if same.is_some() && !report.unreachable.iter().any(|subject| adds(subject) && is_member(*subject)) {
            return;
        }
        let whole = same.is_none() && report.unreachable.iter().all(|subject| is_member(*subject));
        let merged = if whole {
            report.clone()
        } else {
            let known = same.into_iter().flat_map(|mine| &mine.unreachable);
            let subjects = known.chain(&report.unreachable).copied().filter(|subject| is_member(*subject));
            Arc::new(Report { dot: report.dot, unreachable: subjects.collect() })
        };
        self.put(observer, merged);
    }

    /// Forgets the node, as observer and as subject.
    pub(super) fn forget(&mut self, uid: Uid) {
        self.remove(uid);
        if !self.accusers.contains_key(&uid) {
            return;
        }
        let accusers = self.reports.iter().filter(|(_, report)| report.unreachable.contains(&uid));
        let mut changed = BTreeMap::new();
        for (observer, report) in accusers {
            let mut report = Report::clone(report);
            report.unreachable.remove(&uid);
            changed.insert(*observer, Arc::new(report));
        }
        for (observer, report) in changed {
            self.put(observer, report);
        }
    }

    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    pub(super) fn assert_invariants(&self, is_member: impl Fn(Uid) -> bool) {
        let mut accusers = BTreeMap::new();
        let mut hash = 0;
        for (observer, report) in &self.reports {
            assert!(is_member(*observer), "{observer:?} reports and is no member");
            hash ^= report.hash(*observer);
            for subject in &report.unreachable {
                assert!(is_member(*subject), "{subject:?} is unreachable and no member");
                *accusers.entry(*subject).or_insert(0) += 1;
            }
        }
        assert_eq!(self.accusers, accusers, "count of accusers");
        assert_eq!(self.hash, hash, "hash of the reports");
    }

    fn remove(&mut self, observer: Uid) {
        let Some(report) = self.reports.remove(&observer) else { return };
        self.hash ^= report.hash(observer);
        for subject in &report.unreachable {
            if let Some(count) = self.accusers.get_mut(subject) {
                *count -= 1;
                if *count == 0 {
                    self.accusers.remove(subject);
                }
            }
        }
    }
}
