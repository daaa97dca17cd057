//! What a node has to show after it was removed for bad links: that it is heard.
//!
//! ```text
//! removed for bad links --a new life joins--> guest --watched for 15 s, and outside of the cover--> member without shards
//!       ^                                                                                                |
//!       |                                             heard by all for 60 s, twice as long each time     |
//!       +---------- broken pairs again ---- member <-----------------------------------------------------+
//! ```
//!
//! The history is kept by address, for a tombstone's life after the last such removal. Every node notes the removals as its table shows them, in office or not: so
//! a coordinator knows those of the terms before its own. One that joined or started again since does not know the addresses, and gives shards to such a member at once.
//! While the removals are recent it has watched every guest for as long before it admits it, in office or before (`guest_watch.rs`); if all have data directories, only
//! those on a directory of a removed node. What failure detectors have not said yet about a new life would otherwise bring the broken pair back.
//!
//! Of the removals that a coordinator has not seen, those count that a member has lived through. Once all have started again nobody has seen those links, and a restart
//! is no proof of bad ones.

use alloc::collections::{BTreeMap, BTreeSet};
use core::time::Duration;

use super::cut_off::{removed_lately, would_be_cut_off};
use super::{Office, Scene};
use crate::flaws::Flaw;
use crate::gossip::{Document, Member};
use crate::incarnation::{Address, Incarnation, Uid};
use crate::time::Timestamp;
use crate::voters::VoterId;

/// So long a node must be heard by all after its first removal before it gets shards; twice as long after each further one.
const HEARD_FOR: Duration = Duration::from_secs(60);

/// It never has to be heard for longer than this.
const HEARD_FOR_MAX: Duration = Duration::from_secs(60 * 60);

/// The nodes that were removed for bad links, and what one node has seen of them since.
#[derive(Clone, Debug, Default)]
pub struct Probation {
    /// Which lives of each address were removed, and when the last was.
    removed: BTreeMap<Address, (BTreeSet<Uid>, Timestamp)>,
    /// Since when each later life of such an address, guest or member, was not accused and accused nobody.
    heard_since: BTreeMap<Uid, Timestamp>,
    /// Those of them that are accused or accuse somebody.
    accused: BTreeSet<Uid>,
    /// What it saw when it last looked.
    content: Option<u64>,
}

impl Probation {
    /// That node was removed for bad links.
    pub fn removed(&mut self, now: Timestamp, node: &Incarnation) {
        let (lives, last) = self.removed.entry(node.address.clone()).or_default();
        lives.insert(node.uid);
        *last = now;
        self.content = None;
    }

    /// Looks who is heard now: neither is of two nodes of which one accuses the other. Removals are forgotten after a tombstone's life.
    pub fn look(&mut self, now: Timestamp, document: &Document, tombstone_life: Duration) {
        self.removed.retain(|_, (_, last)| now.since(*last) < tombstone_life);
        if self.removed.is_empty() {
            return;
        }
        let content = document.content_hash();
        if self.content.replace(content) != Some(content) {
            let here = document.members().map(|member| &member.incarnation);
            let later = here.filter(|node| self.removed.contains_key(&node.address));
            self.heard_since = later
                .map(|node| (node.uid, self.heard_since.get(&node.uid).copied().unwrap_or(now)))
                .collect();
            let accusations = document.accusations().filter(|(observer, subject)| observer != subject);
            let accused = accusations.flat_map(|(observer, subject)| [observer, subject]);
            self.accused = accused.filter(|uid| self.heard_since.contains_key(uid)).collect();
        }
        for uid in &self.accused {
            self.heard_since.insert(*uid, now);
        }
    }

    /// Whether that guest may be one that was removed: a life at its address was, or this node did not see who was. The table has the directories of the removed, but
    /// not their addresses.
    fn may_mean(&self, now: Timestamp, scene: &Scene<'_>, guest: &Member) -> bool {
        let is_known = |uid: Uid| self.removed.values().any(|(lives, _)| lives.contains(&uid));
        let may_be = |voter: VoterId| {
            !scene.settings.durable || guest.facts.disk.is_some_and(|disk| disk.voter.is_of_directory(voter))
        };
        self.removed.contains_key(&guest.incarnation.address)
            || removed_lately(now, scene).into_iter().any(|(uid, voter)| !is_known(uid) && may_be(voter))
    }

    /// The node itself was away, or had no lease and may have been told nothing: nobody was heard meanwhile.
    pub fn forgive(&mut self, away: Duration) {
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
    pub(super) fn holds_back(&self, now: Timestamp, scene: &Scene<'_>, guest: &Member) -> bool {
        let uid = guest.incarnation.uid;
        // A founder begins its cluster. A voter that was removed and started again may be in office as a guest, and is held back like any other.
        let founds = uid == scene.me && scene.table.members().is_empty();
        if founds || scene.settings.flaws.has(Flaw::AdmissionRecreatesBrokenPair) {
            return false;
        }
        if !scene.probation.may_mean(now, scene, guest) {
            return would_be_cut_off(scene, uid, self.broken_pairs.silent());
        }
        // The failure detectors need a while before they accuse, and not all of them do at the same moment: the first pairs may have another cover than all.
        let guests = scene.guests;
        !guests.is_known(now, uid) || would_be_cut_off(scene, uid, guests.lately_silent(now))
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
