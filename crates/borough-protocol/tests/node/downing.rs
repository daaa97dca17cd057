//! Which side of a split lives on, for each strategy: the one on which a quorum of the voters is, or none.
//!
//! Each is older than the next: `a` is the oldest. With `keep-majority` the voters of five are all five, of four and three the
//! first three, of two and one the first.

use std::collections::BTreeSet;

use borough_protocol::node::{Command, End, Event, GaveUp};
use borough_protocol::settings::{Settings, Strategy};

use crate::rig::{Rig, SECOND};

struct Case {
    name: &'static str,
    strategy: Strategy,
    /// One letter a node.
    nodes: &'static str,
    sides: &'static [&'static str],
    /// Who goes on, and has removed all others; empty: nobody does, and nobody is removed.
    lives: &'static str,
}

const MAJORITY: Strategy = Strategy::KeepMajority;
const TWO: Strategy = Strategy::StaticQuorum { quorum: 2 };
const THREE: Strategy = Strategy::StaticQuorum { quorum: 3 };
const OLDEST: Strategy = Strategy::KeepOldest;

const fn case(
    name: &'static str,
    strategy: Strategy,
    nodes: &'static str,
    sides: &'static [&'static str],
    lives: &'static str,
) -> Case {
    Case { name, strategy, nodes, sides, lives }
}

#[rustfmt::skip]
const KEEP_MAJORITY: &[Case] = &[
    case("the majority with the oldest lives", MAJORITY, "abcde", &["abc", "de"], "abc"),
    case("the majority without the oldest lives", MAJORITY, "abcde", &["ab", "cde"], "cde"),
    case("one is lost", MAJORITY, "abcde", &["abcd", "e"], "abcd"),
    case("the oldest is lost", MAJORITY, "abcde", &["a", "bcde"], "bcde"),
    case("two of two: those with two of the three voters", MAJORITY, "abcd", &["ab", "cd"], "ab"),
    case("two of two: those with two voters, without the oldest", MAJORITY, "abcd", &["ad", "bc"], "bc"),
    case("one against three of four", MAJORITY, "abcd", &["a", "bcd"], "bcd"),
    case("the only one who does not vote is lost", MAJORITY, "abcd", &["abc", "d"], "abc"),
    case("two against one", MAJORITY, "abc", &["ab", "c"], "ab"),
    case("two against one, without the oldest", MAJORITY, "abc", &["a", "bc"], "bc"),
    case("one of one: the older", MAJORITY, "ab", &["a", "b"], "a"),
    case("more members but fewer voters is the side that dies", MAJORITY, "abcdefg", &["abc", "defg"], "abc"),
    case("those who do not vote count for nothing", MAJORITY, "abcdefg", &["abfg", "cde"], "cde"),
    case("three sides, one of them with three voters", MAJORITY, "abcde", &["abc", "d", "e"], "abc"),
    case("three sides without a quorum", MAJORITY, "abcde", &["ab", "cd", "e"], ""),
    case("everybody alone", MAJORITY, "abcde", &["a", "b", "c", "d", "e"], ""),
    case("three of three alone", MAJORITY, "abc", &["a", "b", "c"], ""),
    case("four in three sides without a quorum", MAJORITY, "abcd", &["a", "bd", "c"], ""),
    case("four in three sides, two voters on one", MAJORITY, "abcd", &["ac", "b", "d"], "ac"),
    case("seven in three sides", MAJORITY, "abcdefg", &["ace", "bd", "fg"], "ace"),
];

#[rustfmt::skip]
const STATIC_QUORUM: &[Case] = &[
    case("of two: the three oldest vote", TWO, "abcde", &["abc", "de"], "abc"),
    case("of two: two voters are enough against three others", TWO, "abcde", &["ab", "cde"], "ab"),
    case("of two: two voters without the oldest", TWO, "abcde", &["ade", "bc"], "bc"),
    case("of two: every voter on a side of its own", TWO, "abcde", &["ad", "be", "c"], ""),
    case("of two: three members, two together", TWO, "abc", &["ab", "c"], "ab"),
    case("of three: five vote", THREE, "abcde", &["abc", "de"], "abc"),
    case("of three: the oldest is no help", THREE, "abcde", &["ab", "cde"], "cde"),
    case("of three: three voters against four members", THREE, "abcdefg", &["abc", "defg"], "abc"),
    case("of three: three sides without a quorum", THREE, "abcde", &["ab", "cd", "e"], ""),
];

