//! What can strike simulated nodes, and when.

use std::fmt;
use std::time::Duration;

/// One thing that goes wrong, or right again. Nodes are numbered by their addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing gets that way.
    Cut(Way),
    /// Nothing gets from these to all others, nor back.
    Isolate(Vec<usize>),
    /// Dials that way are refused.
    Refuse(Way),
    /// What goes that way is late: by how much at least and at most.
    Delay(Way, Duration, Duration),
    /// What goes that way is read slowly: so many bytes a second.
    Slow(Way, u32),
    /// Everything that way is well again.
    Heal(Way),
    /// Everything between these and all others is well again.
    Rejoin(Vec<usize>),
    /// All connections between the two break, whoever made them.
    Reset(Way),
    /// All connections break.
    ResetAll,
    /// The node is gone from one moment to the next.
    Crash(usize),
    /// A node is started at that address, if there is none.
    Start(usize),
    /// The node leaves in order.
    Leave(usize),
    /// One of its actors stops, and another takes its place.
    StopActor(usize),
}

/// From one address to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Who dials, or sends.
    pub from: usize,
    /// Who is dialled, or reads.
    pub to: usize,
}

impl Way {
    /// The way back.
    #[must_use]
    pub fn back(self) -> Self {
        Self { from: self.to, to: self.from }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.from, self.to)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut(way) => write!(f, "cut {way}"),
            Self::Isolate(group) => write!(f, "isolate {group:?}"),
            Self::Refuse(way) => write!(f, "refuse {way}"),
            Self::Delay(way, least, most) => write!(f, "delay {way} by {least:?} to {most:?}"),
            Self::Slow(way, rate) => write!(f, "slow {way} to {rate} B/s"),
            Self::Heal(way) => write!(f, "heal {way}"),
            Self::Rejoin(group) => write!(f, "rejoin {group:?}"),
            Self::Reset(way) => write!(f, "reset {way}"),
            Self::ResetAll => write!(f, "reset all"),
            Self::Crash(node) => write!(f, "crash {node}"),
            Self::Start(node) => write!(f, "start {node}"),
            Self::Leave(node) => write!(f, "leave {node}"),
            Self::StopActor(node) => write!(f, "stop an actor of {node}"),
        }
    }
}

/// A fault and its moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strike {
    /// How long after the beginning.
    pub at: Duration,
    /// What happens.
    pub fault: Fault,
}

impl fmt::Display for Strike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:7.3} s {}", self.at.as_secs_f64(), self.fault)
    }
}
