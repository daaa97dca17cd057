//! Messages that come late, twice or in another order, clocks that run apart, and processes that stop for a while.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use borough_protocol::node::{Command, End, Event, GaveUp, Word};
use borough_protocol::settings::{Settings, Strategy};

use crate::rig::{Fate, MILLI, Parcel, Rig, SECOND};

const FIVE: &[&str] = &["a", "b", "c", "d", "e"];

#[test]
fn everything_said_before_may_come_again() {
    for backwards in [false, true] {
        let mut rig = Rig::grown(Settings::default(), FIVE);
        rig.network.rule(Fate::Copied, |_| true);
        rig.pass(2 * SECOND);
        rig.network.clear_rules();
        let version = rig.table("a").version();
        for _ in 0..3 {
            rig.replay(backwards);
            rig.always("all go on", 2 * SECOND, |rig| rig.is_whole(FIVE));
        }
        assert_eq!(rig.table("a").version(), version, "nothing was decided");
        assert!(rig.ends.is_empty() && !rig.heard(&Event::Suspended));
    }
}

#[test]
fn a_member_whose_renewals_are_lost_says_the_last_one_again_to_those_that_ask() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    let renewals = RefCell::new(BTreeMap::<&'static str, BTreeSet<u64>>::new());
    // To each voter three renewals in a row are lost, each when it is said for the first time.
    rig.network.rule(Fate::Lost, move |parcel| match parcel.word() {
        Some(Word::Renew(renew)) if parcel.from == "e" => {
            let mut renewals = renewals.borrow_mut();
            let lost = renewals.entry(parcel.at).or_default();
            lost.len() < 3 && lost.insert(renew.seq)
        }
        _ => false,
    });
    rig.always("all go on", 5 * SECOND, |rig| rig.is_whole(FIVE));
    assert!(rig.ends.is_empty() && !rig.anybody_removed());
}

