//! Nodes that leave, or host a type no more, lose nothing they own to them.

use borough_protocol::node::{Command, Event};
use borough_protocol::sharding::Kind;
use borough_protocol::table::Removal;

use super::town::{FIVE, KIND, THREE, Town, counts, entries, kind, moving, still, table};
use crate::rig::{Rig, SECOND};

fn lineages(rig: &Rig) -> Vec<u64> {
    entries(rig).iter().map(|entry| entry.lineage.get()).collect()
}

#[test]
fn everything_moves_off_a_node_that_leaves() {
    let mut town = Town::full(THREE, &still());
    let before = lineages(&town.rig);
    town.rig.command("c", Command::Leave);
    town.rig.wait_until("all at once", SECOND, |rig| moving(rig) == 10);
    town.obey_until("moved away", 2, |rig| counts(rig, THREE) == [15, 15, 0]);
    assert_eq!(lineages(&town.rig), before, "nothing began anew");
    let uid = town.rig.uid("c");
    town.rig.command("c", Command::Drained);
    town.rig.wait_until("gone", 12 * SECOND, |rig| rig.heard(&Event::Removed(uid, Removal::Goodbye)));
}

#[test]
fn no_more_move_off_a_node_at_once_than_can_be_held() {
    let kind = Kind { shards: 600, ..still() };
    let mut town = Town::full(THREE, &kind);
    town.rig.command("c", Command::Leave);
    town.rig.wait_until("moving", SECOND, |rig| moving(rig) > 0);
    town.rig.always("not too many", SECOND, |rig| moving(rig) <= 64);
    assert_eq!(moving(&town.rig), 64);
    town.obey_until("moved away", 5, |rig| counts(rig, THREE) == [300, 300, 0]);
}

#[test]
fn two_that_leave_together_give_nothing_to_each_other() {
    let mut town = Town::full(FIVE, &still());
    for name in ["d", "e"] {
        town.rig.command(name, Command::Leave);
    }
    town.rig.wait_until("both leave", SECOND, |rig| {
        let leaving = |member: &borough_protocol::table::Member| {
            member.state == borough_protocol::table::State::Draining
        };
        table(rig).members().values().filter(|member| leaving(member)).count() == 2
    });
    let leaving = [town.rig.uid("d"), town.rig.uid("e")];
    town.obey_until("moved away", 3, |rig| {
        let towards = |to| !leaving.contains(&to);
        // A move that was decided before the second one left is called off, and comes to nothing.
        assert!(
            moving(rig) < 5
                || entries(rig).iter().all(|entry| entry.moving.is_none_or(|(to, _)| towards(to)))
        );
        counts(rig, FIVE) == [10, 10, 10, 0, 0]
    });
}

#[test]
fn without_another_host_everything_stays_with_the_one_that_leaves() {
    let mut town = Town::grown(THREE);
    town.host(&["c"], &still());
    town.fill("a", &still());
    town.rig.command("c", Command::Leave);
    town.rig.always("nowhere to go", 3 * SECOND, |rig| moving(rig) == 0 && counts(rig, &["c"]) == [30]);
    town.host(&["b"], &still());
    town.obey_until("moved away", 3, |rig| counts(rig, &["b"]) == [30]);
}

#[test]
fn a_drain_goes_on_while_versions_are_mixed_and_goes_to_the_newest() {
    let mut town = Town::full(THREE, &kind());
    let birth = crate::rig::Birth { app_version: "2", ..town.rig.birth() };
    town.rig.start_as("d", birth);
    town.rig.wait_until("four", 8 * SECOND, |rig| rig.is_whole(&FIVE[..4]));
    town.host(&["d"], &kind());
    town.rig.command("c", Command::Leave);
    town.obey_until("moved away", 3, |rig| counts(rig, &FIVE[..4]) == [10, 10, 0, 10]);
}

#[test]
fn a_type_that_a_node_hosts_no_more_moves_off_it() {
    let mut town = Town::full(THREE, &kind());
    town.say("c", |report| report.ended = vec![KIND]);
    town.obey_until("moved away", 3, |rig| counts(rig, THREE) == [15, 15, 0]);
    let uid = town.rig.uid("c");
    town.rig.wait_until("no host", SECOND, |rig| {
        table(rig).kind(KIND).is_some_and(|kind| !kind.hosts().contains(&uid))
    });
    assert!(table(&town.rig).member(uid).is_some(), "it stays a member");
}

#[test]
fn everything_moves_off_a_coordinator_that_leaves() {
    let mut town = Town::full(FIVE, &still());
    let before = lineages(&town.rig);
    assert_eq!(town.rig.coordinator(), Some("a"));
    town.rig.command("a", Command::Leave);
    town.obey_until("moved away", 5, |rig| counts(rig, &["a"]) == [0] && moving(rig) == 0);
    assert_eq!(lineages(&town.rig), before, "nothing began anew");
    town.rig.command("a", Command::Drained);
    town.rig.wait_until("gone", 15 * SECOND, |rig| rig.is_whole(&FIVE[1..]));
}
