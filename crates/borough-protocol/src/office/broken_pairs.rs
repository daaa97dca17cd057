//! Which two nodes do not hear each other, for how long, and who else knows.
//!
//! A pair is **silent** while one of the two accuses the other in gossip. It is **broken** once it was silent for [`BROKEN_FOR`] of the last
//! [`WINDOW`] and a quorum of the voters has shown it: each of them was seen to have a version of the gossip document with that accusation in
//! it, and the coordinator hears it now. A store that votes has no gossip: there the coordinator's own document is enough.
//!
//! ```text
//! heard --accused--> silent --10 of 15 s, shown by a quorum--> broken
//!   ^                  |                                         |
//!   +--- no accusation in the last 15 s -------------------------+
//! ```

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use core::time::Duration;

use super::{Scene, TableLog};
use crate::incarnation::Uid;
use crate::log::Log;
use crate::time::Timestamp;
use crate::voters::VoterId;

/// So long of the last [`WINDOW`] two nodes must not have heard each other.
const BROKEN_FOR: Duration = Duration::from_secs(10);

/// What is longer ago is forgotten.
pub(super) const WINDOW: Duration = Duration::from_secs(15);

/// Detectors do not accuse at the same moment: a decision waits so long after the last pair around it broke.
const SETTLE: Duration = Duration::from_secs(5);

/// Two nodes, the smaller uid first.
pub(super) type Pair = (Uid, Uid);

/// The silence between all nodes that gossip knows, members and guests, as this coordinator has seen it.
#[derive(Clone, Debug, Default)]
pub(super) struct BrokenPairs {
    silences: BTreeMap<Pair, Silence>,
    /// When it last looked.
    looked_at: Timestamp,
}

#[derive(Clone, Debug, Default)]
struct Silence {
    /// From when to when, in order.
    spans: VecDeque<(Timestamp, Timestamp)>,
    /// The voters that were seen to have a document that says so.
    shown_by: BTreeSet<Uid>,
    /// Since when it lasts long enough to be broken.
    broken_since: Option<Timestamp>,
}

impl Silence {
    fn lasts(&mut self, from: Timestamp, now: Timestamp) {
        match self.spans.back_mut() {
            Some((_, end)) if *end == from => *end = now,
            Some(_) | None => self.spans.push_back((now, now)),
        }
    }

    /// For how long of the window the two were silent.
    fn in_window(&self, now: Timestamp) -> Duration {
        let begin = now - WINDOW;
        self.spans.iter().map(|(from, to)| to.since(begin.max(*from))).sum()
    }
}

impl BrokenPairs {
    /// Looks at what gossip says now.
    pub(super) fn look(&mut self, now: Timestamp, scene: &Scene<'_>, log: &TableLog) {
        let voters = log.voters().all().filter_map(|voter| scene.lives.uid(voter));
        let shown_by: BTreeSet<Uid> = voters.filter(|uid| has_document(scene, *uid)).collect();
        let accusations = scene.document.accusations().filter(|(observer, subject)| observer != subject);
        let accused: BTreeSet<Pair> =
            accusations.map(|(observer, subject)| pair(observer, subject)).collect();
        for pair in accused {
            let silence = self.silences.entry(pair).or_default();
            silence.lasts(self.looked_at, now);
            silence.shown_by.extend(&shown_by);
        }
        self.looked_at = now;
        self.silences.retain(|(a, b), silence| {
            silence.spans.retain(|(_, to)| now.since(*to) < WINDOW);
            let is_broken = silence.in_window(now) >= BROKEN_FOR;
            silence.broken_since = is_broken.then(|| silence.broken_since.unwrap_or(now));
            !silence.spans.is_empty() && scene.document.is_member(*a) && scene.document.is_member(*b)
        });
    }

    /// The coordinator itself was away: what it did not see meanwhile has not lasted.
    pub(super) fn forgive(&mut self, away: Duration) {
        self.looked_at = self.looked_at + away;
        for (from, to) in self.silences.values_mut().flat_map(|silence| &mut silence.spans) {
            (*from, *to) = (*from + away, *to + away);
        }
        for since in self.silences.values_mut().filter_map(|silence| silence.broken_since.as_mut()) {
            *since = *since + away;
        }
    }

    /// The pairs that are broken, and shown to be so by a quorum of the voters.
    pub(super) fn broken(&self, now: Timestamp, scene: &Scene<'_>, log: &TableLog) -> BTreeSet<Pair> {
        let is_broken = |silence: &Silence| {
            let is_shown_by = |uid: Uid| silence.shown_by.contains(&uid) && scene.hears(now, uid);
            let shown = |voter| voter == VoterId::STORE || scene.lives.uid(voter).is_some_and(is_shown_by);
            silence.broken_since.is_some() && log.voters().quorum(shown)
        };
        self.silences.iter().filter(|(_, silence)| is_broken(silence)).map(|(pair, _)| *pair).collect()
    }

    /// Whether all broken pairs of that node, and of the nodes it is paired with, have been broken for a while: a decision on it is made
    /// on the whole picture.
    pub(super) fn is_settled(&self, now: Timestamp, uid: Uid) -> bool {
        let broken =
            || self.silences.iter().filter_map(|(pair, silence)| Some((*pair, silence.broken_since?)));
        let touches = |(one, other): Pair, uid: Uid| one == uid || other == uid;
        let around: BTreeSet<Uid> = broken()
            .filter(|(pair, _)| touches(*pair, uid))
            .flat_map(|((one, other), _)| [one, other])
            .collect();
        let mut near = broken().filter(|((one, other), _)| around.contains(one) || around.contains(other));
        near.all(|(_, since)| now.since(since) >= SETTLE)
    }

    /// The pairs of which one accuses the other now.
    pub(super) fn silent(&self) -> BTreeSet<Pair> {
        let now = |silence: &Silence| silence.spans.back().is_some_and(|(_, to)| *to == self.looked_at);
        self.silences.iter().filter(|(_, silence)| now(silence)).map(|(pair, _)| *pair).collect()
    }

    /// The pairs of which one accused the other within the window.
    pub(super) fn lately_silent(&self) -> BTreeSet<Pair> {
        self.silences.keys().copied().collect()
    }
}

fn has_document(scene: &Scene<'_>, voter: Uid) -> bool {
    voter == scene.me || scene.document.has_seen(voter)
}

/// Those two as a pair.
pub(super) fn pair(one: Uid, other: Uid) -> Pair {
    (one.min(other), one.max(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    /// Looks every 200 ms for so many seconds, of each five of which the two are silent for so many.
    fn flapping(silent_of_five: u64, seconds: u64) -> Duration {
        let mut silence = Silence::default();
        for look in 1..=5 * seconds {
            if look % 25 < 5 * silent_of_five {
                silence.lasts(at(200 * (look - 1)), at(200 * look));
            }
        }
        silence.in_window(at(1000 * seconds))
    }

    #[test]
    fn silence_is_counted_in_the_window_alone() {
        let mut silence = Silence::default();
        silence.lasts(at(0), at(1000));
        silence.lasts(at(1000), at(9000));
        assert_eq!(silence.in_window(at(9000)), Duration::from_secs(8));
        assert_eq!(silence.in_window(at(20_000)), Duration::from_secs(4));
        assert_eq!(silence.in_window(at(60_000)), Duration::ZERO);
    }

    #[test]
    fn a_link_that_works_half_of_the_time_is_not_broken_and_one_that_rarely_does_is() {
        assert!(flapping(2, 60) < BROKEN_FOR);
        assert!(flapping(4, 60) >= BROKEN_FOR);
    }
}
