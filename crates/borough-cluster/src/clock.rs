//! The only clock of this crate.
//!
//! Promise: moments never go back, and on Linux they count while the machine sleeps, as leases need it. A simulated node goes by the
//! runtime's clock instead, which tests can stop.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use borough_protocol::time::Timestamp;
use tokio::time::Instant;

/// The beginning of 2020, in seconds since 1970.
const YEAR_2020: u64 = 1_577_836_800;

/// Tokio's timers do not count while the machine sleeps: after so long a sleeper looks at the clock in any case.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// How often the runtime's clock is compared with the system's.
const CLOCKS_COMPARED_EVERY: Duration = Duration::from_secs(1);

/// By how much they may differ in that time.
const CLOCKS_APART: Duration = Duration::from_millis(500);

/// What time it is.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Machine { fallback: Instant },
    Runtime { origin: Instant, era: u32 },
}

impl Clock {
    /// The machine's.
    pub(crate) fn of_machine() -> Self {
        Self { kind: Kind::Machine { fallback: Instant::now() } }
    }

    /// The clock of the runtime this is called in, which starts now; the wall clock says `era` then.
    pub(crate) fn of_runtime(era: u32) -> Self {
        Self { kind: Kind::Runtime { origin: Instant::now(), era } }
    }

    /// Now.
    pub(crate) fn now(&self) -> Timestamp {
        match self.kind {
            Kind::Machine { fallback } => boot_time().unwrap_or_else(|| elapsed(fallback)),
            Kind::Runtime { origin, .. } => elapsed(origin),
        }
    }

    /// Sleeps until that moment, or less: whoever wakes looks at the clock. Cancel safe.
    pub(crate) async fn sleep_towards(&self, moment: Timestamp) {
        let left = moment.since(self.now());
        let longest = match self.kind {
            Kind::Machine { .. } => LONGEST_SLEEP,
            Kind::Runtime { .. } if moment == Timestamp::NEVER => return std::future::pending().await,
            Kind::Runtime { .. } => left,
        };
        tokio::time::sleep(left.min(longest)).await;
    }

    /// Seconds since the beginning of 2020 by the wall clock: what tells a later founding of a cluster from an earlier one.
    pub(crate) fn era(&self) -> u32 {
        let seconds = match self.kind {
            Kind::Machine { .. } => {
                let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                wall.as_secs().saturating_sub(YEAR_2020)
            }
            Kind::Runtime { origin, era } => u64::from(era) + origin.elapsed().as_secs(),
        };
        u32::try_from(seconds).unwrap_or(u32::MAX)
    }
}

/// Ready once the clock of the runtime has run ahead of the system's: it was stopped, and jumps. Gives how far each went meanwhile.
pub(crate) async fn runtime_runs_ahead() -> (Duration, Duration) {
    loop {
        // Read in this order, a pause of the process never looks like a jump.
        let system = std::time::Instant::now();
        let runtime = Instant::now();
        tokio::time::sleep(CLOCKS_COMPARED_EVERY).await;
        let runtime = runtime.elapsed();
        let system = system.elapsed();
        if runtime > system + CLOCKS_APART {
            return (runtime, system);
        }
    }
}

fn elapsed(origin: Instant) -> Timestamp {
    Timestamp::ZERO + origin.elapsed()
}

#[cfg(target_os = "linux")]
fn boot_time() -> Option<Timestamp> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let since = Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?);
    Some(Timestamp::ZERO + since)
}

/// Elsewhere the standard clock has to do: it may stand still while the machine sleeps.
#[cfg(not(target_os = "linux"))]
fn boot_time() -> Option<Timestamp> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_s_clock_goes_on_and_never_back() {
        let clock = Clock::of_machine();
        let first = clock.now();
        let later = (0..1000).map(|_| clock.now()).fold(first, |before, now| {
            assert!(now >= before);
            now
        });
        assert!(later > Timestamp::ZERO && clock.era() > 190_000_000);
    }

    #[tokio::test(start_paused = true)]
    async fn a_runtime_s_clock_goes_as_the_runtime_s_time_does() {
        let clock = Clock::of_runtime(100);
        clock.sleep_towards(Timestamp::from_millis(2500)).await;
        assert_eq!(clock.now(), Timestamp::from_millis(2500));
        assert_eq!(clock.era(), 102);
    }
}
