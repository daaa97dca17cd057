//! Who is in office, and how it passes on.

use std::time::Duration;

use borough_protocol::node::{Command, End, Event};

use crate::rig::{Rig, SECOND, STORE};

const ALL: [&str; 5] = ["a", "b", "c", "d", "e"];

#[test]
fn a_coordinator_cut_off_from_the_store_leaves_office_and_another_takes_over() {
    let mut rig = Rig::five();
    let before = rig.coordinator().expect("one");
    let (term, uid) = (rig.register.office().0, rig.uid(before));
    rig.links.cut(&[STORE], &[before]);
    rig.wait_until("another is in office", 2 * SECOND, |rig| {
        rig.coordinator().is_some_and(|address| address != before)
    });
    assert!(rig.register.office().0 > term);
    rig.wait_until("removed and freed", 4 * SECOND, |rig| rig.has_event(&Event::Freed(uid)));
    let rest: Vec<&str> = ALL.into_iter().filter(|address| *address != before).collect();
    assert!(rig.is_whole(&rest));
}

#[test]
fn a_crashed_coordinator_is_replaced_and_freed_soon() {
    let mut rig = Rig::five();
    let coordinator = rig.coordinator().expect("one");
    let uid = rig.uid(coordinator);
    rig.crash(coordinator);
    rig.wait_until("freed", Duration::from_millis(3500), |rig| rig.has_event(&Event::Freed(uid)));
}

#[test]
fn a_crashed_member_is_removed_and_freed_soon() {
    let mut rig = Rig::five();
    let victim = if rig.coordinator() == Some("e") { "d" } else { "e" };
    let uid = rig.uid(victim);
    rig.crash(victim);
    rig.wait_until("freed", Duration::from_millis(2900), |rig| rig.has_event(&Event::Freed(uid)));
}

#[test]
fn a_coordinator_that_leaves_is_followed_at_once() {
    let mut rig = Rig::five();
    let coordinator = rig.coordinator().expect("one");
    rig.command(coordinator, Command::Leave);
    rig.wait_until("told to drain", 2 * SECOND, |rig| rig.events.contains(&(coordinator, Event::Drain)));
    rig.command(coordinator, Command::Drained);
    rig.wait_until("left", 2 * SECOND, |rig| rig.ends.contains(&(coordinator, End::Left)));
    rig.wait_until("another", Duration::from_millis(600), |rig| rig.coordinator().is_some());
    rig.pass(3 * SECOND);
    assert_eq!(rig.ends.len(), 1, "{}", rig.describe());
}

#[test]
fn all_can_leave_one_after_the_other_and_all_at_once() {
    for at_once in [true, false] {
        let mut rig = Rig::five();
        for address in ALL {
            rig.command(address, Command::Leave);
            if rig.node(address).is_none() {
                continue;
            }
            rig.wait_until("told to drain", 3 * SECOND, |rig| rig.events.contains(&(address, Event::Drain)));
            rig.command(address, Command::Drained);
            if !at_once {
                rig.wait_until("left", 4 * SECOND, |rig| rig.ends.contains(&(address, End::Left)));
            }
        }
        rig.wait_until("all left", 10 * SECOND, |rig| rig.ends.len() == 5);
        assert!(rig.ends.iter().all(|(_, end)| *end == End::Left), "{:?}", rig.ends);
    }
}

#[test]
fn the_cluster_can_be_shut_down() {
    let mut rig = Rig::five();
    rig.command("b", Command::CloseCluster);
    rig.wait_until("all closed", 4 * SECOND, |rig| rig.ends.len() == 5);
    assert!(rig.ends.iter().all(|(_, end)| *end == End::Closed), "{:?}", rig.ends);
}

#[test]
fn of_two_that_stand_at_once_one_wins() {
    for delay in [1, 20, 60, 90] {
        let mut rig = Rig::five();
        let coordinator = rig.coordinator().expect("one");
        // Nobody sees the others, so nobody lets an older one go first.
        for address in ALL {
            let others: Vec<&'static str> = ALL.into_iter().filter(|other| *other != address).collect();
            rig.links.cut(&[address], &others);
        }
        rig.pass(8 * SECOND);
        rig.weather.delay_max = Duration::from_millis(delay);
        let term = rig.register.office().0;
        rig.crash(coordinator);
        rig.wait_until("another", 3 * SECOND, |rig| rig.coordinator().is_some());
        // Whoever stood too has lost: there was one election, and it is over.
        let after = rig.register.office().0;
        rig.pass(SECOND);
        assert_eq!((after.get(), rig.register.office().0), (term.get() + 1, after));
    }
}
