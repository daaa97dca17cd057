//! The phi accrual detector: silence measured by the rhythm of the peer itself.
//!
//! Phi is minus the logarithm of the chance that a peer with this rhythm is silent for so long and still alive: at phi 8
//! one accusation in a hundred million is wrong. After Hayashibara and others, "The phi accrual failure detector", with
//! the logistic approximation of the normal distribution that Akka uses.
//!
//! The only place where a float decides something: `libm` and the four operations alone, in a fixed order, so that a
//! seed replays bit for bit on any platform. The decision itself is one moment, computed once for each heartbeat.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times in floats; what is lost is far below a microsecond, and nothing is negative"
)]

use core::f64::consts::{LN_10, LOG10_E};
use core::time::Duration;

use super::Samples;
use crate::settings::Settings;
use crate::time::Timestamp;

/// The polynomial `y (LINEAR + CUBIC y y)` in the logistic approximation of the normal distribution.
const LINEAR: f64 = 1.5976;
const CUBIC: f64 = 0.070_566;

/// How a phi detector is set; see [`Settings`] for what each does.
#[derive(Clone, Debug)]
pub struct PhiOptions {
    /// The phi from which on a peer is unavailable, in tenths.
    pub threshold_tenths: u32,
    /// How many intervals are remembered.
    pub window: usize,
    /// The least standard deviation that is assumed.
    pub min_deviation: Duration,
    /// The interval that is assumed before any was seen.
    pub expected_interval: Duration,
    /// Silence on top of the rhythm that counts for nothing.
    pub acceptable_pause: Duration,
}

impl PhiOptions {
    /// What the settings say.
    pub fn of(settings: &Settings) -> Self {
        Self {
            threshold_tenths: settings.phi_threshold_tenths,
            window: settings.phi_window,
            min_deviation: settings.phi_min_deviation,
            expected_interval: settings.heartbeat_interval,
            acceptable_pause: settings.acceptable_pause,
        }
    }
}

/// A failure detector that learns the rhythm of one peer.
///
/// An interval longer than the expected one and the acceptable pause together is not recorded: it was an outage, and not
/// the rhythm. Recorded, even cut short, it would raise the deviation, and the next outages would be found later for as
/// long as it stays in the window.
#[derive(Clone, Debug)]
pub struct PhiAccrual {
    samples: Samples,
    longest: Duration,
    acceptable_pause: Duration,
    min_deviation: f64,
    /// How many deviations above the mean phi reaches its threshold; it depends on the threshold alone.
    reach: f64,
    /// Of the samples, in microseconds.
    mean: f64,
    deviation: f64,
    last: Timestamp,
    /// When it turns unavailable, but for the acceptable pause.
    turns_at: Timestamp,
}

impl PhiAccrual {
    /// A detector that expects the interval it is told of, give or take a quarter, as if a heartbeat had been heard now.
    pub fn new(options: &PhiOptions, now: Timestamp) -> Self {
        let mut samples = Samples::new(options.window);
        let interval = micros(options.expected_interval);
        samples.push(interval - interval / 4);
        samples.push(interval.saturating_add(interval / 4));
        let mut detector = Self {
            samples,
            longest: options.expected_interval.saturating_add(options.acceptable_pause),
            acceptable_pause: options.acceptable_pause,
            min_deviation: f64::from(micros(options.min_deviation)),
            reach: reach(f64::from(options.threshold_tenths) / 10.0),
            mean: 0.0,
            deviation: 0.0,
            last: now,
            turns_at: now,
        };
        detector.learn();
        detector
    }

    /// A heartbeat was heard.
    pub fn heartbeat(&mut self, now: Timestamp) {
        let interval = now.since(self.last);
        self.last = now;
        if interval <= self.longest {
            self.samples.push(micros(interval));
        }
        self.learn();
    }

    /// That much of the past does not count as silence.
    pub fn excuse(&mut self, deaf: Duration) {
        self.last = self.last + deaf;
        self.turns_at = self.turns_at + deaf;
    }

