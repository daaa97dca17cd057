//! How suspicious the silence of others is, where anybody can read it.
//!
//! It is for display: nothing is decided by it, so it is a little old and costs the control thread next to nothing.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use borough_protocol::incarnation::Uid;
use borough_protocol::node;
use borough_protocol::time::Timestamp;

/// How old what is read may be.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What the machine thought when it was last looked at.
#[derive(Debug, Default)]
pub(super) struct Suspicions {
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    at: Option<Timestamp>,
    phi: BTreeMap<Uid, f64>,
}

impl Suspicions {
    /// Looks at the machine, unless it did a moment ago.
    pub(super) fn look(&self, machine: &node::Node, now: Timestamp) {
        let mut seen = self.lock();
        if seen.at.is_none_or(|at| now.since(at) >= LOOK_EVERY) {
            seen.at = Some(now);
            seen.phi.clear();
            seen.phi.extend(machine.suspicions(now));
        }
    }

    /// A life is over: nobody is watched.
    pub(super) fn clear(&self) {
        *self.lock() = Seen::default();
    }

    pub(super) fn read(&self) -> BTreeMap<Uid, f64> {
        self.lock().phi.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
