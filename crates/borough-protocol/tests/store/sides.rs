//! Which side lives: the one that reaches the store, whatever its size.

use std::time::Duration;

use borough_protocol::node::{End, Event, GaveUp};
use borough_protocol::table::Removal;

use crate::rig::{Rig, SECOND, STORE};

const ALL: [&str; 5] = ["a", "b", "c", "d", "e"];

fn others(one: &str) -> Vec<&'static str> {
    ALL.into_iter().filter(|address| *address != one).collect()
}

#[test]
fn one_of_five_that_reaches_the_store_lives_and_the_four_are_removed_and_freed() {
    for survivor in ALL {
        let mut rig = Rig::five();
        let lost = others(survivor);
        let uids: Vec<_> = lost.iter().map(|address| rig.uid(address)).collect();
        rig.links.cut(&[STORE, survivor], &lost);
        rig.wait_until("the four are suspended", Duration::from_millis(1200), |rig| {
            lost.iter().all(|address| !rig.runs(address))
        });
        assert!(rig.runs(survivor));
        rig.wait_until("the one goes on alone", 5 * SECOND, |rig| rig.is_whole(&[survivor]));
        rig.wait_until("freed", 3 * SECOND, |rig| {
            uids.iter().all(|uid| rig.events.contains(&(survivor, Event::Freed(*uid))))
        });
        rig.links.heal();
        rig.wait_until("the four gave up", 2 * SECOND, |rig| {
            rig.ends.iter().filter(|(_, end)| *end == End::GaveUp(GaveUp::Removed)).count() == 4
        });
        for address in lost {
            rig.start(address);
        }
        rig.wait_until("whole again", 10 * SECOND, |rig| rig.is_whole(&ALL));
    }
}

#[test]
fn members_that_hear_only_the_store_live_until_they_are_cut_off_from_each_other_for_long() {
    let mut rig = Rig::five();
    for address in ALL {
        rig.links.cut(&[address], &others(address));
    }
    rig.pass(5 * SECOND);
    assert!(ALL.iter().all(|address| rig.runs(address)), "{}", rig.describe());
    assert!(rig.nobody_was_removed());
}

#[test]
fn nobody_is_removed_when_nobody_reaches_the_store() {
    for outage in [400, 800, 1000, 1500, 3000, 6000] {
        let mut rig = Rig::five();
        rig.links.cut(&[STORE], &ALL);
        rig.pass(Duration::from_millis(outage));
        if outage >= 1500 {
            assert!(ALL.iter().all(|address| !rig.runs(address)), "{}", rig.describe());
            assert_eq!(rig.coordinator(), None);
        }
        rig.links.heal();
        rig.wait_until("all go on", 2 * SECOND, |rig| rig.is_whole(&ALL) && rig.coordinator().is_some());
        rig.pass(5 * SECOND);
        assert!(rig.is_whole(&ALL) && rig.nobody_was_removed(), "after {outage} ms\n{}", rig.describe());
    }
}

#[test]
fn a_short_outage_of_the_store_is_nobodys_silence() {
    // Too short for the coordinator to leave office, and as long as it takes to suspect somebody.
    for (outage, before) in
        (500..780).step_by(20).flat_map(|outage| [0, 30, 60, 90, 120].map(|it| (outage, it)))
    {
        let mut rig = Rig::new(&["a"]);
        rig.start_all(&["a"]);
        // Not at once, so that their renewals come at different moments.
        for address in ["b", "c", "d", "e"] {
            rig.start(address);
            rig.pass(Duration::from_millis(330));
        }
        rig.wait_until("one cluster", 5 * SECOND, |rig| rig.is_whole(&ALL));
        rig.pass(Duration::from_millis(before));
        rig.links.cut(&[STORE], &ALL);
        rig.pass(Duration::from_millis(outage));
        rig.links.heal();
        rig.pass(2 * SECOND);
        assert!(rig.is_whole(&ALL) && rig.nobody_was_removed(), "{outage} {before}\n{}", rig.describe());
    }
}

#[test]
fn those_who_do_not_reach_the_store_for_long_keep_what_they_have() {
    let mut rig = Rig::five();
    rig.links.cut(&[STORE], &ALL);
    rig.pass(90 * SECOND);
    assert!(rig.ends.is_empty(), "{:?}", rig.ends);
    rig.links.heal();
    rig.wait_until("all go on", 3 * SECOND, |rig| rig.is_whole(&ALL));
    assert!(rig.nobody_was_removed(), "{}", rig.describe());
}

#[test]
fn one_who_cannot_hear_the_store_is_removed() {
    let mut rig = Rig::five();
    let victim = if rig.coordinator() == Some("e") { "d" } else { "e" };
    let uid = rig.uid(victim);
    rig.links.cut_one_way(&[STORE], &[victim]);
    rig.wait_until("removed", 3 * SECOND, |rig| rig.has_event(&Event::Removed(uid, Removal::Quiet)));
}

#[test]
fn of_two_nodes_either_may_die() {
    for older_dies in [true, false] {
        let mut rig = Rig::new(&["a"]);
        rig.start_all(&["a", "b"]);
        let coordinator = rig.coordinator().expect("one");
        let other = if coordinator == "a" { "b" } else { "a" };
        let (dies, lives) = if older_dies { (coordinator, other) } else { (other, coordinator) };
        rig.crash(dies);
        rig.wait_until("alone", 4 * SECOND, |rig| rig.is_whole(&[lives]));
        assert!(rig.ends.is_empty());
    }
}
