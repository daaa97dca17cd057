//! Bad links between members that the voters hear: as few as possible are removed, and stay out until they are heard again.
//!
//! `a` is the oldest and in office; `a` to `e` vote.

use std::collections::BTreeSet;
use std::time::Duration;

use borough_protocol::flaws::Flaws;
use borough_protocol::node::{Command, Event};
use borough_protocol::settings::{Settings, Strategy};
use borough_protocol::table::Removal;

use crate::rig::{Rig, SECOND};

const SEVEN: &[&str] = &["a", "b", "c", "d", "e", "f", "g"];

/// A detector's patience, the evidence that two coordinators need one after the other, and some for gossip.
const REMOVED_WITHIN: Duration = Duration::from_secs(45);

fn seven() -> Rig {
    Rig::grown(Settings::default(), SEVEN)
}

fn without(gone: &[&str]) -> Vec<&'static str> {
    SEVEN.iter().copied().filter(|name| !gone.contains(name)).collect()
}

/// How many were removed for bad links, as any node heard of it.
fn cut_off(rig: &Rig) -> usize {
    let removed = |event: &Event| match event {
        Event::Removed(uid, Removal::CutOff) => Some(*uid),
        _ => None,
    };
    rig.events.iter().filter_map(|(_, event)| removed(event)).collect::<BTreeSet<_>>().len()
}

/// Lets time pass; that node starts again when it gave up.
fn pass_with_restarts(rig: &mut Rig, name: &'static str, seconds: u32) {
    for _ in 0..seconds {
        rig.pass(SECOND);
        if !rig.nodes.contains_key(name) {
            rig.start(name);
        }
    }
}

