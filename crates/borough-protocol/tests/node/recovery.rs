//! Most voters are lost for good, and an operator has a survivor recover it.

use borough_protocol::flaws::Flaws;
use borough_protocol::node::{Command, End, Event, GaveUp, Message, NoRecovery, Remains};
use borough_protocol::settings::Settings;
use borough_protocol::table::Cluster;

use crate::rig::{Birth, Fate, Rig, SECOND};

const FIVE: &[&str] = &["a", "b", "c", "d", "e"];

/// Whether that node may begin anew now.
fn recovery(rig: &Rig, name: &str) -> Result<Option<Remains>, NoRecovery> {
    rig.nodes[name].recovery(rig.local(name))
}

/// Two are left of five that voted, and neither may work.
fn bereft() -> Rig {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    rig.each(&FIVE[..3], Rig::crash);
    rig.wait_until("suspended", 2 * SECOND, |rig| rig.running().is_empty());
    rig
}

#[test]
fn a_survivor_tells_who_is_left_and_who_is_not() {
    let rig = bereft();
    let remains = recovery(&rig, "e").expect("it may recover").expect("it was in a cluster");
    assert_eq!(remains.cluster, rig.table("e").cluster());
    assert!(remains.votes && remains.others.iter().all(|other| other.votes), "{remains:?}");
    let heard: Vec<_> = remains.others.iter().map(|other| (other.id.as_str(), other.is_heard)).collect();
    assert_eq!(heard, [("a", false), ("b", false), ("c", false), ("d", true)]);
}

#[test]
fn a_survivor_begins_the_cluster_anew_and_others_join_it() {
    let mut rig = bereft();
    let before = rig.table("e").cluster();
    rig.recover("e", FIVE);
    rig.wait_until("the other survivor drops what it holds", 4 * SECOND, |rig| !rig.nodes.contains_key("d"));
    let after = rig.table("e").cluster();
    assert_eq!(
        rig.ends,
        [("e", End::GaveUp(GaveUp::Recovers)), ("d", End::GaveUp(GaveUp::Overtaken(after)))]
    );
    assert!(after.era > before.era, "{before:?} {after:?}");
    // Its seeds are among the dead: it is found by the one that knows it.
    rig.start("d");
    rig.wait_until("both are members", 10 * SECOND, |rig| rig.is_whole(&["d", "e"]));
    rig.start_with("a", FIVE, Settings::default());
    rig.wait_until("a new one joins", 10 * SECOND, |rig| rig.is_whole(&["a", "d", "e"]));
    assert_eq!(rig.table("a").cluster(), after);
}

#[test]
fn a_new_process_that_looks_in_vain_recovers_the_cluster_too() {
    let mut rig = bereft();
    rig.each(&["d", "e"], Rig::crash);
    rig.start_with("e", FIVE, Settings::default());
    assert_eq!(recovery(&rig, "e"), Err(NoRecovery::Looking));
    rig.wait_until("it looks in vain", 6 * SECOND, |rig| recovery(rig, "e") == Ok(None));
    rig.recover("e", FIVE);
    rig.wait_until("it works", 4 * SECOND, |rig| rig.is_whole(&["e"]));
}

#[test]
fn of_two_that_look_in_vain_either_begins_it_anew_and_the_other_joins() {
    for one in ["a", "b"] {
        let mut rig = Rig::new(FIVE);
        rig.each(&["a", "b"], Rig::start);
        rig.wait_until("it looks in vain", 6 * SECOND, |rig| recovery(rig, one) == Ok(None));
        rig.recover(one, FIVE);
        rig.wait_until("both are members", 10 * SECOND, |rig| rig.is_whole(&["a", "b"]));
        assert_eq!(rig.ends, [(one, End::GaveUp(GaveUp::Recovers))]);
    }
}

/// Seed 32700 of the simulator: the machine of a voter was replaced. It knows of the cluster what others say, and they say it once more in each attempt.
#[test]
fn a_fresh_node_recovers_the_cluster_that_it_was_told_of_at_any_moment() {
    let mut rig = bereft();
    let before = rig.table("e").cluster();
    rig.start_with("a", &["a", "b", "d"], Settings::default());
    rig.wait_until("it looks in vain", 6 * SECOND, |rig| recovery(rig, "a").is_ok());
    // Those that told it of the cluster are not heard any more.
    rig.cut(&["a"], &["d", "e"]);
    rig.always("it knows the cluster", 15 * SECOND, |rig| {
        let remains = recovery(rig, "a").expect("it may recover");
        remains.is_some_and(|remains| remains.cluster == before)
    });
    rig.recover("a", FIVE);
    assert!(rig.table("a").ancestors().has(before), "{}", rig.describe());
}

