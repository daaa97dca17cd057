//! Nodes with disks: voters that start again are the voters they were, and nothing is founded twice.

use std::collections::BTreeMap;

use borough_protocol::disk::{Bond, Image};
use borough_protocol::flaws::Flaws;
use borough_protocol::formation::{Awaited, Missing};
use borough_protocol::incarnation::Address;
use borough_protocol::log::Log;
use borough_protocol::log::raft::Item;
use borough_protocol::node::{Command, End, Event, GaveUp, Word};
use borough_protocol::settings::{Settings, Strategy};
use borough_protocol::table::{Change, Cluster, Removal};
use borough_protocol::voters::VoterId;

use super::rig::{Fate, MILLI, Parcel, Rig, SECOND};

const THREE: [&str; 3] = ["a", "b", "c"];

fn durable() -> Settings {
    Settings { durable: true, ..Settings::default() }
}

fn grown(names: &[&'static str]) -> Rig {
    Rig::grown_with(Flaws::default(), durable(), names)
}

fn cluster(rig: &Rig, name: &str) -> Cluster {
    rig.table(name).cluster()
}

/// Starts again whoever's life has ended, until all run.
fn all_run(rig: &mut Rig, names: &[&'static str]) {
    for _ in 0..100 {
        if rig.is_whole(names) {
            return;
        }
        for name in names {
            if !rig.nodes.contains_key(name) {
                rig.start(name);
            }
        }
        rig.pass(500 * MILLI);
    }
    rig.wait_until("all run", MILLI, |rig| rig.is_whole(names));
}

fn crash_all(rig: &mut Rig, names: &[&'static str]) {
    rig.each(names, Rig::crash);
}

#[test]
fn a_cluster_forms_on_disks_as_without() {
    let mut rig = Rig::with(durable(), &THREE);
    rig.each(&THREE, Rig::start);
    rig.wait_until("formed", 4 * SECOND, |rig| rig.is_whole(&THREE));
    rig.wait_until("all vote", 10 * SECOND, |rig| rig.voters("a").len() == 3);
}

#[test]
fn a_full_restart_in_any_order_continues_the_cluster() {
    for order in [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]] {
        let mut rig = grown(&THREE);
        let (before, version) = (cluster(&rig, "a"), rig.table("a").version());
        crash_all(&mut rig, &THREE);
        rig.pass(5 * SECOND);
        for name in order {
            rig.start(name);
            rig.pass(300 * MILLI);
        }
        rig.wait_until("all are back", 10 * SECOND, |rig| rig.is_whole(&THREE));
        assert!(THREE.iter().all(|name| cluster(&rig, name) == before), "{order:?}");
        assert!(rig.table("a").version() > version, "its history goes on");
    }
}

#[test]
fn a_majority_of_the_disks_is_enough_and_a_minority_is_not() {
    let mut rig = grown(&THREE);
    let before = cluster(&rig, "a");
    crash_all(&mut rig, &THREE);
    rig.start("b");
    rig.always("one of three waits", 120 * SECOND, |rig| !rig.runs("b"));
    rig.start("c");
    rig.wait_until("two of three go on", 10 * SECOND, |rig| rig.is_whole(&["b", "c"]));
    assert_eq!(cluster(&rig, "b"), before);
}

#[test]
fn two_of_three_that_crash_and_start_again_find_the_third() {
    let mut rig = grown(&THREE);
    let before = cluster(&rig, "a");
    crash_all(&mut rig, &["a", "b"]);
    rig.pass(SECOND);
    rig.each(&["a", "b"], Rig::start);
    rig.wait_until("all are back", 15 * SECOND, |rig| rig.is_whole(&THREE));
    assert!(THREE.iter().all(|name| cluster(&rig, name) == before));
}

#[test]
fn a_voter_that_starts_again_while_the_others_run_is_the_voter_it_was() {
    let mut rig = grown(&THREE);
    rig.crash("a");
    rig.start("a");
    rig.always("the list stays", 5 * SECOND, |rig| rig.voters("b").len() == 3);
    rig.wait_until("it is back", 5 * SECOND, |rig| rig.is_whole(&THREE));
    assert_eq!(rig.voters("b"), THREE.into());
    // It counts: with it, another one may be lost.
    rig.crash("b");
    rig.wait_until("two go on", 10 * SECOND, |rig| rig.is_whole(&["a", "c"]));
}

#[test]
fn a_node_alone_goes_on_after_a_restart() {
    let mut rig = grown(&["a"]);
    let before = cluster(&rig, "a");
    rig.crash("a");
    rig.start("a");
    rig.wait_until("it runs", 6 * SECOND, |rig| rig.is_whole(&["a"]));
    assert_eq!(cluster(&rig, "a"), before);
}

#[test]
fn a_member_that_does_not_vote_waits_for_its_cluster_and_founds_none() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut rig = grown(&names);
    let before = cluster(&rig, "a");
    assert_eq!(rig.voters("a").len(), 5);
    let guest = *names.iter().find(|name| !rig.voters("a").contains(*name)).expect("one does not vote");
    crash_all(&mut rig, &names);
    rig.start(guest);
    rig.always("it waits", 60 * SECOND, |rig| rig.nodes[guest].cluster().is_none());
    for name in names.iter().filter(|name| **name != guest) {
        rig.start(name);
    }
    rig.wait_until("all are back", 15 * SECOND, |rig| rig.is_whole(&names));
    assert_eq!(cluster(&rig, guest), before);
}

/// The seeds are three fresh nodes but for those that have a record: they must not found while one of them belongs to a cluster.
#[test]
fn nobody_founds_while_a_seed_belongs_to_a_cluster() {
    let mut rig = grown(&THREE);
    let before = cluster(&rig, "a");
    crash_all(&mut rig, &THREE);
    // The disks of two are new.
    for name in ["a", "b"] {
        let other = VoterId::new(7000 + u64::from(name.as_bytes()[0])).expect("not 0");
        rig.disks.of(name).image = Image::new(other);
    }
    rig.each(&THREE, Rig::start);
    rig.always("they wait", 120 * SECOND, |rig| rig.running().is_empty());
    // An operator vouches that the old disks are lost for good.
    rig.recover("c", &THREE);
    rig.wait_until("all run", 30 * SECOND, |rig| rig.is_whole(&THREE));
    assert!(cluster(&rig, "a") > before && rig.table("a").ancestors().has(before));
}

#[test]
fn seeds_that_left_in_order_found_nothing_while_others_stay() {
    let names = ["a", "b", "c", "d", "e"];
    let mut rig = grown(&names);
    let before = cluster(&rig, "d");
    for name in THREE {
        leave(&mut rig, name);
    }
    assert!(rig.is_whole(&["d", "e"]));
    rig.cut(&THREE, &["d", "e"]);
    rig.each(&THREE, Rig::start);
    rig.always("they wait", 120 * SECOND, |rig| THREE.iter().all(|name| !rig.runs(name)));
    rig.heal();
    rig.wait_until("they join", 15 * SECOND, |rig| rig.is_whole(&names));
    assert_eq!(cluster(&rig, "a"), before);
}

#[test]
fn a_cluster_that_left_in_order_is_founded_again_in_a_later_era() {
    let mut rig = grown(&THREE);
    let before = cluster(&rig, "a");
    for name in ["b", "a", "c"] {
        leave(&mut rig, name);
    }
    let bond = |rig: &mut Rig, name| rig.disks.of(name).image.record.as_ref().map(|record| record.bond);
    assert_eq!(THREE.map(|name| bond(&mut rig, name)), [Bond::Left, Bond::Left, Bond::Ended].map(Some));
    // The clock of the founder was set back meanwhile.
    rig.each(&THREE, Rig::start);
    rig.wait_until("founded again", 15 * SECOND, |rig| rig.is_whole(&THREE));
    assert!(cluster(&rig, "a").era > before.era && rig.table("a").ancestors().has(before));
}

#[test]
fn a_closed_cluster_is_founded_again_also_with_a_node_that_missed_it() {
    let mut rig = grown(&THREE);
    let before = cluster(&rig, "a");
    rig.crash("c");
    rig.pass(5 * SECOND);
    rig.command("a", Command::CloseCluster);
    rig.wait_until("closed", 10 * SECOND, |rig| rig.nodes.is_empty());
    rig.start("c");
    rig.always("it waits for the others", 20 * SECOND, |rig| !rig.runs("c"));
    rig.each(&["a", "b"], Rig::start);
    all_run(&mut rig, &THREE);
    assert!(rig.ends.contains(&("c", End::GaveUp(GaveUp::Over))), "it was told");
    assert!(cluster(&rig, "c").era > before.era);
}

/// It is no member yet, and has just been heard: the others wait until it knows, or it would wait for them.
#[test]
fn a_voter_that_has_just_started_again_hears_that_the_cluster_closes() {
    let mut rig = grown(&THREE);
    rig.crash("c");
    rig.wait_until("removed", 5 * SECOND, |rig| rig.table("a").members().len() == 2);
    // It is heard, but has not asked for a lease yet, and its log is late.
    rig.network.rule(Fate::Held, |parcel| parcel.at == "c" && matches!(parcel.word(), Some(Word::Log(_))));
    let asks = |parcel: &Parcel| parcel.from == "c" && matches!(parcel.word(), Some(Word::Renew(_)));
    rig.network.rule(Fate::Held, asks);
    rig.start("c");
    rig.pass(50 * MILLI);
    rig.command("a", Command::CloseCluster);
    rig.pass(100 * MILLI);
    rig.network.clear_rules();
    rig.release();
    rig.wait_until("all closed", 5 * SECOND, |rig| rig.nodes.is_empty());
    assert!(rig.ends.iter().all(|(_, end)| *end == End::Closed), "{:?}", rig.ends);
}

#[test]
fn a_node_that_was_removed_comes_back_as_the_voter_it_was() {
    let mut rig = grown(&THREE);
    rig.cut(&["c"], &["a", "b"]);
    rig.wait_until("removed", 5 * SECOND, |rig| rig.table("a").members().len() == 2);
    assert_eq!(rig.voters("a").len(), 3, "it is expected back");
    rig.heal();
    rig.wait_until("it learns of it", 10 * SECOND, |rig| !rig.nodes.contains_key("c"));
    rig.start("c");
    rig.wait_until("it is back", 10 * SECOND, |rig| rig.is_whole(&THREE));
    assert_eq!(rig.voters("a"), THREE.into());
}

#[test]
fn another_member_takes_the_place_of_a_voter_that_is_away() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut rig = grown(&names);
    let (before, gone) = (rig.voters("a"), "e");
    assert!(before.contains(gone) && before.len() == 5);
    rig.crash(gone);
    rig.wait_until("replaced", 15 * SECOND, |rig| {
        rig.voters("a").contains("f") && rig.voters("a").len() == 5
    });
    rig.start(gone);
    rig.wait_until("it is back", 10 * SECOND, |rig| rig.is_whole(&names));
}

