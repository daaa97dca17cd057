//! Whom this node, as a voter, does not hear; and whether it is itself that was away.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::interface::{Effect, QuietReport, Word};
use super::participant::Participant;
use crate::incarnation::Uid;
use crate::lease::Look;
use crate::log::Log;
use crate::machine::Effects;
use crate::time::Timestamp;

impl Participant {
    /// The node was not called when it should have been: it, not the others, was away.
    pub(super) fn notice_absence(&mut self, now: Timestamp, due: Timestamp) {
        let away = now.since(due.max(self.times.awake));
        self.times.awake = now;
        if away > self.identity.settings.round_trip {
            let settings = &self.identity.settings;
            let least = settings.timing().renew + settings.round_trip;
            self.grants.forgive(away);
            self.grants.allow(now, settings.timing(), least);
            if let Some((_, office)) = &mut self.office {
                office.forgive(away);
            }
        }
    }

    /// A voter tells the coordinator whom it does not hear, the moment it is so.
    pub(super) fn look_for_quiet(&mut self, now: Timestamp, effects: &mut Effects<Effect>) {
        let me = self.uid();
        if now < self.times.quiet || !self.votes() {
            return;
        }
        let timing = *self.identity.settings.timing();
        let Look { mut quiet, silent, next } = self.grants.look(now, &timing, me, &self.table);
        self.doubt_itself(now, &mut quiet);
        // A member whose voters all left knows of none of those who vote now.
        let coordinator = self.log.coordinator().map(|(uid, _)| uid);
        for uid in silent {
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

    /// A voter that does not hear a quorum of the voters accuses nobody: it is itself that is cut off. When it is not any more, everybody
    /// gets the full time anew.
    fn doubt_itself(&mut self, now: Timestamp, quiet: &mut Vec<Uid>) {
        let me = self.uid();
        let is_cut_off = !self.log.voters().quorum(|voter| voter == me || !quiet.contains(&voter));
        if self.was_cut_off && !is_cut_off {
            self.grants.forgive_all(now);
        }
        if self.was_cut_off || is_cut_off {
            quiet.clear();
        }
        self.was_cut_off = is_cut_off;
    }
}