    /// From when on phi is at its threshold if nothing is heard.
    pub fn suspect_at(&self, patience: u32) -> Timestamp {
        self.turns_at + self.acceptable_pause.saturating_mul(patience)
    }

    /// Phi of the silence up to now. It is for display: [`suspect_at`](Self::suspect_at) decides.
    pub fn phi(&self, now: Timestamp, patience: u32) -> f64 {
        let silence = now.since(self.last).as_nanos() as f64 / 1000.0;
        let pause = self.acceptable_pause.saturating_mul(patience).as_nanos() as f64 / 1000.0;
        phi(silence, self.mean + pause, self.deviation)
    }

    fn learn(&mut self) {
        let count = self.samples.count() as f64;
        self.mean = self.samples.sum() as f64 / count;
        let deviation = libm::sqrt(self.samples.scaled_variance() as f64) / count;
        self.deviation = libm::fmax(deviation, self.min_deviation);
        let silence = libm::fmax(self.mean + self.reach * self.deviation, 0.0);
        self.turns_at = self.last + Duration::from_nanos(libm::ceil(silence * 1000.0) as u64);
    }
}

/// Minus the decimal logarithm of the chance that a silence gets longer than this one.
///
/// The chance is `1 / (1 + e^u)` with `u` the polynomial of the distance from the mean. Written so that neither a short
/// nor an endless silence leaves the range of a float.
fn phi(silence: f64, mean: f64, deviation: f64) -> f64 {
    let y = (silence - mean) / deviation;
    let u = y * (LINEAR + CUBIC * y * y);
    let certain = if u > 0.0 { u } else { 0.0 };
    (certain + libm::log1p(libm::exp(-libm::fabs(u)))) * LOG10_E
}

/// How many deviations above the mean phi is `threshold`: the one real root of the polynomial, in closed form.
fn reach(threshold: f64) -> f64 {
    let wanted = threshold * LN_10;
    let u = wanted + libm::log1p(-libm::exp(-wanted));
    let linear = LINEAR / CUBIC;
    let scale = 2.0 * libm::sqrt(linear / 3.0);
    let angle = libm::asinh(4.0 * u / CUBIC / (scale * scale * scale)) / 3.0;
    scale * libm::sinh(angle)
}

/// Stops at 71 minutes, which no interval comes near.
fn micros(duration: Duration) -> u32 {
    u32::try_from(duration.as_micros()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phi_has_the_values_it_is_known_for() {
        // Silence, and phi of it at a mean of 1000 and a deviation of 100.
        let known = [
            (0.0, 0.0),
            (500.0, 0.0),
            (900.0, 0.075),
            (1000.0, 0.301),
            (1200.0, 1.643),
            (1400.0, 4.737),
            (1600.0, 10.782),
            (1700.0, 15.369),
            (1_000_000.0, 3.055e10),
        ];
        for (silence, expected) in known {
            let phi = phi(silence, 1000.0, 100.0);
            assert!((phi - expected).abs() <= 0.001 * expected.max(1.0), "{silence}: {phi}");
        }
    }

    #[test]
    fn the_bits_of_phi_are_frozen() {
        assert_eq!(reach(8.0).to_bits(), 4_617_569_956_303_133_644);
        assert_eq!(phi(1234.5, 1000.0, 100.0).to_bits(), 4_611_745_303_187_196_745);
    }

    #[test]
    fn an_irregular_peer_is_suspected_later() {
        assert!(phi(1100.0, 1000.0, 500.0) < phi(1100.0, 1000.0, 100.0));
    }

    #[test]
    fn the_reach_is_where_phi_meets_the_threshold() {
        for tenths in 10..=160 {
            let threshold = f64::from(tenths) / 10.0;
            let at = phi(reach(threshold), 0.0, 1.0);
            assert!((at - threshold).abs() < 1e-9, "{threshold}: {at}");
        }
    }
}
