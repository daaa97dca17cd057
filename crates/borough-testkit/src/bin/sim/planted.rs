//! The simulator's own test: each rule broken on purpose must be noticed.

use borough_protocol::flaws::Flaws;
use borough_testkit::sim::plan::Wish;
use borough_testkit::sim::planted::{FLAWS, SHARDING_FLAWS, find, mode_for};

use crate::UNPROVED;
use crate::arguments::Arguments;

const SEEDS: u64 = 2000;

pub(crate) fn run(arguments: &Arguments) -> u8 {
    let seeds = arguments.seeds.unwrap_or(SEEDS);
    let mut missed = Vec::new();
    println!("{:<36} {:>6}  found by", "planted", "seed");
    let flaws = if arguments.wish.sharding { &SHARDING_FLAWS[..] } else { &FLAWS[..] };
    for flaw in flaws.iter().copied() {
        let mode = arguments.wish.mode.or(mode_for(flaw));
        let wish = Wish { flaws: Flaws::only(flaw), mode, ..arguments.wish.clone() };
        let name = format!("{flaw:?}");
        if let Some((seed, violation)) = find(arguments.from, seeds, &wish) {
            println!("{name:<36} {seed:>6}  {violation}");
        } else {
            println!("{name:<36} {:>6}  not found", "-");
            missed.push(flaw);
        }
    }
    if missed.is_empty() {
        return 0;
    }
    println!("not found within {seeds} seeds: {missed:?}");
    UNPROVED
}
