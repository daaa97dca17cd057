//! Attacks on leases and on the wait before what somebody owned is given away: 10 to 16.
//!
//! In all of them the rig watches: a node that runs, or stopped in the middle of a turn, after what it owned was freed fails
//! the test.

use std::time::Duration;

use borough_protocol::flaws::Flaws;
use borough_protocol::lease::{Renewed, Verdict};
use borough_protocol::log::Log;
use borough_protocol::log::raft::Message as LogMessage;
use borough_protocol::node::{Command, End, Event, GaveUp, Message, Word};
use borough_protocol::settings::{Checked, Settings};
use borough_protocol::table::Removal;
use borough_protocol::time::Timestamp;

use crate::rig::{Fate, MILLI, Parcel, Rig, SECOND};

const FIVE: &[&str] = &["a", "b", "c", "d", "e"];
const OTHERS: &[&str] = &["a", "b", "c", "d"];

fn timing() -> borough_protocol::settings::Timing {
    *Checked::new(Settings::default()).expect("good").timing()
}

/// Lets time pass until a renewal of `e` has just been acked by all.
fn just_after_a_renewal(rig: &mut Rig) {
    rig.network.rule(Fate::Copied, |parcel| {
        parcel.goes("a", "e") && matches!(parcel.word(), Some(Word::Renewed(_)))
    });
    let before = rig.network.kept(Fate::Copied);
    rig.wait_until("a renewal", SECOND, |rig| rig.network.kept(Fate::Copied) > before);
    rig.pass(MILLI);
    rig.network.clear_rules();
}

/// Nothing but answers to its renewals reaches it: it does not learn what became of it in another way.
fn learns_nothing(rig: &mut Rig, name: &'static str) {
    rig.network.rule(Fate::Lost, move |parcel| {
        let news = matches!(parcel.word(), Some(Word::Feed(_) | Word::Log(_) | Word::Gossip(_)));
        parcel.at == name && news
    });
}

/// D, which does not vote, is removed, and only A knows that it is committed: B has the entry and not the news, C has
/// neither. D can talk to B and C.
fn only_the_coordinator_knows_of_the_removal(flaws: Flaws) -> Rig {
    let mut rig = Rig::grown_with(flaws, Settings::default(), &["a", "b", "c", "d"]);
    rig.cut(&["a"], &["d"]);
    learns_nothing(&mut rig, "d");
    rig.network.rule(Fate::Lost, |parcel| {
        parcel.goes("a", "c") && matches!(parcel.word(), Some(Word::Log(_)))
            || matches!(parcel.word(), Some(Word::Feed(_)))
    });
    let before = rig.nodes["a"].log().expect("in a cluster").last_index();
    rig.network.alter(move |parcel| {
        if let Message::Word { word: Word::Log(LogMessage::Append { committed, .. }), .. } =
            &mut parcel.message
        {
            *committed = before.min(*committed);
        }
    });
    let d = rig.uid("d");
    rig.command("a", Command::Down(d));
    rig.wait_until("committed", SECOND, |rig| rig.table("a").is_removed(d));
    rig
}

/// Attack 10, and 11 (a voter that refuses only when it knows the commit). The removed node counted those that still answered:
/// a majority, so it was not fenced, while A, which knew of the removal, went on without it.
#[test]
fn a_voter_refuses_as_soon_as_the_removal_is_appended() {
    let mut rig = only_the_coordinator_knows_of_the_removal(Flaws::default());
    let d = rig.uid("d");
    rig.wait_until("its lease is over", timing().lease, |rig| !rig.runs("d"));
    rig.wait_until("freed", 2 * SECOND, |rig| rig.events.contains(&("a", Event::Freed(d))));
    assert!(["b", "c"].iter().all(|name| rig.table(name).member(d).is_some()), "nobody else knows");
}

/// The answers to E's renewals are held for as long as its lease lasts; nothing that it says later is heard.
fn answers_come_late(flaws: Flaws) -> Rig {
    let mut rig = Rig::grown_with(flaws, Settings::default(), FIVE);
    just_after_a_renewal(&mut rig);
    learns_nothing(&mut rig, "e");
    rig.network
        .rule(Fate::Held, |parcel| parcel.at == "e" && matches!(parcel.word(), Some(Word::Renewed(_))));
    rig.pass(600 * MILLI);
    rig.cut_one_way(&["e"], OTHERS);
    let e = rig.uid("e");
    rig.command("a", Command::Down(e));
    rig.wait_until("removed", SECOND, |rig| rig.heard(&Event::Removed(e, Removal::Operator)));
    rig.pass(1300 * MILLI);
    assert!(!rig.runs("e"));
    rig.network.clear_rules();
    learns_nothing(&mut rig, "e");
    assert!(rig.network.kept(Fate::Held) > 0);
    rig.release();
    rig.wait_until("freed", 2 * SECOND, |rig| rig.heard(&Event::Freed(e)));
    rig
}

