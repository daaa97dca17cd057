//! Removal for bad links: of members that do not hear each other as few are removed as possible.
//!
//! The members to remove are a smallest cover of the broken pairs (`cover.rs`, `broken_pairs.rs`). One of them goes, the one with the most
//! broken pairs first, then the pairs are looked at again, [`PACE`] later at the earliest. Of the voters' list as it was
//! [`VOTERS_AGE`] ago, and of every list since, at most a minority goes in this way, however many rounds there are.
//!
//! ```text
//! broken pairs --the cover has this coordinator--> it hands over to a voter outside --> the next coordinator collects its own evidence
//!      |------- the cover has it not --> Remove(CutOff) --PACE--> look again
//! ```
//!
//! Nobody goes whose broken pairs are all heard again: the cover is made of all that was bad in the last while, and a removal needs a pair
//! that is silent now. A link that fails again and again is, sooner or later, when the coordinator looks.
//!
//! A coordinator keeps the lists of its own term. Which nodes were removed for this reason in the [`VOTERS_AGE`] before, its gossip remembers; who voted then
//! it does not know. So it takes each of them for a voter of a list as long as the one it finds, and any voter of today for another: counted with those that
//! were removed, the lists would grow with each change of coordinator, and one minority after the other could go.

use alloc::collections::{BTreeSet, VecDeque};
use core::time::Duration;

use super::broken_pairs::{Pair, pair};
use super::cover::{most_paired, smallest_cover};
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

/// The voters' list that was in force so long ago bounds how many are removed.
const VOTERS_AGE: Duration = Duration::from_secs(5 * 60);

/// What one term of office remembers of removals for bad links.
#[derive(Clone, Debug, Default)]
pub(super) struct CutOff {
    /// When it last removed a member.
    last: Option<Timestamp>,
    /// The voters' lists and since when each was in force, up to the one of [`VOTERS_AGE`] ago.
    lists: VecDeque<(Timestamp, BTreeSet<VoterId>)>,
    /// What it found when it took office.
    found: Option<Found>,
}

/// What a coordinator finds of the time before its own.
#[derive(Clone, Debug)]
struct Found {
    at: Timestamp,
    voters: BTreeSet<VoterId>,
    /// Who was removed for bad links within [`VOTERS_AGE`].
    removed: BTreeSet<VoterId>,
}

/// A node with its age: the greater is the younger, and guests are younger than all members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Aged {
    is_guest: bool,
    admission: Version,
    pub(super) uid: Uid,
}

impl CutOff {
    /// Notes who votes.
    pub(super) fn look(&mut self, now: Timestamp, scene: &Scene<'_>) {
        let voters = &scene.table.voters().now;
        let removed = || removed_lately(now, scene).map(|(_, voter)| voter).collect();
        let found =
            self.found.get_or_insert_with(|| Found { at: now, voters: voters.clone(), removed: removed() });
        // While the list only grows nobody is lost.
        if self.lists.len() <= 1 && found.voters.is_subset(voters) {
            found.voters.clone_from(voters);
        }
        self.note(now, voters);
    }

    fn note(&mut self, now: Timestamp, voters: &BTreeSet<VoterId>) {
        match self.lists.back_mut() {
            Some((_, last)) if last == voters => {}
            // While a list only grows nobody is lost: a young cluster is not bound by the few that voted at first.
            Some((_, last)) if last.is_subset(voters) => last.clone_from(voters),
            Some(_) | None => self.lists.push_back((now, voters.clone())),
        }
        while self.lists.get(1).is_some_and(|(since, _)| now.since(*since) >= VOTERS_AGE) {
            self.lists.pop_front();
        }
    }

    /// Whether that member may be removed: of every list since then that names it a majority is left.
    fn allows(&self, now: Timestamp, voter: VoterId, is_cut_off: impl Fn(VoterId) -> bool) -> bool {
        let lately = |found: &&Found| now.since(found.at) < VOTERS_AGE && found.voters.contains(&voter);
        if let Some(found) = self.found.as_ref().filter(lately) {
            let gone = found.removed.union(&found.voters).filter(|voter| is_cut_off(**voter)).count();
            if 2 * (gone + 1) >= found.voters.len() {
                return false;
            }
        }
        self.lists.iter().filter(|(_, list)| list.contains(&voter)).all(|(_, list)| {
            let removed = list.iter().filter(|voter| is_cut_off(**voter)).count();
            2 * (removed + 1) < list.len()
        })
    }
}

