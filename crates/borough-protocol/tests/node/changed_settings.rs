//! Durable voters are started again with settings by which leases last shorter: those of before are respected until they are over.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use borough_protocol::formation::Missing;
use borough_protocol::lease::Verdict;
use borough_protocol::node::{Command, End, Event, GaveUp, Message, NoRecovery, Word};
use borough_protocol::settings::{Checked, Settings, Strategy};
use borough_protocol::time::Timestamp;

use super::rig::{Birth, Fate, MILLI, Parcel, Rig, SECOND};

const VOTERS: [&str; 3] = ["a", "b", "c"];
const ALL: &[&str] = &["a", "b", "c", "d"];

fn settings(max_pause: Duration) -> Settings {
    Settings { durable: true, max_pause, failover_target: 60 * SECOND, ..Settings::default() }
}

/// By these a lease lasts for more than 4 s.
fn long() -> Settings {
    settings(2 * SECOND)
}

fn short() -> Settings {
    settings(100 * MILLI)
}

fn wait(settings: Settings) -> Duration {
    Checked::new(settings).expect("sound").timing().wait
}

/// `d` has a lease by the long settings and is cut off. The voters are started again with the short ones.
fn restarted() -> Rig {
    let mut rig = Rig::grown(long(), ALL);
    assert!(!rig.voters("a").contains("d"));
    rig.cut(&["d"], &VOTERS);
    rig.each(&VOTERS, Rig::crash);
    rig.events.clear();
    for name in VOTERS {
        rig.start_with(name, &VOTERS, short());
    }
    assert!(rig.heard(&Event::Rests(wait(long()))) && rig.runs("d"));
    rig
}

/// What it owned was free for others after the wait of the short settings, and it still had its lease.
#[test]
fn voters_with_shorter_leases_wait_for_those_that_their_last_lives_counted_for() {
    let mut rig = restarted();
    let d = rig.uid("d");
    rig.always("nobody works", wait(long()).saturating_sub(MILLI), |rig| {
        VOTERS.iter().all(|name| !rig.runs(name))
    });
    // The rig fails if "d" runs when it is free.
    rig.wait_until("freed", 20 * SECOND, |rig| rig.heard(&Event::Freed(d)));
    rig.wait_until("they go on", 10 * SECOND, |rig| rig.is_whole(&VOTERS));
}

/// Its renewals were acked, and it took leases by its own settings, longer than the voters wait.
#[test]
fn a_member_with_other_settings_gets_no_lease() {
    let mut rig = restarted();
    rig.wait_until("it is suspended", 20 * SECOND, |rig| !rig.runs("d"));
    // It is not told that settings differ.
    rig.network.rule(Fate::Lost, |parcel| matches!(parcel.message, Message::Hello(_)));
    rig.heal();
    rig.always("no lease", 20 * SECOND, |rig| !rig.nodes.contains_key("d") || !rig.runs("d"));
    assert!(rig.is_whole(&VOTERS), "{}", rig.describe());
}

#[test]
fn a_member_with_other_settings_is_told_which_differ() {
    let mut rig = restarted();
    rig.wait_until("it is suspended", 20 * SECOND, |rig| !rig.runs("d"));
    rig.heal();
    rig.wait_until("it is told", 20 * SECOND, |rig| {
        assert!(!rig.nodes.contains_key("d") || !rig.runs("d"), "it has a lease\n{}", rig.describe());
        !rig.nodes.contains_key("d")
    });
    let refused = |(name, end): &(&str, End)| *name == "d" && matches!(end, End::Refused(_));
    assert!(rig.ends.iter().any(refused), "{:?}", rig.ends);
    rig.start_with("d", &VOTERS, short());
    rig.wait_until("it comes with the settings of the others", 20 * SECOND, |rig| rig.is_whole(ALL));
}

#[test]
fn a_recovery_waits_for_leases_by_the_settings_of_before() {
    let mut rig = Rig::grown(long(), ALL);
    let d = rig.uid("d");
    rig.cut(&["d"], &VOTERS);
    rig.each(&VOTERS, Rig::crash);
    rig.start_with("a", &VOTERS, short());
    let recovery = |rig: &Rig| rig.nodes["a"].recovery(rig.local("a")).map(|_| ());
    assert_eq!(recovery(&rig), Err(NoRecovery::Looking), "it rests");
    rig.crash("a");
    let birth = Birth { seeds: VOTERS.to_vec(), settings: short(), recovers: true, ..rig.birth() };
    rig.start_as("a", birth);
    let began = rig.now;
    rig.wait_until("it works", 20 * SECOND, |rig| {
        assert!(!(rig.runs("a") && rig.runs("d")), "two run\n{}", rig.describe());
        rig.runs("a")
    });
    assert!(rig.now.since(began) >= wait(long()) && rig.nodes["d"].uid() == d);
}

