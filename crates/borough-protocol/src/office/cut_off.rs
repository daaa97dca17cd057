//! Removal for bad links: of members that do not hear each other as few are removed as possible.
//!
//! The members to remove are a smallest cover of the broken pairs (`cover.rs`, `broken_pairs.rs`). One of them goes, the one with the most
//! broken pairs first, then the pairs are looked at again, [`PACE`] later at the earliest. Of the voters of the last minutes at most a minority goes
//! in this way (`voter_history.rs`).
//!
//! ```text
//! broken pairs --the cover has this coordinator--> it hands over to a voter outside --> the next coordinator collects its own evidence
//!      |------- the cover has it not --> Remove(CutOff) --PACE--> look again
//! ```
//!
//! Nobody goes whose broken pairs are all heard again: the cover is made of all that was bad in the last while, and a removal needs a pair
//! that is silent now. A link that fails again and again is, sooner or later, when the coordinator looks.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::time::Duration;

use super::broken_pairs::{Pair, pair};
use super::cover::{most_paired, smallest_cover};
use super::voter_history::VOTERS_AGE;
use super::{Office, Proposals, Scene};
use crate::flaws::Flaw;
use crate::incarnation::Uid;
use crate::log::Log;
use crate::table::Removal;
use crate::time::Timestamp;
use crate::version::Version;
use crate::voters::VoterId;

/// So long after one removal the next one may follow.
const PACE: Duration = Duration::from_secs(10);

/// A node with its age: the greater is the younger, and guests are younger than all members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Aged {
    is_guest: bool,
    admission: Version,
    pub(super) uid: Uid,
}

impl Office {
    /// Removes one member of a smallest cover of the broken pairs, or hands over to a coordinator that may.
    pub(super) fn remove_cut_off(&mut self, scene: &Scene<'_>, propose: &mut Proposals<'_>) {
        let now = propose.now;
        if self.last_cut_off.is_some_and(|last| now.since(last) < PACE) {
            return;
        }
        // A voter that has just begun to vote cannot report yet which members it does not hear. A member whose process ended would be taken for one with bad links.
        let listens_for = now.since(scene.voter_history.changed_at());
        if listens_for < 2 * scene.settings.timing().suspect_after {
            return;
        }
        let pairs = members(scene, self.broken_pairs.broken(now, scene, propose.log));
        let cover = if scene.settings.flaws.has(Flaw::YoungerAlwaysRemoved) {
            pairs.iter().map(|(one, other)| *one.max(other)).collect()
        } else {
            smallest_cover(&pairs)
        };
        let unbounded = scene.settings.flaws.has(Flaw::CoverRemovesOldVoters);
        let removed = cut_off_at(scene);
        let allowed =
            |uid: Uid| unbounded || scene.voter_history.allows(now, scene.lives.voter(uid), &removed);
        let is_member = |uid: Uid| scene.table.member(uid).is_some();
        let silent = self.broken_pairs.silent();
        let is_silent = |node: Aged| {
            let touches = |(one, other): &&(Aged, Aged)| *one == node || *other == node;
            pairs.iter().filter(touches).any(|(one, other)| silent.contains(&pair(one.uid, other.uid)))
        };
        let mut may_go: BTreeSet<Aged> =
            cover.iter().copied().filter(|node| allowed(node.uid) && is_silent(*node)).collect();
        // A coordinator does not remove itself, unless office cannot be handed over: a store gives it to the next that stands.
        if propose.log.store().is_none() && may_go.iter().any(|node| node.uid == scene.me) {
            if !self.broken_pairs.is_settled(now, scene.me, is_member) || hand_over(scene, propose, &cover) {
                return;
            }
            may_go.retain(|node| node.uid != scene.me);
        }
        let Some(node) = most_paired(&pairs, &may_go) else { return };
        if !self.broken_pairs.is_settled(now, node.uid, is_member) {
            return;
        }
        if scene.table.member(node.uid).is_some() {
            self.last_cut_off = Some(now);
            propose.remove(node.uid, Removal::CutOff);
        }
    }
}