/// It would double the cluster that welcomes it.
#[test]
fn a_node_that_is_welcomed_does_not_recover() {
    let mut rig = Rig::grown(Settings::default(), &["b", "c", "d"]);
    let cluster = rig.table("b").cluster();
    rig.crash("d");
    let prefers = Some(Cluster { era: cluster.era + 1, ..cluster });
    rig.start_as("d", Birth { prefers, ..rig.birth() });
    rig.pass(SECOND);
    assert_eq!(recovery(&rig, "d"), Err(NoRecovery::Joining));
    rig.command("d", Command::Recover);
    rig.wait_until("it joins", 10 * SECOND, |rig| rig.is_whole(&["b", "c", "d"]));
}

/// The one that begins anew has the fastest clock and hears nothing of the other, whose clock is the slowest.
fn another_still_has_its_lease(flaws: Flaws) {
    let mut rig = Rig::grown_with(flaws, Settings::default(), FIVE);
    rig.clock_rate("d", 900);
    rig.clock_rate("e", 1100);
    rig.pass(2 * SECOND);
    rig.each(&FIVE[..3], Rig::crash);
    rig.wait_until("e is suspended", 2 * SECOND, |rig| !rig.runs("e"));
    assert!(rig.runs("d"), "{}", rig.describe());
    rig.cut(&["d"], &["e"]);
    rig.recover("e", FIVE);
    rig.wait_until("it works", 4 * SECOND, |rig| {
        assert!(!(rig.runs("d") && rig.runs("e")), "two run\n{}", rig.describe());
        rig.runs("e")
    });
}

#[test]
fn it_works_only_once_every_lease_of_the_cluster_before_is_over() {
    another_still_has_its_lease(Flaws::default());
}

#[cfg(feature = "flaws")]
#[test]
#[should_panic(expected = "two run")]
fn a_recovery_that_does_not_wait_is_noticed() {
    another_still_has_its_lease(Flaws::only(borough_protocol::flaws::Flaw::RecoversWithoutWait));
}

/// The operator was wrong, and the network is mended before any harm is done.
#[test]
fn what_is_begun_anew_yields_to_the_cluster_that_lives_after_all() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    let cluster = rig.table("a").cluster();
    rig.cut(&["e"], &FIVE[..4]);
    rig.wait_until("cut off", 3 * SECOND, |rig| !rig.runs("e"));
    rig.recover("e", FIVE);
    rig.heal();
    rig.wait_until("it yields", SECOND, |rig| {
        assert!(!rig.runs("e"), "it works beside the others\n{}", rig.describe());
        rig.ends.contains(&("e", End::GaveUp(GaveUp::Overtaken(cluster))))
    });
    assert!(FIVE[..4].iter().all(|name| rig.runs(name)), "{}", rig.describe());
    rig.start("e");
    rig.wait_until("whole again", 15 * SECOND, |rig| rig.is_whole(FIVE));
    assert_eq!(rig.table("e").cluster(), cluster);
}

/// No seed of its own leads to the others; it remembers where they listened.
#[test]
fn a_recovered_cluster_finds_its_living_predecessor_without_seeds() {
    let mut rig = Rig::grown(Settings::default(), FIVE);
    let cluster = rig.table("a").cluster();
    rig.cut(&["e"], &FIVE[..4]);
    rig.wait_until("cut off", 3 * SECOND, |rig| !rig.runs("e"));
    rig.recover("e", &["e"]);
    // Nobody else greets it.
    rig.network.rule(Fate::Lost, |parcel| {
        parcel.at == "e" && matches!(&parcel.message, Message::Hello(greeting) if greeting.answers.is_none())
    });
    rig.heal();
    rig.wait_until("it yields", SECOND, |rig| {
        rig.ends.contains(&("e", End::GaveUp(GaveUp::Overtaken(cluster))))
    });
}

#[test]
fn who_need_not_recover_does_not_and_says_why() {
    let mut rig = Rig::grown(Settings::default(), &["a", "b", "c"]);
    assert_eq!(recovery(&rig, "c"), Err(NoRecovery::Runs));
    rig.command("c", Command::Recover);
    assert!(rig.is_whole(&["a", "b", "c"]) && rig.ends.is_empty(), "{:?}", rig.ends);
    rig.start("d");
    rig.wait_until("welcomed", 2 * SECOND, |rig| rig.nodes["d"].cluster().is_some());
    assert_eq!(recovery(&rig, "d"), Err(NoRecovery::Joining));
    let admitted = |(name, event): &(&str, Event)| *name == "d" && matches!(event, Event::Admitted(_));
    rig.wait_until("admitted", 2 * SECOND, |rig| rig.events.iter().any(admitted));
    assert_eq!(recovery(&rig, "d"), Err(NoRecovery::VotersAnswer), "before its first lease");
    rig.each(&["a", "b"], Rig::crash);
    rig.wait_until("suspended", 2 * SECOND, |rig| rig.running().is_empty());
    assert!(recovery(&rig, "c").is_ok());
    rig.command("c", Command::Leave);
    assert_eq!(recovery(&rig, "c"), Err(NoRecovery::Going));
}
