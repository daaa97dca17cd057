//! The coupled times of leases and fail-over, derived from three settings and never set one by one.
//!
//! The promise: nobody is replaced before its lease, its longest pause and the error of the clocks are over. Everything
//! is computed in whole nanoseconds, and what has to be waited for is rounded up.

use core::time::Duration;

use super::{Settings, Unsafe};

/// Below this a setting cannot be kept by any scheduler.
pub(super) const SHORTEST: Duration = Duration::from_millis(1);

const DRIFT_BOUND: u32 = 500;

/// What follows from `max_pause` P, `round_trip` R and drift d.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How long a renewal is good for from the moment it was sent: L = 2 (P + R).
    pub lease: Duration,
    /// How often a lease is renewed: L / 5.
    pub renew: Duration,
    /// How long a voter hears nothing of a member before it says so: 3 L / 4.
    pub suspect_after: Duration,
    /// How long a guest that was never admitted, or a node that waits to leave, goes without an answer of its voters before it gives up, and for how long an unheard
    /// guest is kept in gossip: 10 L. A suspended member that stays does not give up for that.
    pub give_up_after: Duration,
    /// How long a removed member's shards wait for its lease to end: W = (1 + d) (L / (1 - d) + P).
    pub wait: Duration,
    /// The longest fail-over when an owner is lost: `suspect_after` + W + 2 R.
    pub failover: Duration,
    /// The longest fail-over when the lost owner's node was the coordinator's too: `suspect_after` + 5 R + W + R.
    pub failover_coordinator: Duration,
}

impl Timing {
    /// The timing of these settings, or why there is none that keeps the promise in the time wanted.
    pub fn derive(settings: &Settings) -> Result<Self, Unsafe> {
        let &Settings { max_pause, round_trip, drift_per_mille, failover_target, .. } = settings;
        Unsafe::if_too_short(
            "max_pause",
            max_pause,
            SHORTEST,
            "set the longest freeze a healthy node may show",
        )?;
        Unsafe::if_too_short(
            "round_trip",
            round_trip,
            SHORTEST,
            "set what a message and its answer may take",
        )?;
        if drift_per_mille >= DRIFT_BOUND {
            return Err(Unsafe::TooMany {
                setting: "drift_per_mille",
                value: u64::from(drift_per_mille),
                most: u64::from(DRIFT_BOUND - 1),
                remedy: "mend the clocks instead: no lease is of use among such",
            });
        }
        let timing = Self::of(max_pause.as_nanos(), round_trip.as_nanos(), u128::from(drift_per_mille));
        // The loss of the coordinator's node is always the slower of the two.
        if timing.failover_coordinator > failover_target {
            return Err(Unsafe::FailoverTooSlow {
                takes: timing.failover_coordinator,
                target: failover_target,
                max_pause,
                round_trip,
            });
        }
        Ok(timing)
    }

    fn of(pause: u128, round_trip: u128, drift: u128) -> Self {
        let lease = 2 * (pause + round_trip);
        let renew = lease / 5;
        // A member on a slow clock that stands still just before its next renewal, as a voter on a fast clock sees it:
        // (1 + d)(renew / (1 - d) + P + R / 2) of silence are no reason to suspect anybody.
        let fast = 1000 + drift;
        let excused = (fast * (2000 * renew + (1000 - drift) * (2 * pause + round_trip)))
            .div_ceil(2000 * (1000 - drift));
        let suspect_after = (3 * lease).div_ceil(4).max(excused);
        // (1 + d)(L / (1 - d) + P) as one fraction, so that it is rounded once.
        let slow = 1000 - drift;
        let wait = ((1000 + drift) * (1000 * lease + slow * pause)).div_ceil(1000 * slow);
        Self {
            lease: duration(lease),
            renew: duration(renew),
            suspect_after: duration(suspect_after),
            give_up_after: duration(10 * lease),
            wait: duration(wait),
            failover: duration(suspect_after + wait + 2 * round_trip),
            failover_coordinator: duration(suspect_after + 5 * round_trip + wait + round_trip),
        }
    }
}

/// Stops at the longest duration, which no `failover_target` can be above of.
fn duration(nanos: u128) -> Duration {
    let Ok(seconds) = u64::try_from(nanos / 1_000_000_000) else { return Duration::MAX };
    let below = u32::try_from(nanos % 1_000_000_000).unwrap_or(0);
    Duration::new(seconds, below)
}
