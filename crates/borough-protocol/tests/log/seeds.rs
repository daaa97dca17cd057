//! Many runs from many seeds: nothing is ever broken, and everything that can heal does.
//!
//! `BOROUGH_LOG_SEEDS` says how many seeds each of the two tests runs.

use std::env;
use std::time::{Duration, Instant};

use borough_protocol::log::raft::Raft;
use borough_protocol::time::Timestamp;

use crate::carrier::{Carrier, State};
use crate::rig::{Counts, Rig};
use crate::toy::Toy;

pub(crate) fn seeds(ordinary: u64) -> u64 {
    env::var("BOROUGH_LOG_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(ordinary)
}

fn run<L: Carrier>(seed: u64) -> Counts {
    let mut rig = Rig::<L>::new(seed, L::Breaks::default());
    rig.run_until(Timestamp::from_millis(7000));
    let healed = rig.heals_within(Duration::from_secs(15));
    assert_eq!(rig.judge.violation(), None, "seed {seed}: {}", rig.describe());
    assert!(healed || !rig.must_heal(), "seed {seed} does not heal: {}", rig.describe());
    rig.counts
}

fn run_all<L: Carrier>(seeds: impl Iterator<Item = u64>) -> Counts {
    let (started, mut sum) = (Instant::now(), Counts::default());
    for seed in seeds {
        let counts = run::<L>(seed);
        sum.events += counts.events;
        sum.commits += counts.commits;
        sum.joints += counts.joints;
        sum.snapshots += counts.snapshots;
        sum.crashes += counts.crashes;
        sum.cuts += counts.cuts;
        sum.offices += counts.offices;
        sum.healed_ms = sum.healed_ms.max(counts.healed_ms);
    }
    let seconds = started.elapsed().as_secs_f64();
    println!("{sum:?}, {seconds:.1} s");
    sum
}

fn assert_eventful(sum: Counts) {
    assert!(sum.joints > 0 && sum.crashes > 0 && sum.cuts > 0 && sum.offices > 0, "{sum:?}");
}

#[test]
fn nothing_is_broken_and_everything_heals_with_noraft_for_even_seeds() {
    let sum = run_all::<Raft<u64, State>>((0..seeds(110)).map(|seed| 2 * seed));
    assert_eventful(sum);
    assert!(sum.snapshots > 0, "{sum:?}");
}

#[test]
fn nothing_is_broken_and_everything_heals_with_noraft_for_odd_seeds() {
    let sum = run_all::<Raft<u64, State>>((0..seeds(110)).map(|seed| 2 * seed + 1));
    assert_eventful(sum);
    assert!(sum.snapshots > 0, "{sum:?}");
}

/// The toy has no rule for who ends a joint phase, so it may get stuck; it must not be wrong.
#[test]
fn a_toy_that_breaks_no_rule_is_never_accused() {
    for seed in 0..20 {
        let mut rig = Rig::<Toy>::new(seed, None);
        rig.run_until(Timestamp::from_millis(5000));
        assert_eq!(rig.judge.violation(), None, "seed {seed}: {}", rig.describe());
        assert!(rig.counts.commits > 0);
    }
}
