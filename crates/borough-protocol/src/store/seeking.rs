//! How a node finds its cluster in the store, or founds it there.
//!
//! ```text
//! asks the store again and again
//!   |- empty, or its cluster was shut down: Found --- it took it ----------> founded
//!   |                                          `----- another was faster --+
//!   |- a cluster is in it -------------------------------------------------+-> joined
//!   |- the settings differ --------------------------------------------------> refused
//! ```
//! Two founders are impossible as long as the store remembers: the founding is one compare-and-set.

use super::message::{Answer, Ask};
use crate::settings::{Checked, ClusterSettings, Refusal, check};
use crate::table::Cluster;
use crate::time::Timestamp;

/// A node that looks for its cluster in the store.
#[derive(Debug)]
pub struct StoreSeeking {
    settings: Checked,
    /// What it would found.
    cluster: Cluster,
    next: Timestamp,
    /// Whether the store was seen empty: then nobody has held a lease by it.
    was_empty: bool,
}

/// What came of an answer.
#[derive(Debug)]
pub enum Found {
    /// Nothing yet; this is to be asked.
    Nothing(Ask),
    /// The node takes part in this cluster.
    Cluster {
        /// Which.
        cluster: Cluster,
        /// Whether leases of an earlier founding may still run.
        waits: bool,
    },
    /// The node may not take part.
    Refused(Refusal),
}

impl StoreSeeking {
    /// Begins to ask. `cluster` is what it founds if there is none; its era rises if the store knows of a later one.
    pub fn new(now: Timestamp, cluster: Cluster, settings: Checked) -> Self {
        Self { settings, cluster, next: now, was_empty: false }
    }

    /// When it asks next.
    pub fn next_deadline(&self) -> Timestamp {
        self.next
    }

    /// Asks, if it is time.
    pub fn on_deadline(&mut self, now: Timestamp) -> Option<Ask> {
        if now < self.next {
            return None;
        }
        self.next = now + self.settings.seed_ask_interval;
        Some(Ask::Look)
    }

    /// The store answers; `None` if that says nothing to this node.
    pub fn answered(&mut self, answer: Answer) -> Option<Found> {
        match answer {
            Answer::Empty => {
                self.was_empty = true;
                Some(Found::Nothing(self.found(None)))
            }
            Answer::Holds { cluster, settings, closed } => Some(self.seen(cluster, &settings, closed)),
            Answer::Log(_) | Answer::Renewed(_) => None,
        }
    }

    fn seen(&mut self, cluster: Cluster, settings: &ClusterSettings, closed: bool) -> Found {
        if let Err(refusal) = check(self.settings.cluster_settings(), settings) {
            return Found::Refused(refusal);
        }
        if closed {
            self.was_empty = false;
            self.cluster.era = self.cluster.era.max(cluster.era.saturating_add(1));
            return Found::Nothing(self.found(Some(cluster)));
        }
        Found::Cluster { cluster, waits: !self.was_empty || cluster != self.cluster }
    }

    fn found(&self, instead_of: Option<Cluster>) -> Ask {
        let settings = self.settings.cluster_settings().clone();
        Ask::Found { cluster: self.cluster, settings, instead_of }
    }
}
