//! Judges a history: no entity runs twice at a time, and no acknowledged count is taken back.
//!
//! An activation runs from the first message it handles to the last. One that is suspended handles nothing, so a later one may run meanwhile; but
//! then it must never handle a message again. A count may fall only if the node that had the entity was lost in between.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use crate::history::{Entry, Event, Place};

/// What must not be in a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Violation {
    /// An activation handled a message after a later activation of the same entity had.
    Overlap { id: String, earlier: Place, later: Place, at: Duration },
    /// A count that was acknowledged is not part of a later answer, and its node was not lost.
    Contradiction { id: String, acknowledged: u64, then: u64, at: Duration },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overlap { id, earlier, later, at } => {
                let (one, other) = (earlier.node, later.node);
                write!(f, "{id} ran on node {one} and on node {other} at a time, seen at {at:?}")
            }
            Self::Contradiction { id, acknowledged, then, at } => {
                write!(f, "{id} acknowledged {acknowledged} and then {then}, seen at {at:?}")
            }
        }
    }
}

/// All violations in a history, in the order in which they show.
pub(crate) fn check(entries: &[Entry]) -> Vec<Violation> {
    let mut checker = Checker::default();
    for (position, entry) in entries.iter().enumerate() {
        checker.take(position, entry);
    }
    checker.found
}

