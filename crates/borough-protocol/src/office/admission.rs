//! Who becomes a member: a node that gossip knows to be joining and that the coordinator hears itself, unless its links are so bad that it
//! would have to be removed again.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::{Office, Proposals, Scene};
use crate::flaws::Flaw;
use crate::gossip::{Member, Status};
use crate::incarnation::{Facts, Incarnation, Uid};
use crate::table::{self, Admission, Change, Removal};
use crate::time::Timestamp;

/// Nodes that name the address of a member that is heard.
#[derive(Clone, Debug, Default)]
pub(super) struct Rivals {
    /// Since when, and whether it was said.
    since: BTreeMap<Uid, (Timestamp, bool)>,
}

impl Rivals {
    /// The coordinator itself was away: what it did not see meanwhile has not lasted.
    pub(super) fn forgive(&mut self, away: Duration) {
        for (since, _) in self.since.values_mut() {
            *since = *since + away;
        }
    }
}

impl Office {
    pub(super) fn admit(&self, scene: &Scene<'_>, propose: &mut Proposals<'_>) {
        let joining = joining(scene, propose);
        if joining.is_empty() || (scene.table.members().is_empty() && !is_enough(scene, &joining)) {
            return;
        }
        let members = scene.table.members();
        for member in joining {
            let incarnation = &member.incarnation;
            let is_same = |other: &&table::Member| {
                other.incarnation.address == incarnation.address || other.is_of_directory(&member.facts)
            };
            match members.values().find(is_same) {
                Some(older) if stays(propose.now, scene, older, member) => {}
                // The older life of that address or directory goes first; what it owned waits for its lease.
                Some(older) => propose.remove(older.incarnation.uid, Removal::Replaced),
                None if self.holds_back(propose.now, scene, member) => {}
                None => propose.once(admission(incarnation, &member.facts)),
            }
        }
    }
}

impl Office {
    /// Nodes that name the address of a member that is heard, for longer than it takes to notice that a member is gone; each is said once, after that member.
    pub fn rivals(&mut self, now: Timestamp, scene: &Scene<'_>) -> Vec<(Uid, Uid)> {
        let rival = |guest: &Arc<Member>| {
            let members = scene.table.members();
            let mut at_address =
                members.values().filter(|member| member.incarnation.address == guest.incarnation.address);
            let older = at_address.find(|member| {
                member.incarnation.uid != guest.incarnation.uid && stays(now, scene, member, guest)
            })?;
            let older = older.incarnation.uid;
            scene.hears(now, guest.incarnation.uid).then_some((guest.incarnation.uid, older))
        };
        let rivals: BTreeMap<Uid, Uid> = scene.document.joining().filter_map(rival).collect();
        let seen = &mut self.rivals.since;
        seen.retain(|uid, _| rivals.contains_key(uid));
        let patience = scene.settings.timing().suspect_after * 2;
        let mut is_new = |guest: Uid| {
            let (since, is_said) = seen.entry(guest).or_insert((now, false));
            now.since(*since) >= patience && !core::mem::replace(is_said, true)
        };
        rivals.into_iter().filter(|(guest, _)| is_new(*guest)).map(|(guest, older)| (older, guest)).collect()
    }
}

/// Whether a member is not replaced by a guest of its address. A directory has one process, but an address may be that of two by mistake: the one that is a member and is
/// heard stays.
fn stays(now: Timestamp, scene: &Scene<'_>, older: &table::Member, guest: &Member) -> bool {
    let is_proven_dead = scene.settings.flaws.has(Flaw::LaterLifeIsProofOfDeath);
    !guest.facts.disk.is_some_and(|disk| older.seems_of_directory(disk))
        && scene.hears(now, older.incarnation.uid)
        && !is_proven_dead
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
