//! Which clusters a node that seeks knows of: the one that it was in, those that others remember or were told of, and those whose members greet it.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use super::{Memory, REMEMBERED_MAX, Seeking};
use crate::table::{Ancestors, Cluster, Table};
use crate::time::Timestamp;

impl Seeking {
    /// The newest cluster that this node or others remember, or were told of, and that nobody knows to have ended; in this attempt or in an earlier one.
    pub fn newest_told(&self) -> Option<&Arc<Memory>> {
        let before = self.told_before.iter().filter(|memory| !self.has_ended(memory.cluster));
        self.open().chain(before).max_by_key(|memory| (memory.cluster, memory.voters.id))
    }

    /// The cluster that it succeeds if an operator orders it to recover: the one that it was in. A fresh node succeeds the newest one that others told it of, so that
    /// those others know their successor.
    pub fn recovered(&self) -> Option<&Arc<Memory>> {
        let own = self.memory.as_ref();
        own.filter(|memory| !self.has_ended(memory.cluster)).or_else(|| self.newest_told()).or(own)
    }

    /// Whether a cluster that works welcomed it a moment ago.
    pub fn is_welcome(&self) -> bool {
        self.withdraws_until.is_some()
    }

    /// The foundings that a cluster founded by this node succeeds.
    pub fn ancestors(&self) -> Ancestors {
        Ancestors::of(self.remembered.values().flat_map(|memory| memory.lineage()))
    }

    /// A member of that cluster greets. Whether the cluster works, or which voters it had, is still to be learnt: until then nothing is founded.
    pub fn greeted(&mut self, cluster: Cluster) {
        if !self.remembered.contains_key(&cluster) && self.unclear.len() < REMEMBERED_MAX {
            self.unclear.insert(cluster);
            self.complete_since = None;
        }
    }

    /// Whether members of a cluster greet of which nothing else is known: it may work, so this node neither founds nor lets others found.
    pub(super) fn is_unclear(&self) -> bool {
        !self.unclear.is_empty()
    }

    /// A member of that cluster, which works, welcomes this node. Whether it joins or not, and whether it can at once: it lets nobody found another cluster, and does not
    /// forget this one in the next attempt.
    pub fn welcomed(&mut self, now: Timestamp, table: &Table) {
        let memory = Arc::new(Memory::of_table(table, self.settings.durable));
        if self.is_ours(&memory) && !self.has_ended(memory.cluster) {
            self.withdraws_until = Some(now + self.settings.seed_timeout);
            keep_newest(&mut self.welcomed_to, &memory);
            self.remember(&memory);
        }
    }

    /// A node remembers that cluster.
    pub(super) fn remember(&mut self, memory: &Arc<Memory>) {
        if self.is_ours(memory) && keep_newest(&mut self.remembered, memory) {
            self.unclear.remove(&memory.cluster);
        }
    }

    /// A node was told of that cluster.
    pub(super) fn hear_of(&mut self, memory: &Arc<Memory>) {
        if self.is_ours(memory) {
            keep_newest(&mut self.hearsay, memory);
        }
    }

    fn is_ours(&self, memory: &Memory) -> bool {
        memory.cluster.name == crate::node::name_hash(&self.settings.cluster)
    }

    /// What others remember, for those that did not ask them.
    pub(super) fn heard_of(&self) -> Arc<[Arc<Memory>]> {
        let own = self.memory.as_ref().map(|memory| memory.cluster);
        let of_others = |(cluster, _): &(&Cluster, _)| Some(**cluster) != own && !self.has_ended(**cluster);
        self.remembered.iter().filter(of_others).map(|(_, memory)| memory.clone()).collect()
    }
}

/// Keeps the newest list of voters that anybody has of a cluster; says whether there was room.
pub(super) fn keep_newest(memories: &mut BTreeMap<Cluster, Arc<Memory>>, memory: &Arc<Memory>) -> bool {
    if !memories.contains_key(&memory.cluster) && memories.len() == REMEMBERED_MAX {
        return false;
    }
    let newest = memories.entry(memory.cluster).or_insert_with(|| memory.clone());
    if newest.voters.id < memory.voters.id {
        *newest = memory.clone();
    }
    true
}

/// What a node remembers itself.
pub(super) fn of_itself(memory: Option<&Arc<Memory>>) -> BTreeMap<Cluster, Arc<Memory>> {
    memory.map(|memory| (memory.cluster, memory.clone())).into_iter().collect()
}
