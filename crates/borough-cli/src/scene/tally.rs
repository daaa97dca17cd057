//! What each node does: made of two looks at its counts.

use std::collections::BTreeMap;

use borough_management::view::{KindStats, Stats};

/// Of all types of one node together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) entities: u64,
    pub(super) handled: u64,
    /// Handled in a second, between the last two looks.
    pub(super) rate: u64,
    pub(super) held: u64,
    pub(super) refused: u64,
    pub(super) dropped: u64,
    pub(super) arrived: u64,
    pub(super) departed: u64,
    /// How long turns take, of the type that takes longest: half of them, and 99 of 100.
    pub(super) p50_nanos: u64,
    pub(super) p99_nanos: u64,
}

/// How many nodes that are gone are remembered by name.
const REMEMBERED: usize = 256;

/// Each node's row, as of the last look.
#[derive(Debug, Default)]
pub(super) struct Tally {
    at_millis: u64,
    pub(super) rows: BTreeMap<String, Row>,
    /// Nodes that did not answer the last time, or are gone, as of the last look at each.
    absent: BTreeMap<String, Row>,
    /// What processes had counted that have ended: it happened all the same.
    ended: Row,
    /// Nodes that did not answer.
    pub(super) missing: Vec<String>,
}

impl Tally {
    /// Takes in another look. One that is not later than the last changes no rate.
    pub(super) fn add(&mut self, stats: &Stats) {
        let passed = stats.at_millis.saturating_sub(self.at_millis);
        let is_first = self.at_millis == 0;
        let before = std::mem::take(&mut self.rows);
        for node in &stats.nodes {
            let mut row = node.kinds.iter().fold(Row::default(), plus);
            let last = before.get(&node.node);
            row.rate = match (last, passed) {
                // Counts begin anew with a process.
                (Some(last), 1..) if !is_first => row.handled.saturating_sub(last.handled) * 1000 / passed,
                (Some(last), _) => last.rate,
                (None, _) => 0,
            };
            let known = last.copied().or_else(|| self.absent.remove(&node.node));
            if let Some(known) = known.filter(|known| row.is_of_another_process(known)) {
                self.ended = self.ended.with_counts_of(&known);
            }
            self.rows.insert(node.node.clone(), row);
        }
        let gone = before.into_iter().filter(|(node, _)| !self.rows.contains_key(node));
        self.absent.extend(gone);
        while self.absent.len() > REMEMBERED
            && let Some((_, forgotten)) = self.absent.pop_first()
        {
            self.ended = self.ended.with_counts_of(&forgotten);
        }
        self.at_millis = stats.at_millis;
        self.missing = stats.missing.iter().map(|missing| missing.name.clone()).collect();
    }

    /// All nodes together. What was counted once stays counted, also when the node that did is gone.
    pub(super) fn total(&self) -> Row {
        let counted = self.rows.values().chain(self.absent.values()).fold(self.ended, Row::with_counts_of);
        self.rows.values().fold(counted, |sum, row| Row {
            entities: sum.entities + row.entities,
            rate: sum.rate + row.rate,
            held: sum.held + row.held,
            p50_nanos: sum.p50_nanos.max(row.p50_nanos),
            p99_nanos: sum.p99_nanos.max(row.p99_nanos),
            ..sum
        })
    }
}

impl Row {
    /// Counts only grow as long as a process lives.
    fn is_of_another_process(&self, before: &Self) -> bool {
        self.handled < before.handled
            || self.refused < before.refused
            || self.dropped < before.dropped
            || self.arrived < before.arrived
            || self.departed < before.departed
    }

    /// With all that the other has counted; what it has at the moment is left out.
    fn with_counts_of(self, other: &Self) -> Self {
        Self {
            handled: self.handled + other.handled,
            refused: self.refused + other.refused,
            dropped: self.dropped + other.dropped,
            arrived: self.arrived + other.arrived,
            departed: self.departed + other.departed,
            ..self
        }
    }
}

