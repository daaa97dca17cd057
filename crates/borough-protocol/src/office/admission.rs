//! Who becomes a member: a node that gossip knows to be joining and that the coordinator hears itself, unless its links are so bad that it
//! would have to be removed again.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Office, Proposals, Scene};
use crate::gossip::{Member, Status};
use crate::incarnation::{Facts, Incarnation};
use crate::table::{Admission, Change, Removal};

impl Office {
    pub(super) fn admit(&self, scene: &Scene<'_>, propose: &mut Proposals<'_>) {
        let joining = joining(scene, propose);
        if joining.is_empty() || (scene.table.members().is_empty() && !is_enough(scene, &joining)) {
            return;
        }
        let members = scene.table.members();
        for member in joining {
            let incarnation = &member.incarnation;
            let is_same = |other: &&crate::table::Member| {
                other.incarnation.address == incarnation.address || other.is_of_directory(&member.facts)
            };
            match members.values().find(is_same) {
                // The older life of that address or directory goes first; what it owned waits for its lease.
                Some(older) => propose.remove(older.incarnation.uid, Removal::Replaced),
                None if self.holds_back(propose.now, scene, incarnation) => {}
                None => propose.once(admission(incarnation, &member.facts)),
            }
        }
    }
}

fn admission(incarnation: &Incarnation, facts: &Arc<Facts>) -> Change {
    Change::Admit(Arc::new(Admission { incarnation: incarnation.clone(), facts: facts.clone() }))
}

/// Those that may be admitted, in the order of uids; the coordinator itself first, so that it is the oldest.
fn joining<'a>(scene: &Scene<'a>, propose: &Proposals<'_>) -> Vec<&'a Arc<Member>> {
    let mut joining: Vec<&Arc<Member>> = scene
        .document
        .joining()
        .filter(|member| {
            let uid = member.incarnation.uid;
            let known = scene.table.member(uid).is_some() || scene.table.is_removed(uid);
            member.status == Status::Joining && !known && scene.hears(propose.now, uid)
        })
        .collect();
    joining.sort_by_key(|member| member.incarnation.uid != scene.me);
    joining
}

/// Whether the first members are as many as the settings ask for, and of each role too.
fn is_enough(scene: &Scene<'_>, joining: &[&Arc<Member>]) -> bool {
    let of_role =
        |role: &str| joining.iter().filter(|member| member.facts.roles.iter().any(|r| r == role)).count();
    joining.len() >= scene.settings.minimum_members
        && scene.settings.minimum_per_role.iter().all(|(role, least)| of_role(role) >= *least)
}
