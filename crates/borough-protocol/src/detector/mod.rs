//! Whether a peer that is silent is gone.
//!
//! Nobody can know; a detector says how long silence has to last before it is worth saying so. The promise: the moment
//! is known as soon as a heartbeat is heard ([`Detector::suspect_at`]), so nobody has to look again and again, and both
//! questions, now and then, have the same answer.
//!
//! ```text
//! available --silent until suspect_at--> unavailable
//!     ^                                      |
//!     `------------- a heartbeat ------------'
//! ```
//!
//! `patience` multiplies the acceptable pause: 1 on a healthy node, more on one that doubts itself.

pub mod deadline;
pub mod phi;
pub mod samples;
#[cfg(test)]
mod tests;

pub use self::deadline::DeadlineDetector;
pub use self::phi::{PhiAccrual, PhiOptions};
pub use self::samples::Samples;

use core::time::Duration;

use crate::settings::{DetectorKind, Settings};
use crate::time::Timestamp;

/// A failure detector for one peer.
#[derive(Clone, Debug)]
pub enum Detector {
    /// It learns the peer's rhythm.
    Phi(PhiAccrual),
    /// It knows one bound.
    Deadline(DeadlineDetector),
}

impl Detector {
    /// The detector that these settings ask for, as if a heartbeat had been heard now.
    pub fn new(settings: &Settings, now: Timestamp) -> Self {
        match settings.detector {
            DetectorKind::Phi => Self::Phi(PhiAccrual::new(&PhiOptions::of(settings), now)),
            DetectorKind::Deadline => Self::Deadline(DeadlineDetector::new(
                settings.heartbeat_interval,
                settings.acceptable_pause,
                now,
            )),
        }
    }

    /// A heartbeat was heard.
    pub fn heartbeat(&mut self, now: Timestamp) {
        match self {
            Self::Phi(detector) => detector.heartbeat(now),
            Self::Deadline(detector) => detector.heartbeat(now),
        }
    }

    /// That much of the past does not count as silence: it was this node that could not hear.
    pub fn excuse(&mut self, deaf: Duration) {
        match self {
            Self::Phi(detector) => detector.excuse(deaf),
            Self::Deadline(detector) => detector.excuse(deaf),
        }
    }

    /// From when on the peer is unavailable if nothing is heard.
    pub fn suspect_at(&self, patience: u32) -> Timestamp {
        match self {
            Self::Phi(detector) => detector.suspect_at(patience),
            Self::Deadline(detector) => detector.suspect_at(patience),
        }
    }

    /// Whether the silence is still an acceptable one.
    pub fn is_available(&self, now: Timestamp, patience: u32) -> bool {
        now < self.suspect_at(patience)
    }

    /// How suspicious the silence is, for display: phi. A detector with one bound has no doubts: 0, then infinity.
    pub fn suspicion(&self, now: Timestamp, patience: u32) -> f64 {
        match self {
            Self::Phi(detector) => detector.phi(now, patience),
            Self::Deadline(_) if self.is_available(now, patience) => 0.0,
            Self::Deadline(_) => f64::INFINITY,
        }
    }
}
