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

/// Each reason to give up: in which clusters, what is said, and what must not be.
fn reasons() -> Vec<(GaveUp, &'static [bool], Vec<&'static str>, Vec<&'static str>)> {
    let removed = REMOVED.to_vec();
    vec![
        (
            GaveUp::Removed,
            BOTH,
            vec!["the cluster removed it and goes on without it", DROPPED, "joins again as a new member"],
            vec![],
        ),
        (
            GaveUp::Suspended,
            BOTH,
            vec!["it was leaving", "no majority of the voters answered"],
            removed.clone(),
        ),
        (
            GaveUp::Over,
            VOLATILE,
            vec!["the voters of its cluster are gone for good", DROPPED, "helps to found a new cluster"],
            removed.clone(),
        ),
        (
            GaveUp::Over,
            DURABLE,
            vec!["its cluster has ended", DROPPED, "helps to found a new cluster"],
            [&removed[..], &["gone for good"]].concat(),
        ),
        (
            GaveUp::Forsaken,
            BOTH,
            vec!["it was not admitted", "voters fell silent", "looks for its "],
            [&removed[..], &[DROPPED]].concat(),
        ),
        (
            GaveUp::Overtaken(cluster()),
            BOTH,
            vec!["yielded to another cluster of its name", DROPPED, "joins that cluster"],
            removed.clone(),
        ),
        (GaveUp::DownAll, BOTH, vec!["a peer was lost", "`down-all`", DROPPED], removed.clone()),
        (
            GaveUp::Recovers,
            BOTH,
            vec!["recovery was ordered", DROPPED, "founds the cluster again"],
            removed.clone(),
        ),
        (
            GaveUp::Copy,
            BOTH,
            vec![
                "its data directory is an older copy: the cluster knows a later state of it",
                "joins as a new voter",
                "do not start a copy beside its original",
            ],
            removed,
        ),
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
    for (why, clusters, words, never) in reasons() {
        for is_durable in clusters {
            let back = [&never[..], &["start its process"]].concat();
            says(
                &Standing::Returning(why),
                *is_durable,
                &[&words[..], &["by itself, under a new uid"]].concat(),
                &back,
            );
            let stays = ["it does not come back by itself (`rejoin`): start its process again"];
            says(&Standing::GaveUp(why), *is_durable, &[&words[..], &stays].concat(), &never);
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