#[test]
fn an_older_copy_of_a_directory_is_refused_and_its_node_must_come_as_a_new_one() {
    let mut rig = grown(&THREE);
    let copy = rig.disks.of("b").clone();
    rig.crash("b");
    rig.start("b");
    rig.wait_until("it is back", 10 * SECOND, |rig| rig.is_whole(&THREE));
    rig.crash("b");
    *rig.disks.of("b") = copy;
    rig.start("b");
    rig.wait_until("refused", 5 * SECOND, |rig| rig.ends.contains(&("b", End::GaveUp(GaveUp::Copy))));
    assert!(rig.is_whole(&["a", "c"]) || rig.runs("a") && rig.runs("c"));
}

/// Three voters, and a copy of the directory of "b" from the time when it had joined and had no log.
fn with_copy_without_log(flaws: Flaws) -> (Rig, Image) {
    let mut rig = Rig::with(durable(), &THREE);
    rig.flaws = flaws;
    rig.each(&THREE, Rig::start);
    let has_joined = |rig: &mut Rig| rig.disks.of("b").image.record.is_some();
    let copy = (0..10_000).find_map(|_| {
        rig.pass(MILLI);
        has_joined(&mut rig).then(|| rig.disks.of("b").image.clone())
    });
    let copy = copy.expect("b joins");
    assert_eq!(copy.log, None);
    rig.wait_until("all vote", 10 * SECOND, |rig| rig.table("a").voters().now.len() == 3);
    assert!(rig.table("a").voters().names(copy.voter), "it votes with the identity of its copy");
    (rig, copy)
}

