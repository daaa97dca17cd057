//! One seed again, in words; and what is left of a failing one when everything needless is left out.

use std::fs;

use borough_testkit::sim::plan::{Kind, Plan, Wish};
use borough_testkit::sim::strike::Strike;
use borough_testkit::sim::{Violation, guarded, minimise};

use crate::UNPROVED;
use crate::arguments::Arguments;

pub(crate) fn run(seed: u64, arguments: &Arguments) -> u8 {
    let plan = Plan::draw(seed, &arguments.wish);
    let Some((violation, struck)) = run_plan(&plan, arguments) else { return 0 };
    if let Some(path) = &arguments.save {
        return save(path, Plan { strikes: struck, is_forced: true, ..plan }, &violation);
    }
    if arguments.wish.keep.is_none() {
        cut_down(seed, arguments, &violation);
    }
    violation.exit_code()
}

/// Runs the plan of a file.
pub(crate) fn run_file(path: &str, arguments: &Arguments) -> u8 {
    let plan = fs::read_to_string(path).map_err(|error| error.to_string());
    let plan = plan.and_then(|text| Plan::from_json(&text).map_err(|error| error.to_string()));
    match plan {
        Ok(plan) => run_plan(&plan, arguments).map_or(0, |(violation, _)| violation.exit_code()),
        Err(error) => {
            eprintln!("sim: {path} cannot be read: {error}");
            UNPROVED
        }
    }
}

/// Writes the least schedule that still breaks the same rule, with the faults that struck instead of those that were drawn.
fn save(path: &str, struck: Plan, violation: &Violation) -> u8 {
    let again = guarded(&struck, None);
    println!("the faults that struck, alone: {:?}, trace {:016x}", again.violation, again.trace_hash);
    let least = minimise(struck, violation, |plan| guarded(plan, None).violation);
    describe(&least);
    let Some(found) = guarded(&least, None).violation else {
        eprintln!("sim: the faults that struck do not fail without those that were passed over");
        return UNPROVED;
    };
    let written = least.to_json(&found.to_string()).map_err(|error| error.to_string());
    let written = written.and_then(|text| fs::write(path, text + "\n").map_err(|error| error.to_string()));
    if let Err(error) = written {
        eprintln!("sim: {path} cannot be written: {error}");
        return UNPROVED;
    }
    println!("{found}\nagain: cargo xtask sim --plan {path}");
    violation.exit_code()
}

/// Runs a plan and says what came of it: what was broken, if anything was, and the faults that struck.
fn run_plan(plan: &Plan, arguments: &Arguments) -> Option<(Violation, Vec<Strike>)> {
    describe(plan);
    let outcome = if arguments.is_traced {
        guarded(plan, Some(Box::new(|line| println!("{line}"))))
    } else {
        guarded(plan, None)
    };
    println!("{} inputs, trace {:016x}", outcome.handled, outcome.trace_hash);
    let [sent, handled, refused, lost] = outcome.tally;
    if sent > 0 {
        println!("{sent} messages to entities: {handled} handled, {refused} refused, {lost} lost");
    }
    let Some(violation) = outcome.violation else {
        println!("every rule held; healed after {} ms", outcome.healed_after / 1_000_000);
        return None;
    };
    println!("{violation}");
    Some((violation, outcome.struck))
}

/// Prints the least that still breaks the same rule, and the command that repeats it.
pub(crate) fn cut_down(seed: u64, arguments: &Arguments, violation: &Violation) {
    let whole = Plan::draw(seed, &arguments.wish);
    let least = minimise(whole.clone(), violation, |plan| guarded(plan, None).violation);
    describe(&least);
    if let Some(violation) = guarded(&least, None).violation {
        println!("{violation}");
    }
    println!("again: {}", command(&whole, &least, &arguments.wish));
}

fn describe(plan: &Plan) {
    println!("seed {}: {:?}, {} nodes, {:?}", plan.seed, plan.mode, plan.nodes, plan.weather);
    let settings = &plan.settings;
    println!(
        "  {}{}, at most {} voters, max_pause {:?}, round_trip {:?}, drift {} per mille",
        settings.strategy,
        if settings.durable { ", voters on disks" } else { "" },
        settings.max_voters,
        settings.max_pause,
        settings.round_trip,
        settings.drift_per_mille
    );
    println!("  seeds of each slot {:?}", plan.seeds);
    for strike in &plan.strikes {
        println!("  {strike}");
    }
}

fn command(whole: &Plan, least: &Plan, wish: &Wish) -> String {
    let mut words = vec![format!("cargo xtask sim --seed {}", least.seed)];
    if wish.sharding {
        words.push("--scenario sharding".to_owned());
    }
    match wish.durable {
        Some(true) => words.push("--disks".to_owned()),
        Some(false) => words.push("--no-disks".to_owned()),
        None => {}
    }
    match wish.kind {
        Some(Kind::Usual) => words.push("--kind usual".to_owned()),
        Some(Kind::BadLinks) => words.push("--kind bad-links".to_owned()),
        Some(Kind::Founders) => words.push("--kind founders".to_owned()),
        Some(Kind::Replaced) => words.push("--kind replaced".to_owned()),
        Some(Kind::Remembering) => words.push("--kind remembering".to_owned()),
        None => {}
    }
    if let Some(mode) = wish.mode {
        words.push(format!("--mode {mode:?}").to_lowercase());
    }
    if least.nodes != whole.nodes || wish.nodes.is_some() {
        words.push(format!("--nodes {}", least.nodes));
    }
    if least.strikes.len() != whole.strikes.len() || wish.keep.is_some() {
        let kept: Vec<String> = least.strikes.iter().map(|strike| strike.number.to_string()).collect();
        // The comma keeps an empty list a word.
        words.push(format!("--keep {},", kept.join(",")));
    }
    words.join(" ")
}
