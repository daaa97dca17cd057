//! Cuts that are no clean split: one way, between two nodes only, and in the middle of something.

use std::collections::BTreeSet;

use borough_protocol::node::{Command, End, Event, GaveUp};
use borough_protocol::settings::Settings;
use borough_protocol::table::Removal;

use crate::rig::{Rig, SECOND};

const FIVE: &[&str] = &["a", "b", "c", "d", "e"];

/// A cut in one direction, and whether the one it is about is removed.
struct OneWay {
    name: &'static str,
    from: &'static [&'static str],
    to: &'static [&'static str],
    removed: &'static [&'static str],
}

#[rustfmt::skip]
const ONE_WAY: &[OneWay] = &[
    OneWay { name: "cannot be heard", from: &["e"], to: &["a", "b", "c", "d"], removed: &["e"] },
    OneWay { name: "cannot hear", from: &["a", "b", "c", "d"], to: &["e"], removed: &["e"] },
    OneWay { name: "the coordinator cannot be heard", from: &["a"], to: &["b", "c", "d", "e"], removed: &["a"] },
    OneWay { name: "the coordinator cannot hear", from: &["b", "c", "d", "e"], to: &["a"], removed: &["a"] },
    OneWay { name: "two cannot be heard", from: &["d", "e"], to: &["a", "b", "c"], removed: &["d", "e"] },
    OneWay { name: "two cannot hear", from: &["a", "b", "c"], to: &["d", "e"], removed: &["d", "e"] },
    OneWay { name: "a minority of the voters does not hear it", from: &["e"], to: &["c", "d"], removed: &[] },
    OneWay { name: "a majority of the voters does not hear it", from: &["e"], to: &["b", "c", "d"], removed: &["e"] },
];

#[test]
fn who_cannot_hear_or_be_heard_by_a_quorum_is_removed() {
    for case in ONE_WAY {
        println!("{}", case.name);
        let mut rig = Rig::grown(Settings::default(), FIVE);
        rig.cut_one_way(case.from, case.to);
        let rest: Vec<&str> = FIVE.iter().copied().filter(|name| !case.removed.contains(name)).collect();
        rig.wait_until("the rest goes on", 4 * SECOND, |rig| rig.is_whole(&rest));
        rig.pass(SECOND);
        let running: BTreeSet<&str> = rest.iter().copied().collect();
        // Shorter than two members may be cut off from each other.
        rig.always("nobody else runs", 6 * SECOND, |rig| rig.running() == running && rig.is_whole(&rest));
        rig.heal();
        rig.wait_until("the others know", 5 * SECOND, |rig| rig.ends.len() == case.removed.len());
    }
}

fn the_younger_goes_after_a_while(older: &'static str, younger: &'static str) {
    println!("{older} and {younger}");
    let mut rig = Rig::grown(Settings::default(), FIVE);
    let uid = rig.uid(younger);
    rig.cut(&[older], &[younger]);
    // The voters hear both: nothing happens for a detector's patience and give_up_after.
    rig.always("both run", 10 * SECOND, |rig| rig.is_whole(FIVE));
    rig.wait_until("the younger is removed", 15 * SECOND, |rig| {
        rig.heard(&Event::Removed(uid, Removal::CutOff))
    });
    let rest: Vec<&str> = FIVE.iter().copied().filter(|name| *name != younger).collect();
    rig.wait_until("the others go on", 2 * SECOND, |rig| rig.is_whole(&rest));
    rig.wait_until("it knows", 5 * SECOND, |rig| rig.ends.contains(&(younger, End::GaveUp(GaveUp::Removed))));
}

#[test]
fn of_two_members_that_do_not_hear_each_other_the_younger_goes_after_a_while() {
    // The coordinator, a, may be one of the two.
    for (older, younger) in [("b", "d"), ("d", "e"), ("b", "e"), ("a", "b"), ("a", "e")] {
        the_younger_goes_after_a_while(older, younger);
    }
}

#[test]
fn a_short_cut_between_two_members_removes_nobody() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    rig.cut(&["b"], &["d"]);
    rig.always("both run", 8 * SECOND, |rig| rig.is_whole(FIVE));
    rig.heal();
    rig.always("both run", 20 * SECOND, |rig| rig.is_whole(FIVE));
}

#[test]
fn who_joins_while_the_cluster_splits_joins_the_side_that_lives() {
    for side in [&["a", "b", "f"][..], &["c", "d", "e", "f"]] {
        println!("{side:?}");
        let mut rig = Rig::grown(Settings::default(), FIVE);
        let other: Vec<&'static str> = FIVE.iter().copied().filter(|name| !side.contains(name)).collect();
        rig.start("f");
        rig.split(&[side, &other]);
        let lives = ["c", "d", "e"];
        rig.wait_until("the majority goes on", 5 * SECOND, |rig| lives.iter().all(|name| rig.runs(name)));
        rig.pass(3 * SECOND);
        if side.contains(&"a") {
            assert!(!rig.runs("f"), "only a minority could have admitted it");
            rig.heal();
        }
        // It may have to give up a cluster that it was never admitted to, and try again.
        rig.pass(SECOND);
        if !rig.nodes.contains_key("f") {
            rig.start("f");
        }
        let all = ["c", "d", "e", "f"];
        rig.wait_until("it is in", 15 * SECOND, |rig| rig.is_whole(&all));
    }
}

#[test]
fn who_leaves_while_it_is_cut_off_is_removed_like_any_other() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    let uid = rig.uid("e");
    rig.command("e", Command::Leave);
    rig.wait_until("told to drain", 3 * SECOND, |rig| rig.events.contains(&("e", Event::Drain)));
    rig.cut(&["e"], &["a", "b", "c", "d"]);
    rig.command("e", Command::Drained);
    rig.wait_until("removed", 3 * SECOND, |rig| rig.heard(&Event::Removed(uid, Removal::Quiet)));
    rig.wait_until("the others go on", 5 * SECOND, |rig| rig.is_whole(&["a", "b", "c", "d"]));
    rig.heal();
    // What it wanted is so, whoever did it: nothing lived there any more.
    rig.wait_until("it left", 5 * SECOND, |rig| rig.ends.contains(&("e", End::Left)));
}

#[test]
fn a_split_while_one_leaves_keeps_the_side_with_a_quorum() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    rig.command("c", Command::Leave);
    rig.wait_until("told to drain", 3 * SECOND, |rig| rig.events.contains(&("c", Event::Drain)));
    rig.split(&[&["a", "b", "c"], &["d", "e"]]);
    rig.wait_until("that side goes on", 4 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
    assert!(rig.runs("c"), "what lives there has to move first");
    rig.command("c", Command::Drained);
    rig.wait_until("left", 8 * SECOND, |rig| rig.ends.contains(&("c", End::Left)));
    rig.wait_until("the others go on", 5 * SECOND, |rig| rig.is_whole(&["a", "b"]));
}
