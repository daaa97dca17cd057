//! The simulator as a whole: it repeats itself, and few seeds pass quickly in debug builds too. That it notices is what `cargo xtask sim --planted` shows.

use borough_testkit::sim::batch::Batch;
use borough_testkit::sim::plan::{Plan, Wish};
use borough_testkit::sim::{guarded, run};

fn hash(seed: u64) -> u64 {
    run(&Plan::draw(seed, &Wish::default()), None).trace_hash
}

#[test]
fn a_seed_is_the_same_run_every_time() {
    for seed in 0..4 {
        assert_eq!(hash(seed), hash(seed), "seed {seed}");
    }
    assert_ne!(hash(0), hash(1));
}

#[test]
fn writing_lines_does_not_change_a_run() {
    let plan = Plan::draw(2, &Wish::default());
    let traced = run(&plan, Some(Box::new(|line| assert!(!line.is_empty()))));
    assert_eq!(traced.trace_hash, run(&plan, None).trace_hash);
}

#[test]
fn the_number_of_threads_does_not_count() {
    let batch = |threads| Batch { from: 0, seeds: 6, threads, wish: Wish::default(), failures_max: 10 };
    let (one, three) = (batch(1).run(), batch(3).run());
    assert_eq!((one.trace_hash, one.handled, one.seeds), (three.trace_hash, three.handled, three.seeds));
    assert_eq!(one.met, three.met);
}

#[test]
fn a_few_seeds_hold_every_rule() {
    for seed in 0..10 {
        let outcome = guarded(&Plan::draw(seed, &Wish::default()), None);
        assert_eq!(outcome.violation, None, "seed {seed}: cargo xtask sim --seed {seed}");
    }
}

/// Runs with shards, entities and senders.
fn sharded() -> Wish {
    Wish { sharding: true, ..Wish::default() }
}

#[test]
fn a_seed_with_shards_is_the_same_run_every_time_and_holds_every_rule() {
    for seed in 0..6 {
        let plan = Plan::draw(seed, &sharded());
        let outcome = guarded(&plan, None);
        assert_eq!(outcome.violation, None, "cargo xtask sim --scenario sharding --seed {seed}");
        assert!(outcome.tally[1] > 0, "seed {seed}: entities handled something");
        assert_eq!(outcome.trace_hash, guarded(&plan, None).trace_hash, "seed {seed}");
    }
}

#[test]
fn shards_do_not_change_what_is_drawn_without_them() {
    let (with, without) = (Plan::draw(5, &sharded()), Plan::draw(5, &Wish::default()));
    assert!(without.sharding.is_none());
    assert_eq!(format!("{:?}", Plan { sharding: None, ..with }), format!("{without:?}"));
}