/// It answers others like a node that looks for the cluster of its record.
#[test]
fn the_end_of_its_cluster_is_heard_by_a_voter_that_rests() {
    let mut rig = Rig::grown(long(), &VOTERS);
    rig.crash("c");
    rig.command("a", Command::CloseCluster);
    rig.wait_until("the two that are left have closed it", 60 * SECOND, |rig| {
        !rig.nodes.contains_key("a") && !rig.nodes.contains_key("b")
    });
    for name in VOTERS {
        rig.start_with(name, &VOTERS, short());
    }
    rig.wait_until("it learns the end", 5 * SECOND, |rig| !rig.nodes.contains_key("c"));
    rig.start_with("c", &VOTERS, short());
    rig.wait_until("the three found another one", 20 * SECOND, |rig| rig.is_whole(&VOTERS));
}

/// Whatever it acks by longer leases, its next process has to know of: that one may have the short ones again.
#[test]
fn a_voter_with_longer_leases_acks_none_before_its_directory_says_so() {
    for recorded in [Some(wait(short())), None] {
        let mut rig = Rig::grown(short(), ALL);
        rig.each(ALL, Rig::crash);
        let disk = rig.disks.of("a");
        disk.image.record.as_mut().expect("it has a record").wait = recorded;
        // Writes do not come to an end.
        disk.full = true;
        let acks = Rc::new(Cell::new(false));
        let seen = acks.clone();
        rig.network.rule(Fate::Copied, move |parcel| {
            if parcel.from == "a"
                && let Some(Word::Renewed(renewed)) = parcel.word()
                && renewed.verdict == Verdict::Acked
            {
                seen.set(true);
            }
            false
        });
        for name in ALL {
            rig.start_with(name, &VOTERS, long());
        }
        rig.wait_until("the others work", 20 * SECOND, |rig| rig.runs("b") && rig.runs("c") && rig.runs("d"));
        rig.pass(5 * SECOND);
        assert!(!acks.get(), "it acked with {recorded:?} on its disk");
        rig.disks.of("a").full = false;
        rig.crash("a");
        rig.start_with("a", &VOTERS, long());
        rig.wait_until("it acks", 20 * SECOND, |rig| acks.get() && rig.is_whole(ALL));
        let recorded = rig.disks.of("a").image.record.as_ref().and_then(|record| record.wait);
        assert_eq!(recorded, Some(wait(long())));
    }
}

/// It crashed before it was a member again: it may have acked leases of others meanwhile.
#[test]
fn a_voter_with_longer_leases_is_remembered_before_it_is_admitted() {
    let mut rig = Rig::grown(short(), &VOTERS);
    rig.each(&VOTERS, Rig::crash);
    rig.start_with("a", &VOTERS, long());
    rig.pass(SECOND);
    rig.crash("a");
    rig.start_with("a", &VOTERS, short());
    assert!(rig.heard(&Event::Rests(wait(long()))));
}

/// `d` does not hear that the others closed the cluster, and has a lease by the long settings.
fn closed() -> Rig {
    let mut rig = Rig::grown(long(), ALL);
    let is_renewed = |parcel: &Parcel| matches!(parcel.word(), Some(Word::Renewed(_)));
    rig.network.rule(Fate::Lost, move |parcel| parcel.at == "d" && !is_renewed(parcel));
    rig.command("a", Command::CloseCluster);
    rig.wait_until("the others have closed it", 60 * SECOND, |rig| {
        VOTERS.iter().all(|name| !rig.nodes.contains_key(name))
    });
    assert!(rig.runs("d"));
    rig
}

/// The voters start again with the short settings, and found another cluster once the lease of `d` is over.
fn found_another(mut rig: Rig) {
    let began = rig.now;
    for name in VOTERS {
        rig.start_with(name, &VOTERS, short());
    }
    rig.wait_until("they found another one", 20 * SECOND, |rig| {
        assert!(!(rig.runs("d") && VOTERS.iter().any(|name| rig.runs(name))), "two run\n{}", rig.describe());
        rig.is_whole(&VOTERS)
    });
    assert!(rig.now.since(began) >= wait(long()));
}

#[test]
fn a_founding_after_the_end_waits_for_leases_by_the_settings_of_before() {
    found_another(closed());
}

/// The founder knows of no leases: those that know of some let nobody found so early.
#[test]
fn a_fresh_node_founds_no_cluster_beside_leases_by_the_settings_of_before() {
    let mut rig = closed();
    rig.disks.lose("a");
    found_another(rig);
}

