//! Deadlines.

use std::time::Duration;

use tokio::time::Instant;

/// The moment `by` after `from`; one beyond what the clock can count comes in thirty years.
pub(crate) fn later(from: Instant, by: Duration) -> Instant {
    from.checked_add(by).unwrap_or_else(|| from + Duration::from_secs(60 * 60 * 24 * 365 * 30))
}
