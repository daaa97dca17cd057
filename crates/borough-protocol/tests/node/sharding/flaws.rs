//! Each broken rule of the coordinator does what its name says: what the simulator is to find is there to be found.

use borough_protocol::flaws::{Flaw, Flaws};
use borough_protocol::node::Command;
use borough_protocol::settings::Settings;
use borough_protocol::sharding::Kind;

use super::town::{FIVE, THREE, Town, counts, entries, entry, kind, moving, shard, still, table};
use crate::rig::{Birth, Rig, SECOND};

fn broken(flaw: Flaw, names: &[&'static str]) -> Town {
    Town::of(Rig::grown_with(Flaws::only(flaw), Settings::default(), names))
}

fn full(flaw: Flaw, names: &[&'static str], kind: &Kind) -> Town {
    let mut town = broken(flaw, names);
    town.host(names, kind);
    town.fill(names[0], kind);
    town
}

#[test]
fn rebalance_to_leaving_node() {
    let mut town = full(Flaw::RebalanceToLeavingNode, THREE, &still());
    let leaving = [town.rig.uid("b"), town.rig.uid("c")];
    for name in ["b", "c"] {
        town.rig.command(name, Command::Leave);
    }
    town.rig.pass(SECOND);
    let to_one = |(to, _)| leaving.contains(&to);
    assert!(entries(&town.rig).iter().any(|entry| entry.moving.is_some_and(to_one)));
}

#[test]
fn allocates_before_freed() {
    let mut town = full(Flaw::AllocatesBeforeFreed, FIVE, &still());
    let lost = town.rig.uid("e");
    town.rig.crash("e");
    town.rig.wait_until("removed", 3 * SECOND, |rig| table(rig).is_removed(lost));
    town.rig.wait_until("given away", SECOND, |rig| entries(rig).iter().all(|entry| entry.owner != lost));
    assert!(!table(&town.rig).removed()[&lost].freed);
}

#[test]
fn settles_without_installed() {
    let mut town = full(Flaw::SettlesWithoutInstalled, THREE, &still());
    let (number, epoch) = town.begin_move("c");
    town.say("a", |report| report.frozen = vec![(shard(number), epoch)]);
    town.rig.wait_until("settled", SECOND, |rig| entry(rig, number).epoch == epoch);
}

#[test]
fn call_off_reuses_epoch() {
    let mut town = full(Flaw::CallOffReusesEpoch, THREE, &still());
    let (number, epoch) = town.begin_move("c");
    town.say("c", |report| report.impossible = vec![(shard(number), epoch)]);
    town.rig.wait_until("called off", SECOND, |rig| entry(rig, number).moving.is_none());
    town.say("c", |report| report.impossible.clear());
    town.rig.pass(6 * SECOND);
    assert_eq!(town.begin_move("b"), (number, epoch));
}

#[test]
fn forgets_reports_of_others() {
    let kind = Kind { min_hosts: 3, ..still() };
    let mut town = broken(Flaw::ForgetsReportsOfOthers, FIVE);
    for name in ["a", "b"] {
        town.host(&[name], &kind);
    }
    town.want("c", 0..5);
    town.rig.pass(SECOND);
    town.host(&["d"], &kind);
    town.rig.always("nobody remembers", 3 * SECOND, |rig| entries(rig).is_empty());
}

#[test]
fn flaps_between_nodes() {
    let mut town = full(Flaw::FlapsBetweenNodes, THREE, &kind());
    town.obey_until("something moves", 3, |rig| moving(rig) > 0);
    town.obey_until("there", 3, |rig| counts(rig, THREE).contains(&11));
    town.obey_until("and back", 5, |rig| counts(rig, THREE) == [10, 10, 10]);
}

#[test]
fn moves_while_versions_are_mixed() {
    let mut town = full(Flaw::MovesWhileVersionsAreMixed, THREE, &kind());
    let birth = Birth { app_version: "2", ..town.rig.birth() };
    town.rig.start_as("d", birth);
    town.rig.wait_until("four", 8 * SECOND, |rig| rig.is_whole(&FIVE[..4]));
    town.host(&["d"], &kind());
    town.rig.wait_until("something moves", 3 * SECOND, |rig| moving(rig) > 0);
}

#[test]
fn owner_without_hosting() {
    let mut town = broken(Flaw::OwnerWithoutHosting, THREE);
    town.host(&["c"], &still());
    town.fill("a", &still());
    assert_eq!(counts(&town.rig, THREE), [10, 10, 10]);
}