#[rustfmt::skip]
const KEEP_OLDEST: &[Case] = &[
    case("the oldest alone against four", OLDEST, "abcde", &["a", "bcde"], "a"),
    case("the oldest with another", OLDEST, "abcde", &["ab", "cde"], "ab"),
    case("the oldest with most", OLDEST, "abcde", &["abcd", "e"], "abcd"),
    case("three sides", OLDEST, "abcde", &["bc", "ad", "e"], "ad"),
    case("two nodes", OLDEST, "ab", &["a", "b"], "a"),
];

fn settings(strategy: Strategy) -> Settings {
    Settings { strategy, ..Settings::default() }
}

/// Each letter as a name.
fn names(letters: &'static str) -> Vec<&'static str> {
    (0..letters.len()).map(|place| &letters[place..=place]).collect()
}

fn split(rig: &mut Rig, sides: &[&'static str]) {
    let sides: Vec<Vec<&'static str>> = sides.iter().map(|side| names(side)).collect();
    let sides: Vec<&[&'static str]> = sides.iter().map(Vec::as_slice).collect();
    rig.split(&sides);
}

fn run(case: &Case) {
    println!("{:?} {}: {:?}", case.strategy, case.name, case.sides);
    let (all, lives) = (names(case.nodes), names(case.lives));
    let mut rig = Rig::grown(settings(case.strategy), &all);
    split(&mut rig, case.sides);
    if lives.is_empty() {
        rig.wait_until("nobody runs", 2 * SECOND, |rig| rig.running().is_empty());
        rig.always("nobody runs", 6 * SECOND, |rig| rig.running().is_empty());
        assert!(!rig.anybody_removed(), "{}", rig.describe());
        assert_eq!(rig.coordinator(), None);
        rig.heal();
        rig.wait_until("all go on as they were", 4 * SECOND, |rig| rig.is_whole(&all));
        assert!(rig.ends.is_empty() && !rig.anybody_removed(), "{}", rig.describe());
        return;
    }
    rig.wait_until("that side goes on alone", 4 * SECOND, |rig| rig.is_whole(&lives));
    let expected: BTreeSet<&str> = lives.iter().copied().collect();
    rig.wait_until("the others' leases are over", SECOND, |rig| rig.running() == expected);
    rig.always("nobody else runs", 3 * SECOND, |rig| rig.running() == expected);
    assert!(rig.ends.is_empty(), "suspended is not lost: {:?}", rig.ends);
    rig.heal();
    let dead = all.len() - lives.len();
    rig.wait_until("the others gave up", 5 * SECOND, |rig| rig.ends.len() == dead);
    assert!(rig.ends.iter().all(|(_, end)| *end == End::GaveUp(GaveUp::Removed)), "{:?}", rig.ends);
    let mut back = lives.clone();
    for name in all.iter().filter(|name| !lives.contains(name)) {
        rig.start(name);
        back.push(name);
        rig.wait_until("back as another", 5 * SECOND, |rig| rig.is_whole(&back));
    }
}

#[test]
fn keep_majority_keeps_the_side_with_a_quorum_of_the_voters() {
    KEEP_MAJORITY.iter().for_each(run);
}

#[test]
fn a_static_quorum_keeps_the_side_with_that_many_of_its_voters() {
    STATIC_QUORUM.iter().for_each(run);
}

#[test]
fn keep_oldest_keeps_the_side_of_the_oldest() {
    KEEP_OLDEST.iter().for_each(run);
}

/// Whatever the split: who loses a peer stops, on both sides.
#[test]
fn down_all_stops_everybody_who_loses_a_peer() {
    let cases: &[(&'static str, &[&'static str])] = &[
        ("abcde", &["abc", "de"]),
        ("abcde", &["abcd", "e"]),
        ("abcd", &["ab", "cd"]),
        ("abc", &["a", "b", "c"]),
        ("ab", &["a", "b"]),
    ];
    for (nodes, sides) in cases {
        println!("{sides:?}");
        let all = names(nodes);
        let mut rig = Rig::grown(settings(Strategy::DownAll), &all);
        split(&mut rig, sides);
        rig.wait_until("all stopped", 15 * SECOND, |rig| rig.nodes.is_empty());
        assert!(rig.ends.iter().all(|(_, end)| *end == End::GaveUp(GaveUp::DownAll)), "{:?}", rig.ends);
    }
}

#[test]
fn down_all_lets_members_leave_in_order() {
    let mut rig = Rig::grown(settings(Strategy::DownAll), &["a", "b", "c"]);
    rig.command("c", Command::Leave);
    rig.wait_until("told to drain", 3 * SECOND, |rig| rig.events.contains(&("c", Event::Drain)));
    rig.command("c", Command::Drained);
    rig.wait_until("left", 5 * SECOND, |rig| rig.ends.contains(&("c", End::Left)));
    rig.always("the others go on", 15 * SECOND, |rig| rig.is_whole(&["a", "b"]));
}

/// Its list never shrinks: who was removed is replaced or stays on the list, dead.
#[test]
fn a_static_quorum_does_not_follow_the_losses_down() {
    let mut rig = Rig::grown(settings(THREE), &["a", "b", "c", "d", "e"]);
    split(&mut rig, &["abc", "de"]);
    rig.wait_until("three go on", 4 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
    rig.pass(8 * SECOND);
    split(&mut rig, &["ab", "c"]);
    rig.wait_until("two of five are no quorum", 2 * SECOND, |rig| rig.running().is_empty());
    // Where the voters follow the members, two of three are.
    let mut rig = Rig::grown(settings(MAJORITY), &["a", "b", "c", "d", "e"]);
    split(&mut rig, &["abc", "de"]);
    rig.wait_until("three go on", 4 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
    rig.pass(8 * SECOND);
    split(&mut rig, &["ab", "c"]);
    rig.wait_until("two go on", 4 * SECOND, |rig| rig.is_whole(&["a", "b"]));
}

/// Until it is complete it admits members, and ends nobody.
#[test]
fn an_incomplete_static_quorum_removes_nobody() {
    let cases: &[(Strategy, &'static str, &[&'static str], &'static str)] = &[
        (TWO, "ab", &["a", "b"], "a"),
        // Three of the five vote so far.
        (THREE, "abcd", &["ab", "cd"], "ab"),
    ];
    for (strategy, nodes, sides, run) in cases {
        println!("{strategy:?} {sides:?}");
        let all = names(nodes);
        let mut rig = Rig::grown(settings(*strategy), &all);
        split(&mut rig, sides);
        let run: BTreeSet<&str> = names(run).into_iter().collect();
        rig.wait_until("who has no quorum stops", 2 * SECOND, |rig| rig.running() == run);
        rig.always("nobody is removed", 6 * SECOND, |rig| rig.running() == run && !rig.anybody_removed());
        rig.heal();
        rig.wait_until("all go on as they were", 4 * SECOND, |rig| rig.is_whole(&all));
    }
}

/// Nobody else is asked about who wants to go, so it need not be complete for that; the one voter may go too.
#[test]
fn an_incomplete_static_quorum_lets_members_leave() {
    for leaver in ["a", "b"] {
        println!("{leaver} leaves");
        let mut rig = Rig::grown(settings(TWO), &["a", "b"]);
        rig.command(leaver, Command::Leave);
        rig.wait_until("told to drain", 3 * SECOND, |rig| rig.events.contains(&(leaver, Event::Drain)));
        rig.command(leaver, Command::Drained);
        rig.wait_until("left", 5 * SECOND, |rig| rig.ends.contains(&(leaver, End::Left)));
        let stays = if leaver == "a" { "b" } else { "a" };
        rig.wait_until("the other goes on", 2 * SECOND, |rig| rig.is_whole(&[stays]));
    }
}

/// Its list has room for three and one votes: an operator's word is not enough, a newer life of an address is.
#[test]
fn an_incomplete_static_quorum_replaces_and_frees_an_earlier_life() {
    let mut rig = Rig::grown(settings(TWO), &["a", "b"]);
    let old = rig.uid("b");
    rig.command("a", Command::Down(old));
    rig.always("it stays", 4 * SECOND, |rig| rig.is_whole(&["a", "b"]));
    rig.crash("b");
    rig.start("b");
    rig.wait_until("freed", 6 * SECOND, |rig| rig.heard(&Event::Freed(old)));
    rig.wait_until("the new one is in", 2 * SECOND, |rig| rig.is_whole(&["a", "b"]));
}

#[test]
fn an_incomplete_static_quorum_admits_members_and_becomes_complete() {
    let mut rig = Rig::grown(settings(TWO), &["a", "b"]);
    rig.start("c");
    rig.wait_until("admitted", 5 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
    rig.wait_until("complete", 15 * SECOND, |rig| rig.voters("a").len() == 3);
    split(&mut rig, &["ab", "c"]);
    rig.wait_until("it removes", 4 * SECOND, |rig| rig.is_whole(&["a", "b"]));
}

#[test]
fn a_node_alone_is_never_suspended() {
    let mut rig = Rig::grown(Settings::default(), &["a"]);
    rig.always("it runs", 30 * SECOND, |rig| rig.is_whole(&["a"]));
    assert!(!rig.heard(&Event::Suspended));
}
