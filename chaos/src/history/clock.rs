//! The clock that all processes of a machine share.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds since some moment that is the same for all processes of this machine.
pub fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let (seconds, nanos) = (u64::try_from(now.tv_sec), u32::try_from(now.tv_nsec));
    let since = Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0));
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// The same, of a moment that is over.
pub(crate) fn moment(when: Instant) -> u64 {
    now().saturating_sub(u64::try_from(when.elapsed().as_nanos()).unwrap_or(u64::MAX))
}
