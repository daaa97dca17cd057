//! Shards move to where the strategy wants them, in quiet times only, and no more than must.

use borough_protocol::sharding::{Allocation, Kind};

use super::town::{FIVE, THREE, Town, counts, entries, kind, moving, owners, table};
use crate::rig::{Birth, MILLI, SECOND};

#[test]
fn a_node_that_comes_gets_its_share_and_nothing_else_moves() {
    let mut town = Town::full(THREE, &kind());
    town.rig.start("d");
    town.rig.wait_until("four", 8 * SECOND, |rig| rig.is_whole(&FIVE[..4]));
    town.host(&["d"], &kind());
    let newcomer = town.rig.uid("d");
    let before = owners(&town.rig, "a");
    for _ in 0..600 {
        town.obey();
        town.rig.pass(10 * MILLI);
        assert!(moving(&town.rig) <= 3, "more than a tenth at once");
        for entry in entries(&town.rig) {
            assert!(entry.moving.is_none_or(|(to, _)| to == newcomer));
        }
    }
    let after = owners(&town.rig, "a");
    let moved = before.iter().filter(|(number, owner)| after[*number] != **owner).count();
    assert_eq!(moved, 7);
    assert!(counts(&town.rig, &FIVE[..4]).iter().all(|count| (7..=8).contains(count)));
    let version = table(&town.rig).version();
    town.rig.pass(10 * SECOND);
    assert_eq!(table(&town.rig).version(), version, "what is balanced is left alone");
}

#[test]
fn nothing_is_balanced_while_versions_are_mixed() {
    let mut town = Town::full(THREE, &kind());
    let birth = Birth { app_version: "2", ..town.rig.birth() };
    town.rig.start_as("d", birth);
    town.rig.wait_until("four", 8 * SECOND, |rig| rig.is_whole(&FIVE[..4]));
    town.host(&["d"], &kind());
    town.rig.always("nothing moves", 5 * SECOND, |rig| moving(rig) == 0);
}

#[test]
fn nothing_is_balanced_while_a_host_is_not_well() {
    let mut town = Town::full(FIVE, &kind());
    town.rig.cut(&["a"], &["e"]);
    town.rig.pass(SECOND);
    town.rig.start("f");
    let six = ["a", "b", "c", "d", "e", "f"];
    town.rig.wait_until("six", 4 * SECOND, |rig| table(rig).members().len() == six.len());
    town.host(&["f"], &kind());
    town.rig.always("nothing moves", 2 * SECOND, |rig| moving(rig) == 0);
    town.rig.heal();
    town.obey_until("balanced", 8, |rig| counts(rig, &six) == [5, 5, 5, 5, 5, 5]);
}

#[test]
fn by_rendezvous_a_node_that_comes_takes_only_its_own() {
    let kind = Kind { allocation: Allocation::Rendezvous, ..kind() };
    let mut town = Town::full(THREE, &kind);
    town.rig.start("d");
    town.rig.wait_until("four", 8 * SECOND, |rig| rig.is_whole(&FIVE[..4]));
    town.host(&["d"], &kind);
    let newcomer = town.rig.uid("d");
    let before = owners(&town.rig, "a");
    for _ in 0..800 {
        town.obey();
        town.rig.pass(10 * MILLI);
    }
    let after = owners(&town.rig, "a");
    let moved = before.iter().filter(|(number, owner)| after[*number] != **owner);
    assert!(moved.clone().count() > 0 && moved.clone().all(|(number, _)| after[number] == newcomer));
    assert_eq!(moving(&town.rig), 0);
}
