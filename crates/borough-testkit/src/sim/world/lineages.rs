//! Which clusters of a run with disks have ended, and which one has to go on.
//!
//! A cluster whose voters are on disks ends only if it is shut down as a whole, if its last member leaves, or if an operator has it begun anew. While it has
//! not ended no other one of its name acts; and once nothing is wrong any more it goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use borough_protocol::incarnation::Uid;
use borough_protocol::log::Log;
use borough_protocol::node::End;
use borough_protocol::table::Cluster;
use borough_protocol::version::Version;
use borough_protocol::voters::{VoterId, Voters};

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
    /// Those that end once the disk there says so: their last member left.
    ending: BTreeMap<Cluster, SlotIndex>,
    newest: BTreeMap<Cluster, Newest>,
    /// The cluster that has to go on, and since when.
    owed: Option<(Cluster, Moment)>,
}

/// The newest table of a cluster that anybody ever had, and the lists of voters that may be in force.
#[derive(Debug, Default)]
struct Newest {
    version: Version,
    members: BTreeSet<Uid>,
    /// The list of that table: no earlier one is in force, even if a log that lags behind has it.
    committed: Version,
    lists: BTreeMap<Version, Voters>,
}

impl Newest {
    /// Whether a list of that version may be in force. One that is newer than the committed list and no newer than the table was appended by a coordinator that crashed
    /// or lost its office before the list was committed: the log went on without it, and it never is.
    fn counts(&self, list: Version) -> bool {
        list == self.committed || self.version < list
    }
}

impl Lineages {
    pub(super) fn has_ended(&self, cluster: Cluster) -> bool {
        self.ended.contains(&cluster)
    }

    /// That cluster has ended.
    pub(super) fn end(&mut self, cluster: Cluster) {
        self.ended.insert(cluster);
    }

    /// The disk there says that this cluster has ended. Whether that is right, because its last member left there.
    pub(super) fn is_ended_by(&mut self, cluster: Cluster, slot: SlotIndex) -> bool {
        let is_right = self.ending.get(&cluster) == Some(&slot);
        if is_right {
            self.end(cluster);
        }
        is_right
    }

    /// Another life begins there: what the last one did not write has not happened.
    pub(super) fn begins(&mut self, slot: SlotIndex) {
        self.ending.retain(|_, ending| *ending != slot);
    }

    /// Whether no quorum of any of its lists is left of those voters: then it never goes on.
    pub(super) fn is_without(&self, cluster: Cluster, has: impl Fn(VoterId) -> bool) -> bool {
        let lists = self.newest.get(&cluster).into_iter().flat_map(|newest| newest.lists.values());
        lists.into_iter().all(|voters| !voters.quorum(&has))
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
            && newest.counts(voters.id)
            && !newest.lists.contains_key(&voters.id)
        {
            newest.lists.insert(voters.id, voters.clone());
        }
        if newest.version < table.version() {
            newest.version = table.version();
            newest.members = table.members().keys().copied().collect();
            newest.committed = table.voters().id;
            let mut lists = mem::take(&mut newest.lists);
            lists.retain(|id, _| newest.counts(*id));
            newest.lists = lists;
        }
    }

    /// That node is no member of the cluster of the life in that slot any more. The table that says so may be gone already: with its last member a life ends.
    pub(super) fn note_removed(&mut self, slot: SlotIndex, removed: Uid) {
        let cluster =
            self.slots[slot].life.as_ref().and_then(|life| life.node.memory()).map(|memory| memory.cluster);
        if let Some(newest) = cluster.and_then(|cluster| self.lineages.newest.get_mut(&cluster)) {
            newest.members.remove(&removed);
        }
    }

    /// The life in that slot ends so.
    pub(super) fn note_end(&mut self, slot: SlotIndex, end: &End) {
        let Some(life) = &self.slots[slot].life else { return };
        let Some(memory) = life.node.memory().filter(|_| *end == End::Left) else { return };
        // One that leaves as the last member ends nothing while another voter may go on with the cluster.
        let is_last = |newest: &Newest| {
            let votes_alone = |voters: &Voters| voters.all().all(|voter| voter == life.node.voter());
            newest.members.iter().all(|uid| *uid == life.uid()) && newest.lists.values().all(votes_alone)
        };
        if self.lineages.newest.get(&memory.cluster).is_some_and(is_last) {
            if self.settings.durable {
                self.lineages.ending.insert(memory.cluster, slot);
            } else {
                self.lineages.end(memory.cluster);
            }
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
        let is_there =
            |cluster: &&Cluster| !self.lineages.is_without(**cluster, |voter| self.disks.has(voter));
        let cluster = self.founding.acted().filter(goes_on).filter(is_there).max().copied();
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
        let is_there =
            |cluster: &&Cluster| !self.lineages.is_without(**cluster, |voter| self.disks.has(voter));
        let lasting = self.founding.acted().filter(goes_on).filter(is_there).max().copied();
        lasting.filter(|_| self.settings.durable)
    }
}
