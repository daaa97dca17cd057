//! Nodes with disks that start again beside clusters that are not theirs, and what an operator is told of theirs.

use borough_protocol::flaws::Flaws;
use borough_protocol::formation::Missing;
use borough_protocol::node::Node;
use borough_protocol::settings::Settings;
use borough_protocol::table::Cluster;

use super::rig::{Rig, SECOND};

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
    let silent: Vec<&str> =
        awaited.iter().filter(|it| it.why == Missing::Silent).map(|it| it.address.as_str()).collect();
    assert_eq!(silent, ["a", "b"]);
    let remains = rig.nodes["c"].recovery(now).expect("it may").expect("its disk names a cluster");
    let given_up: Vec<(&str, bool)> =
        remains.others.iter().filter(|it| !it.is_heard).map(|it| (it.address.as_str(), it.votes)).collect();
    assert_eq!(given_up, [("a", true), ("b", true)]);
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
