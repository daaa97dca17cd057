//! Attacks on the table and on who decides: 1 to 9.

use std::collections::BTreeSet;

use borough_protocol::flaws::Flaws;
use borough_protocol::log::Log;
use borough_protocol::log::raft::Message as LogMessage;
use borough_protocol::node::{Command, End, Event, GaveUp, Node, Word};
use borough_protocol::settings::{Settings, Strategy};
use borough_protocol::table::{Removal, State};

use crate::rig::{Birth, Fate, MILLI, Parcel, Rig, SECOND};

const FIVE: &[&str] = &["a", "b", "c", "d", "e"];

fn in_office(rig: &Rig) -> Vec<&'static str> {
    let is = |node: &Node| node.log().is_some_and(Log::in_office);
    rig.nodes.iter().filter(|(_, node)| is(node)).map(|(name, _)| *name).collect()
}

fn is_log(parcel: &Parcel) -> bool {
    matches!(parcel.word(), Some(Word::Log(_)))
}

/// `c` begins to leave, and only `a` and `c` have the entry, which is enough to commit it.
fn commits_without_b(rig: &mut Rig) {
    rig.network.rule(Fate::Lost, |parcel| parcel.goes("a", "b") && is_log(parcel));
    rig.network.rule(Fate::Lost, |parcel| matches!(parcel.word(), Some(Word::Feed(_))));
    let c = rig.uid("c");
    rig.command("c", Command::Leave);
    rig.wait_until("committed", SECOND, |rig| {
        rig.table("a").member(c).is_some_and(|member| member.state == State::Draining)
    });
    let active = |name: &str| rig.table(name).member(c).is_some_and(|member| member.state == State::Active);
    assert!(active("b"), "b must not have it");
}

/// Attack 1. A majority of a set that moves: an entry was committed on {A, C}, D joined with an older copy, and B took
/// office by the answers of B and D, two of the three that it saw. The entry was lost.
#[test]
fn nobody_takes_office_without_what_was_committed() {
    let mut rig = Rig::grown(Settings::default(), &["a", "b", "c", "d"]);
    assert_eq!(rig.voters("d"), BTreeSet::from(["a", "b", "c"]), "d joined later");
    commits_without_b(&mut rig);
    rig.crash("a");
    rig.network.clear_rules();
    rig.cut(&["b", "d"], &["c"]);
    rig.always("nobody is in office", 7 * SECOND, |rig| in_office(rig).is_empty());
    rig.heal();
    rig.wait_until("somebody is", 3 * SECOND, |rig| rig.coordinator().is_some());
    let c = rig.uid("c");
    rig.wait_until("and all have the entry", SECOND, |rig| {
        ["b", "c", "d"]
            .iter()
            .all(|name| rig.table(name).member(c).is_some_and(|member| member.state == State::Draining))
    });
}

/// C and D accuse each other, so that A sees no more than A, B and E; of those A and B do not hear E.
fn two_of_five_do_not_hear_e(flaws: Flaws) -> Rig {
    let mut rig = Rig::grown_with(flaws, Settings::default(), FIVE);
    rig.cut(&["c"], &["d"]);
    rig.pass(6 * SECOND);
    rig.cut_one_way(&["e"], &["a", "b"]);
    rig.pass(3 * SECOND);
    rig
}

/// Attack 1, for removals: a majority of those whom the coordinator sees is no quorum.
#[test]
fn nobody_is_removed_by_a_majority_of_what_one_node_sees() {
    let rig = two_of_five_do_not_hear_e(Flaws::default());
    assert!(rig.is_whole(FIVE) && !rig.anybody_removed(), "{}", rig.describe());
}