impl Office {
    /// Removes one member of a smallest cover of the broken pairs, or hands over to a coordinator that may.
    pub(super) fn remove_cut_off(&mut self, scene: &Scene<'_>, propose: &mut Proposals<'_>) {
        let now = propose.now;
        if self.cut_off.last.is_some_and(|last| now.since(last) < PACE) {
            return;
        }
        let pairs = members(scene, self.broken_pairs.broken(now, scene, propose.log));
        let cover = if scene.settings.flaws.has(Flaw::YoungerAlwaysRemoved) {
            pairs.iter().map(|(one, other)| *one.max(other)).collect()
        } else {
            smallest_cover(&pairs)
        };
        let unbounded = scene.settings.flaws.has(Flaw::CoverRemovesOldVoters);
        let gone = |voter: VoterId| cut_off(scene).any(|(_, gone)| gone == voter);
        let allowed = |uid: Uid| unbounded || self.cut_off.allows(now, scene.lives.voter(uid), gone);
        let silent = self.broken_pairs.silent();
        let is_silent = |node: Aged| {
            let touches = |(one, other): &&(Aged, Aged)| *one == node || *other == node;
            pairs.iter().filter(touches).any(|(one, other)| silent.contains(&pair(one.uid, other.uid)))
        };
        let mut may_go: BTreeSet<Aged> =
            cover.iter().copied().filter(|node| allowed(node.uid) && is_silent(*node)).collect();
        // A coordinator does not remove itself, unless office cannot be handed over: a store gives it to the next that stands.
        if propose.log.store().is_none() && may_go.iter().any(|node| node.uid == scene.me) {
            if !self.broken_pairs.is_settled(now, scene.me) || hand_over(scene, propose, &cover) {
                return;
            }
            may_go.retain(|node| node.uid != scene.me);
        }
        let Some(node) = most_paired(&pairs, &may_go) else { return };
        if !self.broken_pairs.is_settled(now, node.uid) {
            return;
        }
        if let Some(member) = scene.table.member(node.uid) {
            self.probation.removed(now, &member.incarnation);
            self.cut_off.last = Some(now);
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

/// The nodes that were removed for bad links within [`VOTERS_AGE`], as this node's gossip remembers, and as whom they voted.
pub(super) fn removed_lately<'a>(
    now: Timestamp,
    scene: &Scene<'a>,
) -> impl Iterator<Item = (Uid, VoterId)> + use<'a> {
    let life = scene.settings.tombstone_life;
    let document = scene.document;
    let lately = move |uid: Uid| {
        let stone = document.tombstone(uid);
        stone.is_some_and(|stone| now.since(stone.expires_at - life) < VOTERS_AGE)
    };
    cut_off(scene).filter(move |(uid, _)| lately(*uid))
}

/// The nodes that were removed for bad links and have not come back, and as whom they voted.
fn cut_off<'a>(scene: &Scene<'a>) -> impl Iterator<Item = (Uid, VoterId)> + use<'a> {
    let table = scene.table;
    let removed = table.removed().iter().filter(|(_, removed)| removed.why == Removal::CutOff);
    let removed = removed.map(|(uid, removed)| (*uid, removed.voter(*uid)));
    removed.filter(|(_, voter)| table.member_of(*voter).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uids(numbers: impl IntoIterator<Item = u64>) -> BTreeSet<VoterId> {
        numbers.into_iter().filter_map(VoterId::new).collect()
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_millis(1000 * seconds)
    }

    /// Who of those may be removed after the others were.
    fn allowed(history: &CutOff, of: &BTreeSet<VoterId>, removed: &BTreeSet<VoterId>) -> BTreeSet<VoterId> {
        let allows = |voter: &VoterId| history.allows(at(0), *voter, |voter| removed.contains(&voter));
        of.iter().copied().filter(allows).collect()
    }

    #[test]
    fn at_most_a_minority_of_the_voters_of_five_minutes_ago_is_removed() {
        let mut history = CutOff::default();
        history.note(at(0), &uids(1..=5));
        let all = uids(1..=9);
        assert_eq!(allowed(&history, &all, &uids([])), all);
        history.note(at(20), &uids([1, 2, 3, 4, 6]));
        assert_eq!(allowed(&history, &all, &uids([5])), all);
        history.note(at(40), &uids([1, 2, 3, 6, 7]));
        // Two of the five are gone: the other three stay, and the new voters are not protected.
        assert_eq!(allowed(&history, &all, &uids([4, 5])), uids(6..=9));
        history.note(at(319), &uids([1, 2, 3, 6, 7]));
        assert!(!allowed(&history, &all, &uids([4, 5])).contains(&VoterId::new(3).unwrap()));
        // The list of five minutes ago lost one, and the present one nobody.
        history.note(at(340), &uids([1, 2, 3, 6, 7]));
        assert!(allowed(&history, &all, &uids([4, 5])).contains(&VoterId::new(3).unwrap()));
    }

    /// Of five voters two were removed under former coordinators, and others vote in their place.
    #[test]
    fn a_coordinator_counts_those_that_were_removed_before_its_time() {
        let found = Found { at: at(0), voters: uids([1, 2, 3, 6, 7]), removed: uids([4, 5]) };
        let mut history = CutOff { found: Some(found), ..CutOff::default() };
        history.note(at(0), &uids([1, 2, 3, 6, 7]));
        let gone = uids([4, 5]);
        assert_eq!(allowed(&history, &uids(1..=9), &gone), uids([4, 5, 8, 9]));
        history.found = Some(Found { at: at(0), voters: uids([1, 2, 3, 6, 7]), removed: uids([5]) });
        assert!(allowed(&history, &uids([3]), &uids([5])).contains(&VoterId::new(3).unwrap()));
        assert!(history.allows(at(301), VoterId::new(3).unwrap(), |voter| gone.contains(&voter)));
    }

    #[test]
    fn a_list_that_only_grew_counts_as_what_it_grew_to() {
        let mut history = CutOff::default();
        history.note(at(0), &uids([1]));
        assert!(allowed(&history, &uids([1]), &uids([])).is_empty(), "the only voter");
        history.note(at(10), &uids([1, 2, 3]));
        assert_eq!(allowed(&history, &uids([1, 2, 3]), &uids([])), uids([1, 2, 3]));
    }
}
