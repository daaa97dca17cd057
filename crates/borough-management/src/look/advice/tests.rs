//! What is said in each standing, with data directories and without.

use borough_cluster::{ClusterId, SettingsRefusal, Uid};

use super::*;

/// Both kinds of clusters.
const BOTH: &[bool] = &[true, false];
const DURABLE: &[bool] = &[true];
const VOLATILE: &[bool] = &[false];

/// True of a node that was removed, and of no other.
const REMOVED: [&str; 2] = ["the cluster removed it", "goes on without it"];
const DROPPED: &str = "dropped its shards and entities";

fn cluster() -> ClusterId {
    ClusterId { name: 1, era: 4, founder: Uid::new(7).unwrap() }
}

/// A reason to give up: in which clusters, what is said, and what must not be.
struct Case {
    why: GaveUp,
    clusters: &'static [bool],
    says: &'static [&'static str],
    never: &'static [&'static str],
}

fn case(why: GaveUp, clusters: &'static [bool], says: &'static [&'static str]) -> Case {
    Case { why, clusters, says, never: &REMOVED }
}

fn cases() -> [Case; 9] {
    let removed = &["the cluster removed it and goes on without it", DROPPED, "joins again as a new member"];
    let leaving = &["it was leaving", "no majority of the voters answered", DROPPED];
    let voters_gone =
        &["the voters of its cluster are gone for good", DROPPED, "helps to found a new cluster"];
    let ended = &["its cluster has ended", DROPPED, "helps to found a new cluster"];
    let forsaken = &["it was not admitted", "voters fell silent", "looks for its "];
    let overtaken = &["yielded to another cluster of its name", DROPPED, "joins that cluster"];
    let copy = &[
        "its data directory is an older copy: the cluster knows a later state of it",
        "do not start a copy beside its original",
        "joins as a new voter",
    ];
    [
        Case { never: &[], ..case(GaveUp::Removed, BOTH, removed) },
        case(GaveUp::Suspended, BOTH, leaving),
        case(GaveUp::Over, VOLATILE, voters_gone),
        Case { never: &[REMOVED[0], REMOVED[1], "gone for good"], ..case(GaveUp::Over, DURABLE, ended) },
        Case { never: &[REMOVED[0], REMOVED[1], DROPPED], ..case(GaveUp::Forsaken, BOTH, forsaken) },
        case(GaveUp::Overtaken(cluster()), BOTH, overtaken),
        case(GaveUp::DownAll, BOTH, &["a peer was lost", "`down-all`", DROPPED]),
        case(GaveUp::Recovers, BOTH, &["recovery was ordered", DROPPED, "founds the cluster again"]),
        case(GaveUp::Copy, BOTH, copy),
    ]
}

fn says(standing: &Standing, is_durable: bool, words: &[&str], never: &[&str]) {
    let text = advice(standing, is_durable).unwrap_or_else(|| panic!("{standing}: nothing is said"));
    let case = format!("{standing}, with a data directory: {is_durable}");
    for word in words {
        assert!(text.contains(word), "{case}: {word:?} is not in {text:?}");
    }
    for word in never {
        assert!(!text.contains(word), "{case}: {word:?} is in {text:?}");
    }
}

#[test]
fn a_node_that_gave_up_says_for_which_reason_and_what_it_does_next() {
    for Case { why, clusters, says: words, never } in cases() {
        for is_durable in clusters {
            let back = [never, &["start its process"]].concat();
            says(
                &Standing::Returning(why),
                *is_durable,
                &[words, &["by itself, under a new uid"]].concat(),
                &back,
            );
            let stays = ["it does not come back by itself (`rejoin`): start its process again"];
            says(&Standing::GaveUp(why), *is_durable, &[words, &stays].concat(), never);
        }
    }
}

#[test]
fn voters_come_back_with_their_data_directories_and_not_without() {
    let keeps = [
        "it runs nothing; it keeps its state, and goes on by itself once a majority answers",
        "`borough recover`",
    ];
    let with = [
        "start the silent voters with their data directories",
        "Only if the disks of a majority of the voters are lost for good",
    ];
    says(&Standing::Suspended, true, &[&keeps[..], &with].concat(), &["does not come back", "new cluster"]);
    let without = [
        "restore the network",
        "A voter whose process has ended does not come back by starting it",
        "found a new cluster together",
    ];
    says(&Standing::Suspended, false, &[&keeps[..], &without].concat(), &["data director", "disks"]);

    let looks = ["its log says every 5 s for which addresses", "seed", "`borough recover`"];
    let with = [
        "cluster that its data directory names",
        "with their data directories: a majority of them is enough",
    ];
    says(&Standing::Seeking, true, &[&looks[..], &with].concat(), &["take it off"]);
    says(
        &Standing::Seeking,
        false,
        &[&looks[..], &["take it off the list of seeds on all nodes"]].concat(),
        &["data director"],
    );
}

#[test]
fn a_process_is_started_again_only_where_that_helps() {
    let again = "start its process again";
    for is_durable in BOTH {
        for failure in [Failure::RuntimeGone, Failure::WorkerEnded, Failure::Wedged] {
            says(
                &Standing::Failed(failure),
                *is_durable,
                &["gave up its lease", "the others go on without it", again],
                &[],
            );
        }
        says(&Standing::Stopped, *is_durable, &[again], &[]);
        let refusal = SettingsRefusal { setting: "max_pause".into(), ours: "1".into(), theirs: "2".into() };
        says(
            &Standing::Refused(refusal),
            *is_durable,
            &["settings", "start it with the cluster's"],
            &[again],
        );
        says(&Standing::Joining, *is_durable, &["a majority of the voters must be there to admit it"], &[]);
    }
    let words = [
        "its data directory does not hold the log of a voter",
        "does not help",
        "borough data reset",
        "Do not restore an older copy",
    ];
    says(&Standing::Failed(Failure::DataDirectory), true, &words, &[again]);
}

#[test]
fn a_node_that_works_or_went_in_order_gets_no_advice() {
    for is_durable in BOTH {
        for standing in
            [Standing::Member, Standing::Leaving, Standing::Left, Standing::Closing, Standing::Closed]
        {
            assert_eq!(advice(&standing, *is_durable), None);
        }
    }
}
