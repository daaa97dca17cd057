//! Whole nodes with actors: many seeds and a report, or one seed in words.

use std::time::Instant;

use borough_testkit::shells::batch::{Batch, Summary};
use borough_testkit::shells::{Lines, Plan, run as run_plan};

use crate::arguments::Arguments;

const SEEDS: u64 = 200;
const FAILURES_MAX: usize = 20;

pub(crate) fn run(arguments: &Arguments) -> u8 {
    let batch = Batch {
        from: arguments.from,
        seeds: arguments.seeds.unwrap_or(SEEDS),
        threads: arguments.threads,
        failures_max: FAILURES_MAX,
    };
    let started = Instant::now();
    let summary = batch.run();
    report(&batch, &summary, started.elapsed().as_secs_f64());
    summary.failures.iter().map(|(_, violation)| violation.exit_code()).min().unwrap_or(0)
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn report(batch: &Batch, summary: &Summary, seconds: f64) {
    let Summary { seeds, events, told, lives, two_clusters, trace_hash, healed_within, failures } = summary;
    println!("{lives} lives, {told} messages, healed within {:.1} s", healed_within.as_secs_f64());
    println!("{two_clusters} runs ended with two clusters");
    println!(
        "{seeds} seeds from {}, {events} events, trace {trace_hash:016x}: {seconds:.1} s, {:.1} seeds/s",
        batch.from,
        *seeds as f64 / seconds,
    );
    println!("{} failed", failures.len());
    for (seed, violation) in failures {
        println!("seed {seed}: {violation}\n  again: cargo xtask sim --shells --seed {seed} --trace");
    }
}

/// One seed again.
pub(crate) fn replay(seed: u64, arguments: &Arguments) -> u8 {
    let plan = Plan::draw(seed);
    let Plan { nodes, places, frame_max, queue, senders, weather, length, .. } = &plan;
    println!(
        "seed {seed}: {nodes} nodes of {places}, {senders} senders each, frames of {frame_max} bytes, queues of {queue}, \
         {weather:?} late, heals after {length:?}"
    );
    for strike in &plan.strikes {
        println!("  {strike}");
    }
    let print: Lines = Box::new(|line| println!("{line}"));
    let outcome = run_plan(&plan, arguments.is_traced.then_some(print));
    println!("{} events, trace {:016x}, {:?}", outcome.events, outcome.trace_hash, outcome.tally);
    match outcome.violation {
        None => {
            println!("every rule held; healed after {:?}", outcome.healed_after);
            0
        }
        Some(violation) => {
            println!("{violation}\nagain: cargo xtask sim --shells --seed {seed} --trace");
            violation.exit_code()
        }
    }
}