/// Attack 2. The same term twice: B and C stood at once, both chose term 1, and D answered both.
#[test]
fn of_two_who_stand_at_once_one_at_most_gets_the_term() {
    for backwards in [false, true] {
        let mut rig = Rig::grown(Settings::default(), FIVE);
        rig.crash("a");
        rig.cut(&["b"], &["c"]);
        let asks = |parcel: &Parcel| matches!(parcel.word(), Some(Word::Log(LogMessage::PreVote { .. })));
        let b_or_c = |parcel: &Parcel| ["b", "c"].contains(&parcel.from) && ["d", "e"].contains(&parcel.at);
        rig.network.rule(Fate::Held, move |parcel| asks(parcel) && b_or_c(parcel));
        rig.wait_until("both ask", 3 * SECOND, |rig| rig.network.kept(Fate::Held) >= 4);
        rig.network.clear_rules();
        let stands = |parcel: &Parcel| matches!(parcel.word(), Some(Word::Log(LogMessage::Vote { .. })));
        rig.network.rule(Fate::Held, move |parcel| stands(parcel) && b_or_c(parcel));
        rig.release();
        rig.wait_until("both stand", 100 * MILLI, |rig| rig.network.kept(Fate::Held) >= 4);
        let term = |rig: &Rig, name: &str| rig.nodes[name].log().map(Log::term);
        assert_eq!(term(&rig, "b"), term(&rig, "c"), "in the same term");
        rig.network.clear_rules();
        rig.network.rule(Fate::Copied, is_log);
        rig.network.release(rig.now, Fate::Held, backwards);
        // The rig fails the test if there are ever two coordinators of one term.
        rig.pass(30 * MILLI);
        assert_eq!(in_office(&rig), [if backwards { "c" } else { "b" }]);
        // Neither do the same words again, in the order they came or not, make a second one.
        rig.network.clear_rules();
        for backwards in [false, true] {
            rig.replay(backwards);
            rig.pass(SECOND);
        }
        rig.heal();
        rig.wait_until("one is in office", 5 * SECOND, |rig| rig.coordinator().is_some());
    }
}

/// Attack 3. Downing kept one side, the table needed a majority of the other kind: the side that lived could decide nothing.
#[test]
fn the_side_that_lives_can_decide() {
    let cases: &[(Strategy, &[&'static str], &[&'static str])] = &[
        (Strategy::KeepMajority, &["a", "b"], &["c", "d"]),
        (Strategy::KeepMajority, &["a"], &["b"]),
        (Strategy::KeepOldest, &["a"], &["b", "c", "d"]),
        (Strategy::StaticQuorum { quorum: 2 }, &["a", "b"], &["c", "d", "e"]),
    ];
    for (strategy, lives, dies) in cases {
        println!("{strategy:?} {lives:?}");
        let all: Vec<&'static str> = lives.iter().chain(*dies).copied().collect();
        let mut rig = Rig::grown(Settings { strategy: *strategy, ..Settings::default() }, &all);
        rig.cut(lives, dies);
        rig.cut(&["x"], dies);
        rig.wait_until("it lives", 5 * SECOND, |rig| rig.is_whole(lives));
        rig.start("x");
        let grown: Vec<&str> = lives.iter().copied().chain(["x"]).collect();
        rig.wait_until("it admits somebody", 8 * SECOND, |rig| rig.is_whole(&grown));
    }
}

/// Attack 4. A quorum for each role: role x had its majority left of the cut, role y right of it; whichever side died, one of
/// them had lost its quorum for good.
#[test]
fn roles_have_no_quorum_of_their_own() {
    for (left, right, lives) in [(["a", "b", "c"], ["d", "e"], 3), (["c", "d", "e"], ["a", "b"], 3)] {
        let mut rig = Rig::new(&["a"]);
        for name in FIVE {
            let role = if ["d", "e"].contains(name) { "y" } else { "x" };
            let birth = Birth { roles: vec![role.to_owned()], ..rig.birth() };
            rig.start_as(name, birth);
        }
        rig.wait_until("one cluster", 10 * SECOND, |rig| rig.is_whole(FIVE));
        rig.pass(15 * SECOND);
        assert_eq!(rig.voters("e").len(), 5);
        rig.cut(&left, &right);
        rig.wait_until("one side lives, whatever its roles", 5 * SECOND, |rig| rig.is_whole(&left));
        rig.wait_until("the other does not", SECOND, |rig| rig.running().len() == lives);
        assert_eq!(in_office(&rig).len(), 1, "one coordinator for all roles");
    }
}

