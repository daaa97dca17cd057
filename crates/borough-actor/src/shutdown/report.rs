//! What a shutdown did.

use std::time::Duration;

/// How a shutdown went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Each phase, in order.
    pub phases: Vec<PhaseReport>,
    /// The paths of actors that did not stop in time and were killed, a hundred at the most.
    pub killed: Vec<String>,
    /// The paths of actors that could not even be killed, because they block their thread; a hundred at the most.
    pub stuck: Vec<String>,
    /// Whether it did not come to its end: its runtime was shut down, or the system was dropped. What had not been done by then was not done.
    pub is_cut_short: bool,
}

/// How one phase of a shutdown went.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PhaseReport {
    /// The phase.
    pub name: String,
    /// How long it took.
    pub took: Duration,
    /// The tasks that were not done in time, or failed, with the reason.
    pub failed: Vec<String>,
}

impl ShutdownReport {
    /// Whether it came to its end, every task was done in time and every actor stopped by itself.
    pub fn is_clean(&self) -> bool {
        !self.is_cut_short
            && self.killed.is_empty()
            && self.stuck.is_empty()
            && self.phases.iter().all(|phase| phase.failed.is_empty())
    }
}