/// Attack 11. The lease was counted from the answer.
#[test]
fn a_lease_is_counted_from_the_sending_of_its_renewal() {
    answers_come_late(Flaws::default());
}

/// The voters changed from A, B, C to B, C, D, and E, which goes by the old list, was removed by B and D. Of the old list A knows
/// nothing of all that, and C of the change alone.
fn asks_by_an_old_list(flaws: Flaws) {
    let mut rig = Rig::grown_with(flaws, Settings { max_voters: 3, ..Settings::default() }, FIVE);
    assert_eq!(rig.voters("e"), ["a", "b", "c"].into());
    rig.network.rule(Fate::Lost, |parcel| {
        let entries = matches!(parcel.word(), Some(Word::Log(LogMessage::Append { .. })));
        parcel.at == "a" && (entries || matches!(parcel.word(), Some(Word::Feed(_) | Word::Gossip(_))))
    });
    learns_nothing(&mut rig, "e");
    let other_voters =
        |word: &Word| matches!(word, Word::Renewed(Renewed { verdict: Verdict::NewVoters(_), .. }));
    rig.network.rule(Fate::Lost, move |parcel| parcel.at == "e" && parcel.word().is_some_and(other_voters));
    rig.command("a", Command::Leave);
    rig.wait_until("the voters changed", 3 * SECOND, |rig| {
        let log = rig.nodes["c"].log().expect("in a cluster");
        rig.voters("b") == ["b", "c", "d"].into() && log.voters().id == rig.table("b").voters().id
    });
    assert_eq!(rig.coordinator(), Some("b"));
    rig.network.rule(Fate::Lost, |parcel| {
        let log = parcel.goes("b", "c") && matches!(parcel.word(), Some(Word::Log(_)));
        log || matches!(parcel.word(), Some(Word::Feed(_)))
    });
    rig.cut(&["e"], &["b", "d"]);
    let e = rig.uid("e");
    rig.command("b", Command::Down(e));
    rig.wait_until("removed", SECOND, |rig| rig.table("b").is_removed(e));
    rig.wait_until("freed", 3 * SECOND, |rig| rig.events.contains(&("b", Event::Freed(e))));
    assert!(["a", "c"].iter().all(|name| rig.table(name).member(e).is_some()), "they must not know");
}

/// Attack 11. A renewal under an old list of voters was acked by those of it that had not heard of the removal.
#[test]
fn a_renewal_counts_under_the_newest_list_alone() {
    asks_by_an_old_list(Flaws::default());
}

/// A removes E and dies; E stops in the middle of a turn just before its lease is over. Says when E suspends if it does not
/// stop.
fn the_remover_dies(flaws: Flaws, pause_at: Option<Timestamp>) -> Timestamp {
    let mut rig = Rig::grown_with(flaws, Settings::default(), FIVE);
    rig.clock_rate("e", 910);
    just_after_a_renewal(&mut rig);
    rig.cut(&["e"], OTHERS);
    let e = rig.uid("e");
    rig.command("a", Command::Down(e));
    rig.wait_until("committed by all", SECOND, |rig| OTHERS.iter().all(|name| rig.table(name).is_removed(e)));
    rig.crash("a");
    pauses_and_is_freed(&mut rig, pause_at)
}

/// E stops at that moment for as long as a healthy node may, and what it owned is freed. Says when its lease ended.
fn pauses_and_is_freed(rig: &mut Rig, pause_at: Option<Timestamp>) -> Timestamp {
    let e = rig.uid("e");
    if let Some(at) = pause_at {
        rig.pass(at.since(rig.now));
        assert!(rig.runs("e"));
        rig.pause("e");
        rig.pass(rig.settings.max_pause);
        rig.resume("e");
    }
    rig.wait_until("its lease is over", 2 * SECOND, |rig| !rig.runs("e"));
    let over = rig.now;
    rig.wait_until("freed", 5 * SECOND, |rig| rig.heard(&Event::Freed(e)));
    over
}

/// Attack 11. A new coordinator did not wait again: it cannot know how long its predecessor had waited.
#[test]
fn a_new_coordinator_waits_again() {
    let over = the_remover_dies(Flaws::default(), None);
    the_remover_dies(Flaws::default(), Some(over - MILLI));
}

