//! Whole nodes from seeds: they repeat themselves, and a few pass quickly in debug builds too.

use borough_testkit::shells::batch::Batch;
use borough_testkit::shells::{Plan, run};

#[test]
fn a_seed_is_the_same_run_every_time() {
    for seed in [2, 4] {
        let plan = Plan::draw(seed);
        let (first, second) = (run(&plan, None), run(&plan, None));
        assert_eq!(first, second, "seed {seed}");
        assert!(first.tally.answered > 0 && first.tally.fired > 0, "{:?}", first.tally);
    }
}

#[test]
fn a_few_seeds_hold_every_rule() {
    let summary = Batch { from: 0, seeds: 48, threads: 2, failures_max: 5 }.run();
    let failed: Vec<_> = summary
        .failures
        .iter()
        .map(|(seed, violation)| format!("cargo xtask sim --shells --seed {seed}: {violation}"))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert_eq!(summary.seeds, 48);
}
