//! What the region of this node wants the coordinator to know: said at once, and again until it has nothing to say.
//!
//! ```text
//! (silent) --a report--> telling --an empty report: said once--> (silent)
//!                         |   ^
//!                         +---+ every renewal, and at once to a new coordinator or a new term of this node's own
//! ```
//! Nothing is lost with a coordinator: the next one hears the same.

use alloc::sync::Arc;

use super::interface::{Effect, Word};
use super::participant::Participant;
use crate::incarnation::Uid;
use crate::log::Log;
use crate::machine::Effects;
use crate::sharding::ShardReport;
use crate::sharding::allocation::Strategies;
use crate::time::Timestamp;
use crate::version::Term;

/// What the process around a node said of shards; kept while the node still looks for its cluster.
#[derive(Debug, Default)]
pub(super) struct ShardWishes {
    /// The newest report. An empty one is kept until it was said.
    report: Option<Arc<ShardReport>>,
    /// Functions of the user's.
    pub(super) strategies: Strategies,
    /// To whom it was said, and in which term that one was in office.
    told: Option<(Uid, Term)>,
    again: Timestamp,
}

impl ShardWishes {
    /// A newer report takes the place of the last.
    pub(super) fn report(&mut self, report: Arc<ShardReport>) {
        self.report = Some(report);
        self.told = None;
        self.again = Timestamp::ZERO;
    }

    /// When there is something to say again.
    pub(super) fn next_deadline(&self) -> Timestamp {
        if self.report.is_some() { self.again } else { Timestamp::NEVER }
    }
}

impl Participant {
    /// Says to the coordinator, which may be this node, what the region wants it to know, if it is time.
    pub(super) fn report_shards(&mut self, now: Timestamp, effects: &mut Effects<Effect>) {
        let Some(report) = &self.shards.report else { return };
        let Some(to) = self.shard_coordinator() else {
            self.shards.again = now + self.identity.settings.timing().renew;
            return;
        };
        if self.shards.told == Some(to) && now < self.shards.again {
            return;
        }
        let report = report.clone();
        let is_last = report.is_empty();
        if let Some((_, office)) = &mut self.office {
            office.report_shards(self.identity.me.uid, report);
            self.stirred = true;
        } else {
            effects.push(self.word(to.0, Word::Shards(report)));
        }
        self.shards.told = Some(to);
        self.shards.again = now + self.identity.settings.timing().renew;
        if is_last {
            self.shards.report = None;
        }
    }

    /// Another member's region says something.
    pub(super) fn shards_reported(&mut self, from: Uid, report: Arc<ShardReport>) {
        if let Some((_, office)) = &mut self.office
            && self.table.member(from).is_some()
        {
            office.report_shards(from, report);
            self.stirred = true;
        }
    }

    /// Who is in office, as far as this node knows; who has a part in the log knows best.
    fn shard_coordinator(&self) -> Option<(Uid, Term)> {
        let me = self.uid();
        if let Some((term, _)) = &self.office {
            return Some((me, *term));
        }
        let by_log = self.votes() || self.log.store().is_some();
        let by_log = self.coordinator().filter(|_| by_log).map(|uid| (uid, self.log.term()));
        let found = by_log.or_else(|| self.holder.coordinator().map(|uid| (uid, Term::ZERO)));
        found.filter(|(uid, _)| *uid != me)
    }
}