#[test]
fn the_words_of_the_founding_may_come_again() {
    for backwards in [false, true] {
        let mut rig = Rig::new(&["a", "b", "c"]);
        rig.network.rule(Fate::Copied, |_| true);
        rig.each(&["a", "b", "c"], Rig::start);
        rig.wait_until("one cluster", 10 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
        rig.network.clear_rules();
        rig.pass(12 * SECOND);
        rig.replay(backwards);
        rig.always("all go on", 5 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
    }
}

#[test]
fn the_words_of_a_removed_node_change_nothing() {
    for backwards in [false, true] {
        let mut rig = Rig::grown(Settings::default(), FIVE);
        rig.network.rule(Fate::Copied, |parcel| parcel.from == "e");
        rig.pass(2 * SECOND);
        rig.network.clear_rules();
        let e = rig.uid("e");
        rig.crash("e");
        rig.wait_until("freed", 4 * SECOND, |rig| rig.heard(&Event::Freed(e)));
        rig.pass(8 * SECOND);
        let version = rig.table("a").version();
        rig.replay(backwards);
        rig.always("the others go on", 3 * SECOND, |rig| rig.is_whole(&["a", "b", "c", "d"]));
        assert_eq!(rig.table("a").version(), version, "nothing was decided");
    }
}

#[test]
fn clocks_that_run_apart_as_far_as_may_be_disturb_nobody() {
    for rates in [[900, 1100, 900, 1100, 1000], [1100, 900, 900, 900, 900], [900, 1100, 1100, 1100, 1100]] {
        let mut rig = Rig::grown(Settings::default(), FIVE);
        for (name, rate) in FIVE.iter().zip(rates) {
            rig.clock_rate(name, rate);
        }
        rig.always("all go on", 60 * SECOND, |rig| rig.is_whole(FIVE));
        assert!(!rig.heard(&Event::Suspended));
    }
}

#[test]
fn a_pause_that_a_healthy_node_may_show_disturbs_nobody() {
    for name in FIVE {
        let mut rig = Rig::grown(Settings::default(), FIVE);
        for _ in 0..5 {
            rig.pause(name);
            rig.pass(400 * MILLI);
            rig.resume(name);
            rig.pass(730 * MILLI);
        }
        rig.pass(3 * SECOND);
        assert!(rig.is_whole(FIVE) && !rig.anybody_removed(), "{name}\n{}", rig.describe());
        assert!(!rig.heard(&Event::Suspended));
    }
}

#[test]
fn a_voter_that_was_away_accuses_nobody_for_it() {
    // Two of three voters stop at once, for so long that they hear nobody; the third cannot decide alone.
    let mut rig = Rig::grown(Settings::default(), &["a", "b", "c", "d"]);
    rig.beyond_bounds = true;
    rig.pause("a");
    rig.pause("b");
    rig.pass(5 * SECOND);
    rig.resume("a");
    rig.resume("b");
    rig.wait_until("all go on", 4 * SECOND, |rig| rig.is_whole(&["a", "b", "c", "d"]));
    assert!(!rig.anybody_removed(), "{}", rig.describe());
}

/// Whatever came meanwhile is lost, so that nothing but its own clock tells it.
#[test]
fn the_one_voter_that_was_away_removes_nobody_for_it() {
    let cases = [(Strategy::KeepMajority, &["a", "b"][..]), (Strategy::KeepOldest, &["a", "b", "c", "d"])];
    for (strategy, all) in cases {
        println!("{all:?}");
        let mut rig = Rig::grown(Settings { strategy, ..Settings::default() }, all);
        assert_eq!(rig.voters("a").len(), 1);
        rig.network.rule(Fate::Lost, |parcel| parcel.at == "a");
        rig.pause("a");
        rig.pass(2 * SECOND);
        rig.network.clear_rules();
        rig.resume("a");
        rig.wait_until("all go on", 2 * SECOND, |rig| rig.is_whole(all));
        assert!(!rig.anybody_removed(), "{}", rig.describe());
    }
}

/// A member has just shown the longest pause it may, and its renewals come while the one voter stands still itself: wherever in that
/// pause the end of its patience lies, it reads before it judges.
#[test]
fn a_voter_that_stood_still_reads_what_came_before_it_accuses() {
    let settings = Settings { strategy: Strategy::KeepOldest, ..Settings::default() };
    for still in (100..300).step_by(2) {
        let mut rig = Rig::grown(settings.clone(), &["a", "b"]);
        let is_renewal =
            |parcel: &Parcel| parcel.goes("b", "a") && matches!(parcel.word(), Some(Word::Renew(_)));
        rig.network.rule(Fate::Copied, is_renewal);
        rig.wait_until("b renews", SECOND, |rig| rig.network.kept(Fate::Copied) > 0);
        rig.pass(190 * MILLI);
        rig.pause("b");
        rig.pass(400 * MILLI);
        rig.resume("b");
        rig.pass(4 * MILLI);
        rig.pause("a");
        rig.pass(still * MILLI);
        rig.resume_and_read("a", 2 * MILLI);
        rig.pass(2 * SECOND);
        assert!(!rig.anybody_removed(), "{still} ms\n{}", rig.describe());
    }
}

#[test]
fn a_coordinator_that_was_away_finds_another_and_goes() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    rig.beyond_bounds = true;
    let (coordinator, a) = (rig.coordinator().expect("one"), rig.uid("a"));
    assert_eq!(coordinator, "a");
    rig.pause("a");
    rig.wait_until("freed", 4 * SECOND, |rig| rig.heard(&Event::Freed(a)));
    rig.resume("a");
    rig.beyond_bounds = false;
    assert!(!rig.runs("a"), "before it has heard anything");
    rig.wait_until("it knows", 5 * SECOND, |rig| rig.ends.contains(&("a", End::GaveUp(GaveUp::Removed))));
    assert!(rig.is_whole(&["b", "c", "d", "e"]));
}

#[test]
fn all_may_leave_at_once() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    rig.each(FIVE, |rig, name| rig.command(name, Command::Leave));
    rig.wait_until("told to drain", 3 * SECOND, |rig| {
        FIVE.iter().all(|name| rig.events.contains(&(name, Event::Drain)))
    });
    rig.each(FIVE, |rig, name| rig.command(name, Command::Drained));
    // Nobody stays who could vote in their place: the cluster is shut down.
    rig.wait_until("all gone", SECOND, |rig| rig.nodes.is_empty());
    assert!(rig.ends.iter().all(|(_, end)| *end == End::Closed), "{:?}", rig.ends);
}

