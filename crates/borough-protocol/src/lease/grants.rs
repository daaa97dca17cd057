//! A voter's side: whom it has heard, and for whose lease it counts.
//!
//! A voter counts for a lease only if its **appended** copy of the table, committed or not, lists that admission and has the same
//! voters' list. Once a removal is committed, every quorum has a voter that refuses.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Renew, Renewed, Verdict};
use crate::flaws::{Flaw, Flaws};
use crate::incarnation::Uid;
use crate::log::Log;
use crate::settings::Timing;
use crate::table::{Change, Table};
use crate::time::Timestamp;
use crate::version::Version;
use crate::voters::{VoterId, Voters};

/// What one voter knows of the members.
#[derive(Clone, Debug)]
pub struct Grants {
    flaws: Flaws,
    heard: BTreeMap<Uid, Heard>,
    /// When the guests that are not heard were last told who votes.
    told: BTreeMap<Uid, Timestamp>,
    /// The list last handed out, so that it is made once.
    list: Arc<Voters>,
}

/// What was last heard of a node.
#[derive(Clone, Copy, Debug)]
struct Heard {
    /// When it was last known to hear and to be heard.
    at: Timestamp,
    /// Which renewal that was: an older one that comes late or twice says nothing of now.
    seq: u64,
    /// How far its table has come, once what was sent to it has arrived.
    version: Version,
    /// How far its table had come, as it said itself.
    confirmed: Version,
    feed: bool,
    /// Whether it was told who votes since it was last heard.
    told: bool,
}

/// What a look at who was heard shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// Those not heard for too long.
    pub quiet: Vec<Uid>,
    /// Those not heard for half that time: they may ask others, because they do not know who votes.
    pub silent: Vec<Uid>,
    /// When the next look is worth it.
    pub next: Timestamp,
}

impl Grants {
    /// Of a voter that has heard nobody yet.
    pub fn new(flaws: Flaws) -> Self {
        Self { flaws, heard: BTreeMap::new(), told: BTreeMap::new(), list: Arc::new(Voters::default()) }
    }

    /// Judges a renewal.
    ///
    /// `None`: no answer, because the node's removal is appended here but may still vanish.
    pub fn renew<L: Log<Change, Arc<Table>>>(
        &mut self,
        now: Timestamp,
        (me, from): (VoterId, Uid),
        renew: &Renew,
        table: &Table,
        log: &L,
    ) -> Option<Verdict> {
        let verdict = self.verdict((me, from), renew, table, log)?;
        if verdict != Verdict::NotAdmitted {
            self.note(now, from, renew);
        }
        Some(verdict)
    }

    fn verdict<L: Log<Change, Arc<Table>>>(
        &mut self,
        (me, from): (VoterId, Uid),
        renew: &Renew,
        table: &Table,
        log: &L,
    ) -> Option<Verdict> {
        if table.is_removed(from) {
            return Some(Verdict::NotAdmitted);
        }
        let removed = |change: &Change| matches!(change, Change::Remove(uid, _) if *uid == from);
        if !self.flaws.has(Flaw::RefusesOnlyAfterCommit) && log.tail().any(removed) {
            return None;
        }
        let voters = log.voters();
        let bound = voters.id == renew.voters || self.flaws.has(Flaw::RenewalNotBoundToVoters);
        let Some(admission) = renew.admission else {
            // A guest that goes by an old list takes the voters of that one for a quorum, and would wait with them as long as they answer.
            return Some(if bound { Verdict::NotYet } else { Verdict::NewVoters(self.list(voters)) });
        };
        let Some(member) = table.member(from) else {
            // Behind, this voter cannot know; ahead of what it asks by, it would have applied the admission.
            let known = table.version().index >= admission.index;
            return Some(if known { Verdict::NotAdmitted } else { Verdict::NotYet });
        };
        if member.admission != admission {
            return Some(Verdict::NotAdmitted);
        }
        Some(if voters.names(me) && bound { Verdict::Acked } else { Verdict::NewVoters(self.list(voters)) })
    }

    fn list(&mut self, voters: &Voters) -> Arc<Voters> {
        if self.list.id != voters.id {
            self.list = Arc::new(voters.clone());
        }
        self.list.clone()
    }

    fn note(&mut self, now: Timestamp, from: Uid, renew: &Renew) {
        let hears = renew.hears() || self.flaws.has(Flaw::DeafNodeCountsAsHeard);
        let before = self.heard.get(&from);
        if before.is_some_and(|heard| heard.seq >= renew.seq) {
            return;
        }
        let at = if hears { now } else { before.map_or(now, |heard| heard.at) };
        let (seq, version, feed) = (renew.seq, renew.version, renew.feed);
        self.heard.insert(from, Heard { at, seq, version, confirmed: version, feed, told: false });
    }

    /// The store, which is the voter, heard that node: this node has it from there.
    pub fn hear(&mut self, at: Timestamp, uid: Uid) {
        self.heard.insert(
            uid,
            Heard { at, seq: 0, version: Version::ZERO, confirmed: Version::ZERO, feed: false, told: false },
        );
    }

