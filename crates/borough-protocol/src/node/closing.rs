//! The shutdown of the whole cluster: nobody is removed, nothing moves, everybody stops once everybody knows.

use super::departure::Departure;
use super::interface::{Effect, Event};
use super::participant::Participant;
use crate::incarnation::Uid;
use crate::log::Log;
use crate::machine::Effects;
use crate::time::Timestamp;

impl Participant {
    pub(super) fn begin_closing(&mut self, now: Timestamp, effects: &mut Effects<Effect>) {
        if !matches!(self.departure, Departure::Closing { .. }) {
            self.departure = Departure::Closing { until: now + self.identity.settings.linger };
            // The voters wait for those that have not said that they know.
            self.holder.renew_at(now);
            effects.push(Effect::Publish(Event::Closing));
        }
    }

    /// A voter stays until every member and every voter that it still hears has the news; anybody else may go at once.
    pub(super) fn all_know_of_closing(&self, now: Timestamp) -> bool {
        let me = self.uid();
        if !self.votes() {
            return true;
        }
        let version = self.table.version();
        let timing = self.identity.settings.timing();
        let knows = |uid| self.grants.confirmed(uid).is_some_and(|known| known >= version);
        let mut members = self.table.members().keys().filter(|uid| **uid != me);
        members.all(|uid| !self.grants.is_fresh(now, timing, *uid) || knows(*uid))
            && self.voters_outside(now).all(knows)
    }

    /// The lives of voters that are heard and not admitted yet: a voter on a disk that has just started again would wait for those that have stopped.
    fn voters_outside(&self, now: Timestamp) -> impl Iterator<Item = Uid> + '_ {
        let suspect_after = self.identity.settings.timing().suspect_after;
        let is_heard = move |uid: &Uid| self.heard.get(uid).is_some_and(|at| now.since(*at) < suspect_after);
        let lives = self.log.voters().all().filter_map(|voter| self.lives.uid(voter));
        let is_guest = |uid: &Uid| self.table.member(*uid).is_none() && !self.table.is_removed(*uid);
        lives.filter(move |uid| *uid != self.uid() && is_guest(uid) && is_heard(uid))
    }
}