/// Seed 427475 of the simulator: the copy had no log yet, and others counted for its node as a voter by then. It voted with nothing in its log.
#[test]
fn a_voter_whose_log_is_gone_comes_back_as_another_voter() {
    let (mut rig, copy) = with_copy_without_log(Flaws::default());
    rig.crash("b");
    rig.disks.of("b").image = copy.clone();
    rig.start("b");
    assert_ne!(rig.nodes["b"].voter(), copy.voter);
    rig.wait_until("it votes again", 30 * SECOND, |rig| {
        rig.is_whole(&THREE) && rig.voters("a") == THREE.into()
    });
    assert!(rig.ends.iter().all(|(name, _)| *name != "b"), "{:?}", rig.ends);
}

/// The other voter that is there has only started again: its table names no voters yet, so no welcome can tell the node of the copy that others count for it.
#[test]
fn a_voter_whose_log_is_gone_is_not_there_for_voters_that_start_again() {
    let (mut rig, copy) = with_copy_without_log(Flaws::default());
    crash_all(&mut rig, &THREE);
    rig.disks.of("b").image = copy.clone();
    rig.each(&["b", "c"], Rig::start);
    rig.always("b is not its former voter", 30 * SECOND, |rig| {
        rig.nodes.get("b").is_none_or(|node| node.voter() != copy.voter) && rig.running().is_empty()
    });
    rig.start("a");
    rig.wait_until("two of three go on", 30 * SECOND, |rig| rig.runs("a") && rig.runs("c"));
    all_run(&mut rig, &THREE);
}

