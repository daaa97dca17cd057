//! The checker is fed whole histories of one schedule. They are constructed, in the form of the files that processes write.
//!
//! Seven hosts, n1 to n7, of which n1 to n5 vote; from 11 s to 70 s n3, n4 and n5 are cut off from n1, n2, n6 and n7. A client on each side asks four entities
//! every four seconds: c1 beside n3, c2 beside n1. Entities 0 and 1 live on n3 and n4, entities 2 and 3 on n1 and n6.
//!
//! | history | what happened |
//! |---|---|
//! | `one-cluster` | n3, n4 and n5 go on with all four entities, the others run nothing; after healing 2 and 3 move back, with their state |
//! | `two-clusters` | n1, n2, n6 and n7 found a second cluster 13 s after the cut, and run all four as well; after healing only that one goes on |

use std::path::Path;

use super::*;

const HEALED: u64 = 70_000_000_000;

fn history(name: &str) -> History {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/history/fixtures").join(name);
    History::read(&folder).unwrap()
}

/// What is found of a history if nothing but the cut happened.
fn faults(history: &History) -> Vec<&'static str> {
    let cut_off = ["n1", "n2", "n6", "n7"].map(str::to_owned);
    let lives = Lives::EndIn(cut_off.into());
    let expected = Expected { lives, apart: [(20, HEALED)].into(), ..Expected::default() };
    check(history, &expected, 4).faults.rules()
}

#[test]
fn one_side_that_goes_on_alone_is_well() {
    let history = history("one-cluster");
    assert_eq!((history.processes.len(), faults(&history)), (7, Vec::new()));
}

#[test]
fn two_clusters_that_run_the_same_entities_are_found() {
    let faults = faults(&history("two-clusters"));
    for rule in [
        "two activations overlap",
        "a life that was over goes on",
        "an older life answered after a newer one",
        "an entity lost its state though its process ran on",
    ] {
        assert!(faults.contains(&rule), "{rule}: {faults:?}");
    }
}

#[test]
fn acknowledged_state_that_is_gone_is_found_though_the_two_never_ran_at_the_same_time() {
    let mut history = history("two-clusters");
    // Whatever the first cluster did after the second had begun is left out.
    let begun = history.turns.iter().filter(|(_, turn)| turn.signed.epoch >> 32 == 123);
    let begun = begun.map(|(_, turn)| turn.signed.at).min().unwrap();
    let is_over = |signed: &Signed| signed.epoch >> 32 == 100 && signed.at >= begun;
    history.turns.retain(|(_, turn)| !is_over(&turn.signed));
    history.sendings.retain(|sending| match &sending.outcome {
        Outcome::Answered(signed) => !is_over(signed),
        _ => true,
    });
    assert_eq!(faults(&history), ["an entity lost its state though its process ran on"]);
}
