//! What a node has to show after it was removed for bad links: that it is heard.
//!
//! ```text
//! removed for bad links --a new life joins--> guest --watched for 15 s, and outside of the cover--> member without shards
//!       ^                                                                                                |
//!       |                                             heard by all for 60 s, twice as long each time     |
//!       +---------- broken pairs again ---- member <-----------------------------------------------------+
//! ```
//!
//! The history is kept by address, for a tombstone's life after the last such removal, and only by the coordinator that saw the removals:
//! it is lost with its office. The next coordinator knows that there were such removals, and not of whom: while they are recent it has watched every guest for as long
//! before it admits it, in office or before (`guest_watch.rs`). What failure detectors have not said yet about a new life would otherwise bring the broken pair back.

use alloc::collections::{BTreeMap, BTreeSet};
use core::time::Duration;

use super::broken_pairs::Pair;
use super::cut_off::{removed_lately, would_be_cut_off};
use super::{Office, Scene};
use crate::flaws::Flaw;
use crate::incarnation::{Address, Incarnation, Uid};
use crate::time::Timestamp;

/// So long a node must be heard by all after its first removal before it gets shards; twice as long after each further one.
const HEARD_FOR: Duration = Duration::from_secs(60);

/// It never has to be heard for longer than this.
const HEARD_FOR_MAX: Duration = Duration::from_secs(60 * 60);

/// The nodes that were removed for bad links, and what is known of them since.
#[derive(Clone, Debug, Default)]
pub(super) struct Probation {
    /// Which lives of each address were removed, and when the last was.
    removed: BTreeMap<Address, (BTreeSet<Uid>, Timestamp)>,
    /// Since when each later life of such an address, guest or member, was not accused and accused nobody.
    heard_since: BTreeMap<Uid, Timestamp>,
}

impl Probation {
    /// That node is removed for bad links.
    pub(super) fn removed(&mut self, now: Timestamp, node: &Incarnation) {
        let (lives, last) = self.removed.entry(node.address.clone()).or_default();
        lives.insert(node.uid);
        *last = now;
    }

    /// Looks who is heard now: nobody of a pair that is silent is.
    pub(super) fn look(&mut self, now: Timestamp, scene: &Scene<'_>, silent: &BTreeSet<Pair>) {
        let life = scene.settings.tombstone_life;
        self.removed.retain(|_, (_, last)| now.since(*last) < life);
        let here = scene.document.members().map(|member| &member.incarnation);
        let is_watched = |node: &&Incarnation| self.removed.contains_key(&node.address);
        let here: BTreeSet<Uid> = here.filter(is_watched).map(|node| node.uid).collect();
        self.heard_since.retain(|uid, _| here.contains(uid));
        for uid in here {
            let since = self.heard_since.entry(uid).or_insert(now);
            if silent.iter().any(|(one, other)| *one == uid || *other == uid) {
                *since = now;
            }
        }
    }

    /// Whether that guest may be one that was removed: this coordinator removed a life at its address, or a former one removed somebody.
    fn may_mean(&self, now: Timestamp, scene: &Scene<'_>, guest: &Incarnation) -> bool {
        let is_known = |uid: Uid| self.removed.values().any(|(lives, _)| lives.contains(&uid));
        self.removed.contains_key(&guest.address) || removed_lately(now, scene).any(|uid| !is_known(uid))
    }

    /// The coordinator itself was away: nobody was heard meanwhile.
    pub(super) fn forgive(&mut self, away: Duration) {
        for since in self.heard_since.values_mut() {
            *since = *since + away;
        }
    }

    /// The members that get no shards yet.
    pub(super) fn unproven(&self, now: Timestamp, scene: &Scene<'_>) -> BTreeSet<Uid> {
        let members = scene.table.members().iter();
        let unproven = members.filter(|(uid, member)| {
            let Some((lives, _)) = self.removed.get(&member.incarnation.address) else { return false };
            let since = self.heard_since.get(uid).copied().unwrap_or(now);
            now.since(since) < heard_for(lives.len())
        });
        unproven.map(|(uid, _)| *uid).collect()
    }
}

impl Office {
    /// Whether that guest is not admitted now: as a member it would be in the cover, or it was removed for that and has not yet been
    /// watched for long enough to tell.
    pub(super) fn holds_back(&self, now: Timestamp, scene: &Scene<'_>, guest: &Incarnation) -> bool {
        // A founder begins its cluster. A voter that was removed and started again may be in office as a guest, and is held back like any other.
        let founds = guest.uid == scene.me && scene.table.members().is_empty();
        if founds || scene.settings.flaws.has(Flaw::AdmissionRecreatesBrokenPair) {
            return false;
        }
        if !self.probation.may_mean(now, scene, guest) {
            return would_be_cut_off(scene, guest.uid, self.broken_pairs.silent());
        }
        // The failure detectors need a while before they accuse, and not all of them do at the same moment: the first pairs may have another cover than all.
        let guests = scene.guests;
        !guests.is_known(now, guest.uid) || would_be_cut_off(scene, guest.uid, guests.lately_silent(now))
    }
}

/// How long a node must be heard after so many removals.
fn heard_for(removals: usize) -> Duration {
    let doublings = u32::try_from(removals.saturating_sub(1)).unwrap_or(u32::MAX).min(16);
    (HEARD_FOR * 2_u32.pow(doublings)).min(HEARD_FOR_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_doubles_with_each_removal_up_to_an_hour() {
        let seconds = |removals| heard_for(removals).as_secs();
        assert_eq!([1, 2, 3, 6].map(seconds), [60, 120, 240, 1920]);
        assert_eq!([7, 20, usize::MAX].map(seconds), [3600, 3600, 3600]);
    }
}
