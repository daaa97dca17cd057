//! How a cluster comes to be in the store, and how it is found there again.

use std::time::Duration;

use borough_protocol::node::{Command, End, Event, GaveUp, Node};
use borough_protocol::settings::Settings;
use borough_protocol::table::Removal;

use crate::rig::{Rig, SECOND, STORE};

const ALL: [&str; 5] = ["a", "b", "c", "d", "e"];

#[test]
fn nodes_without_seeds_find_each_other_in_the_store() {
    let mut rig = Rig::new(&[]);
    rig.start_all(&ALL);
}

#[test]
fn the_first_members_wait_until_there_are_enough() {
    let mut rig = Rig::with(Settings { minimum_members: 3, ..Settings::default() }, &["a", "b"], 1);
    rig.start("a");
    rig.start("b");
    rig.pass(4 * SECOND);
    assert!(rig.register.table().is_some_and(|table| table.members().is_empty()));
    rig.start("c");
    rig.wait_until("enough", 5 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
}

#[test]
fn a_node_that_does_not_reach_the_store_founds_nothing() {
    let mut rig = Rig::new(&[]);
    rig.links.cut(&["a"], &[STORE]);
    rig.start("a");
    rig.pass(20 * SECOND);
    assert!(rig.node("a").is_some_and(|node| node.cluster().is_none()) && rig.register.table().is_none());
    rig.links.heal();
    rig.wait_until("founds", 2 * SECOND, |rig| rig.is_whole(&["a"]));
}

#[test]
fn a_node_whose_settings_differ_is_refused() {
    let mut rig = Rig::five();
    rig.settings.max_voters = 3;
    rig.start("f");
    rig.wait_until("refused", SECOND, |rig| {
        matches!(rig.ends.first(), Some(("f", End::Refused(refusal))) if refusal.setting == "max_voters")
    });
}

#[test]
fn after_a_full_restart_the_same_cluster_goes_on_with_later_terms_and_versions() {
    let mut rig = Rig::five();
    let cluster = rig.node("a").and_then(Node::cluster);
    let (term, version) = (rig.register.office().0, rig.register.table().expect("founded").version());
    for address in ALL {
        rig.crash(address);
    }
    rig.pass(SECOND);
    rig.start_all(&ALL);
    assert_eq!(rig.node("a").and_then(Node::cluster), cluster);
    let table = rig.register.table().expect("kept");
    assert!(rig.register.office().0 > term && table.version() > version);
    assert!(table.version().index > version.index);
    rig.wait_until("what the old ones had is free", 4 * SECOND, |rig| {
        let table = rig.register.table().expect("kept");
        table.removed().len() == 5 && table.removed().values().all(|removed| removed.freed)
    });
}

/// Who reads the table from its first entry on has seen none of the removals in it.
#[test]
fn after_a_full_restart_an_old_removal_for_bad_links_keeps_nobody_out() {
    let mut rig = Rig::five();
    let uid = rig.uid("e");
    rig.links.cut(&["e"], &["c", "d"]);
    rig.wait_until("removed", 45 * SECOND, |rig| rig.has_event(&Event::Removed(uid, Removal::CutOff)));
    rig.wait_until("it gives up", 10 * SECOND, |rig| rig.node("e").is_none());
    rig.links.heal();
    for address in ["a", "b", "c", "d"] {
        rig.crash(address);
    }
    rig.pass(SECOND);
    for address in ALL {
        rig.start(address);
    }
    rig.wait_until("all are back", 10 * SECOND, |rig| rig.is_whole(&ALL));
}

#[test]
fn a_cluster_that_was_shut_down_is_followed_by_a_later_founding() {
    let mut rig = Rig::five();
    let before = rig.node("a").and_then(Node::cluster).expect("one");
    let version = rig.register.table().expect("founded").version();
    rig.command("a", Command::CloseCluster);
    rig.wait_until("all closed", 4 * SECOND, |rig| rig.ends.len() == 5);
    let started = rig.now;
    rig.start_all(&ALL);
    // Somebody may not have heard of the end, and have a lease.
    assert!(rig.now.since(started) >= Duration::from_millis(1660), "{:?}", rig.now.since(started));
    let after = rig.node("a").and_then(Node::cluster).expect("one");
    assert!(after.era > before.era && rig.register.table().expect("founded").version() > version);
}

#[test]
fn a_guest_that_was_given_up_learns_it_and_comes_as_another() {
    for seeds in [&["a"] as &[&'static str], &[]] {
        let mut rig = Rig::new(seeds);
        rig.rates = [("a", 1100), ("b", 900)].into();
        rig.start_all(&["a"]);
        // Known to the coordinator by gossip, and not heard by the store for so long that gossip forgets it.
        rig.start("b");
        rig.wait_until("knows the members", SECOND, |rig| {
            rig.node("b").and_then(Node::table).is_some_and(|table| table.members().len() == 1)
        });
        rig.links.cut_one_way(&["b"], &[STORE]);
        rig.wait_until("given up", 15 * SECOND, |rig| !rig.ends.is_empty());
        assert_eq!(rig.ends, [("b", End::GaveUp(GaveUp::Removed))]);
        rig.links.heal();
        rig.start("b");
        rig.wait_until("comes again", 5 * SECOND, |rig| rig.is_whole(&["a", "b"]));
    }
}
