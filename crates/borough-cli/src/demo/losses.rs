//! Which shards lived in a process that was lost, whoever or whatever it was lost by: killed, paused, or given no time by a busy machine.
//!
//! Readings are excused by this alone, so it goes by what the cluster decided about its members, not by which shards began anew: a shard that
//! began anew while all nodes lived would be a mistake, and its readings are missing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use borough::cluster::{MemberState, NodeHandle, Uid};
use tokio::time::{Instant, interval};

/// How often it is looked who owns what.
const LOOK: Duration = Duration::from_millis(50);
/// A node that the cluster goes on without was alive so long ago at most; and what it had by then may have been on its way through it.
const MEMORY: Duration = Duration::from_secs(6);

/// What was lost so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Losses {
    book: Arc<Mutex<Book>>,
}

#[derive(Debug, Default)]
struct Book {
    /// When each node was last seen as the owner of a shard, or as the next.
    seen: BTreeMap<String, BTreeMap<u32, Instant>>,
    /// The members at the last look, and whether they were on their way out.
    members: BTreeMap<Uid, (String, bool)>,
    /// Nodes that were told to leave.
    leaving: BTreeSet<String>,
    harmed: BTreeSet<u32>,
    /// Nodes that the cluster went on without.
    lost: BTreeSet<String>,
}

impl Losses {
    /// Looks on until the node ends.
    pub(super) async fn watch(self, node: NodeHandle) {
        let mut look = interval(LOOK);
        while !node.topology().current().standing.is_final() {
            look.tick().await;
            self.look(&node);
        }
    }

    /// What that node has now goes with it, if it has not moved on.
    pub(super) fn note(&self, name: &str) {
        self.book().note(name, Instant::now());
    }

    /// That node is about to leave in order: what it has moves.
    pub(super) fn note_leaving(&self, name: &str) {
        self.book().leaving.insert(name.to_owned());
    }

    /// The shards whose entities may have lost what they had.
    pub(super) fn harmed(&self) -> BTreeSet<u32> {
        self.book().harmed.clone()
    }

    /// The nodes that the cluster went on without.
    pub(super) fn lost(&self) -> BTreeSet<String> {
        self.book().lost.clone()
    }

    fn look(&self, node: &NodeHandle) {
        let (maps, topology) = (node.shard_maps(), node.topology().current());
        let mut book = self.book();
        let now = Instant::now();
        for place in maps.iter().flat_map(|map| &map.places) {
            for (owner, _) in place.owner.iter().chain(&place.moving_to) {
                book.seen.entry(owner.as_str().to_owned()).or_default().insert(place.shard, now);
            }
        }
        let mut members = BTreeMap::new();
        for member in &topology.members {
            if !matches!(member.state, MemberState::Down | MemberState::Removed) {
                let goes = matches!(member.state, MemberState::Leaving | MemberState::Exiting);
                members.insert(member.uid(), (member.node_id().as_str().to_owned(), goes));
            }
        }
        let before = std::mem::replace(&mut book.members, members);
        for (uid, (name, goes)) in before {
            if !goes && !book.members.contains_key(&uid) && !book.leaving.contains(&name) {
                book.note(&name, now);
                book.lost.insert(name);
            }
        }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn note(&mut self, name: &str, now: Instant) {
        let is_recent = |at: &Instant| now.duration_since(*at) < MEMORY;
        let recent = self.seen.get(name).into_iter().flatten().filter(|(_, at)| is_recent(at));
        self.harmed.extend(recent.map(|(shard, _)| *shard));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_node_had_a_moment_ago_is_harmed_with_it_and_what_it_had_long_ago_is_not() {
        let began = Instant::now();
        let had = BTreeMap::from([(1, began), (2, began + MEMORY)]);
        let seen =
            BTreeMap::from([("mill".to_owned(), had), ("island".to_owned(), BTreeMap::from([(3, began)]))]);
        let mut book = Book { seen, ..Book::default() };
        book.note("mill", began + MEMORY + LOOK);
        book.note("castle", began + MEMORY + LOOK);
        assert_eq!(book.harmed, BTreeSet::from([2]));
    }
}
