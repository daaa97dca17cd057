//! Many histories of a few seekers: no order of messages makes two founders.

use proptest::prelude::*;

use super::*;

/// Tries every order in which at most so many steps can happen: any word ever said arrives, or 200 ms pass.
fn search(town: &Town, depth: usize, ends: &mut usize) {
    assert!(town.founders().len() <= 1, "two founders: {town:?}");
    if depth == 0 || town.seekers() == 0 {
        *ends += 1;
        return;
    }
    for place in 0..town.letters.len() {
        let mut next = town.clone();
        // It stays there: it may arrive again.
        let (to, letter) = next.letters[place].clone();
        next.deliver(to, &letter);
        search(&next, depth - 1, ends);
    }
    let mut next = town.clone();
    next.pass(Duration::from_millis(200));
    search(&next, depth - 1, ends);
}

#[test]
fn no_order_of_a_few_messages_makes_two_founders() {
    #[rustfmt::skip]
    let towns: &[(Lists, usize)] = &[
        (&[("a", &["a", "b"]), ("b", &["a", "b"])], 7),
        (&[("a", &["b"]), ("b", &["a"])], 7),
        (&[("a", &["a", "b", "c"]), ("b", &["a", "b", "c"]), ("c", &["a", "b", "c"])], 5),
        (&[("a", &["b"]), ("b", &["c"]), ("c", &["a"])], 6),
    ];
    for (lists, depth) in towns {
        let mut ends = 0;
        let mut town = Town::new(lists, Flaws::default());
        town.pass(Duration::ZERO);
        search(&town, *depth, &mut ends);
        assert!(ends > 1000, "{lists:?}: {ends} are not many");
    }
}

/// One step of a longer history.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// That one of the words ever said arrives, the newest counted first.
    Arrives(usize),
    Passes(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0_usize..8).prop_map(Step::Arrives),
        1 => (0_usize..200).prop_map(Step::Arrives),
        2 => (1_u64..400).prop_map(Step::Passes),
        1 => (1_u64..6000).prop_map(Step::Passes),
    ];
    prop::collection::vec(step, 1..120)
}

/// Says how many found, up to one seed timeout after the first did: those that it has its promises from are bound so long.
fn founders_of(lists: &[(&str, &[&str])], with: FoundWith, steps: &[Step], flaws: Flaws) -> usize {
    let mut town = Town::new(lists, flaws);
    for person in &mut town.people {
        if let Fate::Seeks(seeking) = person {
            seeking.founding.with = with;
        }
    }
    town.pass(Duration::ZERO);
    let mut ends = Timestamp::NEVER;
    for step in steps {
        match *step {
            Step::Arrives(back) if back < town.letters.len() => {
                let (to, letter) = town.letters[town.letters.len() - 1 - back].clone();
                town.deliver(to, &letter);
            }
            Step::Arrives(_) => {}
            Step::Passes(millis) => town.pass(Duration::from_millis(millis)),
        }
        if !town.founders().is_empty() {
            ends = ends.min(town.now + 5 * SECOND);
        }
        if town.now >= ends {
            break;
        }
    }
    town.founders().len()
}

const TWO: Lists = &[("a", &["a", "b"]), ("b", &["a", "b"])];
const THREE: Lists = &[("a", &["a", "b", "c"]), ("b", &["a", "b", "c"]), ("c", &["a", "b", "c"])];
const ROUND: Lists = &[("a", &["b"]), ("b", &["c"]), ("c", &["a"])];
const MIXED: Lists = &[("a", &["c", "b", "a"]), ("b", &["a", "b", "c"]), ("c", &["b", "a", "c"])];

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn late_lost_and_repeated_messages_never_make_two_founders(steps in steps()) {
        for lists in [TWO, THREE, ROUND, MIXED] {
            for with in [FoundWith::All, FoundWith::Majority] {
                let founders = founders_of(lists, with, &steps, Flaws::default());
                prop_assert!(founders <= 1, "{founders} founders of {lists:?}");
            }
        }
    }
}

#[cfg(feature = "flaws")]
#[test]
fn two_promises_of_one_seed_are_noticed() {
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let found = runner.run(&steps(), |steps| {
        prop_assert!(founders_of(THREE, FoundWith::Majority, &steps, Flaws::only(Flaw::TwoPromises)) <= 1);
        Ok(())
    });
    assert!(found.is_err(), "no history with two founders among many");
}
