//! Leases that the store grants: none outlives the removal by more than the wait, whatever the clocks and pauses.

use std::time::Duration;

use borough_protocol::flaws::Flaws;
use borough_protocol::node::{Command, Event};

use crate::rig::{Rig, SECOND, STORE};

const ALL: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Five nodes whose clocks are as wrong as they may be, the coordinator's fast and the victim's slow, or the other way round.
fn with_rates(coordinator: u64, victim: u64) -> (Rig, &'static str) {
    with_flaws(Flaws::default(), coordinator, victim)
}

fn with_flaws(flaws: Flaws, coordinator: u64, victim: u64) -> (Rig, &'static str) {
    let mut rig = Rig::new(&["a"]);
    rig.flaws = flaws;
    rig.rates = [("a", coordinator), ("e", victim)].into();
    rig.start_all(&["a"]);
    for address in ["b", "c", "d", "e"] {
        rig.start(address);
    }
    rig.wait_until("one cluster", 20 * SECOND, |rig| rig.is_whole(&ALL));
    assert_eq!(rig.coordinator(), Some("a"));
    (rig, "e")
}

/// A member is removed by an operator, while its lease is fresh, and stands still for as long as it may.
pub(crate) fn remove_a_frozen_one(flaws: Flaws, before: u64) {
    let (mut rig, victim) = with_flaws(flaws, 1100, 900);
    let uid = rig.uid(victim);
    // So that now and then a renewal is under way when the member stands still.
    rig.weather.delay_max = Duration::from_millis(40);
    rig.pass(Duration::from_millis(before));
    rig.freeze(victim, Duration::from_millis(400));
    rig.command("a", Command::Down(uid));
    // Its answers come, but what it asks from now on does not arrive.
    rig.links.cut_one_way(&[victim], &["a", "b", "c", "d", STORE]);
    rig.links.cut_one_way(&["a", "b", "c", "d"], &[victim]);
    rig.wait_until("freed", 5 * SECOND, |rig| rig.has_event(&Event::Freed(uid)));
}

/// The coordinator that removed a member with a fresh lease is lost before it could wait.
pub(crate) fn lose_the_one_who_waits(flaws: Flaws, before: u64) {
    let (mut rig, victim) = with_flaws(flaws, 1100, 900);
    let uid = rig.uid(victim);
    rig.pass(Duration::from_millis(before));
    rig.command("a", Command::Down(uid));
    rig.links.cut(&[victim], &["a", "b", "c", "d", STORE]);
    rig.pass(Duration::from_millis(50));
    rig.crash("a");
    rig.wait_until("freed", 8 * SECOND, |rig| rig.has_event(&Event::Freed(uid)));
}

#[test]
fn a_lease_ends_in_time_though_the_member_stands_still_or_the_coordinator_is_lost() {
    for before in (0..320).step_by(4) {
        remove_a_frozen_one(Flaws::default(), before);
        lose_the_one_who_waits(Flaws::default(), before);
    }
}

#[test]
fn a_removed_members_lease_is_over_before_what_it_had_is_free() {
    for (coordinator, victim) in [(1100, 900), (900, 1100), (1000, 900), (1100, 1000)] {
        for before in [0, 50, 100, 150, 199] {
            // Asked for by an operator: it happens while the lease is fresh, which is the hardest case.
            let (mut rig, victim) = with_rates(coordinator, victim);
            let uid = rig.uid(victim);
            rig.pass(Duration::from_millis(before));
            rig.links.cut_one_way(&[STORE], &[victim]);
            rig.links.cut(&[victim], &["a", "b", "c", "d"]);
            rig.command("a", Command::Down(uid));
            // The rig judges, after every step, that nothing runs that was freed.
            rig.wait_until("freed", 5 * SECOND, |rig| rig.has_event(&Event::Freed(uid)));
            assert!(!rig.runs(victim));
        }
    }
}

#[test]
fn a_member_frozen_with_a_fresh_lease_runs_nothing_when_it_comes_back_too_late() {
    for time in [500, 900, 1500, 2500, 4000] {
        let (mut rig, victim) = with_rates(1100, 900);
        rig.freeze(victim, Duration::from_millis(time));
        rig.pass(Duration::from_millis(time) + 4 * SECOND);
        let removed = rig.node(victim).is_none();
        assert!(removed || rig.runs(victim), "{}", rig.describe());
        assert!(removed || time < 1500, "frozen for {time} ms and still a member");
    }
}

#[test]
fn a_short_freeze_of_any_node_removes_nobody() {
    for address in ALL {
        let (mut rig, _) = with_rates(1100, 900);
        rig.events.clear();
        rig.freeze(address, Duration::from_millis(400));
        rig.pass(4 * SECOND);
        assert!(rig.is_whole(&ALL) && rig.nobody_was_removed(), "{address}\n{}", rig.describe());
    }
}

#[test]
fn a_coordinator_frozen_for_long_removes_nobody_when_it_comes_back() {
    let mut rig = Rig::five();
    let coordinator = rig.coordinator().expect("one");
    rig.freeze(coordinator, 3 * SECOND);
    rig.pass(8 * SECOND);
    let rest: Vec<&str> = ALL.into_iter().filter(|address| *address != coordinator).collect();
    assert!(rig.is_whole(&rest), "{}", rig.describe());
}