/// Attack 5. Claims corrected the table: E was cut off and replaced; the coordinator died, E came back, and a new coordinator
/// believed E's claim and a newcomer's old copy.
#[test]
fn the_claim_of_a_removed_node_changes_nothing() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    rig.start("f");
    rig.wait_until("six", 5 * SECOND, |rig| rig.is_whole(&["a", "b", "c", "d", "e", "f"]));
    // The newcomer's copy stays old.
    rig.network.rule(Fate::Lost, |parcel| {
        parcel.at == "f" && matches!(parcel.word(), Some(Word::Feed(_) | Word::Log(_)))
    });
    let e = rig.uid("e");
    rig.cut(&["e"], &["a", "b", "c", "d"]);
    rig.wait_until("freed", 5 * SECOND, |rig| rig.heard(&Event::Freed(e)));
    assert!(rig.table("f").member(e).is_some(), "its copy is old");
    rig.crash("a");
    rig.heal();
    // The rig fails the test if e ever runs again.
    rig.wait_until("another coordinator", 4 * SECOND, |rig| rig.coordinator().is_some());
    rig.wait_until("e knows", 5 * SECOND, |rig| rig.ends.contains(&("e", End::GaveUp(GaveUp::Removed))));
    rig.network.clear_rules();
    rig.wait_until("all agree", 3 * SECOND, |rig| rig.is_whole(&["b", "c", "d", "f"]));
    assert!(["b", "c", "d", "f"].iter().all(|name| rig.table(name).is_removed(e)));
}

/// Attack 5, the other way round: a slow owner is not heard by the new coordinator, and looks as if it were gone.
#[test]
fn a_slow_member_is_not_given_up_by_a_new_coordinator() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    let e = rig.uid("e");
    rig.crash("a");
    rig.pass(400 * MILLI);
    rig.network.rule(Fate::Held, |parcel| parcel.from == "e");
    rig.wait_until("another coordinator", SECOND, |rig| rig.coordinator().is_some());
    rig.pass(100 * MILLI);
    rig.network.clear_rules();
    rig.release();
    rig.wait_until("the others go on", 4 * SECOND, |rig| rig.is_whole(&["b", "c", "d", "e"]));
    assert!(!rig.events.iter().any(|(_, event)| matches!(event, Event::Removed(uid, _) if *uid == e)));
}

/// Attack 6. Who counts for a majority: those that only want to join were counted.
#[test]
fn guests_do_not_make_a_minority_a_majority() {
    let mut rig = Rig::grown(Settings::default(), &["a", "b", "c"]);
    rig.cut(&["a"], &["b", "c"]);
    for guest in ["d", "e", "f"] {
        rig.cut(&[guest], &["b", "c"]);
        rig.start_with(guest, &["a"], Settings::default());
    }
    rig.wait_until("the others go on", 4 * SECOND, |rig| rig.is_whole(&["b", "c"]));
    rig.wait_until("a stops", SECOND, |rig| !rig.runs("a"));
    rig.always("nobody is admitted there", 6 * SECOND, |rig| {
        rig.running() == BTreeSet::from(["b", "c"]) && in_office(rig) != ["a"]
    });
}

