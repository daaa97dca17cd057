//! Voters whose logs came back shorter than what they had confirmed: the coordinator tells them, and they do not vote.

use super::interface::{Effect, Event, Word};
use super::participant::Participant;
use crate::incarnation::Uid;
use crate::log::Log;
use crate::machine::Effects;
use crate::time::Timestamp;

/// A voter that is told that its log came back shorter.
#[derive(Debug)]
pub(super) struct Told {
    /// The life that was told.
    uid: Uid,
    /// Up to where it has to catch up.
    until: u64,
    /// When it is told again.
    again: Timestamp,
}

impl Participant {
    /// The coordinator says so where the log of a voter came back shorter than what that voter had confirmed, again and again: each life of that voter
    /// has to hear it, and a word can be lost.
    pub(super) fn tell_of_lost_logs(&mut self, now: Timestamp, effects: &mut Effects<Effect>) {
        if self.office.is_none() || !self.identity.is_durable() {
            return;
        }
        let lost = self.log.lost();
        self.durable.lost_logs.retain(|voter, _| lost.contains(voter));
        for voter in lost {
            let Some(uid) = self.lives.uid(voter) else { continue };
            let (until, again) = (self.log.last_index(), now + self.identity.settings.timing().suspect_after);
            let told =
                self.durable.lost_logs.entry(voter).or_insert(Told { uid, until, again: Timestamp::ZERO });
            let is_new = told.uid != uid || told.again == Timestamp::ZERO;
            if !is_new && now < told.again {
                continue;
            }
            (told.uid, told.again) = (uid, again);
            let until = told.until;
            if is_new {
                effects.push(Effect::Publish(Event::LogLost(uid)));
            }
            effects.push(self.word(uid, Word::LogLost(until)));
        }
    }

    /// The coordinator says that this node's log came back shorter.
    pub(super) fn lost_log(&mut self, from: Uid, until: u64, effects: &mut Effects<Effect>) {
        if self.coordinator() != Some(from) || !self.identity.is_durable() {
            return;
        }
        self.log.stop_voting(until);
        effects.push(Effect::Publish(Event::LogLost(self.uid())));
    }
}
