//! What a seed draws.

use std::time::Duration;

use borough_protocol::random::Random;

/// What may strike in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Faults {
    /// What operators do, and what networks do without loss: joins, leaves, rolling restarts, moves of shards, broken connections. Nothing may be lost.
    Planned,
    /// The same, and crashes and cuts of the network. Half of the seeds draw the planned alone.
    #[default]
    All,
}

/// Something that happens to the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strike {
    Join,
    Leave,
    Restart,
    Move,
    Reset,
    Crash { away: Duration },
    Cut { lasts: Duration },
}

/// What one run goes through.
pub(super) struct Plan {
    pub(super) nodes: usize,
    /// Each with how long it waits before, and whether the cluster is to be whole before it goes on.
    pub(super) strikes: Vec<(Duration, Strike, bool)>,
    /// The longest that a piece of data is on its way.
    pub(super) weather: Duration,
}

impl Plan {
    pub(super) fn draw(random: &mut Random, nodes: (usize, usize), faults: Faults) -> Self {
        let (least, most) = (nodes.0.max(2), nodes.1.max(nodes.0).max(2));
        let nodes = usize::try_from(random.between(least as u64, most as u64)).unwrap_or(least);
        let is_planned = faults == Faults::Planned || random.per_mille(500);
        let count = random.between(4, 9);
        let strikes = (0..count).map(|_| {
            let before = millis(random, 100, 2500);
            // Two nodes that lose one of them have no quorum left.
            let strike = draw_strike(random, is_planned || nodes < 3);
            (before, strike, random.per_mille(400))
        });
        let strikes = strikes.collect();
        let weather = if random.per_mille(500) { millis(random, 0, 20) } else { Duration::ZERO };
        Self { nodes, strikes, weather }
    }
}

fn draw_strike(random: &mut Random, is_planned: bool) -> Strike {
    match random.below(if is_planned { 10 } else { 16 }) {
        0..2 => Strike::Join,
        2..4 => Strike::Leave,
        4..7 => Strike::Restart,
        7..9 => Strike::Move,
        9 => Strike::Reset,
        10..13 => Strike::Crash { away: millis(random, 1, 6000) },
        _ => Strike::Cut { lasts: millis(random, 50, 8000) },
    }
}

fn millis(random: &mut Random, least: u64, most: u64) -> Duration {
    Duration::from_millis(random.between(least, most))
}
