//! Many seeds, and a report.

use std::time::Instant;

use borough_testkit::sim::batch::{Batch, Summary};
use borough_testkit::sim::moment::MILLISECOND;

use crate::arguments::Arguments;
use crate::{UNPROVED, replay, resume};

const SEEDS: u64 = 1000;
/// From so many seeds on, every rare situation must have come up.
const SEEDS_FOR_RARE: u64 = 1000;
const FAILURES_MAX: usize = 10;

pub(crate) fn run(arguments: &Arguments) -> u8 {
    if let Some(path) = &arguments.state {
        return resume::run(path, arguments.seeds.unwrap_or(SEEDS), arguments);
    }
    let batch = Batch {
        from: arguments.from,
        seeds: arguments.seeds.unwrap_or(SEEDS),
        threads: arguments.threads,
        wish: arguments.wish.clone(),
        failures_max: FAILURES_MAX,
    };
    let started = Instant::now();
    let summary = batch.run();
    report(&batch, &summary, started.elapsed().as_secs_f64());
    if let Some((seed, violation)) = summary.failures.first() {
        println!("cutting seed {seed} down ...");
        replay::cut_down(*seed, arguments, violation);
        return summary.failures.iter().map(|(_, violation)| violation.exit_code()).min().unwrap_or(UNPROVED);
    }
    let asks_for_all = summary.seeds >= SEEDS_FOR_RARE && arguments.is_plain();
    let never: Vec<_> = summary.met.never().collect();
    if asks_for_all && !never.is_empty() {
        println!("never came up: {never:?}");
        return UNPROVED;
    }
    let never: Vec<_> = summary.situations.never().collect();
    if asks_for_all && arguments.wish.sharding && !never.is_empty() {
        println!("never came up with shards: {never:?}");
        return UNPROVED;
    }
    0
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn report(batch: &Batch, summary: &Summary, seconds: f64) {
    let Summary { seeds, handled, trace_hash, turned_wild, met, tally, situations, healed_after, failures } =
        summary;
    let [sent, delivered, refused, lost] = tally;
    if *sent > 0 {
        println!("{sent} messages to entities: {delivered} handled, {refused} refused, {lost} lost");
        println!("situations of shards that came up:\n{situations}");
    }
    println!("situations that came up:\n{met}");
    let at = |part: usize| {
        healed_after.get(healed_after.len() * part / 100).map_or(0, |nanos| nanos / MILLISECOND)
    };
    println!("healed after: median {} ms, 99 of 100 within {} ms", at(50), at(99));
    println!(
        "{seeds} seeds from {}, {handled} inputs, trace {trace_hash:016x}: {seconds:.1} s, {:.0} seeds/s, {:.0} inputs/s/thread",
        batch.from,
        *seeds as f64 / seconds,
        *handled as f64 / seconds / batch.threads as f64,
    );
    println!("{turned_wild} runs turned wild, {} failed", failures.len());
    for (seed, violation) in failures {
        println!("seed {seed}: {violation}");
    }
}
