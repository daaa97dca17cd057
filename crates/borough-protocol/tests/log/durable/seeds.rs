//! Many runs from many seeds: nothing is ever broken, everything heals, and each planted flaw is found.
//!
//! `BOROUGH_LOG_SEEDS` says how many seeds each test without a flaw runs.

use std::time::{Duration, Instant};

use borough_protocol::flaws::Flaws;

use super::rig::{Counts, Rig};
use crate::seeds::seeds;

const FAULTS: Duration = Duration::from_secs(5);
const HEALS_WITHIN: Duration = Duration::from_secs(15);

fn faults(rig: &mut Rig) {
    rig.run_for(FAULTS);
}

fn assert_heals(rig: &mut Rig, seed: u64) {
    let healed = rig.heals_within(HEALS_WITHIN);
    assert_eq!(rig.judge.violation(), None, "seed {seed}: {}", rig.describe());
    assert!(healed, "seed {seed} does not heal: {}", rig.describe());
}

fn run_all(seeds: impl Iterator<Item = u64>, run: impl Fn(u64) -> Counts) -> Counts {
    let (started, mut sum) = (Instant::now(), Counts::default());
    for seed in seeds {
        sum.add(run(seed));
    }
    println!("{sum:?}, {:.1} s", started.elapsed().as_secs_f64());
    sum
}

#[test]
fn nothing_is_broken_and_everything_heals_whatever_crashes() {
    let sum = run_all(0..seeds(100), |seed| {
        let mut rig = Rig::new(seed, Flaws::default());
        faults(&mut rig);
        assert_heals(&mut rig, seed);
        rig.counts
    });
    assert!(sum.crashes > 0 && sum.writes_lost > 0 && sum.writes_unreported > 0, "{sum:?}");
    assert!(sum.joints > 0 && sum.snapshots > 0 && sum.full_disks > 0, "{sum:?}");
}

#[test]
fn a_voter_with_an_older_copy_is_noticed_and_comes_back_as_a_learner() {
    let sum = run_all(0..seeds(40), |seed| {
        let mut rig = Rig::new(1_000_000 + seed, Flaws::default());
        for _ in 0..2 {
            faults(&mut rig);
            assert_heals(&mut rig, seed);
            let handled = rig.roll_back();
            assert_eq!(rig.judge.violation(), None, "seed {seed}: {}", rig.describe());
            assert_eq!(handled, Ok(()), "seed {seed}: {}", rig.describe());
            rig.start_faults();
        }
        rig.counts
    });
    assert!(sum.rollbacks > 0, "{sum:?}");
}

#[cfg(feature = "flaws")]
mod planted {
    use borough_protocol::flaws::Flaw;

    use super::*;

    const SEEDS: u64 = 2000;

    fn assert_found(flaw: Flaw) {
        let found = (0..SEEDS).find_map(|seed| {
            let mut rig = Rig::new(seed, Flaws::only(flaw));
            faults(&mut rig);
            rig.judge.violation().map(|violation| (seed, violation.to_owned()))
        });
        let (seed, violation) = found.unwrap_or_else(|| panic!("{flaw:?} was not found in {SEEDS} seeds"));
        println!("{flaw:?}: seed {seed}: {violation}");
    }

    #[test]
    fn messages_that_leave_before_the_write_are_found() {
        assert_found(Flaw::AnswersBeforeWrite);
    }

    #[test]
    fn commits_before_the_write_are_found() {
        assert_found(Flaw::CommitsBeforeWrite);
    }

    #[test]
    fn a_forgotten_vote_is_found() {
        assert_found(Flaw::VoteForgotten);
    }
}
