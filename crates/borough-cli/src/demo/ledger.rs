//! What was sent to each sensor, and what became of it: every message is accounted for.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use super::sensor::{Memory, name};

/// How many sensors are told of by name.
const UNEXPLAINED: usize = 10;

/// Counts for each sensor, by its number. Each is written by the one task that sends to it.
#[derive(Debug)]
pub(super) struct Ledger {
    sent: Vec<AtomicU64>,
    refused: Vec<AtomicU64>,
}

/// What became of all messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Account {
    /// Messages given to the region.
    pub(super) sent: u64,
    /// Those that living sensors have.
    pub(super) handled: u64,
    /// Those that came back to the sender with a reason.
    pub(super) refused: u64,
    /// Those to sensors that lived in a process that was killed or lost: they ended with it. Also those on their way through it.
    pub(super) gone_with_lost: u64,
    /// Those that nothing explains. There must be none.
    pub(super) missing: u64,
    /// Those handled more often than sent. There must be none.
    pub(super) doubled: u64,
    /// Those that came in another order than they were sent. There must be none.
    pub(super) misplaced: u64,
    /// Sensors that began anew after that.
    pub(super) began_anew: u64,
    /// The first sensors whose messages nothing explains, in words.
    pub(super) unexplained: Vec<String>,
}

impl Account {
    /// Whether every message is accounted for.
    pub(super) fn is_balanced(&self) -> bool {
        self.missing == 0 && self.doubled == 0 && self.misplaced == 0
    }
}

impl Ledger {
    pub(super) fn new(sensors: usize) -> Self {
        let zeros = || (0..sensors).map(|_| AtomicU64::new(0)).collect();
        Self { sent: zeros(), refused: zeros() }
    }

    pub(super) fn sensors(&self) -> usize {
        self.sent.len()
    }

    /// One more to that sensor; gives its number.
    pub(super) fn send(&self, sensor: usize) -> u64 {
        self.sent[sensor].fetch_add(1, Ordering::Relaxed)
    }

    /// The last one came back.
    pub(super) fn refuse(&self, sensor: usize) {
        self.refused[sensor].fetch_add(1, Ordering::Relaxed);
    }

    /// So far: sent and refused.
    pub(super) fn totals(&self) -> (u64, u64) {
        let sum = |counts: &[AtomicU64]| counts.iter().map(|count| count.load(Ordering::Relaxed)).sum();
        (sum(&self.sent), sum(&self.refused))
    }

    /// Lays what each sensor remembers beside what was sent to it. `shard_of` gives the shard of a sensor, `harmed` are those that lived in a
    /// process that was lost.
    pub(super) fn settle(
        &self,
        memories: &[Memory],
        harmed: &BTreeSet<u32>,
        shard_of: impl Fn(usize) -> u32,
    ) -> Account {
        let mut account = Account::default();
        for (sensor, memory) in memories.iter().enumerate() {
            let sent = self.sent[sensor].load(Ordering::Relaxed);
            let refused = self.refused[sensor].load(Ordering::Relaxed);
            account.sent += sent;
            account.refused += refused;
            account.handled += memory.readings;
            account.misplaced += memory.misplaced;
            let expected = sent - refused;
            account.doubled += memory.readings.saturating_sub(expected);
            let absent = expected.saturating_sub(memory.readings);
            let shard = shard_of(sensor);
            let is_harmed = harmed.contains(&shard);
            let is_explained =
                memory.misplaced == 0 && memory.readings <= expected && (absent == 0 || is_harmed);
            if !is_explained && account.unexplained.len() < UNEXPLAINED {
                account.unexplained.push(format!(
                    "{} in shard {shard}: {sent} sent, {refused} refused, {} handled, {} out of order",
                    name(sensor),
                    memory.readings,
                    memory.misplaced
                ));
            }
            if is_harmed {
                account.gone_with_lost += absent;
                account.began_anew += u64::from(absent > 0);
            } else {
                account.missing += absent;
            }
        }
        account
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger() -> Ledger {
        let ledger = Ledger::new(2);
        for sensor in [0, 0, 0, 1, 1] {
            ledger.send(sensor);
        }
        ledger.refuse(1);
        ledger
    }

    fn settle(ledger: &Ledger, readings: [u64; 2], harmed: &[u32]) -> Account {
        let memories = readings.map(|readings| Memory { readings, ..Memory::default() });
        let shard_of = |sensor| u32::try_from(sensor).expect("few sensors");
        ledger.settle(&memories, &harmed.iter().copied().collect(), shard_of)
    }

    #[test]
    fn what_is_handled_or_refused_is_balanced() {
        let account = settle(&ledger(), [3, 1], &[]);
        assert!(account.is_balanced());
        assert_eq!((account.sent, account.handled, account.refused), (5, 4, 1));
    }

    #[test]
    fn a_message_that_is_nowhere_is_missing_unless_its_sensor_lived_in_a_lost_process() {
        assert_eq!(settle(&ledger(), [2, 1], &[]).missing, 1);
        let account = settle(&ledger(), [2, 1], &[0]);
        assert!(account.is_balanced());
        assert_eq!((account.gone_with_lost, account.began_anew), (1, 1));
    }

    #[test]
    fn a_message_handled_twice_is_no_balance_even_where_a_process_was_killed() {
        let account = settle(&ledger(), [4, 1], &[0]);
        assert_eq!(account.doubled, 1);
        assert!(!account.is_balanced());
    }
}