/// The identity of a life without a log is on its disk before everything that rests on it.
#[test]
fn each_life_without_a_log_is_another_voter() {
    let mut rig = Rig::with(durable(), &["m"]);
    let mut seen = vec![rig.disks.of("b").image.voter];
    for _ in 0..5 {
        rig.start("b");
        rig.pass(100 * MILLI);
        let voter = rig.nodes["b"].voter();
        assert!(!seen.contains(&voter) && voter.is_of_directory(seen[0]), "{seen:?} {voter:?}");
        assert_eq!(rig.disks.of("b").image.voter, voter);
        seen.push(voter);
        rig.crash("b");
    }
}

/// A copy that was made while its node ran: only its log can tell.
#[test]
fn a_log_that_came_back_shorter_loses_its_vote_and_gets_a_new_one() {
    let mut rig = grown(&THREE);
    let copy = rig.disks.of("b").image.clone();
    for name in ["d", "e"] {
        rig.start(name);
        rig.wait_until("more is decided", 10 * SECOND, |rig| rig.runs(name));
        leave(&mut rig, name);
    }
    rig.crash("b");
    rig.disks.of("b").image = copy;
    rig.start("b");
    let b = rig.uid("b");
    rig.wait_until("noticed", 15 * SECOND, |rig| rig.heard(&Event::LogLost(b)));
    rig.wait_until("taken in again", 30 * SECOND, |rig| {
        rig.is_whole(&THREE) && rig.voters("a") == THREE.into()
    });
}

#[test]
fn a_voter_whose_disk_is_full_stops_answering_and_the_others_go_on() {
    let mut rig = grown(&THREE);
    rig.disk_works("a", false);
    // What it said before is still under way.
    rig.pass(100 * MILLI);
    // It may tell a member unasked who votes: that has the number of no renewal, and grants nothing.
    let as_voter = |parcel: &Parcel| match parcel.word() {
        Some(Word::Renewed(renewed)) => parcel.from == "a" && renewed.seq != 0,
        Some(Word::Log(_) | Word::Quiet(_)) => parcel.from == "a",
        _ => false,
    };
    rig.network.rule(Fate::Copied, as_voter);
    rig.start("d");
    rig.wait_until("the others decide", 15 * SECOND, |rig| {
        rig.table("b").members().len() == 4 && rig.runs("d")
    });
    rig.always("and run, and it runs by their votes", 10 * SECOND, |rig| {
        ["a", "b", "c"].iter().all(|name| rig.runs(name))
    });
    assert_eq!(rig.network.kept(Fate::Copied), 0, "it said something as a voter");
}

/// With nothing to decide it has nothing to write: nobody would ever miss what it cannot do.
#[test]
fn a_coordinator_that_learns_that_its_disk_fails_leaves_office() {
    let mut rig = grown(&THREE);
    assert_eq!(rig.coordinator(), Some("a"));
    rig.disk_works("a", false);
    rig.wait_until("another one is in office", 3 * SECOND, |rig| {
        rig.coordinator().is_some_and(|name| name != "a")
    });
    rig.always("it does not come back, and all go on", 20 * SECOND, |rig| {
        rig.coordinator().is_some_and(|name| name != "a") && rig.is_whole(&THREE)
    });
}

