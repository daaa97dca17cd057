//! The power goes, and comes back: all processes are killed, and started again in any order.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{Fleet, START_BOUND, name};

/// The longest pause between two starts.
const PAUSE_MAX_MS: u64 = 400;
/// The same with disks: all are members before the first shard is given to anybody, and each gets back its own.
const PAUSE_MAX_WITH_DISKS_MS: u64 = 50;

/// What a process finds of the one before it at its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Disk {
    /// Nothing.
    #[default]
    None,
    /// What that one wrote to its `data_dir`.
    Kept,
}

impl Fleet {
    /// Kills all processes, as the power cut does: where they were.
    pub(crate) fn kill_all(&mut self) -> Result<Vec<usize>, String> {
        let places = self.places();
        for place in &places {
            // All of them first: a kill waits for the end of its process.
            self.process(*place)?.signal(rustix::process::Signal::KILL)?;
        }
        for place in &places {
            self.kill(*place)?;
        }
        Ok(places)
    }

    /// Starts processes in this order, with pauses that follow from the seed, and waits until all listen: when it began.
    pub(crate) fn start_all(&mut self, order: &[usize], seed: u64) -> Result<Instant, String> {
        let began = Instant::now();
        let mut random = Random::new(seed);
        let pause_max = match self.starts_with.disk {
            Disk::None => PAUSE_MAX_MS,
            Disk::Kept => PAUSE_MAX_WITH_DISKS_MS,
        };
        for place in order {
            self.launch(*place)?;
            // Machines do not come back at the same moment; how far apart is what is tested.
            std::thread::sleep(Duration::from_millis(random.below(pause_max)));
        }
        for place in order {
            self.listening(*place).map_err(|why| format!("{why}, {START_BOUND:?} after all were started"))?;
        }
        Ok(began)
    }

    /// Where a process keeps what is to outlive it, if anything is.
    pub(super) fn data_folder(&self, place: usize) -> Option<PathBuf> {
        let folder = self.folder().join(format!("{}.data", name(place)));
        (self.starts_with.disk == Disk::Kept).then_some(folder)
    }
}

/// These in an order that follows from the seed.
pub(crate) fn shuffled(mut places: Vec<usize>, seed: u64) -> Vec<usize> {
    let mut random = Random::new(seed);
    for last in (1..places.len()).rev() {
        let other = usize::try_from(random.below(last as u64 + 1)).unwrap_or(last);
        places.swap(last, other);
    }
    places
}

/// Numbers that follow from a seed.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn an_order_has_everybody_once_and_follows_from_its_seed() {
        let places: Vec<_> = (1..=5).collect();
        let orders: BTreeSet<_> = (0..200).map(|seed| shuffled(places.clone(), seed)).collect();
        assert!(orders.len() > 50, "{} orders", orders.len());
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, places);
        }
        assert_eq!(shuffled(places.clone(), 7), shuffled(places, 7));
    }
}