/// E, whose clock is as slow as may be, is removed by those whose clocks are as fast as may be, right after a renewal; it stops in
/// the middle of a turn just before its lease is over.
fn removed_by_the_fastest_clocks(flaws: Flaws, pause_at: Option<Timestamp>) -> Timestamp {
    let mut rig = Rig::grown_with(flaws, Settings::default(), FIVE);
    rig.clock_rate("e", 900);
    rig.each(OTHERS, |rig, name| rig.clock_rate(name, 1100));
    just_after_a_renewal(&mut rig);
    rig.cut(&["e"], OTHERS);
    let e = rig.uid("e");
    rig.command("a", Command::Down(e));
    pauses_and_is_freed(&mut rig, pause_at)
}

/// Attack 12. A pause between the look at the lease and the effect: the bound did not contain it.
#[test]
fn the_wait_contains_a_pause_and_the_error_of_the_clocks() {
    let over = removed_by_the_fastest_clocks(Flaws::default(), None);
    removed_by_the_fastest_clocks(Flaws::default(), Some(over - MILLI));
}

/// E stops for longer than its lease, is removed and freed, and goes on.
fn sleeps_for_longer_than_its_lease() -> Rig {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    let e = rig.uid("e");
    // Its turn hangs for longer than is promised for; what counts is what it does then.
    rig.beyond_bounds = true;
    rig.pause("e");
    rig.wait_until("freed", 5 * SECOND, |rig| rig.heard(&Event::Freed(e)));
    rig.pass(600 * SECOND);
    rig
}

/// Attack 12 and 13. After a pause the node looked at a clock that had stood still, and its lease seemed fresh.
#[test]
fn after_a_pause_the_first_look_at_the_lease_stops_the_node() {
    let mut rig = sleeps_for_longer_than_its_lease();
    rig.resume("e");
    assert!(!rig.runs("e"), "before it has heard anything");
    rig.beyond_bounds = false;
    rig.wait_until("it knows", 5 * SECOND, |rig| rig.ends.contains(&("e", End::GaveUp(GaveUp::Removed))));
}

/// Attack 13. What a clock that stops while the machine sleeps would do: this is why there must be none.
#[test]
fn a_clock_that_stops_in_sleep_breaks_the_promise() {
    let mut rig = sleeps_for_longer_than_its_lease();
    rig.resume_as_if_no_time_had_passed("e");
    assert!(rig.runs("e"), "it believes in its lease, although it was given away");
}

/// Attack 14. C heard nothing and said everything: it stopped by itself, and nobody replaced it.
fn hears_nothing(flaws: Flaws) -> Rig {
    let mut rig = Rig::grown_with(flaws, Settings::default(), FIVE);
    rig.cut_one_way(OTHERS, &["e"]);
    rig.pass(3 * SECOND);
    assert!(!rig.runs("e"));
    rig
}

#[test]
fn one_who_hears_nothing_is_removed_although_it_is_heard() {
    let mut rig = hears_nothing(Flaws::default());
    rig.wait_until("the others go on", SECOND, |rig| rig.is_whole(OTHERS));
    let e = rig.uid("e");
    rig.wait_until("freed", 2 * SECOND, |rig| rig.heard(&Event::Freed(e)));
}

/// Attack 15. A node without a quorum threw everything away, although nobody had replaced it.
#[test]
fn a_suspended_node_loses_nothing() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    let before: Vec<_> = FIVE.iter().map(|name| rig.uid(name)).collect();
    rig.split(&[&["a", "b"], &["c", "d"], &["e"]]);
    rig.pass(8 * SECOND);
    rig.heal();
    rig.wait_until("all go on", 3 * SECOND, |rig| rig.is_whole(FIVE));
    let after: Vec<_> = FIVE.iter().map(|name| rig.uid(name)).collect();
    assert_eq!(before, after, "the same lives");
    for name in FIVE {
        let lease: Vec<&Event> = rig
            .events
            .iter()
            .filter(|(who, event)| who == name && matches!(event, Event::Suspended | Event::Resumed))
            .map(|(_, event)| event)
            .collect();
        assert_eq!(lease, [&Event::Suspended, &Event::Resumed], "{name}");
    }
}

/// Connections to E are refused: it has closed its listener, and works on.
fn connections_are_refused(flaws: Flaws) -> Rig {
    let mut rig = Rig::grown_with(flaws, Settings::default(), FIVE);
    let e = rig.uid("e");
    for name in OTHERS {
        rig.command(name, Command::Refused(e));
    }
    rig.pass(5 * SECOND);
    rig
}