fn plus(row: Row, kind: &KindStats) -> Row {
    Row {
        entities: row.entities + kind.entities,
        handled: row.handled + kind.handled,
        rate: 0,
        held: row.held + kind.held,
        refused: row.refused + kind.refused.iter().map(|count| count.value).sum::<u64>(),
        dropped: row.dropped + kind.dropped.iter().map(|count| count.value).sum::<u64>(),
        arrived: row.arrived + kind.moves.arrived,
        departed: row.departed + kind.moves.departed,
        // Quantiles cannot be added.
        p50_nanos: row.p50_nanos.max(kind.turns.p50_nanos),
        p99_nanos: row.p99_nanos.max(kind.turns.p99_nanos),
    }
}

#[cfg(test)]
mod tests {
    use borough_management::view::{Count, Moves, NodeStats, Turns};

    use super::*;

    fn node(name: &str, kind: KindStats) -> NodeStats {
        NodeStats { node: name.to_owned(), kinds: vec![kind], state_losses: Vec::new(), data_directory: None }
    }

    fn look(at_millis: u64, handled: u64) -> Stats {
        look_at(at_millis, vec![node("harbour", KindStats { handled, ..KindStats::default() })])
    }

    fn look_at(at_millis: u64, nodes: Vec<NodeStats>) -> Stats {
        Stats { seen_by: "harbour".to_owned(), at_millis, nodes, missing: Vec::new() }
    }

    /// One that has refused so many messages, and to which so many shards came.
    fn counted(name: &str, refused: u64, arrived: u64) -> NodeStats {
        let refused = vec![Count { name: "full".to_owned(), value: refused }];
        let moves = Moves { arrived, ..Moves::default() };
        node(name, KindStats { refused, moves, entities: 100, ..KindStats::default() })
    }

    #[test]
    fn what_was_refused_or_moved_stays_counted_when_its_node_is_gone_or_starts_again() {
        let mut tally = Tally::default();
        let mut told = |at, nodes| {
            tally.add(&look_at(at, nodes));
            let total = tally.total();
            (total.refused, total.arrived, total.entities)
        };
        assert_eq!(told(1000, vec![counted("mill", 5, 20), counted("harbour", 7, 30)]), (12, 50, 200));
        // It is gone, or did not answer.
        assert_eq!(told(2000, vec![counted("harbour", 8, 40)]), (13, 60, 100));
        assert_eq!(told(3000, vec![counted("mill", 6, 20), counted("harbour", 8, 40)]), (14, 60, 200));
        // A new process of that name begins to count.
        assert_eq!(told(4000, vec![counted("mill", 1, 0), counted("harbour", 8, 40)]), (15, 60, 200));
    }

    #[test]
    fn a_rate_is_what_was_handled_between_two_looks_by_the_second() {
        let mut tally = Tally::default();
        tally.add(&look(10_000, 500));
        assert_eq!(tally.total().rate, 0);
        tally.add(&look(10_500, 1500));
        assert_eq!(tally.total().rate, 2000);
    }

    #[test]
    fn how_long_turns_take_is_said_of_the_type_that_takes_longest() {
        let kind = |p50_nanos, p99_nanos| KindStats {
            turns: Turns { samples: 1, p50_nanos, p99_nanos, longest_nanos: p99_nanos },
            ..KindStats::default()
        };
        let mut looked = look(10_000, 0);
        looked.nodes[0].kinds = vec![kind(5, 900), kind(70, 80)];
        let mut tally = Tally::default();
        tally.add(&looked);
        assert_eq!((tally.total().p50_nanos, tally.total().p99_nanos), (70, 900));
    }

    #[test]
    fn a_process_that_begins_anew_has_no_rate_below_zero() {
        let mut tally = Tally::default();
        tally.add(&look(10_000, 500));
        tally.add(&look(11_000, 20));
        assert_eq!(tally.total().rate, 0);
    }
}
