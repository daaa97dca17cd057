//! How nodes leave, and how a whole cluster is shut down.

use borough_protocol::flaws::Flaws;
use borough_protocol::node::{Command, End, Event};
use borough_protocol::settings::Settings;
use borough_protocol::table::{Removal, State};

use crate::rig::{Rig, SECOND};

fn cluster(addresses: &[&'static str]) -> Rig {
    let mut rig = Rig::new(&["a"]);
    for address in addresses {
        rig.start(address);
    }
    rig.wait_until("one cluster", 10 * SECOND, |rig| rig.is_whole(addresses));
    rig.pass(10 * SECOND);
    rig.events.clear();
    rig
}

fn leaves(rig: &mut Rig, address: &'static str) {
    let uid = rig.uid(address);
    rig.command(address, Command::Leave);
    rig.wait_until("told to drain", 3 * SECOND, |rig| rig.events.contains(&(address, Event::Drain)));
    assert!(rig.nodes[address].may_run(rig.now), "what lives there has to move first");
    rig.command(address, Command::Drained);
    rig.wait_until("left", 5 * SECOND, |rig| rig.ends.contains(&(address, End::Left)));
    let removed =
        |rig: &Rig| rig.events.iter().any(|(_, event)| *event == Event::Removed(uid, Removal::Goodbye));
    rig.wait_until("removed with its goodbye", SECOND, removed);
}

#[test]
fn a_member_leaves_in_order() {
    let mut rig = cluster(&["a", "b", "c", "d", "e"]);
    leaves(&mut rig, "e");
    rig.wait_until("the others go on", 5 * SECOND, |rig| rig.is_whole(&["a", "b", "c", "d"]));
}

#[test]
fn the_coordinator_hands_over_and_leaves_in_order() {
    for size in 2..=5 {
        let all = &["a", "b", "c", "d", "e"][..size];
        let mut rig = cluster(all);
        let coordinator = rig.coordinator().expect("one");
        leaves(&mut rig, coordinator);
        let rest: Vec<&str> = all.iter().copied().filter(|address| *address != coordinator).collect();
        rig.wait_until("the others go on", 5 * SECOND, |rig| rig.is_whole(&rest));
    }
}

#[test]
fn all_leave_one_after_the_other() {
    let mut rig = cluster(&["a", "b", "c", "d", "e"]);
    for address in ["a", "b", "c", "d"] {
        leaves(&mut rig, address);
    }
    // The last one too drops in order what lives there.
    rig.command("e", Command::Leave);
    assert!(rig.events.contains(&("e", Event::Drain)) && rig.ends.iter().all(|(who, _)| *who != "e"));
    rig.command("e", Command::Drained);
    // It waits for a moment: the one before asks for its lease once more, and learns that it may go.
    rig.wait_until("left", SECOND / 2, |rig| rig.ends.contains(&("e", End::Left)));
}

/// The last member is told to drain without a change of the table. If another joins meanwhile, the table has to show that it leaves: shards are not moved to it.
#[test]
fn the_last_member_leaves_like_any_other_if_another_joins_meanwhile() {
    let mut rig = cluster(&["a"]);
    rig.command("a", Command::Leave);
    assert!(rig.events.contains(&("a", Event::Drain)));
    rig.start("b");
    let a = rig.uid("a");
    let drains = |rig: &Rig| rig.table("a").member(a).is_some_and(|member| member.state == State::Draining);
    rig.wait_until("the table shows it", 15 * SECOND, drains);
    rig.command("a", Command::Drained);
    rig.wait_until("left", 5 * SECOND, |rig| rig.ends.contains(&("a", End::Left)));
    rig.wait_until("the other goes on", 15 * SECOND, |rig| rig.is_whole(&["b"]));
}

/// All are told to leave at the same moment; each says that nothing lives there any more as soon as it may go.
fn all_leave_at_once(rig: &mut Rig, addresses: &[&'static str]) {
    for address in addresses {
        rig.command(address, Command::Leave);
    }
    let told = |rig: &Rig| addresses.iter().all(|address| rig.events.contains(&(address, Event::Drain)));
    rig.wait_until("all told to drain", SECOND, told);
    for address in addresses {
        rig.command(address, Command::Drained);
    }
}

/// Nobody stays who could vote in their place.
#[test]
fn a_whole_cluster_that_leaves_at_once_has_left_within_a_second() {
    for size in 2..=5 {
        let all = &["a", "b", "c", "d", "e"][..size];
        let mut rig = cluster(all);
        all_leave_at_once(&mut rig, all);
        rig.wait_until("all have gone", SECOND, |rig| rig.nodes.is_empty());
        assert!(rig.ends.iter().all(|(_, end)| matches!(end, End::Left | End::Closed)), "{:?}", rig.ends);
    }
}

/// What it still has could be lost.
#[test]
fn a_cluster_that_leaves_waits_for_a_member_on_which_something_lives() {
    let mut rig = cluster(&["a", "b", "c"]);
    for address in ["a", "b", "c"] {
        rig.command(address, Command::Leave);
    }
    let told =
        |rig: &Rig| ["a", "b", "c"].iter().all(|address| rig.events.contains(&(address, Event::Drain)));
    rig.wait_until("all told to drain", SECOND, told);
    rig.command("a", Command::Drained);
    rig.command("b", Command::Drained);
    rig.pass(5 * SECOND);
    assert!(rig.runs("c"), "{}", rig.describe());
    rig.command("c", Command::Drained);
    rig.wait_until("all have gone", SECOND, |rig| rig.nodes.is_empty());
}

/// It may take what the others have, and their votes.
#[test]
fn a_cluster_that_leaves_is_not_shut_down_while_another_node_joins() {
    let mut rig = cluster(&["a", "b", "c"]);
    rig.start("d");
    let joins = |rig: &Rig| rig.nodes["a"].document().is_some_and(|known| known.joining().next().is_some());
    rig.wait_until("it is seen to join", 5 * SECOND, joins);
    all_leave_at_once(&mut rig, &["a", "b", "c"]);
    rig.wait_until("it goes on", 30 * SECOND, |rig| rig.is_whole(&["d"]));
    assert!(rig.ends.iter().all(|(_, end)| *end == End::Left), "{:?}", rig.ends);
}

#[test]
fn a_whole_cluster_shuts_down_and_nobody_is_removed() {
    let mut rig = cluster(&["a", "b", "c", "d", "e"]);
    rig.command("d", Command::CloseCluster);
    rig.wait_until("all closed", 5 * SECOND, |rig| rig.nodes.is_empty());
    assert!(rig.ends.iter().all(|(_, end)| *end == End::Closed), "{:?}", rig.ends);
    assert!(!rig.events.iter().any(|(_, event)| matches!(event, Event::Removed(..))));
}

/// What lives there takes its time.
fn leaves_slowly(flaws: Flaws) -> Rig {
    let mut rig = Rig::grown_with(flaws, Settings::default(), &["a", "b", "c", "d", "e"]);
    rig.command("e", Command::Leave);
    rig.wait_until("told to drain", 3 * SECOND, |rig| rig.events.contains(&("e", Event::Drain)));
    rig.pass(20 * SECOND);
    rig
}

#[test]
fn a_leaving_member_runs_until_it_says_that_nothing_lives_there_any_more() {
    let mut rig = leaves_slowly(Flaws::default());
    assert!(rig.is_whole(&["a", "b", "c", "d", "e"]), "{}", rig.describe());
    rig.command("e", Command::Drained);
    assert!(!rig.runs("e"), "at once");
    rig.wait_until("left", 5 * SECOND, |rig| rig.ends.contains(&("e", End::Left)));
}

#[cfg(feature = "flaws")]
#[test]
#[should_panic(expected = "runs what may run elsewhere")]
fn a_goodbye_while_something_still_lives_there_is_noticed() {
    leaves_slowly(Flaws::only(borough_protocol::flaws::Flaw::GoodbyeBeforeResidentsDropped));
}
