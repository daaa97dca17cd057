//! What is sent and received, by kind of message.

use borough_protocol::gossip;
use borough_protocol::log::raft;
use borough_protocol::node::{Message, Word};

/// What a message is about, as far as the traffic is told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is a message of that name, or a few")]
pub enum Kind {
    /// All that is said before a node belongs to a cluster, but for the welcome.
    Seeking,
    Welcome,
    Hello,
    Digest,
    Pull,
    Delta,
    Seen,
    Heartbeat,
    Renew,
    Renewed,
    Feed,
    Log,
    Snapshot,
    Quiet,
    Report,
    /// To and from a shared store that is the one voter.
    Store,
}

impl Kind {
    /// How many there are.
    pub const COUNT: usize = 16;

    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Heartbeat,
        Self::Renew,
        Self::Renewed,
        Self::Digest,
        Self::Seen,
        Self::Pull,
        Self::Delta,
        Self::Feed,
        Self::Log,
        Self::Snapshot,
        Self::Welcome,
        Self::Seeking,
        Self::Hello,
        Self::Quiet,
        Self::Report,
        Self::Store,
    ];

    /// Those of gossip.
    pub const GOSSIP: [Self; 4] = [Self::Digest, Self::Pull, Self::Delta, Self::Seen];

    /// Of what kind a message is.
    pub fn of(message: &Message) -> Self {
        match message {
            Message::Knock(_)
            | Message::Promise(_)
            | Message::Release { .. }
            | Message::Refused(_)
            | Message::Gone
            | Message::Copy => Self::Seeking,
            Message::Welcome(_) => Self::Welcome,
            Message::Hello(_) => Self::Hello,
            Message::ToStore(_) | Message::FromStore(_) => Self::Store,
            Message::Word { word, .. } => match word {
                Word::Gossip(gossip::Message::Digest { .. }) => Self::Digest,
                Word::Gossip(gossip::Message::Pull { .. }) => Self::Pull,
                Word::Gossip(gossip::Message::Delta(_)) => Self::Delta,
                Word::Gossip(gossip::Message::Seen { .. }) => Self::Seen,
                Word::Heartbeat(_) => Self::Heartbeat,
                Word::Renew(_) => Self::Renew,
                Word::Renewed(_) => Self::Renewed,
                Word::Feed(_) => Self::Feed,
                Word::Log(raft::Message::Snapshot(_)) => Self::Snapshot,
                Word::Log(_) | Word::LogLost(_) => Self::Log,
                Word::Quiet(_) => Self::Quiet,
                Word::Report(_) | Word::Shards(_) | Word::Gone => Self::Report,
            },
        }
    }
}

/// So many messages, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many.
    pub messages: u64,
    /// How many bytes in all.
    pub bytes: u64,
}

impl Tally {
    fn count(&mut self, bytes: u64) {
        self.messages += 1;
        self.bytes += bytes;
    }

    fn add(&mut self, other: Self) {
        self.messages += other.messages;
        self.bytes += other.bytes;
    }
}

/// What one node, or some together, sent and received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    sent: [Tally; Kind::COUNT],
    received: [Tally; Kind::COUNT],
}

impl Traffic {
    pub(super) fn send(&mut self, kind: Kind, bytes: u64) {
        self.sent[kind as usize].count(bytes);
    }

    pub(super) fn receive(&mut self, kind: Kind, bytes: u64) {
        self.received[kind as usize].count(bytes);
    }

    pub(super) fn add(&mut self, other: &Self) {
        for kind in 0..Kind::COUNT {
            self.sent[kind].add(other.sent[kind]);
            self.received[kind].add(other.received[kind]);
        }
    }

    /// What was sent of that kind.
    pub fn sent(&self, kind: Kind) -> Tally {
        self.sent[kind as usize]
    }

    /// What was received of that kind.
    pub fn received(&self, kind: Kind) -> Tally {
        self.received[kind as usize]
    }

    /// What was sent of all kinds.
    pub fn all_sent(&self) -> Tally {
        total(&self.sent)
    }

    /// What was received of all kinds.
    pub fn all_received(&self) -> Tally {
        total(&self.received)
    }
}

fn total(tallies: &[Tally]) -> Tally {
    let mut total = Tally::default();
    for tally in tallies {
        total.add(*tally);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_shown_once() {
        let mut places: Vec<usize> = Kind::ALL.iter().map(|kind| *kind as usize).collect();
        places.sort_unstable();
        assert!(places.into_iter().eq(0..Kind::COUNT));
    }

    #[test]
    fn both_ways_are_counted_apart() {
        let mut traffic = Traffic::default();
        traffic.send(Kind::Pull, 10);
        traffic.send(Kind::Delta, 20);
        traffic.receive(Kind::Delta, 30);
        let mut both = traffic.clone();
        both.add(&traffic);
        assert_eq!(both.all_sent(), Tally { messages: 4, bytes: 60 });
        assert_eq!(both.received(Kind::Delta), Tally { messages: 2, bytes: 60 });
        assert_eq!(both.all_received(), both.received(Kind::Delta));
    }
}
