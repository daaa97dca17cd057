//! A voter's disk is replaced by an older copy, while a coordinator lives and the others have everything. Nothing protects
//! a cluster in which a quorum depends on such a disk.

use std::time::Duration;

use borough_protocol::log::Log;

use super::super::voter::{Copy, Voter};
use super::{COUNT, Rig};
use crate::carrier::uid;
use crate::group::uids;

impl Rig {
    /// One voter comes back with an older copy: it is noticed, told, dropped and taken in again. Says what went wrong.
    pub(in super::super) fn roll_back(&mut self) -> Result<(), &'static str> {
        let Some((office, voter)) = self.coordinator() else { return Err("there is no coordinator") };
        let victim = office % COUNT + 1;
        let confirmed = voter.log.matched(uid(victim));
        let flaws = self.flaws;
        // So much less that no entries under way make up for it before anybody notices.
        let is_short = |copy: &&Copy| copy.last_index() > 0 && copy.last_index() + 8 < confirmed;
        // A copy from when it was the only voter needs nobody: it goes on as a cluster of its own. So does an empty disk of the
        // founder, which founds.
        let needs_others = |copy: &&Copy| {
            let voter = Voter::of(victim, flaws, (*copy).clone());
            !voter.log.voters().quorum(|other| other == uid(victim))
        };
        let older = self.place(victim).backups.iter().filter(is_short).rfind(needs_others).cloned();
        let Some(older) = older else { return Ok(()) };
        self.counts.rollbacks += 1;
        self.crash(victim, 300);
        self.place(victim).disk = older;
        let limit = Duration::from_secs(5);
        if !self.waits_for(limit, |rig| rig.names_lost(victim)) {
            return Err("nobody notices");
        }
        let until = self.coordinator().map_or(0, |(_, voter)| voter.log.last_index());
        if let Some(voter) = &mut self.place(victim).voter {
            voter.log.stop_voting(until);
        }
        self.wanted.remove(&uid(victim));
        let rest = self.wanted.clone();
        let dropped = |rig: &Self| rig.coordinator().is_some_and(|(_, voter)| voter.log.voters().now == rest);
        if !self.waits_for(limit, dropped) {
            return Err("it is not dropped");
        }
        self.wanted = uids(1..=COUNT);
        let committed = self.judge.last();
        let back = |rig: &Self| rig.is_whole(committed) && !rig.names_lost(victim);
        if self.waits_for(limit * 2, back) { Ok(()) } else { Err("it does not come back") }
    }

    fn names_lost(&self, number: u64) -> bool {
        self.coordinator().is_some_and(|(_, voter)| voter.log.lost().contains(&uid(number)))
    }
}
