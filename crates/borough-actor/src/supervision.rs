//! What happens to an actor whose turn failed.
//!
//! ```text
//! fault --Resume---> next message, same state
//!       --Restart--> children stop, wait (backoff), new instance, next message
//!       --Stop-----> stopping, gone
//!       --Escalate-> gone, and the fault becomes the parent's own
//! ```
//! A restart keeps the mailbox, the stash included; only the message that failed is lost. More
//! restarts than the limit allows within its window end the actor.

use std::collections::VecDeque;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::fault::Fault;

/// What to do about a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Directive {
    /// Make a new instance and go on with the next message.
    Restart,
    /// Keep the instance as it is and go on with the next message.
    Resume,
    /// Stop the actor.
    Stop,
    /// Stop the actor and let its parent fail with this fault. At the top of the tree: stop.
    Escalate,
}

/// An actor failed, and this is what its supervision said. Published on the system's [`EventStream`](crate::EventStream).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActorFailed {
    /// Who.
    pub path: String,
    /// What happened, in words.
    pub fault: String,
    /// What is done about it.
    pub directive: Directive,
}

/// How an actor's faults are answered.
///
/// The default restarts: at most 10 times within a minute, after 100 ms, doubling to 10 s, each
/// wait varied by up to 20 %.
#[derive(Clone)]
pub struct Supervision {
    decide: Decide,
    first_wait: Duration,
    longest_wait: Duration,
    restarts: u32,
    window: Duration,
}

#[derive(Clone)]
enum Decide {
    Always(Directive),
    By(Arc<dyn Fn(&Fault) -> Directive + Send + Sync>),
}

impl Default for Supervision {
    fn default() -> Self {
        Self::always(Directive::Restart)
    }
}

impl Supervision {
    /// The same answer to every fault.
    pub fn always(directive: Directive) -> Self {
        Self::new(Decide::Always(directive))
    }

    /// An answer by the kind of fault.
    ///
    /// ```
    /// use borough_actor::{Directive, Supervision};
    ///
    /// Supervision::by(|fault| match fault.downcast_ref::<std::io::Error>() {
    ///     Some(_) => Directive::Resume,
    ///     None => Directive::Restart,
    /// });
    /// ```
    pub fn by(decide: impl Fn(&Fault) -> Directive + Send + Sync + 'static) -> Self {
        Self::new(Decide::By(Arc::new(decide)))
    }

    fn new(decide: Decide) -> Self {
        Self {
            decide,
            first_wait: Duration::from_millis(100),
            longest_wait: Duration::from_secs(10),
            restarts: 10,
            window: Duration::from_secs(60),
        }
    }

    /// How long to wait before a restart: `first`, doubled with each further restart in the window, up to `longest`.
    ///
    /// Zero restarts at once.
    #[must_use]
    pub fn backoff(mut self, first: Duration, longest: Duration) -> Self {
        self.first_wait = first;
        self.longest_wait = longest.max(first);
        self
    }

    /// How many restarts within `window` are too many; the one after them stops the actor. A limit above 1000 is none.
    #[must_use]
    pub fn limit(mut self, restarts: u32, window: Duration) -> Self {
        self.restarts = restarts;
        self.window = window;
        self
    }

    /// What it says about that fault. The decision may be user code.
    pub fn decide(&self, fault: &Fault) -> Directive {
        match &self.decide {
            Decide::Always(directive) => *directive,
            Decide::By(decide) => decide(fault),
        }
    }
}

impl fmt::Debug for Supervision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decide = match &self.decide {
            Decide::Always(directive) => format!("{directive:?}"),
            Decide::By(_) => "by fault".to_owned(),
        };
        f.debug_struct("Supervision")
            .field("decide", &decide)
            .field("first_wait", &self.first_wait)
            .field("longest_wait", &self.longest_wait)
            .field("restarts", &self.restarts)
            .field("window", &self.window)
            .finish()
    }
}

/// How many restarts are remembered at the most; a larger limit is no limit.
const REMEMBERED: usize = 1000;

/// The restarts of one actor that still count against its limit.
#[derive(Debug, Default)]
pub(crate) struct RestartHistory(VecDeque<Instant>);

impl RestartHistory {
    /// Whether none counts any more, as far as was looked.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Counts a restart now; gives how long to wait before it, or `None` if it is one too many.
    pub(crate) fn next(&mut self, policy: &Supervision, now: Instant) -> Option<Duration> {
        while self.0.front().is_some_and(|earlier| now.duration_since(*earlier) >= policy.window) {
            self.0.pop_front();
        }
        let earlier = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        if earlier >= policy.restarts {
            return None;
        }
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(now);
        let doubled = policy.first_wait.saturating_mul(1_u32.checked_shl(earlier).unwrap_or(u32::MAX));
        Some(vary(doubled.min(policy.longest_wait)))
    }
}

/// Plus or minus up to 20 %, so that actors that failed together do not come back together.
fn vary(wait: Duration) -> Duration {
    let random = RandomState::new().hash_one(wait);
    let per_mille = 800 + (random % 401) as u32;
    wait.saturating_mul(per_mille) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(policy: &Supervision, faults: usize) -> Vec<Option<Duration>> {
        let mut history = RestartHistory::default();
        let now = Instant::now();
        (0..faults).map(|_| history.next(policy, now)).collect()
    }

    #[test]
    fn the_default_waits_100_ms_doubling_to_10_s_and_gives_up_after_ten() {
        let waits = waits(&Supervision::default(), 11);
        for (n, wait) in waits.iter().take(10).enumerate() {
            let middle = Duration::from_millis(100 << n).min(Duration::from_secs(10));
            let wait = wait.unwrap();
            assert!(wait >= middle * 4 / 5 && wait <= middle * 6 / 5, "restart {n} waits {wait:?}");
        }
        assert_eq!(waits[10], None);
    }

    #[test]
    fn restarts_older_than_the_window_do_not_count() {
        let policy = Supervision::default().limit(1, Duration::from_secs(1));
        let mut history = RestartHistory::default();
        let now = Instant::now();
        assert!(history.next(&policy, now).is_some());
        assert!(history.next(&policy, now).is_none());
        assert!(history.next(&policy, now + Duration::from_secs(1)).is_some());
    }
}
