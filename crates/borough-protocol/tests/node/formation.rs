//! How clusters come to be.

use borough_protocol::node::{End, Event, GaveUp, Message, Node};
use borough_protocol::settings::Settings;
use borough_protocol::table::{Cluster, Removal};

use crate::rig::{Birth, Fate, MILLI, Rig, SECOND};

#[test]
fn a_node_on_a_port_that_nobody_knows_is_a_cluster_at_once() {
    let mut rig = Rig::new(&[]);
    rig.start("a");
    assert!(rig.is_whole(&["a"]), "{}", rig.describe());
}

#[test]
fn all_seeds_that_start_at_once_form_one_cluster() {
    let mut rig = Rig::new(&["a", "b", "c"]);
    for address in ["c", "b", "a"] {
        rig.start(address);
    }
    rig.wait_until("one cluster", 10 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
}

/// Each time it stands still for less long than the longest pause of a healthy node.
#[test]
fn a_seed_that_stands_still_again_and_again_does_not_prevent_a_founding() {
    let settings = Settings { max_pause: SECOND, failover_target: 60 * SECOND, ..Settings::default() };
    let mut rig = Rig::with(settings, &["a", "b", "c"]);
    rig.each(&["a", "b", "c"], Rig::start);
    for _ in 0..10 {
        rig.pass(2200 * MILLI);
        rig.pause("b");
        rig.pass(900 * MILLI);
        rig.resume("b");
    }
    assert!(rig.is_whole(&["a", "b", "c"]), "{}", rig.describe());
}

#[test]
fn two_nodes_that_name_only_each_other_form_one_cluster() {
    let mut rig = Rig::new(&[]);
    let settings = rig.settings.clone();
    rig.start_with("a", &["b"], settings.clone());
    rig.start_with("b", &["a"], settings);
    rig.wait_until("one cluster", 10 * SECOND, |rig| rig.is_whole(&["a", "b"]));
}

#[test]
fn the_voters_grow_to_the_largest_odd_number() {
    let mut rig = Rig::new(&["a"]);
    for address in ["a", "b", "c", "d", "e", "f"] {
        rig.start(address);
    }
    rig.wait_until("one cluster", 10 * SECOND, |rig| rig.is_whole(&["a", "b", "c", "d", "e", "f"]));
    rig.wait_until("five voters", 20 * SECOND, |rig| rig.voters("f").len() == 5);
    rig.pass(5 * SECOND);
    assert!(rig.is_whole(&["a", "b", "c", "d", "e", "f"]), "{}", rig.describe());
}

#[test]
fn a_seed_that_is_cut_off_from_the_others_founds_nothing() {
    let mut rig = Rig::grown(Settings::default(), &["a", "b", "c"]);
    rig.crash("a");
    rig.cut(&["a"], &["b", "c"]);
    rig.start("a");
    rig.always("it only looks", 20 * SECOND, |rig| rig.nodes["a"].cluster().is_none());
    rig.heal();
    rig.wait_until("it is back", 8 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
}

#[test]
fn seeds_that_start_apart_in_time_form_one_cluster() {
    for gap in [1, 7, 190, 200, 210, 4990, 5000, 5010, 12_000] {
        for order in [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]] {
            println!("{order:?}, {gap} ms apart");
            let mut rig = Rig::new(&["a", "b", "c"]);
            for name in order {
                rig.start(name);
                rig.pass(gap * MILLI);
            }
            rig.wait_until("one cluster", 25 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
            assert!(rig.ends.is_empty(), "nobody had to give a cluster up: {:?}", rig.ends);
        }
    }
}

#[test]
fn nodes_that_are_no_seeds_wait_for_one() {
    let mut rig = Rig::new(&["a"]);
    rig.start("b");
    rig.start("c");
    rig.always("they only look", 12 * SECOND, |rig| rig.nodes.values().all(|node| node.cluster().is_none()));
    rig.start("a");
    rig.wait_until("one cluster", 5 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
}

/// Two clusters that know nothing of each other: when they meet the older one goes on.
#[test]
fn of_two_clusters_that_meet_the_older_one_goes_on() {
    let mut rig = Rig::new(&[]);
    rig.start("a");
    rig.pass(3 * SECOND);
    rig.start("b");
    assert!(rig.is_whole(&["a"]) && rig.is_whole(&["b"]), "two clusters of one name");
    let (older, younger) = (rig.table("a").cluster(), rig.table("b").cluster());
    assert!(younger > older);
    // It joins the one that answers first, and greets the other of its seeds.
    rig.start_with("c", &["b", "a"], Settings::default());
    let yielded = End::GaveUp(GaveUp::Overtaken(older));
    rig.wait_until("the younger one ends", 15 * SECOND, |rig| rig.ends.contains(&("b", yielded.clone())));
    assert!(rig.runs("a"), "{}", rig.describe());
}

/// The promise of the one may reach the other before the welcome of a third: what it founds then yields to the cluster that lives.
#[test]
fn two_restarted_seeds_join_the_cluster_that_the_third_is_in() {
    let all = ["a", "b", "c", "d", "e"];
    let mut rig = Rig::grown(Settings::default(), &all);
    let cluster = rig.table("c").cluster();
    rig.cut(&["a", "b"], &["c", "d", "e"]);
    rig.wait_until("the rest goes on", 5 * SECOND, |rig| rig.is_whole(&["c", "d", "e"]));
    rig.crash("a");
    rig.crash("b");
    rig.heal();
    rig.start("a");
    rig.start("b");
    rig.always("the others are not disturbed", 5 * SECOND, |rig| {
        ["c", "d", "e"].iter().all(|name| rig.runs(name))
    });
    if !rig.nodes.contains_key("a") {
        assert_eq!(rig.ends, [("a", End::GaveUp(GaveUp::Overtaken(cluster)))]);
        rig.start("a");
    }
    rig.wait_until("whole again", 15 * SECOND, |rig| rig.is_whole(&all));
    assert_eq!(rig.table("a").cluster(), cluster);
}

/// As if `c` had joined another founding and gone on speaking to those it knew before.
#[test]
fn words_of_another_founding_are_answered_with_a_greeting_and_not_taken() {
    let mut rig = Rig::grown(Settings::default(), &["a", "b", "c"]);
    let c = rig.uid("c");
    rig.network.alter(|parcel| {
        if let (true, Message::Word { cluster, .. }) = (parcel.from == "c", &mut parcel.message) {
            *cluster ^= 1;
        }
    });
    rig.network.rule(Fate::Copied, |parcel| parcel.at == "c" && matches!(parcel.message, Message::Hello(_)));
    rig.wait_until("greeted", SECOND, |rig| rig.network.kept(Fate::Copied) > 0);
    rig.wait_until("nobody hears it", 2 * SECOND, |rig| rig.heard(&Event::Removed(c, Removal::Quiet)));
}

/// Seed 143791 of the simulator: the one seed of `a` waits for the cluster that its last life yielded to. Another one works and welcomes it; `a` is never told.
#[test]
fn a_seed_that_is_welcomed_and_does_not_join_at_once_lets_nobody_found() {
    let mut rig = Rig::grown(Settings::default(), &["b", "c", "d"]);
    let cluster = rig.table("b").cluster();
    rig.crash("d");
    let prefers = Some(Cluster { era: cluster.era + 1, ..cluster });
    rig.start_as("d", Birth { prefers, ..rig.birth() });
    rig.start_with("a", &["d"], Settings::default());
    rig.wait_until("both join", 20 * SECOND, |rig| {
        let other = |name: &str| rig.nodes[name].cluster().filter(|other| *other != cluster);
        assert_eq!((other("a"), other("d")), (None, None), "{}", rig.describe());
        rig.is_whole(&["a", "b", "c", "d"])
    });
}

/// Seed 1035731 of the simulator: `a` lists itself alone, and words of its last life arrive until its next one founds.
#[test]
fn late_words_of_a_seeds_last_life_do_not_keep_the_others_from_greeting_it() {
    let mut rig = Rig::grown(Settings::default(), &["a", "b", "c"]);
    rig.network.rule(Fate::Copied, |parcel| parcel.from == "a" && parcel.word().is_some());
    rig.pass(SECOND);
    rig.network.clear_rules();
    rig.crash("a");
    rig.start_with("a", &["a"], Settings::default());
    for _ in 0..20 {
        rig.replay(false);
        rig.pass(100 * MILLI);
    }
    rig.always("it founds nothing", 5 * SECOND, |rig| {
        let cluster = rig.table("b").cluster();
        rig.nodes.get("a").and_then(Node::cluster).is_none_or(|joined| joined == cluster)
    });
    assert!(rig.ends.is_empty(), "{:?}", rig.ends);
    rig.wait_until("it is back", 10 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
}
