//! Who is removed, by whom, and when.

use std::time::Duration;

use borough_protocol::node::{End, Event, GaveUp};
use borough_protocol::table::Removal;

use crate::rig::{Rig, SECOND};

fn five() -> Rig {
    let mut rig = Rig::new(&["a", "b", "c"]);
    for address in ["a", "b", "c", "d", "e"] {
        rig.start(address);
    }
    rig.wait_until("one cluster", 10 * SECOND, |rig| rig.is_whole(&["a", "b", "c", "d", "e"]));
    rig.wait_until("five voters", 20 * SECOND, |rig| rig.voters("e").len() == 5);
    rig.events.clear();
    rig
}

#[test]
fn a_crashed_member_is_removed_and_freed_within_the_fail_over_time() {
    let mut rig = five();
    let coordinator = rig.coordinator().expect("one");
    let victim = if coordinator == "e" { "d" } else { "e" };
    let uid = rig.uid(victim);
    rig.crash(victim);
    let freed = move |rig: &Rig| rig.events.iter().any(|(_, event)| *event == Event::Freed(uid));
    rig.wait_until("freed", Duration::from_millis(2700), freed);
}

#[test]
fn a_crashed_coordinator_is_replaced_within_the_fail_over_time() {
    let mut rig = five();
    let coordinator = rig.coordinator().expect("one");
    let uid = rig.uid(coordinator);
    rig.crash(coordinator);
    let freed = move |rig: &Rig| rig.events.iter().any(|(_, event)| *event == Event::Freed(uid));
    rig.wait_until("freed", Duration::from_millis(3100), freed);
}

#[test]
fn the_minority_side_is_removed_suspends_and_comes_back_anew() {
    let mut rig = five();
    let minority = ["d", "e"];
    rig.cut(&["a", "b", "c"], &minority);
    rig.wait_until("the majority goes on alone", 5 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
    rig.wait_until("the minority's leases are over", SECOND, |rig| {
        minority.iter().all(|address| !rig.nodes[address].may_run(rig.now))
    });
    rig.heal();
    // They may have been voters, and answer the log for a while.
    rig.wait_until("both gave up", 5 * SECOND, |rig| {
        rig.ends.iter().filter(|(_, end)| *end == End::GaveUp(GaveUp::Removed)).count() == 2
    });
    rig.start("d");
    rig.start("e");
    rig.wait_until("whole again", 10 * SECOND, |rig| rig.is_whole(&["a", "b", "c", "d", "e"]));
}

#[test]
fn a_short_cut_suspends_and_nothing_is_lost() {
    let mut rig = five();
    // All links of all nodes at once: nobody has a quorum, so nobody can be removed.
    let all = ["a", "b", "c", "d", "e"];
    for address in all {
        let others: Vec<&'static str> = all.into_iter().filter(|other| *other != address).collect();
        rig.cut(&[address], &others);
    }
    rig.pass(2 * SECOND);
    assert!(all.iter().all(|address| !rig.nodes[address].may_run(rig.now)), "{}", rig.describe());
    rig.heal();
    rig.wait_until("all go on", 3 * SECOND, |rig| rig.is_whole(&all));
    assert!(!rig.events.iter().any(|(_, event)| matches!(event, Event::Removed(..))));
}

#[test]
fn one_who_cannot_hear_is_removed() {
    let mut rig = five();
    let uid = rig.uid("e");
    rig.cut_one_way(&["a", "b", "c", "d"], &["e"]);
    let removed =
        move |rig: &Rig| rig.events.iter().any(|(_, event)| *event == Event::Removed(uid, Removal::Quiet));
    rig.wait_until("removed", 3 * SECOND, removed);
}

#[test]
fn a_new_life_of_an_address_replaces_the_old_one() {
    let mut rig = five();
    let old = rig.uid("e");
    rig.crash("e");
    rig.start("e");
    rig.wait_until("replaced", 5 * SECOND, |rig| rig.is_whole(&["a", "b", "c", "d", "e"]));
    assert!(rig.events.iter().any(|(_, event)| matches!(event, Event::Removed(uid, _) if *uid == old)));
}

#[test]
fn of_two_nodes_the_younger_may_die_and_the_older_goes_on() {
    let mut rig = Rig::new(&["a"]);
    rig.start("a");
    rig.pass(3 * SECOND);
    rig.start("b");
    rig.wait_until("two", 5 * SECOND, |rig| rig.is_whole(&["a", "b"]));
    rig.crash("b");
    rig.wait_until("alone", 5 * SECOND, |rig| rig.is_whole(&["a"]));
}

#[test]
fn of_two_nodes_the_older_ones_death_stops_the_younger() {
    let mut rig = Rig::new(&["a", "b"]);
    rig.start("a");
    rig.start("b");
    rig.wait_until("two", 8 * SECOND, |rig| rig.is_whole(&["a", "b"]));
    rig.pass(8 * SECOND);
    let older = rig.coordinator().expect("one");
    let younger = if older == "a" { "b" } else { "a" };
    rig.crash(older);
    rig.pass(2 * SECOND);
    assert!(!rig.nodes[younger].may_run(rig.now));
    rig.always("it keeps what it has and runs nothing", 120 * SECOND, |rig| {
        rig.ends.is_empty() && !rig.runs(younger)
    });
    // A new process at that address remembers nothing, so the younger has nobody left to wait for.
    rig.start(older);
    rig.wait_until("it gives up", 5 * SECOND, |rig| rig.ends == [(younger, End::GaveUp(GaveUp::Over))]);
    rig.start(younger);
    rig.wait_until("two", 8 * SECOND, |rig| rig.is_whole(&["a", "b"]));
}
