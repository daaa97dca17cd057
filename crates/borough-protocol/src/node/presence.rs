//! Which lives are there now. What a life said long ago may arrive after its end: only a word that shows what this node said lately counts.
//!
//! ```text
//! a renewal of this node, sent at t --------> other --------> its answer: it was there after t
//! a renewal of the other, answered at t ----> other --------> its next renewal says so: it was there after t
//! ```

use alloc::collections::BTreeMap;
use core::time::Duration;

use crate::incarnation::Uid;
use crate::lease::Renew;
use crate::time::Timestamp;

/// So many renewals of this node are remembered: answers to older ones say nothing of now.
const ASKED_MAX: usize = 8;

/// So many renewals of another one: as many as may go unanswered, and the one before.
const ANSWERED_MAX: usize = 4;

/// Some numbers of renewals, the newest of those that share a place, and when they were sent or came.
#[derive(Clone, Copy, Debug)]
struct Moments<const N: usize>([(u64, Timestamp); N]);

/// When each life that renews its lease here, or answers, was there for certain.
#[derive(Debug, Default)]
pub(super) struct Presence {
    asked: Moments<ASKED_MAX>,
    lives: BTreeMap<Uid, Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    answered: Moments<ANSWERED_MAX>,
    at: Option<Timestamp>,
}

impl Presence {
    /// This node sends its renewal of that number.
    pub(super) fn asks(&mut self, now: Timestamp, seq: u64) {
        self.asked.note(now, seq);
    }

    /// That life answers a renewal of this node.
    pub(super) fn is_answered(&mut self, from: Uid, seq: u64) {
        if let Some(at) = self.asked.at(seq) {
            let seen = self.lives.entry(from).or_default();
            seen.at = seen.at.max(Some(at));
        }
    }

    /// That life renews its lease, and is answered.
    pub(super) fn answers(&mut self, now: Timestamp, from: Uid, renew: &Renew) {
        let seen = self.lives.entry(from).or_default();
        seen.at = seen.at.max(seen.answered.at(renew.answered));
        seen.answered.note(now, renew.seq);
    }

    /// Whether that life was there within that time.
    pub(super) fn is_there(&self, now: Timestamp, uid: Uid, within: Duration) -> bool {
        self.lives.get(&uid).and_then(|seen| seen.at).is_some_and(|at| now.since(at) < within)
    }

    /// Forgets those from which nothing has come for that time.
    pub(super) fn prune(&mut self, now: Timestamp, within: Duration) {
        self.lives.retain(|_, seen| {
            let last = seen.answered.last().max(seen.at.unwrap_or(Timestamp::ZERO));
            now.since(last) < within
        });
    }
}

impl<const N: usize> Moments<N> {
    fn note(&mut self, now: Timestamp, seq: u64) {
        let place = &mut self.0[Self::place(seq)];
        // The same one may come twice: the first time counts.
        if seq > place.0 {
            *place = (seq, now);
        }
    }

    fn at(&self, seq: u64) -> Option<Timestamp> {
        let (noted, at) = self.0[Self::place(seq)];
        (noted == seq && seq > 0).then_some(at)
    }

    fn last(&self) -> Timestamp {
        self.0.iter().map(|(_, at)| *at).max().unwrap_or(Timestamp::ZERO)
    }

    fn place(seq: u64) -> usize {
        usize::try_from(seq % N as u64).unwrap_or(0)
    }
}

impl<const N: usize> Default for Moments<N> {
    fn default() -> Self {
        Self([(0, Timestamp::ZERO); N])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Version;

    const OTHER: Uid = Uid::STORE;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn renew(seq: u64, answered: u64) -> Renew {
        let version = Version::ZERO;
        Renew { admission: None, voters: version, seq, answered, version, feed: false }
    }

    fn is_there(presence: &Presence, millis: u64) -> bool {
        presence.is_there(at(millis), OTHER, Duration::from_millis(750))
    }

    #[test]
    fn an_answer_shows_that_a_life_was_there_when_it_was_asked() {
        let mut presence = Presence::default();
        for seq in 1..=10 {
            presence.asks(at(seq * 200), seq);
        }
        presence.is_answered(OTHER, 2);
        presence.is_answered(OTHER, 0);
        presence.is_answered(OTHER, 99);
        assert!(!is_there(&presence, 400), "too old, answers nothing, was never asked");
        presence.is_answered(OTHER, 8);
        presence.is_answered(OTHER, 4);
        assert!(is_there(&presence, 2349) && !is_there(&presence, 2350), "asked at 1.6 s");
    }

    #[test]
    fn a_renewal_shows_that_a_life_was_there_when_its_last_one_was_answered() {
        let mut presence = Presence::default();
        presence.answers(at(1000), OTHER, &renew(5, 4));
        assert!(!is_there(&presence, 1000), "nothing shows how old it is");
        presence.answers(at(1200), OTHER, &renew(6, 5));
        presence.answers(at(1400), OTHER, &renew(6, 5));
        presence.answers(at(1500), OTHER, &renew(5, 4));
        assert!(is_there(&presence, 1749) && !is_there(&presence, 1750));
        presence.answers(at(1600), OTHER, &renew(7, 6));
        assert!(is_there(&presence, 1949) && !is_there(&presence, 1950), "the sixth came first at 1.2 s");
    }

    #[test]
    fn who_says_nothing_is_forgotten() {
        let mut presence = Presence::default();
        presence.answers(at(1000), OTHER, &renew(5, 4));
        presence.prune(at(1749), Duration::from_millis(750));
        assert_eq!(presence.lives.len(), 1);
        presence.prune(at(1750), Duration::from_millis(750));
        assert_eq!(presence.lives.len(), 0);
    }
}
