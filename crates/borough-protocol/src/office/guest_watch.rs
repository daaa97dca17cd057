//! Since when a node has seen the guests, and whose links were bad meanwhile.
//!
//! Each node keeps this, in office or not: a coordinator that waits before it admits a guest ([`probation`](super::probation)) goes by what it saw before its election, too.
//! Otherwise each change of the coordinator would make all guests wait once more. Each time the node gets a lease, it begins again: gossip may not have reached it before.
//! A guest in office has no lease, and goes by what it has seen all the same: a quorum of the voters answers it.

use alloc::collections::{BTreeMap, BTreeSet};
use core::time::Duration;

use super::broken_pairs::{Pair, WINDOW, pair};
use crate::gossip::Document;
use crate::incarnation::Uid;
use crate::table::Table;
use crate::time::Timestamp;

/// The guests of a cluster as one node sees them.
#[derive(Clone, Debug, Default)]
pub struct GuestWatch {
    since: BTreeMap<Uid, Timestamp>,
    /// The pairs of which one accuses the other.
    silent: BTreeSet<Pair>,
    /// When the others last did, while there was a guest.
    was_silent: BTreeMap<Pair, Timestamp>,
    /// What it saw when it last looked.
    content: Option<u64>,
}

impl GuestWatch {
    /// Looks at what gossip says now.
    pub fn look(&mut self, now: Timestamp, table: &Table, document: &Document) {
        let content = document.content_hash();
        if self.content.replace(content) == Some(content) {
            return;
        }
        let guests = document.uids().filter(|uid| table.member(*uid).is_none());
        self.since = guests.map(|uid| (uid, self.since.get(&uid).copied().unwrap_or(now))).collect();
        if self.since.is_empty() {
            self.silent.clear();
            self.was_silent.clear();
            return;
        }
        self.was_silent.extend(self.silent.iter().map(|pair| (*pair, now)));
        self.was_silent.retain(|_, last| now.since(*last) < WINDOW);
        let accusations = document.accusations().filter(|(observer, subject)| observer != subject);
        self.silent = accusations.map(|(observer, subject)| pair(observer, subject)).collect();
    }

    /// The guests.
    pub fn iter(&self) -> impl Iterator<Item = Uid> + '_ {
        self.since.keys().copied()
    }

    /// The node got a lease: what it saw without one may be old.
    pub fn begin_again(&mut self) {
        *self = Self::default();
    }

    /// The node itself was away: what it did not see meanwhile has not lasted.
    pub fn forgive(&mut self, away: Duration) {
        for at in self.since.values_mut().chain(self.was_silent.values_mut()) {
            *at = *at + away;
        }
    }

    /// Whether it has seen that guest for long enough to tell whose links are bad.
    pub(super) fn is_known(&self, now: Timestamp, guest: Uid) -> bool {
        self.since.get(&guest).is_some_and(|since| now.since(*since) >= WINDOW)
    }

    /// The pairs of which one accused the other lately.
    pub(super) fn lately_silent(&self, now: Timestamp) -> BTreeSet<Pair> {
        let lately = self.was_silent.iter().filter(|(_, last)| now.since(**last) < WINDOW);
        self.silent.iter().copied().chain(lately.map(|(pair, _)| *pair)).collect()
    }
}
