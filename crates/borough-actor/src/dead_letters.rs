//! Dead letters: every message that reached no handler, counted by reason, told to whoever listens.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::events::EventStream;
use crate::sync::{Mutex, lock};

/// Why a message reached no handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeadLetterReason {
    /// It was sent to an actor that had stopped. A sender on the same node got it back with an error; one on another node does not know.
    Stopped,
    /// It was accepted, and its actor stopped before its turn came.
    Unhandled,
    /// Its mailbox was full and is set to drop, or it was sent in a way that does not wait.
    Overflow,
    /// Whoever asked had given up before its turn came.
    AskerGone,
    /// It was on its way to another node that is lost; that node may have handled it.
    NodeLost,
    /// It came from another node and could not be decoded.
    Unreadable,
}

impl DeadLetterReason {
    /// All reasons.
    pub const ALL: [Self; 6] =
        [Self::Stopped, Self::Unhandled, Self::Overflow, Self::AskerGone, Self::NodeLost, Self::Unreadable];
}

/// One dead letter, as published on the system's [`EventStream`]:
/// `system.events().subscribe::<DeadLetter>()`. One that could not be told to a subscriber is counted, not published.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeadLetter {
    /// The path of the actor it was for.
    pub recipient: String,
    /// The type of the message.
    pub message_type: &'static str,
    /// Why it reached no handler.
    pub reason: DeadLetterReason,
}

/// The counts of a system's dead letters.
#[derive(Debug, Default)]
pub struct DeadLetters {
    counts: [AtomicU64; DeadLetterReason::ALL.len()],
    log: Mutex<LogSample>,
}

impl DeadLetters {
    /// How many messages died for this reason since the system started.
    pub fn count(&self, reason: DeadLetterReason) -> u64 {
        self.counts[reason as usize].load(Ordering::Relaxed)
    }

    /// How many messages died since the system started.
    pub fn total(&self) -> u64 {
        DeadLetterReason::ALL.iter().map(|reason| self.count(*reason)).sum()
    }

    /// Counts one, logs it if it is in the sample, and publishes it if somebody listens.
    pub(crate) fn record(
        &self,
        events: &EventStream,
        letter: impl FnOnce() -> DeadLetter,
        reason: DeadLetterReason,
    ) {
        self.counts[reason as usize].fetch_add(1, Ordering::Relaxed);
        let logged = lock(&self.log).admit(Instant::now());
        let heard = events.has_subscribers::<DeadLetter>();
        if logged.is_none() && !heard {
            return;
        }
        let letter = letter();
        if let Some(left_out) = logged {
            tracing::warn!(
                recipient = %letter.recipient, message = letter.message_type, reason = ?reason, left_out,
                "dead letter"
            );
        }
        if heard {
            publish(events, letter);
        }
    }
}

/// Publishes a dead letter, unless it is one about a dead letter: whoever listens may be full too, and would be
/// told so without end.
fn publish(events: &EventStream, letter: DeadLetter) {
    thread_local! {
        static PUBLISHING: Cell<bool> = const { Cell::new(false) };
    }
    struct Done;
    impl Drop for Done {
        fn drop(&mut self) {
            PUBLISHING.set(false);
        }
    }
    if !PUBLISHING.replace(true) {
        let _done = Done;
        events.publish(letter);
    }
}

/// Lets ten lines through every ten seconds, and counts the others.
#[derive(Debug, Default)]
struct LogSample {
    window_began: Option<Instant>,
    in_window: u32,
    left_out: u64,
}

impl LogSample {
    const PER_WINDOW: u32 = 10;
    const WINDOW: Duration = Duration::from_secs(10);

    /// How many were left out since the last line, if this one is to be logged.
    fn admit(&mut self, now: Instant) -> Option<u64> {
        if self.window_began.is_none_or(|began| now.duration_since(began) >= Self::WINDOW) {
            self.window_began = Some(now);
            self.in_window = 0;
        }
        self.in_window += 1;
        if self.in_window > Self::PER_WINDOW {
            self.left_out += 1;
            return None;
        }
        Some(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_gets_ten_lines_a_window_and_the_count_of_the_others() {
        let mut sample = LogSample::default();
        let begin = Instant::now();
        let lines = (0..1000).filter(|_| sample.admit(begin).is_some()).count();
        assert_eq!(lines, 10);
        assert_eq!(sample.admit(begin + LogSample::WINDOW), Some(990));
        assert_eq!(sample.admit(begin + LogSample::WINDOW), Some(0));
    }
}