#[test]
fn a_node_alone_is_in_office_again_when_its_disk_works_again() {
    let mut rig = grown(&["a"]);
    rig.disk_works("a", false);
    rig.wait_until("it decides nothing", 3 * SECOND, |rig| rig.coordinator().is_none());
    rig.disk_works("a", true);
    rig.wait_until("it goes on", 3 * SECOND, |rig| rig.coordinator() == Some("a") && rig.is_whole(&["a"]));
}

/// The table names its older life: what is heard of the newer one counts for the same voter.
#[test]
fn an_operator_is_not_asked_to_give_up_a_voter_that_has_started_again() {
    let names = ["a", "b", "c", "d", "e"];
    let mut rig = grown(&names);
    crash_all(&mut rig, &["c", "d", "e"]);
    rig.crash("b");
    rig.start("b");
    rig.pass(20 * SECOND);
    let remains = rig.nodes["a"].recovery(rig.local("a")).expect("no quorum is left");
    let remains = remains.expect("it is a member").others;
    let seen = remains.iter().map(|other| (other.address.as_str(), (other.votes, other.is_heard)));
    let seen: BTreeMap<&str, (bool, bool)> = seen.collect();
    let gone = (true, false);
    assert_eq!(seen, [("b", (true, true)), ("c", gone), ("d", gone), ("e", gone)].into());
}

/// The directory is mounted at another address: its older life is replaced, and nobody waits until it is found to be silent.
#[test]
fn a_life_at_another_address_replaces_the_older_one_of_its_directory() {
    let mut rig = grown(&THREE);
    let old = rig.uid("c");
    rig.crash("c");
    let disk = rig.disks.of("c").clone();
    *rig.disks.of("d") = disk;
    rig.start("d");
    rig.wait_until("replaced", 2 * SECOND, |rig| rig.heard(&Event::Removed(old, Removal::Replaced)));
    rig.wait_until("it is a member", 5 * SECOND, |rig| rig.is_whole(&["a", "b", "d"]));
    assert_eq!(rig.voters("a"), ["a", "b", "d"].into());
}

/// Gossip gives a guest up that is silent for too long: one that starts again learns of it when it knocks, and comes as another life.
#[test]
fn a_voter_that_was_given_up_before_it_was_admitted_comes_back() {
    let mut rig = grown(&THREE);
    rig.crash("c");
    rig.start("c");
    let life = rig.uid("c");
    rig.wait_until("gossip knows it", SECOND, |rig| {
        rig.nodes["a"].document().is_some_and(|all| all.is_member(life))
    });
    assert!(!rig.runs("c"), "it is not admitted yet");
    rig.cut(&["c"], &["a", "b"]);
    rig.pass(30 * SECOND);
    rig.heal();
    all_run(&mut rig, &THREE);
}

/// It is the only voter, and nobody has heard of its new life yet: a leave then must not take the log along.
#[test]
fn a_voter_that_leaves_before_it_is_back_keeps_its_vote() {
    let names = ["a", "b"];
    let settings = Settings { strategy: Strategy::KeepOldest, ..durable() };
    let mut rig = Rig::grown_with(Flaws::default(), settings, &names);
    let before = cluster(&rig, "b");
    rig.crash("a");
    rig.start("a");
    rig.command("a", Command::Leave);
    rig.wait_until("it goes", SECOND, |rig| !rig.nodes.contains_key("a"));
    rig.start("a");
    all_run(&mut rig, &names);
    assert_eq!(cluster(&rig, "a"), before);
}

/// The log tells one that starts again of removals that its former lives saw.
#[test]
fn a_removal_of_former_lives_stops_nobody_under_down_all() {
    let settings = Settings { strategy: Strategy::DownAll, ..durable() };
    let mut rig = Rig::grown_with(Flaws::default(), settings, &THREE);
    let before = cluster(&rig, "a");
    rig.crash("c");
    rig.wait_until("all stop", 30 * SECOND, |rig| rig.nodes.is_empty());
    all_run(&mut rig, &THREE);
    assert_eq!(cluster(&rig, "a"), before);
}