/// The others work by the short settings when `c` starts, which rests.
fn beside_a_working_cluster() -> (Rig, Timestamp) {
    let mut rig = Rig::grown(long(), &VOTERS);
    rig.each(&VOTERS, Rig::crash);
    for name in ["a", "b"] {
        rig.start_with(name, &VOTERS, short());
    }
    rig.wait_until("two of them work", 30 * SECOND, |rig| rig.runs("a") && rig.runs("b"));
    rig.events.clear();
    rig.start_with("c", &VOTERS, short());
    assert_eq!(rig.events, [("c", Event::Rests(wait(long())))]);
    let over = rig.now + wait(long());
    (rig, over)
}

/// It was taken for a guest that is silent, was given up, and rested again with its next life.
#[test]
fn a_voter_that_rests_beside_its_cluster_comes_back_with_the_same_life() {
    let (mut rig, over) = beside_a_working_cluster();
    let c = rig.uid("c");
    rig.wait_until("all of them work", wait(long()) + 5 * SECOND, |rig| {
        let is_guest = |name| rig.nodes[name].document().is_some_and(|document| document.is_member(c));
        assert!(rig.now >= over || !is_guest("a") && !is_guest("b"), "{}", rig.describe());
        rig.is_whole(&VOTERS)
    });
    assert!(rig.ends.iter().all(|(name, _)| *name != "c"), "{:?}", rig.ends);
}

/// Whatever ends a life while it rests.
#[test]
fn further_lives_of_a_process_do_not_rest_longer() {
    let (mut rig, over) = beside_a_working_cluster();
    rig.pass(SECOND);
    rig.network.alter(|parcel| {
        if parcel.at == "c" && matches!(parcel.message, Message::Welcome(_)) {
            parcel.message = Message::Gone;
        }
    });
    let again = |rig: &mut Rig| {
        if !rig.nodes.contains_key("c") {
            rig.start_with("c", &VOTERS, short());
        }
    };
    while rig.now < over {
        again(&mut rig);
        rig.pass(100 * MILLI);
    }
    rig.network.clear_rules();
    again(&mut rig);
    assert!(rig.ends.contains(&("c", End::GaveUp(GaveUp::Removed))), "{:?}", rig.ends);
    rig.wait_until("all of them work", 5 * SECOND, |rig| rig.is_whole(&VOTERS));
}

/// Why one waits for the other, as it says.
fn differs(rig: &Rig, name: &str, other: &str) -> Option<String> {
    let awaited = rig.nodes[name].awaited(rig.local(name))?;
    let why = awaited.into_iter().find(|awaited| awaited.address.as_str() == other)?.why;
    if let Missing::OtherSettings(refusal) = why { Some(refusal.to_string()) } else { None }
}

/// Each called the others silent, though they were there.
#[test]
fn voters_with_other_settings_say_which_differ_while_they_wait_for_each_other() {
    let mut rig = Rig::grown(short(), &VOTERS);
    rig.each(&VOTERS, Rig::crash);
    rig.start_with("a", &VOTERS, short());
    rig.start_with("b", &VOTERS, Settings { max_voters: 3, ..short() });
    rig.start_with("c", &VOTERS, long());
    rig.pass(10 * SECOND);
    assert!(rig.ends.is_empty() && rig.running().is_empty(), "{}", rig.describe());
    let named =
        [("a", "b", "max_voters is 5 here and 3 there"), ("b", "a", "max_voters is 3 here and 5 there")];
    let of_leases = [("a", "c", "max_pause is 100 ms here"), ("c", "a", "max_pause is 2000 ms here")];
    for (name, other, words) in named.into_iter().chain(of_leases) {
        let said = differs(&rig, name, other).expect("it is named");
        assert!(said.starts_with(words), "{said}");
    }
    rig.crash("b");
    rig.wait_until("it is not there any more", 5 * SECOND, |rig| differs(rig, "a", "b").is_none());
    rig.start_with("b", &VOTERS, short());
    rig.wait_until("two of them work", 10 * SECOND, |rig| rig.runs("a") && rig.runs("b"));
}

#[test]
fn a_suspended_voter_and_those_that_start_again_with_other_settings_name_each_other() {
    let by_leases = [settings(SECOND), long()];
    let by_voters =
        [Settings { max_voters: 3, ..short() }, Settings { strategy: Strategy::KeepOldest, ..short() }];
    for settings in [by_leases, by_voters] {
        let mut rig = Rig::grown(short(), &VOTERS);
        rig.each(&["b", "c"], Rig::crash);
        rig.wait_until("it is suspended", 20 * SECOND, |rig| !rig.runs("a"));
        for (name, settings) in ["b", "c"].into_iter().zip(settings) {
            rig.start_with(name, &VOTERS, settings);
        }
        rig.pass(10 * SECOND);
        assert!(rig.ends.is_empty() && rig.running().is_empty(), "{}", rig.describe());
        for (name, other) in [("a", "b"), ("b", "a"), ("a", "c"), ("c", "a")] {
            assert!(differs(&rig, name, other).is_some(), "{name} {other}");
        }
    }
}
