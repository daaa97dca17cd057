//! What the rigs need to run a log: how to make one, and payloads and states small enough to compare.

use std::time::Duration;

use borough_protocol::flaws::Flaws;
use borough_protocol::log::Log;
use borough_protocol::log::raft::{Raft, RaftTiming};
use borough_protocol::time::Timestamp;
use borough_protocol::version::Version;
use borough_protocol::voters::VoterId;

pub(crate) const TIMING: RaftTiming = RaftTiming {
    append_every: Duration::from_millis(250),
    suspect_after: Duration::from_millis(750),
    repair_every: Duration::from_millis(40),
};

/// Everything applied so far, as one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) version: Version,
    pub(crate) hash: u64,
}

/// A log that can be run by a rig. `Breaks` says which rule it breaks.
pub(crate) trait Carrier: Log<u64, State, Message: Clone> {
    type Breaks: Copy + Default;

    fn make(me: VoterId, breaks: Self::Breaks) -> Self;
    fn found(me: VoterId, breaks: Self::Breaks, now: Timestamp) -> Self;
    fn assert_sound(&self);
}

impl Carrier for Raft<u64, State> {
    type Breaks = Flaws;

    fn make(me: VoterId, breaks: Flaws) -> Self {
        Self::new(me, TIMING, breaks)
    }

    fn found(me: VoterId, breaks: Flaws, now: Timestamp) -> Self {
        Self::found(me, TIMING, breaks, now)
    }

    fn assert_sound(&self) {
        self.assert_invariants();
    }
}

pub(crate) fn uid(number: u64) -> VoterId {
    VoterId::new(number).expect("not 0")
}