/// Seed 12745 of the simulator: lives that were gone before a node came were removed while it waited to be admitted. It stopped, its new life was a guest again, and
/// so on.
#[test]
fn a_removal_of_former_lives_stops_no_guest_under_down_all() {
    let settings = Settings { strategy: Strategy::DownAll, ..durable() };
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut rig = Rig::grown_with(Flaws::default(), settings, &names);
    assert!(!rig.voters("a").contains("f"));
    rig.each(&names, Rig::crash);
    rig.events.clear();
    rig.ends.clear();
    // No renewal of these two arrives: they are not admitted. One of them is a voter, and stays to tell the other one of the removals.
    let is_renewal = |parcel: &Parcel| matches!(parcel.word(), Some(Word::Renew(_)));
    let outside = |parcel: &Parcel| ["b", "c"].iter().any(|to| parcel.goes("a", to) || parcel.goes("f", to));
    rig.network.rule(Fate::Lost, move |parcel| is_renewal(parcel) && outside(parcel));
    // Of "d" and "e" nothing is heard: the lives that the table names are removed as quiet.
    rig.each(&["a", "b", "c"], Rig::start);
    rig.wait_until("one is in office", 10 * SECOND, |rig| rig.coordinator().is_some());
    assert_ne!(rig.coordinator(), Some("a"));
    rig.start("f");
    rig.wait_until("the guest hears of it", 20 * SECOND, |rig| {
        rig.events
            .iter()
            .any(|(name, event)| *name == "f" && matches!(event, Event::Removed(_, Removal::Quiet)))
    });
    let was_admitted =
        rig.events.iter().any(|(name, event)| *name == "f" && matches!(event, Event::Admitted(_)));
    assert!(!was_admitted);
    rig.pass(SECOND);
    assert!(!rig.ends.iter().any(|(name, _)| *name == "f"), "{:?}", rig.ends);
}

/// A coordinator that starts again may speak to a node that does not know its new life yet: its words are not those of another voter.
#[test]
fn a_coordinator_that_starts_again_is_followed_as_the_voter_it_was() {
    for offset in 0..20 {
        let mut rig = Rig::with(durable(), &THREE);
        rig.each(&THREE, Rig::start);
        rig.wait_until("formed", 10 * SECOND, |rig| rig.is_whole(&THREE));
        let first = *THREE.iter().find(|name| rig.voters("a").contains(*name)).expect("one votes");
        let learns = |rig: &Rig| rig.nodes[first].log().is_some_and(|log| !log.learners().is_empty());
        rig.wait_until("others are to vote", 10 * SECOND, learns);
        rig.pass(offset * MILLI);
        rig.crash(first);
        rig.pass(offset * 20 * MILLI);
        rig.start(first);
        all_run(&mut rig, &THREE);
        rig.wait_until("all vote", 20 * SECOND, |rig| rig.voters("a").len() == 3);
    }
}

/// What a founder decides first is on its disk with everything that belongs to it, or nothing of it is.
#[test]
fn a_founding_is_written_at_once_or_not_at_all() {
    let mut rig = Rig::with(durable(), &THREE);
    rig.each(&THREE, Rig::start);
    let wrote = |rig: &mut Rig| THREE.into_iter().find(|name| rig.disks.of(name).image.record.is_some());
    let founder = (0..10_000).find_map(|_| {
        rig.pass(MILLI);
        wrote(&mut rig)
    });
    let image = rig.disks.of(founder.expect("one founds")).image.clone();
    let log = image.log.expect("the log comes with the record");
    let is_decision = |item: &Item<Change>| matches!(item, Item::Payload(Change::Admit(_)));
    assert!(log.vote.is_some() && log.entries.iter().any(is_decision), "{log:?}");
    all_run(&mut rig, &THREE);
}

/// Every write of a forming cluster is the last one of its node, in turn: whatever is on the disks then, the cluster is one.
#[test]
fn a_crash_at_every_write_leaves_one_cluster() {
    let mut count = 0;
    for name in THREE {
        for write in 1.. {
            let mut rig = Rig::with(durable(), &THREE);
            rig.each(&THREE, Rig::start);
            let end = rig.now + 12 * SECOND;
            let crashed = crash_at(&mut rig, name, write, end);
            if !crashed {
                break;
            }
            count += 1;
            rig.pass(SECOND);
            rig.start(name);
            all_run(&mut rig, &THREE);
        }
    }
    println!("{count} crashes, one at each write");
    assert!(count > 20, "{count}");
}

