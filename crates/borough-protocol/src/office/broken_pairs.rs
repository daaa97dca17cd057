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

/// Detectors do not accuse at the same moment, and gossip is late: a decision waits so long after the last pair around it broke.
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

    /// Whether a decision on that node is made on the whole picture: all broken pairs of members around it, its own and those of the nodes that it is paired with,
    /// have been broken for a while, and none around it is silent that may break yet. For that it waits so long that one which is silent all the time does break.
    pub(super) fn is_settled(&self, now: Timestamp, uid: Uid, is_member: impl Fn(Uid) -> bool) -> bool {
        let members =
            || self.silences.iter().filter(|((one, other), _)| is_member(*one) && is_member(*other));
        let own = members().filter(|((one, other), _)| *one == uid || *other == uid);
        let broken = own.filter_map(|(pair, silence)| Some((*pair, silence.broken_since?)));
        let (mut around, mut first) = (BTreeSet::new(), now);
        for ((one, other), since) in broken {
            around.extend([one, other]);
            first = first.min(since);
        }
        let is_patient = now.since(first) < SETTLE + BROKEN_FOR;
        let mut near = members().filter(|((one, other), _)| around.contains(one) || around.contains(other));
        near.all(|(_, silence)| match silence.broken_since {
            Some(since) => now.since(since) >= SETTLE,
            None => !(is_patient && self.is_silent(silence)),
        })
    }

    fn is_silent(&self, silence: &Silence) -> bool {
        silence.spans.back().is_some_and(|(_, to)| *to == self.looked_at)
    }

    /// The pairs of which one accuses the other now.
    pub(super) fn silent(&self) -> BTreeSet<Pair> {
        self.silences.iter().filter(|(_, silence)| self.is_silent(silence)).map(|(pair, _)| *pair).collect()
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

    /// Looks every 200 ms until then. Of each pair it is said from when on it is silent.
    fn seen(pairs: &[(u64, u64, u64)], until: u64) -> BrokenPairs {
        let uid = |number| Uid::new(number).expect("not 0");
        let mut seen = BrokenPairs::default();
        for now in (0..=until).step_by(200).map(at) {
            for (one, other, _) in pairs.iter().filter(|(_, _, from)| at(*from) < now) {
                seen.silences.entry((uid(*one), uid(*other))).or_default().lasts(seen.looked_at, now);
            }
            seen.looked_at = now;
            for silence in seen.silences.values_mut() {
                let is_broken = silence.in_window(now) >= BROKEN_FOR;
                silence.broken_since = is_broken.then(|| silence.broken_since.unwrap_or(now));
            }
        }
        seen
    }

    #[test]
    fn a_decision_waits_for_a_pair_nearby_that_may_break_yet() {
        let is_settled = |pairs: &[(u64, u64, u64)], until, members: u64| {
            let uid = Uid::new(1).expect("not 0");
            seen(pairs, until).is_settled(at(until), uid, |uid| uid.get() <= members)
        };
        assert!(!is_settled(&[(1, 2, 0)], 15_000, 4));
        assert!(is_settled(&[(1, 2, 0)], 15_600, 4));
        let late = &[(1, 2, 0), (2, 3, 6000)];
        assert!(!is_settled(late, 15_600, 4), "it is silent and not broken");
        assert!(!is_settled(late, 20_000, 4), "it has just broken");
        assert!(is_settled(late, 22_000, 4));
        assert!(is_settled(late, 15_600, 2), "with a guest");
        assert!(is_settled(&[(1, 2, 0), (3, 4, 6000)], 15_600, 4), "far away");
        assert!(!is_settled(&[(1, 2, 0), (2, 3, 20_000)], 25_000, 4));
        assert!(is_settled(&[(1, 2, 0), (2, 3, 20_000)], 25_600, 4), "it has waited for long enough");
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
