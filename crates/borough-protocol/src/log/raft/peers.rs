//! What a coordinator knows of the others during its term.

use alloc::collections::BTreeMap;
use core::time::Duration;

use crate::time::Timestamp;
use crate::version::Version;
use crate::voters::VoterId;

/// One other node, as seen by the coordinator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer {
    /// When it last answered in this term.
    pub(super) answered: Timestamp,
    /// How far it is known to have this node's log.
    pub(super) matched: u64,
    /// When it was last sent what it lacks.
    repaired: Option<Timestamp>,
    /// The end of what it was sent then, if more was to follow.
    more_behind: Option<u64>,
    /// Which end of its log it was last told to cut, and when.
    cut: Option<(Version, Timestamp)>,
    /// Since when its log has ended below what it had confirmed, in every answer, and when the newest of these came.
    short: Option<(Timestamp, Timestamp)>,
}

impl Peer {
    /// Notes an answer that ends at `last`. Whether all of them have ended below what is confirmed for so long that this
    /// one was not overtaken on the way. A voter that says nothing for half of that time may only have answers on the way that are late.
    pub(super) fn is_short(&mut self, now: Timestamp, last: u64, patience: Duration) -> bool {
        if last >= self.matched {
            self.short = None;
            return false;
        }
        let before = self.short.filter(|(_, newest)| now < *newest + patience / 2);
        let since = before.map_or(now, |(since, _)| since);
        self.short = Some((since, now));
        now >= since + patience
    }

    /// It has lost what it had.
    pub(super) fn lose(&mut self) {
        (self.matched, self.short, self.more_behind) = (0, None, None);
    }

    /// Whether it may be sent what it lacks, its log ending at `last`: once in a while, or at once when the part sent before
    /// has arrived. Each answer of a node that is behind would beget a resend else, each with an answer of its own.
    pub(super) fn may_repair(&self, now: Timestamp, every: Duration, last: u64) -> bool {
        self.repaired.is_none_or(|at| now >= at + every) || self.more_behind.is_some_and(|end| last >= end)
    }

    /// Notes that it was sent what it lacks; `more_behind` is the end of that, if more is to follow.
    pub(super) fn repaired(&mut self, now: Timestamp, more_behind: Option<u64>) {
        self.repaired = Some(now);
        self.more_behind = more_behind;
    }

    /// Whether it may be told to cut its log, which ends at `last`: once for each end, or again after a while.
    pub(super) fn may_cut(&mut self, now: Timestamp, every: Duration, last: Version) -> bool {
        let again = self.cut.is_some_and(|(end, at)| end == last && now < at + every);
        if !again {
            self.cut = Some((last, now));
        }
        !again
    }
}

/// The others, by uid: only those the newest lists name.
#[derive(Debug, Default)]
pub(super) struct Peers {
    map: BTreeMap<VoterId, Peer>,
}

impl Peers {
    pub(super) fn clear(&mut self) {
        self.map.clear();
    }

    pub(super) fn retain(&mut self, named: impl Fn(VoterId) -> bool) {
        self.map.retain(|uid, _| named(*uid));
    }

    pub(super) fn get(&self, uid: VoterId) -> Option<&Peer> {
        self.map.get(&uid)
    }

    /// What is known of that node, which answered just now.
    pub(super) fn answered(&mut self, uid: VoterId, now: Timestamp) -> &mut Peer {
        let fresh =
            Peer { answered: now, matched: 0, repaired: None, more_behind: None, cut: None, short: None };
        let peer = self.map.entry(uid).or_insert(fresh);
        peer.answered = now;
        peer
    }

    pub(super) fn get_mut(&mut self, uid: VoterId) -> Option<&mut Peer> {
        self.map.get_mut(&uid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(millis)
    }

    fn is_short(answers: &[(u64, u64)]) -> bool {
        let mut peers = Peers::default();
        let peer = peers.answered(VoterId::new(1).expect("not 0"), at(0));
        peer.matched = 9;
        answers
            .iter()
            .fold(false, |_, (millis, last)| peer.is_short(at(*millis), *last, Duration::from_millis(400)))
    }

    #[test]
    fn a_voter_whose_answers_all_end_early_for_long_enough_has_lost_its_log() {
        assert!(is_short(&[(1000, 5), (1150, 5), (1300, 6), (1400, 6)]));
        assert!(!is_short(&[(1000, 5), (1150, 5), (1300, 6), (1399, 6)]));
        assert!(!is_short(&[(1000, 5), (1150, 9), (1300, 6), (1400, 6)]), "one was long enough");
    }

    /// Seed 20065468 of the simulator: the disk of a voter was stuck, and two of its former answers came late. It lost its vote, which was needed.
    #[test]
    fn a_silent_voter_whose_former_answers_come_late_has_not_lost_its_log() {
        assert!(!is_short(&[(1000, 5), (1400, 6)]));
        assert!(!is_short(&[(1000, 5), (1150, 5), (1350, 6), (1500, 6)]));
    }
}
