//! How long an answer takes while all this goes on: some sensors are asked what they remember, all the time.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use borough::prelude::*;
use serde::Serialize;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::sensor::{Reading, name};

/// How often one is asked, whether the last has answered or not: waiting for it would hide the slow ones.
const EVERY: Duration = Duration::from_millis(20);
/// How many may be on their way.
const ON_THE_WAY: usize = 512;
/// How many answers are remembered: how long the last ones took is told, and of all how many there were.
const REMEMBERED: usize = 1 << 16;
/// What is shown as of now: about ten seconds.
pub(super) const RECENT: usize = 500;

/// How long answers took.
#[derive(Debug, Default)]
pub(super) struct Probe {
    micros: Mutex<VecDeque<u64>>,
    answered: AtomicU64,
    failed: AtomicU64,
}

/// How many questions were answered and how many not, of all; of the last answers half took at most this long, and 99 of 100 at most that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Latency {
    pub(super) answered: u64,
    pub(super) failed: u64,
    pub(super) p50_micros: u64,
    pub(super) p99_micros: u64,
}

impl Probe {
    fn add(&self, took: Duration) {
        self.answered.fetch_add(1, Ordering::Relaxed);
        let mut micros = self.micros.lock().unwrap_or_else(PoisonError::into_inner);
        if micros.len() == REMEMBERED {
            micros.pop_front();
        }
        micros.push_back(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    /// How long that many answers took, the last ones.
    pub(super) fn latency(&self, last: usize) -> Latency {
        let mut recent: Vec<u64> = {
            let micros = self.micros.lock().unwrap_or_else(PoisonError::into_inner);
            micros.iter().rev().take(last).copied().collect()
        };
        recent.sort_unstable();
        let at = |percent: usize| recent.get(recent.len() * percent / 100).or(recent.last()).copied();
        Latency {
            answered: self.answered.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            p50_micros: at(50).unwrap_or_default(),
            p99_micros: at(99).unwrap_or_default(),
        }
    }
}

/// Asks one sensor after the other, until it is to end.
pub(super) async fn ask_around(
    region: Region<Reading>,
    sensors: usize,
    probe: Arc<Probe>,
    ends: Arc<AtomicBool>,
) {
    let mut asked = JoinSet::new();
    let mut tick = interval(EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut number = 0_usize;
    while sensors > 0 && !ends.load(Ordering::Relaxed) {
        tick.tick().await;
        while asked.try_join_next().is_some() || asked.len() >= ON_THE_WAY {
            if asked.len() >= ON_THE_WAY {
                asked.join_next().await;
            }
        }
        // A prime step comes by all of them, in many shards one after the other.
        number = (number + 7919) % sensors;
        let (region, probe) = (region.clone(), Arc::clone(&probe));
        asked.spawn(async move {
            let began = Instant::now();
            match region.ask(name(number), Reading::Look).await {
                Ok(_) => probe.add(began.elapsed()),
                Err(_) => {
                    probe.failed.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_and_ninety_nine_of_a_hundred_are_counted_among_the_last() {
        let probe = Probe::default();
        (1..=1000).for_each(|millis| probe.add(Duration::from_millis(millis)));
        let latency = probe.latency(100);
        assert_eq!((latency.p50_micros, latency.p99_micros), (951_000, 1_000_000));
    }

    #[test]
    fn answers_are_counted_also_when_they_are_no_longer_remembered() {
        let probe = Probe::default();
        (0..=REMEMBERED).for_each(|_| probe.add(Duration::from_millis(1)));
        assert_eq!(probe.latency(RECENT).answered, REMEMBERED as u64 + 1);
    }
}
