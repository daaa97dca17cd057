//! When what a removed node owned may have new owners: once its lease is over by any clock.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use super::{Office, Proposals, Scene};
use crate::flaws::Flaw;
use crate::incarnation::Uid;
use crate::log::Log;
use crate::table::{Change, Removal};
use crate::time::Timestamp;

/// From when on each removed node's things may be given away.
///
/// The time runs from when this coordinator **learned** of the commit, or took office if that was later: it cannot know how long
/// its predecessor had waited.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits {
    over_at: BTreeMap<Uid, Timestamp>,
    /// When each life was first seen to be over and done with, to forget it one day.
    done_since: BTreeMap<Uid, Timestamp>,
}

impl Office {
    /// Frees what has waited long enough; says when the next one will have.
    pub(super) fn free(&mut self, scene: &Scene<'_>, propose: &mut Proposals<'_>) -> Timestamp {
        let now = propose.now;
        let wait = wait(scene);
        let removed = scene.table.removed();
        self.waits.over_at.retain(|uid, _| removed.get(uid).is_some_and(|entry| !entry.freed));
        let mut next = Timestamp::NEVER;
        let waits_again = !scene.settings.flaws.has(Flaw::NewCoordinatorDoesNotWait);
        for (uid, entry) in removed.iter().filter(|(_, entry)| !entry.freed) {
            let is_proven = is_proven_dead(scene, entry.why);
            let waits = !is_proven && (waits_again || entry.version.term == propose.log.term());
            let wait = if waits { wait } else { Duration::ZERO };
            let over_at = *self.waits.over_at.entry(*uid).or_insert(now + wait);
            if over_at <= now {
                propose.once(Change::Free(*uid));
            } else {
                next = next.min(over_at);
            }
        }
        self.forget(scene, propose);
        next
    }

    /// What ended longer ago than anything of it can be under way need not be remembered.
    fn forget(&mut self, scene: &Scene<'_>, propose: &mut Proposals<'_>) {
        let (now, removed) = (propose.now, scene.table.removed());
        self.waits.done_since.retain(|uid, _| removed.contains_key(uid));
        for (uid, _) in removed.iter().filter(|(_, entry)| entry.freed) {
            self.waits.done_since.entry(*uid).or_insert(now);
        }
        let life = scene.settings.tombstone_life;
        let old: Vec<Uid> = self
            .waits
            .done_since
            .iter()
            .filter(|(_, since)| now.since(**since) >= life)
            .map(|(uid, _)| *uid)
            .collect();
        if !old.is_empty() {
            propose.once(Change::Forget(old.into()));
        }
    }
}

/// Whether a life needs no wait because a later one has its address. Never: the earlier one may still run, cut off.
fn is_proven_dead(scene: &Scene<'_>, why: Removal) -> bool {
    why == Removal::Replaced && scene.settings.flaws.has(Flaw::LaterLifeIsProofOfDeath)
}

fn wait(scene: &Scene<'_>) -> Duration {
    let timing = scene.settings.timing();
    if scene.settings.flaws.has(Flaw::NoWait) {
        return Duration::ZERO;
    }
    if scene.settings.flaws.has(Flaw::WaitWithoutPause) {
        return timing.wait.saturating_sub(scene.settings.max_pause * 2);
    }
    timing.wait
}
