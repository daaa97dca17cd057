//! What one phase of a run took and cost.

use super::crowd::{Crowd, Role};
use super::traffic::{Kind, Tally, Traffic};
use crate::sim::moment::{Nanos, SECOND};

/// A phase of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// What happened.
    pub name: &'static str,
    /// How long it took in simulated time: until all agree, where something is to be agreed on.
    pub lasted: Nanos,
    /// When all who run knew of it, as far as there is something to know; they do not know yet that all know.
    pub known_after: Option<Nanos>,
    /// How many inputs the nodes handled.
    pub handled: u64,
    /// What those of each role sent and received, by the role they had in the end.
    pub shares: [Share; 3],
    /// The largest message of each kind, in bytes.
    pub largest: [u64; Kind::COUNT],
}

/// What the nodes of one role sent and received together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// How many there are.
    pub nodes: usize,
    /// How long they ran together.
    pub ran: Nanos,
    /// What they sent and received together.
    pub traffic: Traffic,
}

impl Phase {
    /// What was counted since counting began, at which so many inputs had been handled.
    pub(super) fn of(crowd: &Crowd, name: &'static str, lasted: Nanos, handled_before: u64) -> Self {
        let mut shares: [Share; 3] = Default::default();
        for (slot, _) in crowd.running() {
            let share = &mut shares[crowd.role(slot) as usize];
            let (traffic, ran) = crowd.traffic(slot);
            share.nodes += 1;
            share.ran += ran;
            share.traffic.add(traffic);
        }
        let handled = crowd.handled() - handled_before;
        Self { name, lasted, known_after: None, handled, shares, largest: crowd.largest() }
    }

    /// What the nodes of that role did.
    pub fn share(&self, role: Role) -> &Share {
        &self.shares[role as usize]
    }

    /// How many rounds of gossip a node began, on average.
    pub fn rounds(&self) -> f64 {
        let digests: u64 = self.shares.iter().map(|share| share.traffic.sent(Kind::Digest).messages).sum();
        let nodes: usize = self.shares.iter().map(|share| share.nodes).sum();
        ratio(digests, nodes.max(1) as u64)
    }

    /// The largest message of that kind.
    pub fn largest(&self, kind: Kind) -> u64 {
        self.largest[kind as usize]
    }

    /// The largest message of gossip.
    pub fn largest_gossip(&self) -> u64 {
        Kind::GOSSIP.into_iter().map(|kind| self.largest(kind)).max().unwrap_or(0)
    }
}

impl Share {
    /// Messages a node and second.
    pub fn message_rate(&self, tally: Tally) -> f64 {
        self.rate(tally.messages)
    }

    /// Bytes a node and second.
    pub fn byte_rate(&self, tally: Tally) -> f64 {
        self.rate(tally.bytes)
    }

    /// Bytes a node and second, sent and received together.
    pub fn both_ways(&self) -> f64 {
        self.rate(self.traffic.all_sent().bytes + self.traffic.all_received().bytes)
    }

    fn rate(&self, count: u64) -> f64 {
        if self.ran == 0 { 0.0 } else { ratio(count, 1) / ratio(self.ran, SECOND) }
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_for_one_node_and_one_second() {
        let mut traffic = Traffic::default();
        for _ in 0..8 {
            traffic.send(Kind::Renew, 50);
            traffic.receive(Kind::Renewed, 25);
        }
        // Two nodes, two seconds each.
        let share = Share { nodes: 2, ran: 4 * SECOND, traffic };
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(share.message_rate(share.traffic.all_sent()), 2.0));
        assert!(close(share.byte_rate(share.traffic.sent(Kind::Renew)), 100.0));
        assert!(close(share.both_ways(), 150.0));
        assert!(close(Share::default().both_ways(), 0.0));
    }
}