#[test]
fn all_but_one_may_leave_at_once() {
    for stays in FIVE {
        println!("{stays} stays");
        let mut rig = Rig::grown(Settings::default(), FIVE);
        let leave: Vec<&'static str> = FIVE.iter().copied().filter(|name| name != stays).collect();
        rig.each(&leave, |rig, name| rig.command(name, Command::Leave));
        rig.wait_until("told to drain", 3 * SECOND, |rig| {
            leave.iter().all(|name| rig.events.contains(&(name, Event::Drain)))
        });
        rig.each(&leave, |rig, name| rig.command(name, Command::Drained));
        rig.wait_until("the rest goes on", 15 * SECOND, |rig| rig.is_whole(&[stays]));
        assert!(rig.ends.iter().all(|(_, end)| *end == End::Left), "{:?}", rig.ends);
    }
}

/// Gossip takes the late one for the newer life and buries the other: it must learn that, and come as another.
#[test]
fn the_late_knock_of_an_earlier_life_does_not_shut_the_address_out() {
    let settings = Settings { minimum_members: 3, ..Settings::default() };
    let mut rig = Rig::with(settings, &["a"]);
    rig.start("a");
    rig.network.rule(Fate::Held, |parcel| parcel.from == "b");
    rig.start("b");
    rig.pass(100 * MILLI);
    rig.network.clear_rules();
    rig.crash("b");
    rig.start("b");
    rig.pass(SECOND);
    rig.release();
    rig.pass(3 * SECOND);
    if !rig.nodes.contains_key("b") {
        assert_eq!(rig.ends, [("b", End::GaveUp(GaveUp::Removed))]);
        rig.start("b");
    }
    rig.start("c");
    rig.wait_until("three", 20 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
}

/// The other voters hear it and go on answering; the coordinator gives it up.
#[test]
fn one_whom_the_coordinator_alone_did_not_hear_is_told_to_come_again() {
    let mut rig = Rig::grown(Settings::default(), &["a", "b", "c"]);
    assert_eq!(rig.coordinator(), Some("a"));
    rig.cut(&["d"], &["a"]);
    rig.start("d");
    rig.wait_until("its life is over", 15 * SECOND, |rig| !rig.nodes.contains_key("d"));
    rig.heal();
    rig.start("d");
    rig.wait_until("it is in", 5 * SECOND, |rig| rig.is_whole(&["a", "b", "c", "d"]));
}

/// A renewal that was heard before is no sign of life.
#[test]
fn old_renewals_do_not_keep_a_dead_member_alive() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    rig.network
        .rule(Fate::Copied, |parcel| parcel.from == "e" && matches!(parcel.word(), Some(Word::Renew(_))));
    rig.pass(300 * MILLI);
    rig.network.clear_rules();
    rig.crash("e");
    for _ in 0..10 {
        rig.replay(false);
        rig.pass(500 * MILLI);
    }
    assert!(rig.is_whole(&["a", "b", "c", "d"]), "the dead one is still a member");
}

/// What a voter said of a silence long ago says nothing of now.
#[test]
fn old_words_of_silence_remove_nobody() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    rig.network.rule(Fate::Copied, |parcel| matches!(parcel.word(), Some(Word::Quiet(_))));
    // Two of five do not hear e for a while.
    rig.cut_one_way(&["e"], &["c", "d"]);
    rig.pass(2 * SECOND);
    rig.heal();
    rig.network.clear_rules();
    rig.pass(20 * SECOND);
    rig.network
        .rule(Fate::Copied, |parcel| parcel.from == "b" && matches!(parcel.word(), Some(Word::Quiet(_))));
    rig.cut_one_way(&["e"], &["b"]);
    rig.pass(800 * MILLI);
    rig.replay(false);
    rig.pass(SECOND);
    assert!(rig.is_whole(FIVE), "one of five does not hear it\n{}", rig.describe());
}

/// Two of five said it and take it back, but that gets lost: with the third it would be a quorum.
#[test]
fn a_word_of_silence_that_was_not_repeated_counts_no_more() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    assert_eq!(rig.coordinator(), Some("a"));
    rig.network.rule(Fate::Copied, |parcel| matches!(parcel.word(), Some(Word::Quiet(_))));
    rig.cut_one_way(&["e"], &["c", "d"]);
    rig.wait_until("both say it", SECOND, |rig| rig.network.kept(Fate::Copied) == 2);
    rig.network.clear_rules();
    rig.network.rule(Fate::Lost, |parcel| {
        ["c", "d"].contains(&parcel.from) && matches!(parcel.word(), Some(Word::Quiet(_)))
    });
    rig.heal();
    rig.pass(500 * MILLI);
    rig.cut_one_way(&["e"], &["b"]);
    rig.always("one of five does not hear it", 3 * SECOND, |rig| rig.is_whole(FIVE));
}