    /// When that node was last known to hear and to be heard.
    pub fn heard(&self, uid: Uid) -> Option<Timestamp> {
        self.heard.get(&uid).map(|heard| heard.at)
    }

    /// How far that node's table had come when it was last heard.
    pub fn confirmed(&self, uid: Uid) -> Option<Version> {
        self.heard.get(&uid).map(|heard| heard.confirmed)
    }

    /// Whether that node was heard, and can hear, not longer ago than it takes to be suspected.
    pub fn is_fresh(&self, now: Timestamp, timing: &Timing, uid: Uid) -> bool {
        self.heard(uid).is_some_and(|at| now.since(at) < timing.suspect_after)
    }

    /// Those that want the table from this voter, and how far theirs has come.
    pub fn fed(&self) -> impl Iterator<Item = (Uid, Version)> + '_ {
        self.heard.iter().filter(|(_, heard)| heard.feed).map(|(uid, heard)| (*uid, heard.version))
    }

    /// What was sent to a node will have come that far: it need not be sent again at once.
    pub fn sent(&mut self, uid: Uid, version: Version) {
        if let Some(heard) = self.heard.get_mut(&uid) {
            heard.version = heard.version.max(version);
        }
    }

    /// Looks which members have not been heard.
    pub fn look(&mut self, now: Timestamp, timing: &Timing, me: Uid, table: &Table) -> Look {
        let half = timing.suspect_after / 2;
        let mut look = Look { quiet: Vec::new(), silent: Vec::new(), next: Timestamp::NEVER };
        for uid in table.members().keys().filter(|uid| **uid != me) {
            let nothing = Heard {
                at: now,
                seq: 0,
                version: Version::ZERO,
                confirmed: Version::ZERO,
                feed: false,
                told: false,
            };
            // From a member never heard silence counts from when this voter first looks for it.
            let heard = self.heard.entry(*uid).or_insert(nothing);
            let silence = now.since(heard.at);
            if silence >= timing.suspect_after {
                look.quiet.push(*uid);
            } else if silence >= half {
                look.silent.extend((!heard.told).then_some(*uid));
                heard.told = true;
                look.next = look.next.min(heard.at + timing.suspect_after);
            } else {
                look.next = look.next.min(heard.at + half);
            }
        }
        look
    }

    /// Those of the guests that are not heard, and were not told lately who votes: all the voters that they ask may have left.
    pub fn silent_guests(
        &mut self,
        now: Timestamp,
        timing: &Timing,
        guests: impl Iterator<Item = Uid>,
    ) -> Vec<Uid> {
        let silent = |uid: &Uid| self.heard(*uid).is_none_or(|at| now.since(at) >= timing.suspect_after / 2);
        let guests: Vec<Uid> = guests.filter(silent).collect();
        self.told.retain(|uid, at| now.since(*at) < timing.suspect_after && guests.contains(uid));
        let untold: Vec<Uid> = guests.into_iter().filter(|uid| !self.told.contains_key(uid)).collect();
        self.told.extend(untold.iter().map(|uid| (*uid, now)));
        untold
    }

    /// What tells a member by which list it should ask, without having been asked.
    pub fn news(&mut self, voters: &Voters, coordinator: Option<Uid>) -> Renewed {
        Renewed { seq: 0, coordinator, verdict: Verdict::NewVoters(self.list(voters)) }
    }

    /// A connection to the node was refused: it starts the suspicion at once, and proves nothing.
    pub fn suspect(&mut self, now: Timestamp, timing: &Timing, uid: Uid) {
        if let Some(heard) = self.heard.get_mut(&uid) {
            // Its next renewal clears it, if there is one.
            let silent = timing.suspect_after.saturating_sub(timing.renew * 3 / 2);
            heard.at = heard.at.min(now - silent);
        }
    }

    /// This voter itself was away: nobody is to blame for what it could not hear meanwhile.
    pub fn forgive(&mut self, away: core::time::Duration) {
        for heard in self.heard.values_mut() {
            heard.at = heard.at + away;
        }
    }

    /// This voter heard nobody up to now: everybody gets as long as if he had just been heard.
    pub fn forgive_all(&mut self, now: Timestamp) {
        for heard in self.heard.values_mut() {
            heard.at = heard.at.max(now);
        }
    }

    /// That node is a member from now on: as a guest it need not have been heard by this voter, and that is no silence of a member.
    pub fn admit(&mut self, now: Timestamp, uid: Uid) {
        if let Some(heard) = self.heard.get_mut(&uid) {
            heard.at = heard.at.max(now);
        }
    }

    /// That node was removed: what was heard of it says nothing any more.
    pub fn forget(&mut self, uid: Uid) {
        self.heard.remove(&uid);
    }

    /// Forgets those that are neither members nor heard lately.
    pub fn prune(&mut self, now: Timestamp, timing: &Timing, table: &Table) {
        self.heard
            .retain(|uid, heard| table.member(*uid).is_some() || now.since(heard.at) < timing.give_up_after);
    }
}
