//! The shutdown of the whole cluster: nobody is removed, nothing moves, everybody stops once everybody knows.

use super::departure::Departure;
use super::interface::{Effect, Event};
use super::participant::Participant;
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

    /// A voter stays until every member it still hears has the news; anybody else may go at once.
    pub(super) fn all_know_of_closing(&self, now: Timestamp) -> bool {
        let me = self.uid();
        if !self.votes() {
            return true;
        }
        let version = self.table.version();
        let timing = self.identity.settings.timing();
        self.table.members().keys().filter(|uid| **uid != me).all(|uid| {
            !self.grants.is_fresh(now, timing, *uid)
                || self.grants.confirmed(*uid).is_some_and(|known| known >= version)
        })
    }
}