/// Lets time pass until that node has given out so many writes, and crashes it before the last is synced.
fn crash_at(rig: &mut Rig, name: &'static str, write: u64, end: borough_protocol::time::Timestamp) -> bool {
    while rig.now < end {
        if rig.disks.of(name).writes >= write {
            rig.crash(name);
            return true;
        }
        rig.pass(MILLI);
    }
    false
}

fn leave(rig: &mut Rig, name: &'static str) {
    rig.command(name, Command::Leave);
    for _ in 0..300 {
        if rig.events.iter().any(|(who, event)| *who == name && *event == Event::Drain) {
            rig.events.retain(|(who, event)| *who != name || *event != Event::Drain);
            rig.command(name, Command::Drained);
        }
        if !rig.nodes.contains_key(name) {
            return;
        }
        rig.pass(100 * MILLI);
    }
    panic!("{name} does not leave");
}

/// Two founders whose lists have only the seed `m` in common. The first one has founded; both it and the seed crash before anybody has joined.
fn founded_unseen(flaws: Flaws) -> Rig {
    let mut rig = Rig::with(durable(), &["m"]);
    rig.flaws = flaws;
    rig.start("b");
    rig.start("m");
    for _ in 0..10_000 {
        if rig.disks.of("b").image.record.is_some() {
            break;
        }
        rig.pass(MILLI);
    }
    assert!(rig.disks.of("b").image.record.is_some(), "b has founded");
    assert!(rig.disks.of("m").image.record.is_none(), "m has not joined");
    rig.each(&["b", "m"], Rig::crash);
    rig
}

/// The machine at the founder's address was replaced: what answers there now knows nothing of the cluster, and the directory of the founder may come back.
#[test]
fn another_directory_at_the_address_of_a_founder_does_not_speak_for_it() {
    let mut rig = founded_unseen(Flaws::default());
    let founder = rig.disks.of("b").clone();
    rig.disks.lose("b");
    rig.each(&["b", "m", "c"], Rig::start);
    rig.always("nothing is founded", 60 * SECOND, |rig| rig.running().is_empty());
    let awaited = rig.nodes["b"].awaited(rig.local("b")).expect("it waits");
    let founder_there = |awaited: &&Awaited| awaited.address.as_str().starts_with('b');
    let why = awaited.iter().find(founder_there).map(|awaited| &awaited.why);
    assert_eq!(why, Some(&Missing::OtherDirectory), "{awaited:?}");
    rig.crash("b");
    *rig.disks.of("b") = founder;
    all_run(&mut rig, &["b", "m", "c"]);
}

#[test]
fn a_founder_that_nobody_has_joined_is_awaited_by_founders_that_do_not_list_it() {
    let mut rig = founded_unseen(Flaws::default());
    rig.each(&["m", "c"], Rig::start);
    rig.always("nothing is founded", 60 * SECOND, |rig| rig.running().is_empty());
    let awaited = rig.nodes["c"].awaited(rig.local("c")).expect("c waits");
    let is_founder = |awaited: &Awaited| awaited.address.as_str().starts_with('b');
    let founder = awaited.iter().find(|awaited| is_founder(awaited)).expect("it waits for b");
    assert_eq!(founder.why, Missing::MayHaveFounded);
    rig.start("b");
    rig.wait_until("all are in the cluster of b", 15 * SECOND, |rig| rig.is_whole(&["b", "c", "m"]));
    assert!(rig.disks.of("m").image.pledges.is_empty(), "a member keeps no promises");
}

#[cfg(feature = "flaws")]
#[test]
fn without_the_promises_on_disk_a_second_cluster_is_founded() {
    let mut rig = founded_unseen(Flaws::only(borough_protocol::flaws::Flaw::PledgesForgotten));
    rig.each(&["m", "c"], Rig::start);
    rig.wait_until("another is founded", 60 * SECOND, |rig| rig.nodes["c"].cluster().is_some());
}

/// A promise is said only once it is on the disk: with a disk that takes no writes nobody gets one.
#[test]
fn a_seed_whose_disk_is_full_promises_nothing() {
    let mut rig = Rig::with(durable(), &["m"]);
    rig.disks.of("m").full = true;
    rig.each(&["b", "m"], Rig::start);
    rig.always("b has no promise", 60 * SECOND, |rig| rig.nodes["b"].cluster().is_none());
}

