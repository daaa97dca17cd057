//! When a fault strikes: at its moment, or at the first chance after it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::fault::Fault;
use super::moment::{MILLISECOND, Moment, Nanos};

/// A fault of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strike {
    /// What it is called, also when others are left out.
    pub number: usize,
    /// When it strikes, or begins to lie in wait.
    pub at: Moment,
    /// What it lies in wait for, and how long after that it strikes.
    pub cue: Option<(Cue, Nanos)>,
    /// What it does.
    pub fault: Fault,
}

/// A situation in which a fault does most harm, and that lasts too short to be met by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cue {
    /// Somebody was elected and has not committed anything yet.
    Election,
    /// The voters' lists are changing.
    JointPhase,
    /// The removal of somebody is appended and not committed: [`Target::Victim`](super::fault::Target::Victim).
    Removal,
    /// Somebody has something of the log to write that is not synced: [`Target::Victim`](super::fault::Target::Victim).
    Write,
    /// A promise is on somebody's disk and is said: [`Target::Victim`](super::fault::Target::Victim) is the node that has it, and may found by it.
    Promised,
    /// The same: [`Target::Victim`](super::fault::Target::Victim) is the node that gave it.
    Promises,
}

impl fmt::Display for Strike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, at, cue, fault } = self;
        let Some((cue, delay)) = cue else { return write!(f, "{number:>2} at {at}: {fault}") };
        let what = match cue {
            Cue::Election => "an election",
            Cue::JointPhase => "the voters change",
            Cue::Removal => "a removal",
            Cue::Write => "a write begins",
            Cue::Promised => "somebody has a promise",
            Cue::Promises => "somebody has promised",
        };
        write!(f, "{number:>2} from {at} on, {} ms after {what}: {fault}", delay / MILLISECOND)
    }
}