fn only_these_go(what: &str, gone: &[&'static str], cut: impl Fn(&mut Rig)) -> Rig {
    println!("{what}");
    let mut rig = seven();
    cut(&mut rig);
    let rest = without(gone);
    rig.wait_until("the others go on", REMOVED_WITHIN, |rig| rig.is_whole(&rest));
    rig.always("nobody else goes", 40 * SECOND, |rig| rig.is_whole(&rest));
    assert_eq!(cut_off(&rig), gone.len(), "{}", rig.describe());
    rig
}

#[test]
fn the_fewest_are_removed() {
    only_these_go("the oldest and four others", &["a"], |rig| rig.cut(&["a"], &["d", "e", "f", "g"]));
    only_these_go("one way only", &["a"], |rig| rig.cut_one_way(&["a"], &["d", "e", "f", "g"]));
    only_these_go("the other way", &["a"], |rig| rig.cut_one_way(&["d", "e", "f", "g"], &["a"]));
    only_these_go("the oldest and one other, one way", &["d"], |rig| rig.cut_one_way(&["a"], &["d"]));
    only_these_go("one that does not vote and three others", &["f"], |rig| rig.cut(&["f"], &["c", "d", "g"]));
}

#[test]
fn of_two_pairs_without_a_common_node_both_younger_go_one_after_the_other() {
    let mut rig = seven();
    rig.cut(&["b"], &["f"]);
    rig.cut(&["c"], &["g"]);
    rig.wait_until("the first goes", REMOVED_WITHIN, |rig| cut_off(rig) == 1);
    rig.always("the other stays", 9 * SECOND, |rig| cut_off(rig) == 1);
    rig.wait_until("the second goes", 3 * SECOND, |rig| rig.is_whole(&without(&["f", "g"])));
    rig.always("nobody else goes", 30 * SECOND, |rig| rig.is_whole(&without(&["f", "g"])));
}

#[test]
fn a_coordinator_in_the_cover_hands_over_before_it_is_removed() {
    let mut rig = seven();
    let uid = rig.uid("a");
    assert_eq!(rig.coordinator(), Some("a"));
    rig.cut(&["a"], &["d", "e", "f", "g"]);
    rig.wait_until("another is in office", REMOVED_WITHIN, |rig| {
        rig.coordinator().is_some_and(|name| ["b", "c"].contains(&name))
    });
    assert!(rig.is_whole(SEVEN), "nobody was removed or suspended for it\n{}", rig.describe());
    rig.wait_until("removed", 25 * SECOND, |rig| rig.heard(&Event::Removed(uid, Removal::CutOff)));
}

#[test]
fn a_removed_node_is_back_once_its_links_are_and_not_before() {
    let mut rig = only_these_go("the oldest", &["a"], |rig| rig.cut(&["a"], &["d", "e", "f", "g"]));
    let rest = without(&["a"]);
    for _ in 0..120 {
        pass_with_restarts(&mut rig, "a", 1);
        assert!(rig.is_whole(&rest), "{}", rig.describe());
    }
    rig.heal();
    pass_with_restarts(&mut rig, "a", 30);
    assert!(rig.is_whole(SEVEN), "{}", rig.describe());
    rig.always("it stays", 60 * SECOND, |rig| rig.is_whole(SEVEN));
    assert_eq!(cut_off(&rig), 1);
}

#[test]
fn a_guest_does_not_wait_again_when_the_coordinator_changes() {
    let mut rig = only_these_go("one that votes not", &["g"], |rig| rig.cut(&["g"], &["d", "e", "f"]));
    rig.heal();
    rig.start("g");
    rig.pass(12 * SECOND);
    assert!(!rig.is_whole(SEVEN), "it is watched first");
    rig.crash("a");
    // The fail-over, and what was left of the 15 s.
    rig.wait_until("it is admitted", 6 * SECOND, |rig| rig.is_whole(&without(&["a"])));
}

/// The voters start again and do not know how long ago the removal was; the one that does not vote has seen it. Their own links were never bad.
#[test]
fn voters_that_start_again_are_back_at_once_and_keep_out_the_one_that_was_removed() {
    let settings = Settings { durable: true, ..Settings::default() };
    let mut rig = Rig::grown_with(Flaws::default(), settings, SEVEN);
    rig.cut(&["f"], &["g"]);
    rig.wait_until("removed", REMOVED_WITHIN, |rig| cut_off(rig) == 1 && !rig.nodes.contains_key("g"));
    let (voters, rest) = (["a", "b", "c", "d", "e"], without(&["g"]));
    assert_eq!(rig.voters("f"), voters.into());
    rig.each(&voters, Rig::crash);
    rig.each(&voters, Rig::start);
    rig.start("g");
    rig.wait_until("the voters are back", 10 * SECOND, |rig| rig.is_whole(&rest));
    rig.always("the other is not", 60 * SECOND, |rig| rig.is_whole(&rest));
    rig.heal();
    rig.wait_until("it is back", 25 * SECOND, |rig| rig.is_whole(SEVEN));
}

/// The oldest alone votes, so all the voters that the guest knows are gone at once.
#[test]
fn a_guest_is_told_who_votes_when_all_the_voters_that_it_knows_are_removed() {
    let settings = Settings { strategy: Strategy::KeepOldest, ..Settings::default() };
    let mut rig = Rig::grown(settings, &["a", "b", "c", "d"]);
    rig.cut(&["c"], &["d"]);
    rig.wait_until("the younger goes", REMOVED_WITHIN, |rig| cut_off(rig) == 1);
    rig.wait_until("it gives up", 10 * SECOND, |rig| !rig.nodes.contains_key("d"));
    rig.start("d");
    rig.pass(5 * SECOND);
    let (a, d) = (rig.uid("a"), rig.uid("d"));
    rig.command("a", Command::Down(a));
    rig.wait_until("another is in office", 20 * SECOND, |rig| rig.coordinator() == Some("b"));
    rig.always("it waits", 20 * SECOND, |rig| rig.nodes.contains_key("d") && rig.uid("d") == d);
    rig.heal();
    rig.wait_until("it is admitted", 20 * SECOND, |rig| rig.is_whole(&["b", "c", "d"]));
}

#[test]
fn a_pair_that_hears_each_other_again_before_the_decision_stays() {
    for seconds in 10..=25 {
        let mut rig = seven();
        rig.cut_one_way(&["a"], &["d"]);
        rig.pass(seconds * SECOND);
        if cut_off(&rig) > 0 {
            assert!(seconds > 15, "nothing had lasted for long enough");
            continue;
        }
        rig.heal();
        // Detectors take back what they said once they hear beats, and gossip carries it to the coordinator.
        rig.pass(2 * SECOND);
        if cut_off(&rig) > 0 {
            continue;
        }
        rig.always("both stay", 20 * SECOND, |rig| rig.is_whole(SEVEN));
    }
}

/// A fixed quorum removes nobody until it is complete; who votes from then on has to listen for a while before it can call anybody quiet.
#[test]
fn one_that_died_before_a_fixed_quorum_was_complete_is_quiet() {
    let strategy = Strategy::StaticQuorum { quorum: 2 };
    let mut rig = Rig::grown(Settings { strategy, ..Settings::default() }, &["a", "b"]);
    rig.start("c");
    rig.wait_until("joined", 2 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
    let uid = rig.uid("c");
    rig.crash("c");
    rig.pass(30 * SECOND);
    rig.start("d");
    rig.wait_until("removed", 15 * SECOND, |rig| rig.is_whole(&["a", "b", "d"]));
    assert!(rig.heard(&Event::Removed(uid, Removal::Quiet)), "{}", rig.describe());
}

/// One old voter after the other loses its links to nodes that joined later.
fn in_rounds(flaws: Flaws) -> Rig {
    let mut rig = Rig::grown_with(flaws, Settings::default(), &["a", "b", "c", "d", "e", "f", "g", "h", "i"]);
    for (victim, removed) in [("e", 1), ("d", 2)] {
        rig.cut(&[victim], &["g", "h", "i"]);
        rig.wait_until("removed", REMOVED_WITHIN, |rig| cut_off(rig) == removed);
        rig.pass(15 * SECOND);
    }
    rig.cut(&["c"], &["g", "h", "i"]);
    rig.pass(REMOVED_WITHIN);
    rig
}

#[test]
fn most_of_the_old_voters_stay() {
    let rig = in_rounds(Flaws::default());
    assert_eq!(cut_off(&rig), 2, "{}", rig.describe());
    assert!(rig.is_whole(&["a", "b", "c", "f", "g", "h", "i"]), "{}", rig.describe());
}

/// One of three voters goes; the list grows to five, and its coordinator dies. The next one was a member all the time.
#[test]
fn a_coordinator_knows_the_voters_of_the_terms_before_its_own() {
    let mut rig = Rig::grown(Settings::default(), &["a", "b", "c", "d"]);
    rig.pass(300 * SECOND);
    assert_eq!(rig.voters("a"), ["a", "b", "c"].into());
    rig.cut(&["c"], &["b", "d"]);
    rig.wait_until("c is removed", REMOVED_WITHIN, |rig| cut_off(rig) == 1);
    rig.each(&["e", "f", "g", "h"], Rig::start);
    rig.wait_until("grown", 15 * SECOND, |rig| rig.voters("a").len() == 5);
    rig.crash("a");
    let rest = ["b", "d", "e", "f", "g", "h"];
    rig.wait_until("another is in office", 15 * SECOND, |rig| {
        rig.is_whole(&rest) && rig.coordinator() == Some("b") && rig.voters("b").len() == 5
    });
    rig.cut(&["b"], &["g", "h"]);
    rig.always("b would be the second of three", 90 * SECOND, |rig| rig.is_whole(&rest));
    rig.wait_until("that is long enough ago", 280 * SECOND, |rig| cut_off(rig) == 2);
}

#[cfg(feature = "flaws")]
mod flaws {
    use borough_protocol::flaws::Flaw;

    use super::*;

    #[test]
    fn younger_always_removed() {
        let mut rig = Rig::grown_with(Flaws::only(Flaw::YoungerAlwaysRemoved), Settings::default(), SEVEN);
        rig.cut(&["a"], &["d", "e", "f", "g"]);
        rig.wait_until("healthy nodes go", 120 * SECOND, |rig| cut_off(rig) > 1);
        assert!(rig.nodes.contains_key("a"), "and the one with the bad links stays");
    }

    #[test]
    fn cover_removes_old_voters() {
        assert_eq!(cut_off(&in_rounds(Flaws::only(Flaw::CoverRemovesOldVoters))), 3);
    }

    #[test]
    fn admission_recreates_broken_pair() {
        let flaws = Flaws::only(Flaw::AdmissionRecreatesBrokenPair);
        let mut rig = Rig::grown_with(flaws, Settings::default(), SEVEN);
        rig.cut(&["g"], &["d", "e", "f"]);
        pass_with_restarts(&mut rig, "g", 90);
        assert!(cut_off(&rig) > 1, "it is removed again and again\n{}", rig.describe());
    }
}
