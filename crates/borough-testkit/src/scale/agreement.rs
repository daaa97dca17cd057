//! Whether many nodes agree: looked at now and then, in time linear in their number.

use borough_protocol::gossip::Shown;
use borough_protocol::incarnation::Uid;

use super::crowd::Crowd;
use crate::sim::cuts::SlotIndex;

impl Crowd {
    /// What keeps these nodes from being whole: so many that run, in one table and one document, which says of each that it
    /// is there, and all know that all have it. None if nothing does.
    pub(super) fn unsettled(&self, count: usize, of: impl Fn(SlotIndex) -> bool) -> Option<String> {
        let mut nodes = 0;
        let mut first = None;
        for (slot, node) in self.running().filter(|(slot, _)| of(*slot)) {
            nodes += 1;
            let (Some(table), Some(document)) = (node.table(), node.document()) else {
                return Some(format!("node {slot} seeks"));
            };
            let counts = (table.members().len(), document.member_count());
            if counts != (count, count) {
                return Some(format!("{counts:?} of {count} members are known to node {slot}"));
            }
            let versions = (table.version(), document.version_hash());
            if *first.get_or_insert(versions) != versions {
                return Some(format!("node {slot} has another version than the first"));
            }
            if !document.is_converged() {
                let seen = document.seen().count();
                return Some(format!("node {slot} knows of {seen} of {count} that they have its version"));
            }
        }
        (nodes != count).then(|| format!("{nodes} of {count} run"))
    }

    /// Whether all that run have the removal in their tables, and show it.
    pub(super) fn all_know_removed(&self, uid: Uid) -> bool {
        self.running().all(|(_, node)| {
            node.table().is_some_and(|table| table.is_removed(uid))
                && node
                    .document()
                    .and_then(|document| document.shown(uid, true))
                    .is_some_and(|shown| matches!(shown, Shown::Down | Shown::Removed))
        })
    }

    /// What is wrong with the cluster as a whole, entry by entry; none if all have the same, show each other as Up and have
    /// their leases.
    pub(super) fn differences(&self, count: usize) -> Option<String> {
        let unsettled = self.unsettled(count, |_| true);
        if unsettled.is_some() {
            return unsettled;
        }
        let (_, first) = self.running().next()?;
        let uids: Vec<Uid> = first.document()?.uids().collect();
        for (slot, node) in self.running() {
            let document = node.document()?;
            if node.table() != first.table() || !document.uids().eq(uids.iter().copied()) {
                return Some(format!("node {slot} has another table or other members than the first"));
            }
            if let Some(uid) = uids.iter().find(|uid| document.shown(**uid, true) != Some(Shown::Up)) {
                return Some(format!("node {slot} does not show {uid} as up"));
            }
            if !self.may_run(slot) {
                return Some(format!("node {slot} has no lease"));
            }
        }
        None
    }
}