/// Asks the oldest voter outside of the cover that answers and has everything to take over.
fn hand_over(scene: &Scene<'_>, propose: &mut Proposals<'_>, cover: &BTreeSet<Aged>) -> bool {
    let voters = propose.log.voters().now.iter().filter_map(|voter| aged(scene, scene.lives.uid(*voter)?));
    let heirs = voters.filter(|heir| !cover.contains(heir) && heir.uid != scene.me);
    let heirs: BTreeSet<Aged> = heirs.filter(|heir| scene.just_heard(propose.now, heir.uid)).collect();
    heirs.iter().any(|heir| propose.log.hand_over(propose.now, scene.lives.voter(heir.uid), propose.out))
}

/// Those pairs of which both are members.
fn members(scene: &Scene<'_>, pairs: BTreeSet<Pair>) -> BTreeSet<(Aged, Aged)> {
    let both = pairs.into_iter().filter_map(|(one, other)| Some((aged(scene, one)?, aged(scene, other)?)));
    both.filter(|(one, other)| !one.is_guest && !other.is_guest).collect()
}

/// Whether that guest would be in the cover of these pairs if it were a member.
pub(super) fn would_be_cut_off(scene: &Scene<'_>, guest: Uid, pairs: BTreeSet<Pair>) -> bool {
    if !pairs.iter().any(|(one, other)| *one == guest || *other == guest) {
        return false;
    }
    let both = pairs.into_iter().filter_map(|(one, other)| Some((aged(scene, one)?, aged(scene, other)?)));
    let counts = |node: &Aged| !node.is_guest || node.uid == guest;
    let pairs = both.filter(|(one, other)| counts(one) && counts(other)).collect();
    smallest_cover(&pairs).iter().any(|node| node.uid == guest)
}

/// The age of a member or guest.
fn aged(scene: &Scene<'_>, uid: Uid) -> Option<Aged> {
    match scene.table.member(uid) {
        Some(member) => Some(Aged { is_guest: false, admission: member.admission, uid }),
        None if scene.document.is_member(uid) => Some(Aged { is_guest: true, admission: Version::ZERO, uid }),
        None => None,
    }
}

/// The nodes that were removed for bad links within [`VOTERS_AGE`], or that this node has read of since, and that have not come back: those of them that a member
/// which is heard has lived through. A node that starts again does not know how long ago the removals in its log were.
pub(super) fn removed_lately(now: Timestamp, scene: &Scene<'_>) -> Vec<(Uid, VoterId)> {
    let lately = cut_off(scene).filter(|(_, _, at)| now.since(*at) < VOTERS_AGE);
    let mut lately: Vec<_> = lately.map(|(uid, voter, _)| (uid, voter)).collect();
    if lately.is_empty() {
        return lately;
    }
    let here = scene.table.members().iter().filter(|(uid, _)| scene.hears(now, **uid));
    let oldest = here.map(|(_, member)| member.admission.index).min();
    lately.retain(|(uid, _)| {
        let removed = scene.table.removed().get(uid);
        oldest.zip(removed).is_some_and(|(oldest, removed)| oldest < removed.version.index)
    });
    lately
}

/// The voter identity of each node that was removed for bad links and has not come back, and the time of its removal.
fn cut_off_at(scene: &Scene<'_>) -> BTreeMap<VoterId, Timestamp> {
    let mut last = BTreeMap::new();
    for (_, voter, at) in cut_off(scene) {
        let last = last.entry(voter).or_insert(at);
        *last = at.max(*last);
    }
    last
}

/// The nodes that were removed for bad links and have not come back: the voter identity of each, and the time of its removal as this node's gossip has it.
fn cut_off<'a>(scene: &Scene<'a>) -> impl Iterator<Item = (Uid, VoterId, Timestamp)> + use<'a> {
    let (table, document, life) = (scene.table, scene.document, scene.settings.tombstone_life);
    let removed = table.removed().iter().filter(|(_, removed)| removed.why == Removal::CutOff);
    // A life without a directory does not come back.
    let away = removed.filter(|(_, removed)| removed.disk.is_none_or(|disk| table.member_on(disk).is_none()));
    away.map(move |(uid, removed)| {
        let (uid, voter) = (*uid, removed.voter(*uid));
        let stone = document.tombstone(uid);
        (uid, voter, stone.map_or(Timestamp::ZERO, |stone| stone.expires_at - life))
    })
}
