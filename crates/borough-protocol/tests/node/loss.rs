//! Losses that are too many, or come at the wrong moment.

use borough_protocol::flaws::Flaws;
use borough_protocol::log::Log;
use borough_protocol::node::{Command, End, Event, GaveUp};
use borough_protocol::settings::Settings;

use crate::rig::{MILLI, Rig, SECOND};

const FIVE: &[&str] = &["a", "b", "c", "d", "e"];

#[test]
fn without_most_of_the_voters_the_rest_suspends_and_waits_for_new_processes_in_their_places() {
    for lost in [&["a", "b", "c"][..], &["c", "d", "e"], &["a", "c", "e"]] {
        println!("{lost:?}");
        let mut rig = Rig::grown(Settings::default(), FIVE);
        let before = rig.table("a").cluster();
        let rest: Vec<&'static str> = FIVE.iter().copied().filter(|name| !lost.contains(name)).collect();
        rig.each(lost, Rig::crash);
        rig.wait_until("suspended", 2 * SECOND, |rig| rig.running().is_empty());
        rig.always("and kept", 60 * SECOND, |rig| rig.running().is_empty() && rig.nodes.len() == rest.len());
        assert!(!rig.anybody_removed(), "nobody is left who could decide that");
        rig.each(&lost[1..], Rig::start);
        rig.always("one is missing", 30 * SECOND, |rig| rig.running().is_empty() && rig.ends.is_empty());
        rig.start(lost[0]);
        rig.wait_until("the rest gives up", 5 * SECOND, |rig| rig.ends.len() == rest.len());
        assert!(rig.ends.iter().all(|(_, end)| *end == End::GaveUp(GaveUp::Over)), "{:?}", rig.ends);
        rig.each(&rest, Rig::start);
        rig.wait_until("founded once more", 15 * SECOND, |rig| rig.is_whole(FIVE));
        let table = rig.table("a");
        assert!(table.cluster() > before && table.ancestors().has(before));
    }
}

/// One of three crashed, and the other two lost sight of each other: together they could go on, so neither gives up what it has.
fn two_of_three_lose_sight_of_each_other(flaws: Flaws) {
    let mut rig = Rig::grown_with(flaws, Settings::default(), &["a", "b", "c"]);
    let before = rig.table("a").cluster();
    rig.crash("c");
    rig.cut(&["a"], &["b"]);
    rig.wait_until("suspended", 2 * SECOND, |rig| rig.running().is_empty());
    rig.start("c");
    rig.always("everybody waits", 60 * SECOND, |rig| rig.ends.is_empty() && !rig.runs("c"));
    rig.heal();
    rig.wait_until("whole again", 15 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
    assert_eq!(rig.table("c").cluster(), before);
}

#[test]
fn a_quorum_that_is_suspended_gives_nothing_up_for_a_fresh_process() {
    two_of_three_lose_sight_of_each_other(Flaws::default());
}

#[cfg(feature = "flaws")]
#[test]
#[should_panic(expected = "everybody waits")]
fn a_suspended_quorum_that_gives_up_is_noticed() {
    two_of_three_lose_sight_of_each_other(Flaws::only(borough_protocol::flaws::Flaw::SuspendedQuorumGivesUp));
}

#[test]
fn voters_lost_one_by_one_are_made_up_for_each_time() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    let mut rest = FIVE.to_vec();
    for lost in ["a", "b", "c"] {
        rig.crash(lost);
        rest.retain(|name| *name != lost);
        rig.wait_until("the others go on", 4 * SECOND, |rig| rig.is_whole(&rest));
        let voters = if rest.len() == 2 { 1 } else { 3 };
        rig.wait_until("the voters are as many as can be", 8 * SECOND, |rig| {
            let voters_now = rig.voters(rest[0]);
            voters_now.len() == voters && !voters_now.contains("gone")
        });
        rig.pass(SECOND);
    }
}

#[test]
fn after_a_restart_of_all_there_is_one_cluster_of_a_higher_era() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    let before = rig.table("a").cluster();
    rig.each(FIVE, Rig::crash);
    rig.each(FIVE, Rig::start);
    rig.wait_until("one cluster", 15 * SECOND, |rig| rig.is_whole(FIVE));
    let after = rig.table("a").cluster();
    assert!(after.era > before.era && after > before, "{before:?} {after:?}");
    assert!(FIVE.iter().all(|name| rig.table(name).cluster() == after));
}

/// The moment at which the coordinator dies is moved through the whole change.
#[test]
fn a_coordinator_that_dies_during_a_change_of_voters_stops_nothing() {
    let mut joint = 0;
    for wait in (0..60).map(|place| 4 * MILLI * place) {
        let mut rig = Rig::grown(Settings::default(), &["a", "b", "c"]);
        rig.start("d");
        rig.start("e");
        rig.wait_until("five", 5 * SECOND, |rig| rig.is_whole(FIVE));
        rig.wait_until("the change begins", 15 * SECOND, |rig| {
            let log = rig.nodes["a"].log().expect("in a cluster");
            log.learners().len() == 2
        });
        rig.pass(wait);
        let log = rig.nodes["a"].log().expect("in a cluster");
        joint += usize::from(log.voters().is_joint());
        rig.crash("a");
        rig.wait_until("the others go on", 5 * SECOND, |rig| rig.is_whole(&["b", "c", "d", "e"]));
        rig.wait_until("three vote", 15 * SECOND, |rig| {
            FIVE[1..].iter().all(|name| {
                let table = rig.table(name);
                table.voters().now.len() == 3 && !table.voters().is_joint()
            })
        });
    }
    assert!(joint > 0, "the joint phase was never met");
}

#[test]
fn two_coordinators_in_a_row_are_lost() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    let first = rig.coordinator().expect("one");
    rig.crash(first);
    rig.wait_until("another", 3 * SECOND, |rig| rig.coordinator().is_some());
    let second = rig.coordinator().expect("one");
    rig.crash(second);
    let rest: Vec<&str> = FIVE.iter().copied().filter(|name| *name != first && *name != second).collect();
    rig.wait_until("the others go on", 6 * SECOND, |rig| rig.is_whole(&rest));
    rig.wait_until("both are freed", 4 * SECOND, |rig| {
        rig.table(rest[0]).removed().values().filter(|removed| removed.freed).count() == 2
    });
}

#[test]
fn a_leave_without_a_coordinator_waits_for_the_next_one() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    rig.crash("a");
    rig.command("e", Command::Leave);
    assert!(!rig.events.contains(&("e", Event::Drain)));
    rig.wait_until("told to drain", 4 * SECOND, |rig| rig.events.contains(&("e", Event::Drain)));
    rig.command("e", Command::Drained);
    rig.wait_until("left", 8 * SECOND, |rig| rig.ends.contains(&("e", End::Left)));
    rig.wait_until("the others go on", 5 * SECOND, |rig| rig.is_whole(&["b", "c", "d"]));
}
