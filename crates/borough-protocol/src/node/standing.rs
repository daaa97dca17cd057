//! Who stands for office, and when: the oldest voter first, the others a little later each.

use core::time::Duration;

use super::participant::Participant;
use crate::incarnation::Uid;
use crate::log::Log;
use crate::time::Timestamp;

impl Participant {
    /// When this node would stand, if it hears of no coordinator until then.
    pub(super) fn stands_at(&self, now: Timestamp) -> Timestamp {
        let by_store = self.log.store().is_some();
        // With a disk that takes no writes it could not vote for itself.
        let may_stand = !self.durable.disk_failed && !self.log.in_office();
        if !(may_stand && (self.votes() || by_store && !self.table.is_closing())) {
            return Timestamp::NEVER;
        }
        let settings = &self.identity.settings;
        let silence = self.led_last() + settings.timing().suspect_after;
        // Members of a cluster that works greet a seed that started again within this time.
        let greeted = self
            .durable
            .resumed
            .map_or(Timestamp::ZERO, |at| at + settings.seed_ask_interval + 2 * settings.round_trip);
        let silence = silence.max(greeted);
        let again = self.times.stood + settings.timing().suspect_after / 2;
        let silence = silence.max(again) + self.times.drawn;
        if by_store {
            // Any member may stand: who is older is looked up only when it matters.
            return if now < silence {
                silence
            } else {
                silence + settings.round_trip * self.rank_by_store()
            };
        }
        silence + settings.round_trip * self.rank()
    }

    /// Its log is to elect nobody who lacks what the table shows to be committed.
    pub(super) fn compare_log(&mut self) {
        self.log.note_committed(self.table.version());
        if self.log.lacks_committed() {
            // Others that lack it, too, elected this node: what it decides would stand in its place.
            self.log.resign();
        }
    }

    /// When it last heard of a coordinator, or waited for one to come.
    pub(super) fn led_last(&self) -> Timestamp {
        let heard = self.log.coordinator().map_or(Timestamp::ZERO, |(_, at)| at);
        heard.max(self.times.led)
    }

    /// How many older voters there are, of those that gossip sees.
    fn rank(&self) -> u32 {
        let age = |uid: Uid| self.table.member(uid).map(|member| (member.admission, uid));
        let mine = age(self.uid());
        let document = self.gossip.document();
        let older = |uid: &Uid| age(*uid).is_some_and(|age| mine.is_none_or(|mine| age < mine));
        let voters = self.log.voters().all().filter_map(|voter| self.lives.uid(voter));
        let count = voters.filter(older).filter(|uid| !document.is_unreachable(*uid)).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    pub(super) fn stand_if_due(&mut self, now: Timestamp) {
        if self.stands_at(now) <= now {
            self.times.stood = now;
            // Two that stand in step take each other's votes for ever: chance parts them the next time.
            let most = (Timestamp::ZERO + 2 * self.identity.settings.round_trip).as_nanos();
            self.times.drawn = Duration::from_nanos(self.random.below(most));
            self.log.stand(now, &mut self.outbox.log);
        }
    }
}
