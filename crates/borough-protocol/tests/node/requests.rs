//! What the process around a node may ask for, and what it is told.

use borough_protocol::node::{Command, End, Event, GaveUp};
use borough_protocol::settings::Settings;
use borough_protocol::table::Removal;

use crate::rig::{MILLI, Rig, SECOND};

const FIVE: &[&str] = &["a", "b", "c", "d", "e"];

#[test]
fn anybody_may_ask_for_a_members_removal() {
    for asked in ["a", "b", "e"] {
        println!("{asked}");
        let mut rig = Rig::grown(Settings::default(), FIVE);
        let uid = rig.uid("d");
        rig.command(asked, Command::Down(uid));
        rig.wait_until("removed", SECOND, |rig| rig.heard(&Event::Removed(uid, Removal::Operator)));
        rig.wait_until("the others go on", 2 * SECOND, |rig| rig.is_whole(&["a", "b", "c", "e"]));
        rig.wait_until("it knows", 6 * SECOND, |rig| rig.ends.contains(&("d", End::GaveUp(GaveUp::Removed))));
        rig.wait_until("freed", 3 * SECOND, |rig| rig.heard(&Event::Freed(uid)));
    }
}

#[test]
fn a_node_may_ask_for_its_own_removal_and_so_may_the_coordinator() {
    for name in ["a", "e"] {
        let mut rig = Rig::grown(Settings::default(), FIVE);
        let uid = rig.uid(name);
        rig.command(name, Command::Down(uid));
        let rest: Vec<&str> = FIVE.iter().copied().filter(|other| *other != name).collect();
        rig.wait_until("the others go on", 6 * SECOND, |rig| rig.is_whole(&rest));
        rig.wait_until("it knows", 6 * SECOND, |rig| !rig.nodes.contains_key(name));
    }
}

#[test]
fn a_request_for_a_stranger_changes_nothing() {
    let mut rig = Rig::grown(Settings::default(), &["a", "b", "c"]);
    let stranger = borough_protocol::incarnation::Uid::new(7).expect("not 0");
    let version = rig.table("a").version();
    rig.command("a", Command::Down(stranger));
    rig.command("b", Command::Down(stranger));
    rig.always("nothing happens", 5 * SECOND, |rig| rig.table("a").version() == version);
}

#[test]
fn a_refused_connection_does_not_remove_a_healthy_member() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    let uid = rig.uid("e");
    for _ in 0..20 {
        for name in ["a", "b", "c", "d"] {
            rig.command(name, Command::Refused(uid));
        }
        rig.always("nobody is removed", 500 * MILLI, |rig| rig.is_whole(FIVE));
    }
}

#[test]
fn a_refused_connection_makes_the_removal_of_a_dead_member_quicker_and_the_wait_no_shorter() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    let uid = rig.uid("e");
    rig.crash("e");
    for name in ["a", "b", "c", "d"] {
        rig.command(name, Command::Refused(uid));
    }
    rig.wait_until("removed", 500 * MILLI, |rig| rig.heard(&Event::Removed(uid, Removal::Quiet)));
    rig.always("not freed yet", 1600 * MILLI, |rig| !rig.heard(&Event::Freed(uid)));
    rig.wait_until("freed", 200 * MILLI, |rig| rig.heard(&Event::Freed(uid)));
}

#[test]
fn a_cluster_that_shuts_down_leaves_behind_who_is_cut_off() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    rig.cut(&["e"], &["a", "b", "c", "d"]);
    rig.command("b", Command::CloseCluster);
    rig.wait_until("the others closed", 6 * SECOND, |rig| rig.nodes.len() == 1);
    assert!(rig.ends.iter().all(|(_, end)| *end == End::Closed), "{:?}", rig.ends);
    assert!(!rig.anybody_removed(), "nobody is removed from a cluster that ends");
    rig.wait_until("it suspends", 2 * SECOND, |rig| rig.running().is_empty());
    rig.heal();
    rig.always("and waits", 60 * SECOND, |rig| rig.nodes.len() == 1 && rig.running().is_empty());
    rig.command("e", Command::Leave);
    rig.wait_until("it may leave", 12 * SECOND, |rig| rig.nodes.is_empty());
    assert_eq!(rig.ends.last(), Some(&("e", End::GaveUp(GaveUp::Suspended))));
}

#[test]
fn nobody_is_admitted_to_a_cluster_that_shuts_down() {
    let mut rig = Rig::grown(Settings::default(), &["a", "b", "c"]);
    rig.cut(&["c"], &["a", "b"]);
    rig.command("a", Command::CloseCluster);
    rig.wait_until("closing", SECOND, |rig| rig.heard(&Event::Closing));
    rig.start("d");
    rig.always("it is not admitted", 6 * SECOND, |rig| !rig.runs("d"));
}

#[test]
fn a_shutdown_is_asked_for_again_until_there_is_a_coordinator() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    rig.crash("a");
    rig.command("e", Command::CloseCluster);
    rig.wait_until("all closed", 8 * SECOND, |rig| rig.nodes.is_empty());
    assert!(rig.ends.iter().all(|(_, end)| *end == End::Closed), "{:?}", rig.ends);
}