/// All violations in a few words: how many entities are concerned, and the first of each kind.
pub(crate) fn summary(violations: &[Violation]) -> Option<String> {
    let (overlaps, contradictions): (Vec<_>, Vec<_>) =
        violations.iter().partition(|violation| matches!(violation, Violation::Overlap { .. }));
    let say = |what: &str, found: Vec<&Violation>| {
        let ids: BTreeSet<&str> = found.iter().map(|violation| violation.id()).collect();
        found.first().map(|first| format!("{} entities {what} (first: {first})", ids.len()))
    };
    let parts = [say("ran twice at a time", overlaps), say("lost acknowledged counts", contradictions)];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

impl Violation {
    fn id(&self) -> &str {
        match self {
            Self::Overlap { id, .. } | Self::Contradiction { id, .. } => id,
        }
    }
}

#[derive(Default)]
struct Checker {
    lost: BTreeSet<usize>,
    entities: BTreeMap<String, Entity>,
    found: Vec<Violation>,
}

/// What is known of one entity so far.
#[derive(Default)]
struct Entity {
    /// The activation that handled the newest message.
    running: Option<(u64, Place)>,
    /// Activations after which another one handled a message.
    over: BTreeSet<u64>,
    /// The node where it began or handled something last.
    holder: Option<usize>,
    /// Counts that were acknowledged since its node was lost last, each with its position in the history.
    acknowledged: Vec<(usize, u64)>,
}

impl Checker {
    fn take(&mut self, position: usize, Entry { at, event }: &Entry) {
        match event {
            Event::Began { id, place, .. } => self.entity(id).holder = Some(place.node),
            Event::Handled { id, activation, place, .. } => self.handled(*at, id, *activation, *place),
            Event::Acknowledged { id, value, asked } => self.acknowledged(*at, position, id, *value, *asked),
            Event::Lost { node } => {
                self.lost.insert(*node);
            }
            Event::Back { node } => {
                self.lost.remove(node);
            }
        }
        for entity in self.entities.values_mut() {
            if entity.holder.is_some_and(|holder| self.lost.contains(&holder)) {
                entity.acknowledged.clear();
            }
        }
    }

    fn entity(&mut self, id: &str) -> &mut Entity {
        self.entities.entry(id.to_owned()).or_default()
    }

    fn handled(&mut self, at: Duration, id: &str, activation: u64, place: Place) {
        let entity = self.entity(id);
        entity.holder = Some(place.node);
        let Some((running, later)) = entity.running.replace((activation, place)) else { return };
        if running == activation {
            return;
        }
        entity.over.insert(running);
        if entity.over.contains(&activation) {
            self.found.push(Violation::Overlap { id: id.to_owned(), earlier: place, later, at });
        }
    }

    fn acknowledged(&mut self, at: Duration, position: usize, id: &str, value: u64, asked: usize) {
        let entity = self.entity(id);
        let before = entity.acknowledged.iter().filter(|(position, _)| *position < asked);
        let highest = before.map(|(_, value)| *value).max();
        entity.acknowledged.push((position, value));
        if let Some(acknowledged) = highest.filter(|highest| *highest >= value) {
            self.found.push(Violation::Contradiction { id: id.to_owned(), acknowledged, then: value, at });
        }
    }
}

#[cfg(test)]
mod tests {
    use borough_cluster::Uid;

    use super::*;

    fn place(node: usize) -> Place {
        Place { node, uid: Uid::new(node as u64 + 1).unwrap() }
    }

    fn began(activation: u64, node: usize) -> Event {
        Event::Began { id: "x".into(), activation, place: place(node) }
    }

    fn handled(activation: u64, node: usize, value: u64) -> Event {
        Event::Handled { id: "x".into(), activation, place: place(node), value }
    }

    /// Asked when the history was that long.
    fn acknowledged(value: u64, asked: usize) -> Event {
        Event::Acknowledged { id: "x".into(), value, asked }
    }

    fn verdict<const N: usize>(events: [Event; N]) -> Vec<Violation> {
        let entries: Vec<_> =
            events.into_iter().map(|event| Entry { at: Duration::from_secs(1), event }).collect();
        check(&entries)
    }

    fn is_overlap(found: &[Violation]) -> bool {
        matches!(found, [Violation::Overlap { earlier, later, .. }] if (earlier.node, later.node) == (0, 1))
    }

    #[test]
    fn an_activation_that_runs_while_another_does_is_found() {
        assert!(is_overlap(&verdict([handled(1, 0, 1), handled(2, 1, 1), handled(1, 0, 2)])));
    }

    #[test]
    fn an_overlap_on_nodes_that_may_lose_their_state_is_found() {
        let events = [handled(1, 0, 1), Event::Lost { node: 0 }, handled(2, 1, 1), handled(1, 0, 2)];
        assert!(is_overlap(&verdict(events)));
    }

    #[test]
    fn activations_one_after_the_other_are_fine() {
        let events = [began(1, 0), handled(1, 0, 1), handled(1, 0, 2), began(2, 1), handled(2, 1, 3)];
        assert_eq!(verdict(events), []);
    }

    #[test]
    fn a_suspended_activation_that_handles_nothing_more_is_fine() {
        let lost = Event::Lost { node: 0 };
        assert_eq!(verdict([handled(1, 0, 1), lost, began(2, 1), handled(2, 1, 1), handled(2, 1, 2)]), []);
    }

    #[test]
    fn an_acknowledged_count_that_falls_without_a_crash_is_found() {
        let events =
            [handled(1, 0, 1), acknowledged(1, 0), began(2, 1), handled(2, 1, 1), acknowledged(1, 3)];
        let found = verdict(events);
        assert!(
            matches!(found[..], [Violation::Contradiction { acknowledged: 1, then: 1, .. }]),
            "{found:?}"
        );
    }

    #[test]
    fn a_crash_of_another_node_excuses_nothing() {
        let events = [
            handled(1, 0, 1),
            acknowledged(1, 0),
            Event::Lost { node: 2 },
            handled(2, 1, 1),
            acknowledged(1, 3),
        ];
        assert_eq!(verdict(events).len(), 1);
    }

    #[test]
    fn a_count_that_falls_after_a_crash_of_its_node_is_fine_once() {
        let crash = [
            handled(1, 0, 1),
            acknowledged(1, 0),
            Event::Lost { node: 0 },
            Event::Back { node: 0 },
            handled(2, 1, 1),
            acknowledged(1, 4),
        ];
        assert_eq!(verdict(crash.clone()), []);
        let mut twice = crash.to_vec();
        twice.extend([handled(3, 0, 1), acknowledged(1, 7)]);
        let twice: Vec<_> =
            twice.into_iter().map(|event| Entry { at: Duration::from_secs(1), event }).collect();
        assert_eq!(check(&twice).len(), 1, "node 1, which had it, was not lost");
    }

    #[test]
    fn the_crash_of_the_node_it_moved_to_excuses() {
        let events = [
            handled(1, 0, 1),
            acknowledged(1, 0),
            began(2, 1),
            Event::Lost { node: 1 },
            began(3, 0),
            handled(3, 0, 1),
            acknowledged(1, 5),
        ];
        assert_eq!(verdict(events), []);
    }

    #[test]
    fn answers_to_questions_asked_at_the_same_time_may_come_in_any_order() {
        let events = [handled(1, 0, 1), handled(1, 0, 2), acknowledged(2, 0), acknowledged(1, 0)];
        assert_eq!(verdict(events), []);
    }

    #[test]
    fn a_summary_says_how_many_entities_and_the_first() {
        assert_eq!(summary(&[]), None);
        let found = verdict([handled(1, 0, 1), handled(2, 1, 1), handled(1, 0, 2)]);
        let text =
            "1 entities ran twice at a time (first: x ran on node 0 and on node 1 at a time, seen at 1s)";
        assert_eq!(summary(&found).unwrap(), text);
    }
}
