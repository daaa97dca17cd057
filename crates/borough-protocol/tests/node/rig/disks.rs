//! The disks of nodes: what is written is there a moment later, and a crash loses the rest.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use borough_protocol::disk::{Image, Write};
use borough_protocol::incarnation;
use borough_protocol::time::Timestamp;
use borough_protocol::voters::VoterId;

/// How long a write takes.
const SYNC: Duration = Duration::from_millis(3);

/// The disks, by address.
#[derive(Default)]
pub(crate) struct Disks {
    all: BTreeMap<&'static str, Disk>,
}

#[derive(Clone, Debug)]
pub(crate) struct Disk {
    pub(crate) image: Image,
    /// How often it was used.
    pub(crate) lives: u64,
    unsynced: VecDeque<(Timestamp, u64, Write)>,
    /// How many writes were given to it.
    pub(crate) writes: u64,
    /// From when on no write succeeds.
    pub(crate) full: bool,
}

impl Disks {
    /// A life begins at that address.
    pub(crate) fn open(&mut self, address: &'static str) -> (Image, incarnation::Disk) {
        let disk = self.of(address);
        disk.lives += 1;
        (disk.image.clone(), incarnation::Disk { voter: disk.image.voter, life: disk.lives })
    }

    pub(crate) fn of(&mut self, address: &'static str) -> &mut Disk {
        let number = 1000 + address.bytes().fold(0, |sum, byte| 31 * sum + u64::from(byte));
        let voter = VoterId::new(number).expect("not 0");
        self.all.entry(address).or_insert_with(|| Disk {
            image: Image::new(voter),
            lives: 0,
            unsynced: VecDeque::new(),
            writes: 0,
            full: false,
        })
    }

    /// Another disk is put there, with nothing on it.
    pub(crate) fn lose(&mut self, address: &'static str) {
        let number = 7000 + self.of(address).image.voter.get();
        self.all.remove(address);
        self.of(address).image.voter = VoterId::new(number).expect("not 0");
    }

    pub(crate) fn write(&mut self, address: &'static str, now: Timestamp, number: u64, write: Write) {
        let disk = self.of(address);
        disk.writes += 1;
        if !disk.full {
            disk.unsynced.push_back((now + SYNC, number, write));
        }
    }

    pub(crate) fn next(&self) -> Timestamp {
        let due = self.all.values().filter_map(|disk| disk.unsynced.front()).map(|(at, ..)| *at);
        due.min().unwrap_or(Timestamp::NEVER)
    }

    /// Makes the writes of one disk that are due; says which, and the number of the last one.
    pub(crate) fn sync(&mut self, now: Timestamp) -> Option<(&'static str, u64)> {
        let is_due = |disk: &Disk| disk.unsynced.front().is_some_and(|(at, ..)| *at <= now);
        let (address, disk) = self.all.iter_mut().find(|(_, disk)| is_due(disk))?;
        let mut last = 0;
        while let Some((_, number, write)) = disk.unsynced.front().filter(|(at, ..)| *at <= now).cloned() {
            disk.unsynced.pop_front();
            disk.image.apply(write);
            last = number;
        }
        Some((address, last))
    }

    /// A life ended in order: what was given out is written before the next one starts.
    pub(crate) fn flush(&mut self, address: &'static str) {
        let disk = self.of(address);
        for (_, _, write) in std::mem::take(&mut disk.unsynced) {
            disk.image.apply(write);
        }
    }

    /// The process is gone, and with it what was not synced.
    pub(crate) fn crash(&mut self, address: &'static str) {
        self.of(address).unsynced.clear();
    }
}
