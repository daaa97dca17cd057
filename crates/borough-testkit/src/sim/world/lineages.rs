//! Which clusters of a run with disks have ended, and which one has to go on.
//!
//! A cluster whose voters are on disks ends only if it is shut down as a whole, if its last member leaves, or if an operator has it begun anew. While it has
//! not ended no other one of its name acts; and once nothing is wrong any more it goes on.

use std::collections::{BTreeMap, BTreeSet};

use borough_protocol::incarnation::Uid;
use borough_protocol::log::Log;
use borough_protocol::node::End;
use borough_protocol::table::Cluster;
use borough_protocol::version::Version;
use borough_protocol::voters::Voters;

use super::World;
use crate::sim::cuts::SlotIndex;
use crate::sim::moment::{Moment, Nanos, SECOND};
use crate::sim::plan::nanos;
use crate::sim::violation::Violation;

/// Nodes that are down start within so long, and some have to give up a life first.
const STARTED: Nanos = 3 * SECOND;
/// How long lost messages and elections that nobody wins may hold a cluster up.
const SLACK: Nanos = 5 * SECOND;

/// What is known of all clusters of a run.
#[derive(Debug, Default)]
pub(super) struct Lineages {
    ended: BTreeSet<Cluster>,
    newest: BTreeMap<Cluster, Newest>,
    /// The cluster that has to go on, and since when.
    owed: Option<(Cluster, Moment)>,
}

/// The newest table of a cluster that anybody ever had, and the lists of voters that may be in force.
#[derive(Debug, Default)]
struct Newest {
    version: Version,
    members: BTreeSet<Uid>,
    lists: BTreeMap<Version, Voters>,
}

impl Lineages {
    pub(super) fn has_ended(&self, cluster: Cluster) -> bool {
        self.ended.contains(&cluster)
    }

    /// Whether anything was ever decided in that cluster.
    pub(super) fn has_decided(&self, cluster: Cluster) -> bool {
        self.newest.get(&cluster).is_some_and(|newest| newest.version.index > 0)
    }

    /// That cluster has ended.
    pub(super) fn end(&mut self, cluster: Cluster) {
        self.ended.insert(cluster);
    }

    /// Every list of voters that may be in force.
    pub(super) fn lists_that_count(&self) -> impl Iterator<Item = &Voters> {
        let living = self.newest.iter().filter(|(cluster, _)| !self.ended.contains(cluster));
        living.flat_map(|(_, newest)| newest.lists.values())
    }
}

impl World {
    /// The life in that slot may have another table, or other lists.
    pub(super) fn note_lineage(&mut self, slot: SlotIndex) {
        let Some(life) = &self.slots[slot].life else { return };
        let Some(table) = life.node.table() else { return };
        if table.is_closing() {
            self.lineages.ended.insert(table.cluster());
        }
        let newest = self.lineages.newest.entry(table.cluster()).or_default();
        if let Some(voters) = life.node.log().map(Log::voters)
            && !voters.now.is_empty()
            && !newest.lists.contains_key(&voters.id)
        {
            newest.lists.insert(voters.id, voters.clone());
        }
        if newest.version < table.version() {
            newest.version = table.version();
            newest.members = table.members().keys().copied().collect();
            let committed = table.voters().id;
            newest.lists.retain(|id, _| *id >= committed);
        }
    }

    /// The life in that slot ends so.
    pub(super) fn note_end(&mut self, slot: SlotIndex, end: &End) {
        let Some(life) = &self.slots[slot].life else { return };
        let Some(memory) = life.node.memory().filter(|_| *end == End::Left) else { return };
        let newest = self.lineages.newest.get(&memory.cluster);
        if newest.is_some_and(|newest| newest.members.iter().all(|uid| *uid == life.uid())) {
            self.lineages.ended.insert(memory.cluster);
        }
    }

    /// Somebody of that cluster has a lease: no other one acts, or acted and has not ended.
    pub(super) fn acts_alone(&self, cluster: Cluster) -> Result<(), Violation> {
        let goes_on = |other: &&Cluster| **other != cluster && !self.lineages.has_ended(**other);
        match self.founding.acted().find(goes_on) {
            Some(other) if self.settings.durable => {
                let text =
                    format!("{cluster:?} acts, and {other:?}, whose voters are on disks, has not ended");
                Err(Violation::Safety("one_cluster", text))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// From now on nothing is wrong any more.
    pub(super) fn owe_going_on(&mut self) {
        let goes_on = |cluster: &&Cluster| !self.lineages.has_ended(**cluster);
        let cluster = self.founding.acted().filter(goes_on).max().copied();
        self.lineages.owed = cluster.filter(|_| self.settings.durable).map(|cluster| (cluster, self.now));
    }

    /// Whether the cluster that has to go on does, or has time left.
    pub(in crate::sim) fn goes_on(&mut self) -> Result<(), Violation> {
        let Some((cluster, since)) = self.lineages.owed else { return Ok(()) };
        let runs = |life: &crate::sim::life::Life| {
            life.node.cluster() == Some(cluster) && life.node.may_run(life.local(self.now))
        };
        if self.lineages.has_ended(cluster) || self.slots.running().any(|(_, life)| runs(life)) {
            self.lineages.owed = None;
            return Ok(());
        }
        let bound = self.going_on();
        if self.now.since(since) < bound {
            return Ok(());
        }
        let text = format!(
            "{cluster:?} does not go on, {} s after the last fault; its disks are there",
            bound / SECOND
        );
        Err(Violation::Liveness("goes_on", text))
    }

    /// How long it may take until a cluster goes on whose disks are there: its nodes start and find each other within the timeout of the seeds, wait until
    /// every lease is over, elect one of them, which waits as long again.
    fn going_on(&self) -> Nanos {
        let timing = self.settings.timing();
        let election = 4 * nanos(timing.suspect_after);
        let all = nanos(self.settings.seed_timeout) + 2 * nanos(timing.wait) + election;
        // By a clock that may be slow.
        STARTED + all * 1000 / (1000 - u64::from(self.settings.drift_per_mille)) + SLACK
    }

    /// The cluster that all are to be in; none if another one may have been founded.
    pub(super) fn lasting(&self) -> Option<Cluster> {
        let goes_on = |cluster: &&Cluster| !self.lineages.has_ended(**cluster);
        self.founding.acted().filter(goes_on).max().copied().filter(|_| self.settings.durable)
    }
}
