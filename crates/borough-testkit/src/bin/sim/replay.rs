//! One seed again, in words; and what is left of a failing one when everything needless is left out.

use borough_testkit::sim::plan::{Plan, Wish};
use borough_testkit::sim::{Violation, guarded, minimise};

use crate::arguments::Arguments;

pub(crate) fn run(seed: u64, arguments: &Arguments) -> u8 {
    let plan = Plan::draw(seed, &arguments.wish);
    describe(&plan);
    let outcome = if arguments.is_traced {
        guarded(&plan, Some(Box::new(|line| println!("{line}"))))
    } else {
        guarded(&plan, None)
    };
    println!("{} inputs, trace {:016x}", outcome.handled, outcome.trace_hash);
    let [sent, handled, refused, lost] = outcome.tally;
    if sent > 0 {
        println!("{sent} messages to entities: {handled} handled, {refused} refused, {lost} lost");
    }
    let Some(violation) = outcome.violation else {
        println!("every rule held; healed after {} ms", outcome.healed_after / 1_000_000);
        return 0;
    };
    println!("{violation}");
    if arguments.wish.keep.is_none() {
        cut_down(seed, arguments, &violation);
    }
    violation.exit_code()
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
        "  {}, at most {} voters, max_pause {:?}, round_trip {:?}, drift {} per mille",
        settings.strategy,
        settings.max_voters,
        settings.max_pause,
        settings.round_trip,
        settings.drift_per_mille
    );
    for strike in &plan.strikes {
        println!("  {strike}");
    }
}

fn command(whole: &Plan, least: &Plan, wish: &Wish) -> String {
    let mut words = vec![format!("cargo xtask sim --seed {}", least.seed)];
    if wish.sharding {
        words.push("--scenario sharding".to_owned());
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