/// Attack 6. Who counts for a majority: one that was on its way out was counted, and blocked everything when it was gone.
#[test]
fn one_who_is_on_its_way_out_blocks_nobody() {
    let mut rig = Rig::grown(Settings::default(), &["a", "b", "c"]);
    let c = rig.uid("c");
    rig.command("c", Command::Leave);
    rig.wait_until("told to drain", 3 * SECOND, |rig| rig.events.contains(&("c", Event::Drain)));
    rig.command("c", Command::Drained);
    // Dead before its goodbye is heard.
    rig.crash("c");
    rig.wait_until("removed", 3 * SECOND, |rig| rig.heard(&Event::Removed(c, Removal::Quiet)));
    rig.start("d");
    rig.wait_until("another is admitted", 5 * SECOND, |rig| rig.is_whole(&["a", "b", "d"]));
}

/// The era before and after all nodes were restarted.
fn eras_of_a_full_restart(mut rig: Rig) -> (u32, u32) {
    let before = rig.table("a").cluster().era;
    rig.each(&["a", "b", "c"], Rig::crash);
    rig.each(&["a", "b", "c"], Rig::start);
    rig.wait_until("one cluster", 15 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
    (before, rig.table("a").cluster().era)
}

/// Attack 7. After a full restart the terms began at 1 again, and a store that had seen term 57 refused every write for ever.
#[test]
fn the_era_rises_over_a_full_restart() {
    let (before, after) = eras_of_a_full_restart(Rig::grown(Settings::default(), &["a", "b", "c"]));
    assert!(after > before);
}

/// Attack 8. A restarted voter: B acked a commit, came back with an empty copy under its address and answered "nothing":
/// the majority {B', C} forgot the entry.
#[test]
fn a_restarted_voter_does_not_vote() {
    let mut rig = Rig::grown(Settings::default(), &["a", "b", "c"]);
    // b and a have the entry, c has not.
    rig.network.rule(Fate::Lost, |parcel| parcel.goes("a", "c") && is_log(parcel));
    let b = rig.uid("b");
    rig.command("b", Command::Leave);
    let draining =
        move |rig: &Rig, name: &str| rig.table(name).member(b).is_some_and(|m| m.state == State::Draining);
    rig.wait_until("committed", SECOND, |rig| draining(rig, "a"));
    assert!(!draining(&rig, "c"));
    rig.crash("b");
    rig.network.clear_rules();
    rig.cut(&["a"], &["b", "c"]);
    rig.start("b");
    rig.always("b' and c are nobody", 7 * SECOND, |rig| !in_office(rig).contains(&"c") && !rig.runs("b"));
    assert!(!rig.runs("c"));
    rig.heal();
    rig.wait_until("the entry was not forgotten", 3 * SECOND, |rig| {
        draining(rig, "c") || rig.table("c").is_removed(b)
    });
    rig.wait_until("b' is a member", 10 * SECOND, |rig| rig.is_whole(&["a", "b", "c"]));
}

/// Attack 9. The first seed restarted while it was cut off and formed a second cluster at once.
#[test]
fn the_first_seed_alone_founds_no_second_cluster() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    rig.crash("a");
    rig.cut(&["a"], &["b", "c", "d", "e"]);
    rig.start("a");
    rig.always("it founds nothing", 20 * SECOND, |rig| rig.nodes["a"].cluster().is_none());
    rig.heal();
    rig.wait_until("it is back", 8 * SECOND, |rig| rig.is_whole(FIVE));
}

/// That the tests above would notice.
#[cfg(feature = "flaws")]
mod broken {
    use borough_protocol::flaws::Flaw;

    use super::*;

    #[test]
    fn an_era_that_begins_at_one_again_is_noticed() {
        let flaws = Flaws::only(Flaw::EraRestartsAtOne);
        let rig = Rig::grown_with(flaws, Settings::default(), &["a", "b", "c"]);
        let (before, after) = eras_of_a_full_restart(rig);
        assert_eq!(before, after);
    }

    #[test]
    fn a_removal_by_a_majority_of_what_one_node_sees_is_noticed() {
        assert!(two_of_five_do_not_hear_e(Flaws::only(Flaw::QuorumOverGossipView)).anybody_removed());
    }
}
