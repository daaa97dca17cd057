//! Large clusters: tables, a plot, and the goals.

use std::time::Instant;

use borough_testkit::scale::{Scenario, goals, plot, report};
use borough_testkit::sim::Violation;

use crate::UNPROVED;
use crate::arguments::Arguments;

const SEED: u64 = 1;

pub(crate) fn run(arguments: &Arguments) -> u8 {
    let mut sizes = arguments.scale.clone();
    sizes.sort_unstable();
    sizes.dedup();
    let mut courses = Vec::new();
    for nodes in sizes {
        let began = Instant::now();
        let mut before = 0.0;
        let course = Scenario::of(nodes, arguments.scale_seed.unwrap_or(SEED)).run(|phase| {
            let wall = began.elapsed().as_secs_f64();
            eprintln!("{nodes} nodes, {}: {:.1} s of wall-clock time", phase.name, wall - before);
            before = wall;
        });
        match course {
            Ok(course) => courses.push(course),
            Err(missing) => {
                println!("{nodes} nodes do not agree: {missing}");
                return Violation::Liveness("scale", missing).exit_code();
            }
        }
    }
    println!("{}", report(&courses));
    if let Some(path) = &arguments.plot
        && let Err(error) = std::fs::write(path, plot(&courses))
    {
        eprintln!("sim: {path} cannot be written: {error}");
        return UNPROVED;
    }
    let missed = goals(&courses).iter().any(|goal| !goal.is_met);
    if missed && arguments.is_checked { UNPROVED } else { 0 }
}