/// Attack 16. A refused connection was taken for death.
#[test]
fn a_refused_connection_proves_nothing() {
    let rig = connections_are_refused(Flaws::default());
    assert!(rig.is_whole(FIVE) && !rig.anybody_removed());
}

/// Attack 16. The same address in new hands was taken for the death of the old ones.
#[test]
fn an_address_in_new_hands_proves_nothing() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    let old = rig.uid("e");
    just_after_a_renewal(&mut rig);
    // Another process listens there now. The old one still runs, and all voters but the coordinator hear it.
    rig.start("e'");
    let coordinator = rig.coordinator().expect("one is in office");
    let is_renewal = |parcel: &Parcel| matches!(parcel.word(), Some(Word::Renew(_)));
    rig.network.rule(Fate::Lost, move |parcel| parcel.goes("e", coordinator) && is_renewal(parcel));
    rig.wait_until("removed", 2 * SECOND, |rig| rig.heard(&Event::Removed(old, Removal::Replaced)));
    let removed = rig.now;
    rig.wait_until("freed", 3 * SECOND, |rig| rig.heard(&Event::Freed(old)));
    assert!(
        rig.now.since(removed) + Duration::from_millis(1) >= timing().wait,
        "{:?}",
        rig.now.since(removed)
    );
}

/// Two machines name one address by mistake. Each of them removed the other, again and again.
#[test]
fn a_member_that_is_heard_does_not_go_for_another_node_of_its_address() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    let (member, coordinator) = (rig.uid("e"), rig.coordinator().expect("one is in office"));
    rig.start("e'");
    let guest = rig.uid("e'");
    rig.always("it stays", 20 * SECOND, |rig| rig.nodes["e"].may_run(rig.now));
    let taken = rig.events.iter().filter(|(_, event)| matches!(event, Event::AddressTaken(..)));
    assert_eq!(taken.collect::<Vec<_>>(), [&(coordinator, Event::AddressTaken(member, guest))]);
    rig.crash("e");
    rig.wait_until("the other one comes", 5 * SECOND, |rig| rig.nodes["e'"].may_run(rig.now));
}

/// That the tests above would notice.
#[cfg(feature = "flaws")]
mod broken {
    use borough_protocol::flaws::Flaw;

    use super::*;

    #[test]
    #[should_panic(expected = "runs what may run elsewhere")]
    fn a_voter_that_refuses_only_after_the_commit_is_noticed() {
        let mut rig = only_the_coordinator_knows_of_the_removal(Flaws::only(Flaw::RefusesOnlyAfterCommit));
        let d = rig.uid("d");
        rig.wait_until("freed", 3 * SECOND, |rig| rig.events.contains(&("a", Event::Freed(d))));
        rig.pass(SECOND);
    }

    #[test]
    #[should_panic(expected = "runs what may run elsewhere")]
    fn a_renewal_that_is_not_bound_to_the_list_is_noticed() {
        asks_by_an_old_list(Flaws::only(Flaw::RenewalNotBoundToVoters));
    }

    #[test]
    #[should_panic(expected = "runs what may run elsewhere")]
    fn a_lease_from_the_answer_is_noticed() {
        answers_come_late(Flaws::only(Flaw::LeaseFromTheAnswer)).pass(SECOND);
    }

    #[test]
    #[should_panic(expected = "runs what may run elsewhere")]
    fn a_new_coordinator_that_does_not_wait_is_noticed() {
        let over = the_remover_dies(Flaws::default(), None);
        the_remover_dies(Flaws::only(Flaw::NewCoordinatorDoesNotWait), Some(over - MILLI));
    }

    #[test]
    #[should_panic(expected = "runs what may run elsewhere")]
    fn a_wait_without_the_pause_is_noticed() {
        let over = removed_by_the_fastest_clocks(Flaws::default(), None);
        removed_by_the_fastest_clocks(Flaws::only(Flaw::WaitWithoutPause), Some(over - MILLI));
    }

    #[test]
    #[should_panic(expected = "runs what may run elsewhere")]
    fn no_wait_at_all_is_noticed() {
        removed_by_the_fastest_clocks(Flaws::only(Flaw::NoWait), None);
    }

    #[test]
    fn a_deaf_node_that_counts_as_heard_is_noticed() {
        let rig = hears_nothing(Flaws::only(Flaw::DeafNodeCountsAsHeard));
        assert!(!rig.anybody_removed());
    }

    #[test]
    #[should_panic(expected = "runs what may run elsewhere")]
    fn a_refused_connection_taken_for_death_is_noticed() {
        connections_are_refused(Flaws::only(Flaw::RefusedConnectionIsDeath));
    }
}
