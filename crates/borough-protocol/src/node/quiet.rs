//! Whom this node, as a voter, does not hear; and whether it is itself that was away.
//!
//! ```text
//! heard --silent for suspect_after--> looked at --still silent at a second look--> quiet
//!   ^                                      |                                         |
//!   +---------- a renewal is read ---------+-----------------------------------------+
//! ```
//! A second look, because what a silent member said may have come while this voter stood still, and lie unread: no clock tells a voter
//! that stood still from one that had nothing to do.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::interface::{Effect, QuietReport, Word};
use super::participant::Participant;
use crate::flaws::Flaw;
use crate::incarnation::Uid;
use crate::lease::Look;
use crate::log::Log;
use crate::machine::Effects;
use crate::time::Timestamp;
use crate::voters::VoterId;

impl Participant {
    /// The node was not called when it should have been: it, not the others, was away.
    pub(super) fn notice_absence(&mut self, now: Timestamp, due: Timestamp) {
        let away = now.since(due.max(self.times.awake));
        self.times.awake = now;
        if away > self.identity.settings.round_trip {
            self.grants.forgive(away);
            self.guests.forgive(away);
            self.probation.forgive(away);
            if let Some((_, office)) = &mut self.office {
                office.forgive(away);
            }
        }
    }

    /// A voter tells the coordinator whom it does not hear, the moment it is sure.
    pub(super) fn look_for_quiet(&mut self, now: Timestamp, effects: &mut Effects<Effect>) {
        let me = self.uid();
        if now < self.times.quiet || !self.votes() {
            return;
        }
        // One that has started again does not remember whom it heard.
        let speaks = self.identity.settings.flaws.has(Flaw::RestartedVoterSpeaksOfLeases);
        if self.durable.resumed.is_some() && now < self.acts_from && !speaks {
            self.times.quiet = self.acts_from;
            return;
        }
        let timing = *self.identity.settings.timing();
        let Look { mut quiet, silent, next } = self.grants.look(now, &timing, me, &self.table);
        let next = next.min(self.look_twice(now, &mut quiet));
        self.doubt_itself(now, &mut quiet);
        // Members and guests whose voters all left know of none of those who vote now.
        let coordinator = self.coordinator();
        let guests = self.guests.iter().filter(|uid| *uid != me);
        let guests = self.grants.silent_guests(now, &timing, guests);
        for uid in silent.into_iter().chain(guests) {
            let news = self.grants.news(self.log.voters(), coordinator);
            effects.push(self.word(uid, Word::Renewed(news)));
        }
        let again = if quiet.is_empty() { timing.suspect_after } else { timing.renew };
        self.times.quiet = next.min(now + again);
        let changed = *self.quiet != *quiet;
        if changed {
            self.quiet = Arc::from(quiet);
        }
        if self.office.is_some() {
            self.stirred |= changed;
        } else if let Some(coordinator) = coordinator
            && (changed || !self.quiet.is_empty() || self.reported_to != Some(coordinator))
        {
            self.reported_to = Some(coordinator);
            self.reports_sent += 1;
            let report = QuietReport { seq: self.reports_sent, quiet: self.quiet.clone() };
            effects.push(self.word(coordinator, Word::Quiet(report)));
        }
    }

    /// Leaves only those that an earlier look found silent too, with time between to read; says when to look at the others again.
    fn look_twice(&mut self, now: Timestamp, quiet: &mut Vec<Uid>) -> Timestamp {
        let reading = self.identity.settings.round_trip / 4;
        let mut again = Timestamp::NEVER;
        self.looked_at.retain(|uid, _| quiet.contains(uid));
        quiet.retain(|uid| {
            let first = *self.looked_at.entry(*uid).or_insert(now);
            let is_sure = now.since(first) >= reading;
            if !is_sure {
                again = again.min(first + reading);
            }
            is_sure
        });
        again
    }

    /// Whether a voter is not silent. One that is no member, because it has just started again, is heard if anything came from it lately.
    fn is_voter_heard(&self, voter: VoterId, quiet: &[Uid]) -> bool {
        self.lives.uid(voter).is_some_and(|uid| {
            let is_known = self.table.member(uid).is_some() || !self.identity.is_durable();
            if is_known { !quiet.contains(&uid) } else { self.heard.contains_key(&uid) }
        })
    }

    /// A voter that does not hear a quorum of the voters accuses nobody: it is itself that is cut off. When it is not any more, everybody
    /// gets the full time anew.
    fn doubt_itself(&mut self, now: Timestamp, quiet: &mut Vec<Uid>) {
        let me = self.voter();
        let is_cut_off = !self.log.voters().quorum(|voter| voter == me || self.is_voter_heard(voter, quiet));
        if self.was_cut_off && !is_cut_off {
            self.grants.forgive_all(now);
        }
        if self.was_cut_off || is_cut_off {
            quiet.clear();
        }
        self.was_cut_off = is_cut_off;
    }
}