/// A founder that gave up its attempt in order is awaited by nobody.
#[test]
fn promises_that_are_given_back_are_forgotten() {
    let mut rig = Rig::with(durable(), &["m"]);
    // b asks m, and yields to a.
    rig.each(&["b", "m"], Rig::start);
    rig.pass(300 * MILLI);
    assert!(!rig.disks.of("m").image.pledges.is_empty(), "m has promised");
    rig.start_with("a", &["m", "b"], durable());
    rig.wait_until("one cluster", 30 * SECOND, |rig| rig.is_whole(&["a", "b", "m"]));
    assert!(["a", "b", "m"].iter().all(|name| rig.disks.of(name).image.pledges.is_empty()));
}

/// The disk of the only voter is lost. The other node keeps its record of the cluster, and the list of seeds of the new process does not name it.
#[test]
fn no_cluster_is_founded_beside_one_whose_voters_lost_their_disks() {
    let mut rig = grown(&["a", "b"]);
    let before = cluster(&rig, "a");
    assert_eq!(rig.voters("a"), ["a"].into());
    rig.crash("a");
    rig.disks.of("a").image = Image::new(VoterId::new(7001).expect("not 0"));
    rig.start_with("a", &["a"], durable());
    let mut is_told = false;
    for _ in 0..600 {
        rig.pass(100 * MILLI);
        // As a guest of a cluster without a quorum it waits for a while, and looks again.
        if !rig.nodes.contains_key("a") {
            rig.start_with("a", &["a"], durable());
        }
        assert!(rig.nodes["a"].cluster().is_none_or(|now| now == before), "a founded a cluster by itself");
        let awaited = rig.nodes["a"].awaited(rig.local("a")).unwrap_or_default();
        is_told |= awaited.contains(&Awaited { address: Address::new("b"), why: Missing::Suspended });
    }
    assert!(is_told, "a does not say that b keeps its state and waits");
    assert_eq!(rig.table("b").cluster(), before);
    rig.recover("b", &["a"]);
    all_run(&mut rig, &["a", "b"]);
    assert!(rig.table("a").ancestors().has(before));
}

/// A coordinator gives a guest up and is cut off before anybody learns of it; its successor admits the guest. What the old one says of it counts for nothing.
#[test]
fn a_member_that_a_voter_which_is_behind_gave_up_as_a_guest_goes_on() {
    let mut rig = grown(&THREE);
    rig.cut(&["a"], &["d"]);
    rig.start("d");
    let is_given_up = |rig: &Rig| {
        let document = rig.nodes["a"].document().expect("it is in a cluster");
        document.is_buried(rig.uid("d"))
    };
    rig.wait_until("given up", 20 * SECOND, is_given_up);
    rig.cut(&["a"], &["b", "c"]);
    let d = rig.uid("d");
    rig.wait_until("admitted by another coordinator", 10 * SECOND, |rig| {
        rig.table("b").member(d).is_some() && rig.runs("d")
    });
    rig.heal();
    rig.cut(&["a"], &["b", "c"]);
    rig.always("it goes on", 10 * SECOND, |rig| rig.nodes.contains_key("d") && rig.uid("d") == d);
    assert!(rig.ends.iter().all(|(name, _)| *name != "d"), "{:?}", rig.ends);
}

/// The coordinator may have made a voter of it, and have crashed before it could say so: its log is needed then, and not that of another voter.
#[test]
fn a_learner_that_leaves_without_a_coordinator_keeps_its_log() {
    let mut rig = Rig::with(durable(), &THREE);
    rig.each(&THREE, Rig::start);
    let learns = |rig: &Rig, name: &str| {
        let node = &rig.nodes[name];
        node.log()
            .is_some_and(|log| log.learners().contains(&node.voter()) && !log.voters().names(node.voter()))
    };
    rig.wait_until("two learn", 20 * SECOND, |rig| {
        THREE.iter().filter(|name| learns(rig, name)).count() == 2
    });
    let learner = *THREE.iter().find(|name| learns(&rig, name)).expect("one learns");
    crash_all(&mut rig, &THREE);
    let voter = rig.disks.of(learner).image.voter;
    rig.start(learner);
    rig.pass(SECOND);
    rig.command(learner, Command::Leave);
    rig.pass(SECOND);
    assert!(rig.ends.iter().any(|(name, end)| *name == learner && *end == End::Left), "{:?}", rig.ends);
    let image = &rig.disks.of(learner).image;
    assert!(image.voter == voter && image.log.is_some());
    all_run(&mut rig, &THREE);
}
