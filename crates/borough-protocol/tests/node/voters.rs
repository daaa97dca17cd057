//! Who votes: when the list grows, towards whom it may change, and whose voice counts meanwhile.

use std::collections::BTreeSet;

use borough_protocol::log::Log;
use borough_protocol::node::{Command, Event, Word};
use borough_protocol::office::TableLog;
use borough_protocol::settings::{Settings, Strategy};
use borough_protocol::table::Removal;

use crate::rig::{Fate, MILLI, Parcel, Rig, SECOND};
use borough_protocol::voters::VoterId;

const FIVE: &[&str] = &["a", "b", "c", "d", "e"];

fn log<'a>(rig: &'a Rig, name: &str) -> &'a TableLog {
    rig.nodes[name].log().expect("in a cluster")
}

fn is_log(parcel: &Parcel) -> bool {
    matches!(parcel.word(), Some(Word::Log(_)))
}

/// The one voter, `a`, and others that have just become members.
fn one_voter_and(others: &[&'static str]) -> Rig {
    let mut rig = Rig::grown(Settings::default(), &["a"]);
    rig.each(others, Rig::start);
    let all: Vec<&str> = ["a"].iter().chain(others).copied().collect();
    rig.wait_until("members", 2 * SECOND, |rig| rig.is_whole(&all));
    assert_eq!(rig.voters("a"), BTreeSet::from(["a"]));
    rig
}

#[test]
fn the_list_grows_only_after_the_newcomers_have_been_there_for_a_while() {
    let mut rig = one_voter_and(&["b", "c"]);
    assert_eq!(rig.settings.voters_settle, 5 * SECOND);
    rig.always("one votes", 4900 * MILLI, |rig| log(rig, "a").voters().all().count() == 1);
    rig.wait_until("three vote", SECOND, |rig| rig.voters("a").len() == 3);
}

#[test]
fn a_newcomer_that_has_just_fallen_silent_does_not_become_a_voter() {
    let mut rig = one_voter_and(&["b", "c"]);
    let c = rig.uid("c");
    rig.pass(4500 * MILLI);
    rig.crash("c");
    rig.wait_until("it is to catch up", 700 * MILLI, |rig| {
        log(rig, "a").learners().contains(&VoterId::of_life(c))
    });
    rig.always("it does not vote", 5 * SECOND, |rig| !log(rig, "a").voters().names(VoterId::of_life(c)));
    assert!(rig.is_whole(&["a", "b"]));
}

#[test]
fn a_newcomer_that_has_not_caught_up_does_not_become_a_voter() {
    let mut rig = Rig::grown(Settings::default(), &["a", "b", "c"]);
    // Lives that come and go make the log longer than what one append carries.
    for _ in 0..5 {
        rig.start("d");
        rig.wait_until("four", 5 * SECOND, |rig| rig.is_whole(&["a", "b", "c", "d"]));
        rig.crash("d");
        rig.wait_until("three", 5 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
    }
    assert!(log(&rig, "a").last_index() > 20);
    rig.network.rule(Fate::Lost, |parcel| parcel.at == "e" && is_log(parcel));
    rig.each(&["d", "e"], Rig::start);
    rig.wait_until("five", 5 * SECOND, |rig| rig.is_whole(FIVE));
    rig.always("three vote", 10 * SECOND, |rig| log(rig, "a").voters().all().count() == 3);
    assert_eq!(log(&rig, "a").learners().len(), 2, "both are to catch up");
    rig.network.clear_rules();
    rig.wait_until("five vote", 2 * SECOND, |rig| rig.voters("a").len() == 5);
}

#[test]
fn no_change_begins_while_most_of_those_who_are_to_vote_do_not_answer() {
    let mut rig = Rig::grown(Settings::default(), &["a", "b", "c", "d", "e", "f"]);
    assert_eq!((rig.coordinator(), rig.voters("a").len()), (Some("a"), 5));
    let f = rig.uid("f");
    // They are not quiet yet, and the log goes on.
    rig.network.rule(Fate::Lost, |parcel| {
        ["b", "c", "d"].iter().any(|from| parcel.goes(from, "a"))
            && matches!(parcel.word(), Some(Word::Renew(_)))
    });
    rig.pass(300 * MILLI);
    rig.command("e", Command::Leave);
    rig.always("f does not vote", 400 * MILLI, |rig| !log(rig, "a").voters().names(VoterId::of_life(f)));
    assert!(log(&rig, "a").learners().contains(&VoterId::of_life(f)), "it is to");
    rig.network.clear_rules();
    rig.wait_until("it votes", SECOND, |rig| log(rig, "a").voters().names(VoterId::of_life(f)));
}

#[test]
fn a_voter_that_the_coordinator_does_not_hear_stays_on_the_list() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    assert_eq!(rig.coordinator(), Some("a"));
    rig.cut_one_way(&["b"], &["a"]);
    // Longer than a change of who should vote has to last, shorter than two may be cut off from each other.
    rig.always("five vote", 8 * SECOND, |rig| {
        let voters = log(rig, "a").voters();
        voters.now.len() == 5 && !voters.is_joint()
    });
    rig.heal();
    rig.always("all go on", 5 * SECOND, |rig| rig.is_whole(FIVE));
}

/// From {a, b, c} to {a, b, d}: b and c, who do not hear e, are a majority of those who vote, and not of those who are to.
#[test]
fn while_the_list_changes_nobody_is_removed_by_the_old_one_alone() {
    let mut rig = Rig::grown(Settings { max_voters: 3, ..Settings::default() }, FIVE);
    assert_eq!(rig.coordinator(), Some("a"));
    rig.command("c", Command::Leave);
    rig.wait_until("the change begins", SECOND, |rig| log(rig, "a").voters().is_joint());
    rig.network.rule(Fate::Lost, |parcel| parcel.at == "a" && is_log(parcel));
    rig.network.rule(Fate::Copied, |parcel| matches!(parcel.word(), Some(Word::Quiet(_))));
    let e = rig.uid("e");
    rig.cut_one_way(&["e"], &["b", "c"]);
    rig.each(&["b", "c"], |rig, name| rig.command(name, Command::Refused(e)));
    rig.pass(500 * MILLI);
    assert!(rig.network.kept(Fate::Copied) >= 2, "both say that it is quiet");
    assert!(log(&rig, "a").voters().is_joint() && rig.coordinator() == Some("a"));
    rig.heal();
    rig.network.clear_rules();
    rig.wait_until("the change ends", SECOND, |rig| !log(rig, "a").voters().is_joint());
    rig.always("e stays", 3 * SECOND, |rig| rig.is_whole(FIVE));
}

/// A list that never shrinks names a removed voter until there is somebody in its place.
#[test]
fn a_removed_voter_is_heard_on_who_is_quiet_as_long_as_a_list_names_it() {
    let settings = Settings { strategy: Strategy::StaticQuorum { quorum: 2 }, ..Settings::default() };
    let mut rig = Rig::grown(settings, &["a", "b", "c"]);
    assert_eq!(rig.coordinator(), Some("a"));
    let (b, c) = (rig.uid("b"), rig.uid("c"));
    rig.command("a", Command::Down(c));
    rig.wait_until("removed", SECOND, |rig| rig.heard(&Event::Removed(c, Removal::Operator)));
    rig.crash("b");
    rig.wait_until("a and c find b quiet", 2 * SECOND, |rig| rig.heard(&Event::Removed(b, Removal::Quiet)));
    assert!(rig.table("a").voters().names(VoterId::of_life(c)));
}
