//! Nodes with disks that start again beside clusters that are not theirs, and what an operator is told of theirs.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use borough_protocol::disk::Image;
use borough_protocol::flaws::Flaws;
use borough_protocol::formation::Missing;
use borough_protocol::log::Log;
use borough_protocol::log::raft::{self, Item};
use borough_protocol::node::{Command, End, Event, GaveUp, Node, Word};
use borough_protocol::settings::{Checked, Settings};
use borough_protocol::table::{Change, Cluster, Removal};
use borough_protocol::version::Version;
use borough_protocol::voters::VoterId;

use super::rig::{Fate, Rig, SECOND};

const THREE: [&str; 3] = ["a", "b", "c"];

fn grown(names: &[&'static str]) -> Rig {
    Rig::grown_with(Flaws::default(), Settings { durable: true, ..Settings::default() }, names)
}

fn cluster(rig: &Rig, name: &str) -> Option<Cluster> {
    rig.nodes.get(name).and_then(Node::cluster)
}

/// Starts again every node whose life has ended, until all of them are in that cluster and run.
fn all_run_in(rig: &mut Rig, names: &[&'static str], wanted: Option<Cluster>) {
    for _ in 0..60 {
        for name in names {
            if !rig.nodes.contains_key(name) {
                rig.start(name);
            }
        }
        rig.pass(SECOND);
        if rig.is_whole(names) && names.iter().all(|name| cluster(rig, name) == wanted) {
            return;
        }
    }
    let are: Vec<_> = names.iter().map(|name| (*name, cluster(rig, name), rig.runs(name))).collect();
    panic!("not all run in {wanted:?}: {are:?}");
}

/// A young cluster of the same name greets a voter that has only started again. Its quorum may be on its way.
#[test]
fn a_voter_that_starts_again_does_not_yield_to_a_younger_cluster_at_once() {
    let mut rig = grown(&THREE);
    let before = cluster(&rig, "a");
    rig.each(&THREE, Rig::crash);
    rig.disks.lose("c");
    rig.start("c");
    rig.pass(10 * SECOND);
    rig.recover("c", &THREE);
    rig.wait_until("a younger cluster works", 5 * SECOND, |rig| rig.runs("c"));
    assert_ne!(cluster(&rig, "c"), before);
    rig.start("a");
    rig.pass(10 * SECOND);
    assert_eq!(cluster(&rig, "a"), before, "it keeps its vote and its log");
    all_run_in(&mut rig, &THREE, before);
}

/// The founding that a node's record names has yielded to another one, and nobody is left who could tell.
#[test]
fn a_member_of_a_cluster_that_yielded_joins_the_winner() {
    let names = ["a", "b", "c", "d"];
    let mut rig = grown(&names);
    let before = cluster(&rig, "a");
    let outside = names.into_iter().find(|name| !rig.voters("a").contains(name)).expect("three of four vote");
    let alone = if outside == "a" { "b" } else { "a" };
    let rest: Vec<&'static str> =
        names.into_iter().filter(|name| *name != alone && *name != outside).collect();
    rig.cut(&[alone, outside], &rest);
    rig.pass(10 * SECOND);
    rig.recover(alone, &[alone, outside]);
    for _ in 0..30 {
        if !rig.nodes.contains_key(outside) {
            rig.start(outside);
        }
        rig.pass(SECOND);
        if rig.runs(outside) && rig.runs(alone) {
            break;
        }
    }
    assert_ne!(cluster(&rig, outside), before, "it joined the recovered cluster");
    rig.crash(outside);
    rig.heal();
    rig.pass(5 * SECOND);
    all_run_in(&mut rig, &names, before);
}

/// One of three voters starts again, and the others do not answer.
#[test]
fn a_minority_names_the_voters_that_it_waits_for_and_would_give_up() {
    let mut rig = grown(&THREE);
    rig.wait_until("all vote", 20 * SECOND, |rig| rig.voters("c").len() == 3);
    rig.pass(2 * SECOND);
    rig.each(&THREE, Rig::crash);
    rig.start("c");
    rig.pass(20 * SECOND);
    let now = rig.local("c");
    let awaited = rig.nodes["c"].awaited(now).expect("it waits");
    let mut silent: Vec<&str> =
        awaited.iter().filter(|it| it.why == Missing::Silent).map(|it| it.address.as_str()).collect();
    // They come in the order of the voters' numbers.
    silent.sort_unstable();
    assert_eq!(silent, ["a", "b"]);
    let remains = rig.nodes["c"].recovery(now).expect("it may").expect("its disk names a cluster");
    let given_up: Vec<(&str, bool)> =
        remains.others.iter().filter(|it| !it.is_heard).map(|it| (it.address.as_str(), it.votes)).collect();
    assert_eq!(given_up, [("a", true), ("b", true)]);
}

/// A voter and a member that does not vote start again, and the other voters do not. The member looks for its cluster: an operator is not asked to give it up.
#[test]
fn a_member_that_looks_for_its_cluster_is_not_among_those_that_a_recovery_gives_up() {
    let names = ["a", "b", "c", "d"];
    let mut rig = grown(&names);
    let outside = names.into_iter().find(|name| !rig.voters("a").contains(name)).expect("three of four vote");
    let voter = if outside == "a" { "b" } else { "a" };
    rig.pass(2 * SECOND);
    rig.each(&names, Rig::crash);
    rig.each(&[voter, outside], Rig::start);
    rig.pass(20 * SECOND);
    let remains = rig.nodes[voter].recovery(rig.local(voter)).expect("it may").expect("its disk names one");
    let heard: Vec<&str> =
        remains.others.iter().filter(|it| it.is_heard).map(|it| it.address.as_str()).collect();
    assert_eq!(heard, [outside], "{remains:?}");
}

/// One of three voters is cut off and removed, and the coordinator is lost. The third one has started again, so the first does not know its life, and learns from
/// it that it was removed: started again, the two go on.
#[test]
fn a_voter_that_was_removed_unseen_learns_it_from_one_that_has_no_quorum() {
    let mut rig = grown(&THREE);
    rig.wait_until("all vote", 20 * SECOND, |rig| rig.voters("c").len() == 3);
    let before = cluster(&rig, "a");
    let coordinator = rig.coordinator().expect("one is in office");
    let others: Vec<&'static str> = THREE.into_iter().filter(|name| *name != coordinator).collect();
    let (removed, left) = (others[0], others[1]);
    let uid = rig.uid(removed);
    rig.cut(&[removed], &[coordinator, left]);
    rig.wait_until("it is removed", 20 * SECOND, |rig| rig.table(left).is_removed(uid));
    rig.crash(left);
    rig.start(left);
    rig.wait_until("it is back", 20 * SECOND, |rig| rig.runs(left));
    rig.crash(coordinator);
    rig.pass(5 * SECOND);
    rig.heal();
    rig.wait_until("it learns that it was removed", 10 * SECOND, |rig| !rig.nodes.contains_key(removed));
    assert_eq!(rig.ends.last(), Some(&(removed, End::GaveUp(GaveUp::Removed))));
    rig.start(removed);
    rig.wait_until("the two go on", 20 * SECOND, |rig| rig.runs(removed) && rig.runs(left));
    assert_eq!(cluster(&rig, left), before);
}

/// How long after its start a voter of three first says of a member that crashed with it that it is quiet.
fn accuses_after(flaws: Flaws) -> Duration {
    let names = ["a", "b", "c", "d"];
    let mut rig = Rig::grown_with(flaws, Settings { durable: true, ..Settings::default() }, &names);
    let coordinator = rig.coordinator().expect("one is in office");
    let list = rig.voters(coordinator);
    let outside = names.into_iter().find(|name| !list.contains(name)).expect("three of four vote");
    let voter = list.into_iter().find(|name| *name != coordinator).expect("another one votes");
    let quiet = rig.uid(outside);
    let accused = Rc::new(Cell::new(false));
    let seen = accused.clone();
    rig.each(&[outside, voter], Rig::crash);
    // The coordinator alone is not enough to remove anybody: the third voter says nothing.
    rig.network.rule(Fate::Lost, move |parcel| {
        let Some(Word::Quiet(report)) = parcel.word() else { return false };
        if parcel.from == voter && report.quiet.contains(&quiet) {
            seen.set(true);
        }
        true
    });
    rig.start(voter);
    let since = rig.local(voter);
    rig.wait_until("it says so", 10 * SECOND, |_| accused.get());
    rig.local(voter).since(since)
}

/// A voter that has started again does not remember whom it heard: it says of nobody that it is quiet for as long as a lease that it counted for may last.
#[test]
fn a_restarted_voter_accuses_nobody_for_as_long_as_a_lease_may_last() {
    let wait = Checked::new(Settings::default()).expect("sound").timing().wait;
    let after = accuses_after(Flaws::default());
    assert!(after >= wait, "{after:?} is less than {wait:?}");
}

#[cfg(feature = "flaws")]
#[test]
fn a_restarted_voter_that_speaks_of_leases_is_noticed() {
    let wait = Checked::new(Settings::default()).expect("sound").timing().wait;
    let flaws = Flaws::only(borough_protocol::flaws::Flaw::RestartedVoterSpeaksOfLeases);
    assert!(accuses_after(flaws) < wait);
}

/// The order to recover is lost with a crash before the new founding has decided anything: the voter is as it was, and goes on with the others.
#[test]
fn a_recovery_that_crashes_before_it_decides_leaves_the_voter_as_it_was() {
    let mut rig = grown(&THREE);
    rig.wait_until("all vote", 20 * SECOND, |rig| rig.voters("c").len() == 3);
    let before = cluster(&rig, "c");
    rig.crash("a");
    rig.crash("b");
    rig.pass(10 * SECOND);
    let image = rig.disks.of("c").image.clone();
    rig.recover("c", &THREE);
    assert_ne!(cluster(&rig, "c"), before);
    rig.crash("c");
    assert_eq!(rig.disks.of("c").image, image);
    all_run_in(&mut rig, &THREE, before);
}

/// A coordinator crashes when a new voters' list is on its own disk alone. The others go on by the list before it, and it must do so, too.
#[test]
fn a_voters_list_that_only_one_disk_holds_counts_for_nothing_when_its_voter_resumes() {
    let mut rig = grown(&THREE);
    let crashed = rig.coordinator().expect("one is in office");
    let others: Vec<&'static str> = THREE.into_iter().filter(|name| *name != crashed).collect();
    let before = rig.table(crashed).voters().clone();
    assert_eq!(before.now.len(), 3);
    rig.crash(crashed);
    let next: BTreeSet<VoterId> = others.iter().map(|name| rig.nodes[name].voter()).collect();
    let log = rig.disks.of(crashed).image.log.as_mut().expect("it votes");
    log.entries.push(Item::Lists { now: before.now.clone(), next, learners: BTreeSet::new() });
    rig.wait_until("another is in office", 10 * SECOND, |rig| {
        rig.coordinator().is_some_and(|name| others.contains(&name))
    });
    rig.start(crashed);
    rig.wait_until("it has a lease", 15 * SECOND, |rig| rig.is_whole(&THREE));
    assert_eq!(*rig.table(crashed).voters(), before, "no later list was needed");
}

/// An operator removed a voter, which came back as the voter that it was. When it crashes later, it is expected back like any other.
#[test]
fn a_voter_that_came_back_after_an_operator_removed_it_keeps_its_vote_when_it_crashes() {
    let mut rig = grown(&THREE);
    let (voter, removed) = (rig.nodes["c"].voter(), rig.uid("c"));
    rig.command("a", Command::Down(removed));
    rig.wait_until("it is removed", 10 * SECOND, |rig| !rig.nodes.contains_key("c"));
    rig.start("c");
    let votes_again = |rig: &Rig| {
        rig.is_whole(&THREE) && rig.table("a").voters().now.contains(&voter) && rig.voters("a").len() == 3
    };
    rig.wait_until("it votes again", 30 * SECOND, votes_again);
    assert_eq!(rig.nodes["c"].voter(), voter, "its directory is its identity");
    let crashed = rig.uid("c");
    rig.crash("c");
    rig.wait_until("it is removed as silent", 10 * SECOND, |rig| {
        rig.heard(&Event::Removed(crashed, Removal::Quiet))
    });
    assert!(rig.table("a").removed().contains_key(&removed), "its earlier removal is still known");
    rig.always("it stays on the list", 30 * SECOND, |rig| rig.table("a").voters().names(voter));
}

/// A voter was removed for a bad link and came back. Its links fail again: its old removal does not use up what may be removed.
#[test]
fn a_voter_that_came_back_after_a_bad_link_is_removed_again_if_its_link_fails_again() {
    let mut rig = grown(&THREE);
    for _ in 0..2 {
        rig.events.clear();
        rig.cut(&["b"], &["c"]);
        let is_cut_off = |event: &Event| matches!(event, Event::Removed(_, Removal::CutOff));
        rig.wait_until("one is removed", 60 * SECOND, |rig| {
            rig.events.iter().any(|(_, event)| is_cut_off(event))
        });
        rig.heal();
        let before = cluster(&rig, "a");
        all_run_in(&mut rig, &THREE, before);
        rig.wait_until("all vote", 60 * SECOND, |rig| rig.voters("a") == THREE.into());
        rig.pass(20 * SECOND);
    }
}

/// A word to a voter whose log came back shorter is lost: it is said again until the voter knows.
#[test]
fn a_voter_whose_log_came_back_shorter_is_told_until_it_has_heard() {
    let mut rig = grown(&THREE);
    let copy = rig.disks.of("b").image.clone();
    rig.start("d");
    rig.wait_until("more is decided", 10 * SECOND, |rig| rig.is_whole(&["a", "b", "c", "d"]));
    rig.pass(SECOND);
    rig.crash("b");
    rig.disks.of("b").image = copy;
    let lost = Cell::new(0);
    rig.network.rule(Fate::Lost, move |parcel| {
        let is_lost = matches!(parcel.word(), Some(Word::LogLost(_))) && lost.get() < 3;
        lost.set(lost.get() + u32::from(is_lost));
        is_lost
    });
    rig.start("b");
    let b = rig.uid("b");
    rig.wait_until("the others notice", 15 * SECOND, |rig| rig.heard(&Event::LogLost(b)));
    assert!(!rig.events.contains(&("b", Event::LogLost(b))), "the first words are lost");
    rig.wait_until("it hears it", 15 * SECOND, |rig| rig.events.contains(&("b", Event::LogLost(b))));
}

/// Two of three voters start again: one as it was, one from an older copy of its directory. What the third has confirmed with the newer state of that
/// directory may be in no log of the two, so the two must not decide.
#[test]
fn a_voter_that_resumes_knows_from_its_log_that_a_directory_is_an_older_copy() {
    let mut rig = grown(&THREE);
    let copy = rig.disks.of("b").clone();
    rig.crash("b");
    rig.start("b");
    rig.wait_until("it is back", 10 * SECOND, |rig| rig.is_whole(&THREE));
    rig.pass(2 * SECOND);
    rig.each(&THREE, Rig::crash);
    let log = rig.disks.of("a").image.log.as_ref().expect("it votes");
    let tells = log.entries.iter().any(|item| {
        matches!(item, Item::Payload(Change::Admit(admission)) if admission.facts.disk.is_some_and(|disk| {
            disk.voter == copy.image.voter && disk.life > copy.lives
        }))
    });
    assert!(tells, "its log tells of the later life, and no snapshot does yet");
    *rig.disks.of("b") = copy;
    rig.each(&["a", "b"], Rig::start);
    rig.wait_until("the copy gives up", 10 * SECOND, |rig| {
        assert!(rig.coordinator().is_none(), "the two decide");
        rig.ends.contains(&("b", End::GaveUp(GaveUp::Copy)))
    });
    rig.always("one of three decides nothing", 10 * SECOND, |rig| !rig.runs("a"));
}

/// Five voters and a member that does not vote, with older copies of the directories of three voters. All voters are down, and the lease of the member is over.
fn older_copies() -> (Rig, Vec<&'static str>, &'static str, Vec<Image>) {
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut rig = grown(&names);
    let outside = names.into_iter().find(|name| !rig.voters("a").contains(name)).expect("five of six vote");
    let voters: Vec<&'static str> = names.into_iter().filter(|name| *name != outside).collect();
    let copies: Vec<Image> = voters[..3].iter().map(|name| rig.disks.of(name).image.clone()).collect();
    rig.start("g");
    rig.wait_until("more is decided", 10 * SECOND, |rig| rig.is_whole(&["a", "b", "c", "d", "e", "f", "g"]));
    rig.pass(2 * SECOND);
    let decided = rig.table(outside).version();
    assert!(copies.iter().all(|copy| copy.log.as_ref().expect("it votes").last_index() < decided.index));
    rig.each(&voters, Rig::crash);
    rig.crash("g");
    rig.wait_until("its lease is over", 5 * SECOND, |rig| !rig.runs(outside));
    (rig, voters, outside, copies)
}

/// Three of five voters come back with older copies of their directories, and a member that does not vote tells one of them what was decided since. The logs of
/// the three lack it, so they must not elect one of themselves: what they decide would stand in its place.
fn three_of_five_with_older_copies() -> (Rig, Vec<&'static str>, &'static str, Version) {
    let (mut rig, voters, outside, copies) = older_copies();
    let decided = rig.table(outside).version();
    for (name, copy) in voters.iter().zip(copies) {
        rig.disks.of(name).image = copy;
    }
    rig.start(voters[0]);
    rig.wait_until("one is told", 10 * SECOND, |rig| rig.table(voters[0]).version() >= decided);
    rig.each(&voters[1..3], Rig::start);
    (rig, voters, outside, decided)
}

#[test]
fn voters_elect_nobody_whose_log_lacks_what_their_table_has() {
    let (mut rig, voters, _, decided) = three_of_five_with_older_copies();
    rig.always("nobody is in office", 30 * SECOND, |rig| rig.coordinator().is_none());
    // A voter that has the committed entries comes back.
    rig.start(voters[3]);
    rig.wait_until("they go on", 30 * SECOND, |rig| rig.coordinator().is_some());
    assert!(rig.table(voters[3]).version() >= decided);
    let before = cluster(&rig, voters[3]);
    all_run_in(&mut rig, &["a", "b", "c", "d", "e", "f", "g"], before);
}

/// The voters that have the committed entries never come back: the other three answer each other and can elect nobody, so the operator may recover the cluster.
#[test]
fn a_cluster_that_lost_what_it_had_decided_can_be_recovered() {
    let (mut rig, voters, outside, _) = three_of_five_with_older_copies();
    let before = cluster(&rig, voters[0]).expect("it is in a cluster");
    // Its lease is renewed by the voters: for it the cluster works.
    rig.crash(outside);
    let refused = rig.nodes[voters[0]].recovery(rig.local(voters[0]));
    assert!(refused.is_err(), "somebody who has it may still come: {refused:?}");
    rig.pass(30 * SECOND);
    rig.recover(voters[0], &voters[..3]);
    rig.wait_until("it goes on", 10 * SECOND, |rig| rig.runs(voters[0]));
    assert!(rig.table(voters[0]).ancestors().has(before));
    let after = cluster(&rig, voters[0]);
    all_run_in(&mut rig, &voters[..3], after);
}

/// Its log stays behind as long as the coordinator does not reach it, and what others tell it shows that. The cluster works all the same.
#[test]
fn a_voter_whose_log_lags_behind_a_cluster_that_works_does_not_recover_it() {
    let names = ["a", "b", "c"];
    let mut rig = grown(&names);
    let coordinator = rig.coordinator().expect("one is in office");
    let lags = names.into_iter().find(|name| *name != coordinator).expect("three are there");
    rig.crash(lags);
    rig.start("d");
    rig.pass(5 * SECOND);
    let decided = rig.table(coordinator).version();
    rig.cut(&[coordinator], &[lags]);
    rig.start(lags);
    rig.wait_until("it is told", 10 * SECOND, |rig| rig.table(lags).version() >= decided);
    rig.always("it may not recover", 14 * SECOND, |rig| {
        rig.nodes.get(lags).is_none_or(|node| node.recovery(rig.local(lags)).is_err())
    });
}

/// Three voters with older copies elect one of themselves before a member has told them more. It leaves office in the step in which it is told.
#[test]
fn a_coordinator_whose_log_lacks_what_is_committed_leaves_office() {
    let (mut rig, voters, outside, copies) = older_copies();
    let decided = rig.table(outside).version();
    rig.cut(&[outside], &voters);
    // It decides nothing before it is told.
    rig.network.rule(Fate::Lost, |parcel| {
        matches!(parcel.word(), Some(Word::Log(raft::Message::AppendReply { .. })))
    });
    for (name, copy) in voters.iter().zip(copies) {
        rig.disks.of(name).image = copy;
        rig.start(name);
    }
    let in_office = |rig: &Rig| {
        let elected = |name: &&&str| rig.nodes[**name].log().is_some_and(Log::in_office);
        voters[..3].iter().find(elected).copied()
    };
    rig.wait_until("one of them is in office", 10 * SECOND, |rig| in_office(rig).is_some());
    let coordinator = in_office(&rig).expect("one is in office");
    rig.heal();
    rig.wait_until("it is told", SECOND, |rig| rig.table(coordinator).version() >= decided);
    assert_eq!(in_office(&rig), None, "{}", rig.describe());
    rig.always("no other takes it", 10 * SECOND, |rig| in_office(rig).is_none());
}
