//! The simulator's own test: each rule broken on purpose must be noticed.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use borough_protocol::flaws::Flaw;
use borough_testkit::sim::Violation;
use borough_testkit::sim::planted::{FLAWS, SHARDING_FLAWS, find, wish_for};

use crate::UNPROVED;
use crate::arguments::Arguments;

const SEEDS: u64 = 2000;

pub(crate) fn run(arguments: &Arguments) -> u8 {
    let seeds = arguments.seeds.unwrap_or(SEEDS);
    let flaws = match &arguments.flaw {
        Some(flaw) => std::slice::from_ref(flaw),
        None if arguments.wish.sharding => &SHARDING_FLAWS[..],
        None => &FLAWS[..],
    };
    println!("{:<36} {:>6}  found by", "planted", "seed");
    let (next, report) = (AtomicUsize::new(0), Mutex::new(Report::of(flaws)));
    let search = || {
        while let Some((place, flaw)) = take(&next, flaws) {
            let found = find(arguments.from, seeds, &wish_for(flaw, &arguments.wish));
            let Ok(mut report) = report.lock() else { return };
            report.add(place, found);
        }
    };
    thread::scope(|scope| {
        for _ in 0..arguments.threads {
            scope.spawn(search);
        }
    });
    let missed = report.into_inner().map_or_else(|_| flaws.to_vec(), |report| report.missed());
    if missed.is_empty() {
        return 0;
    }
    println!("not found within {seeds} seeds: {missed:?}");
    UNPROVED
}

/// The next flaw that nobody looks for yet.
fn take(next: &AtomicUsize, flaws: &[Flaw]) -> Option<(usize, Flaw)> {
    let place = next.fetch_add(1, Ordering::Relaxed);
    flaws.get(place).map(|flaw| (place, *flaw))
}

/// What became of each flaw. Rows are printed in the order of the flaws, whoever is done first.
struct Report {
    rows: Vec<(Flaw, Search)>,
    printed: usize,
}

/// What became of a flaw.
enum Search {
    UnderWay,
    Missed,
    Found(u64, Violation),
}

impl Report {
    fn of(flaws: &[Flaw]) -> Self {
        Self { rows: flaws.iter().map(|flaw| (*flaw, Search::UnderWay)).collect(), printed: 0 }
    }

    fn add(&mut self, place: usize, found: Option<(u64, Violation)>) {
        self.rows[place].1 = found.map_or(Search::Missed, |(seed, violation)| Search::Found(seed, violation));
        for (flaw, search) in &self.rows[self.printed..] {
            let name = format!("{flaw:?}");
            match search {
                Search::UnderWay => return,
                Search::Missed => println!("{name:<36} {:>6}  not found", "-"),
                Search::Found(seed, violation) => println!("{name:<36} {seed:>6}  {violation}"),
            }
            self.printed += 1;
        }
    }

    /// Those that were not found.
    fn missed(&self) -> Vec<Flaw> {
        let is_missed = |(_, search): &&(Flaw, Search)| !matches!(search, Search::Found(..));
        self.rows.iter().filter(is_missed).map(|(flaw, _)| *flaw).collect()
    }
}
