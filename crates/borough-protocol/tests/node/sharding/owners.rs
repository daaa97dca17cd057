//! Who hosts a type, and to whom its shards are given.

use std::sync::Arc;

use borough_protocol::incarnation::Uid;
use borough_protocol::node::{Command, Event};
use borough_protocol::settings::Settings;
use borough_protocol::sharding::allocation::{Custom, HostLoad, Spread, Strategy};
use borough_protocol::sharding::{Allocation, Epoch, Hashing, Kind};
use borough_protocol::table::{KindTable, Removal};

use super::town::{FIVE, KIND, THREE, Town, counts, entries, entry, kind, owners, shard, still, table};
use crate::rig::{Birth, MILLI, Rig, SECOND};

#[test]
fn a_type_is_declared_by_the_first_who_hosts_it() {
    let mut town = Town::grown(THREE);
    town.host(&["c"], &kind());
    assert_eq!(**table(&town.rig).kind(KIND).expect("declared").kind(), kind());
}

#[test]
fn a_proxy_declares_a_type_and_hosts_nothing() {
    let mut town = Town::grown(THREE);
    town.say("b", |report| report.kinds = vec![(Arc::new(kind()), false)]);
    town.rig.wait_until("declared", SECOND, |rig| table(rig).kind(KIND).is_some());
    town.want("b", 0..3);
    town.rig.always("nobody hosts it", 2 * SECOND, |rig| {
        table(rig).kind(KIND).is_some_and(|kind| kind.hosts().is_empty()) && entries(rig).is_empty()
    });
}

#[test]
fn who_means_another_type_by_the_name_does_not_host_it() {
    for other in [
        Kind { shards: 31, ..kind() },
        Kind { hashing: Hashing::Md5, ..kind() },
        Kind { role: Some("x".into()), ..kind() },
        Kind { allocation: Allocation::Rendezvous, ..kind() },
        Kind { codec: 2, ..kind() },
    ] {
        let mut town = Town::hosting(&["a"], &kind());
        town.rig.start("b");
        town.rig.wait_until("two", 5 * SECOND, |rig| rig.is_whole(&["a", "b"]));
        town.say("b", |report| report.kinds = vec![(Arc::new(other.clone()), true)]);
        town.rig.always("not taken for a host", 2 * SECOND, |rig| {
            table(rig).kinds().len() == 1 && table(rig).kind(KIND).is_some_and(|kind| kind.hosts().len() == 1)
        });
    }
}

#[test]
fn only_members_of_its_role_host_a_type() {
    let mut rig = Rig::grown(Settings::default(), &["a"]);
    let birth = Birth { roles: vec!["store".into()], ..rig.birth() };
    rig.start_as("b", birth);
    rig.wait_until("two", 5 * SECOND, |rig| rig.is_whole(&["a", "b"]));
    let mut town = Town::of(rig);
    let kind = Kind { role: Some("store".into()), ..kind() };
    town.say("a", |report| report.kinds = vec![(Arc::new(kind.clone()), true)]);
    town.host(&["b"], &kind);
    town.want("a", 0..5);
    town.rig.wait_until("given", SECOND, |rig| counts(rig, &["a", "b"]) == [0, 5]);
}

#[test]
fn wanted_shards_are_spread_over_the_hosts() {
    let town = Town::full(THREE, &kind());
    assert_eq!(counts(&town.rig, THREE), [10, 10, 10]);
}

#[test]
fn nothing_that_nobody_wants_is_given_to_anybody() {
    let mut town = Town::hosting(THREE, &kind());
    town.want("b", [4, 9, 30, u32::MAX]);
    town.rig.pass(3 * SECOND);
    assert_eq!(owners(&town.rig, "a").into_keys().collect::<Vec<_>>(), [4, 9]);
}

#[test]
fn a_type_of_many_shards_is_given_away_in_batches() {
    let kind = Kind { shards: 2000, ..kind() };
    let town = Town::full(THREE, &kind);
    assert_eq!(counts(&town.rig, THREE).into_iter().sum::<usize>(), 2000);
    assert!(counts(&town.rig, THREE).iter().all(|count| (666..=667).contains(count)));
}

#[test]
fn several_types_are_spread_together() {
    let mut town = Town::grown(THREE);
    let kinds: Vec<Arc<Kind>> =
        (0..6).map(|place| Arc::new(Kind { name: format!("k{place}").into(), ..kind() })).collect();
    for name in THREE {
        town.say(name, |report| report.kinds = kinds.iter().map(|kind| (kind.clone(), true)).collect());
    }
    let hosted = |kind: &Arc<KindTable>| kind.hosts().len() == 3;
    town.rig.wait_until("hosted", SECOND, |rig| {
        table(rig).kinds().len() == 6 && table(rig).kinds().iter().all(hosted)
    });
    for place in 0..6 {
        town.say("a", |report| {
            let kind = borough_protocol::sharding::KindId(place);
            report.wanted.push(borough_protocol::sharding::ShardId { kind, number: 0 });
        });
    }
    town.rig.pass(SECOND);
    for name in THREE {
        assert_eq!(table(&town.rig).owned_by(town.rig.uid(name)).count(), 2, "{name}");
    }
}

#[test]
fn no_shard_is_given_away_before_there_are_enough_hosts() {
    let kind = Kind { min_hosts: 3, ..kind() };
    let mut town = Town::grown(THREE);
    town.host(&["a", "b"], &kind);
    town.want("a", 0..kind.shards);
    town.rig.always("none", 3 * SECOND, |rig| entries(rig).is_empty());
    town.host(&["c"], &kind);
    town.rig.wait_until("all", SECOND, |rig| counts(rig, THREE) == [10, 10, 10]);
}

#[test]
fn once_begun_a_type_lives_on_with_fewer_hosts() {
    let kind = Kind { min_hosts: 3, ..still() };
    let mut town = Town::full(THREE, &kind);
    town.rig.crash("c");
    town.rig.wait_until("the others have all", 5 * SECOND, |rig| counts(rig, &["a", "b"]) == [15, 15]);
}

#[test]
fn orphans_begin_anew_as_soon_as_they_are_freed_and_not_before() {
    let mut town = Town::full(FIVE, &still());
    let lost = town.rig.uid("e");
    town.rig.crash("e");
    town.rig.wait_until("removed", 3 * SECOND, |rig| table(rig).is_removed(lost));
    let orphans = |rig: &Rig| entries(rig).iter().filter(|entry| entry.owner == lost).count();
    let freed = |rig: &Rig| table(rig).removed().get(&lost).is_some_and(|removed| removed.freed);
    town.rig.wait_until("freed", 3 * SECOND, |rig| {
        assert!(freed(rig) || orphans(rig) == 6, "given away too early");
        freed(rig)
    });
    town.rig.wait_until("given away", 100 * MILLI, |rig| orphans(rig) == 0);
    let anew = entries(&town.rig).into_iter().filter(|entry| entry.lineage == entry.epoch);
    let first = Epoch::first(table(&town.rig).cluster().era);
    assert_eq!(anew.filter(|entry| entry.epoch == first.next()).count(), 6);
    assert_eq!(counts(&town.rig, &FIVE[..4]).into_iter().max(), Some(8));
}

#[test]
fn orphans_are_given_away_although_the_coordinator_went_with_them() {
    let mut town = Town::full(FIVE, &still());
    town.rig.crash("a");
    town.rig
        .wait_until("given away", 8 * SECOND, |rig| counts(rig, &FIVE[1..]).into_iter().sum::<usize>() == 30);
}

#[test]
fn what_somebody_who_said_goodbye_had_left_is_given_away_at_once() {
    let mut town = Town::full(THREE, &still());
    let lost = town.rig.uid("c");
    town.rig.command("c", Command::Leave);
    town.rig.pass(SECOND);
    // It has dropped what it could not move.
    town.rig.command("c", Command::Drained);
    town.rig.wait_until("gone", 12 * SECOND, |rig| table(rig).is_removed(lost));
    assert_eq!(table(&town.rig).removed()[&lost].why, Removal::Goodbye);
    town.rig.wait_until("given away", 100 * MILLI, |rig| counts(rig, &["a", "b"]) == [15, 15]);
}

#[test]
fn nothing_is_given_to_a_host_that_the_coordinator_does_not_hear() {
    let mut town = Town::hosting(FIVE, &still());
    town.rig.cut(&["a"], &["e"]);
    town.rig.pass(SECOND);
    town.want("b", 0..20);
    town.rig.wait_until("given away", SECOND, |rig| entries(rig).len() == 20);
    assert_eq!(counts(&town.rig, FIVE), [5, 5, 5, 5, 0]);
    town.rig.heal();
    town.rig.pass(2 * SECOND);
    town.want("b", 20..30);
    town.rig.wait_until("given away", SECOND, |rig| counts(rig, FIVE)[4] == 6);
}

#[test]
fn a_shard_that_is_wanted_somewhere_begins_there() {
    let mut town = Town::hosting(THREE, &still());
    let to = town.rig.uid("b");
    town.say("c", |report| {
        report.wanted = (0..6).map(shard).collect();
        report.places = report.wanted.iter().map(|shard| (*shard, to)).collect();
    });
    town.rig.wait_until("given away", SECOND, |rig| counts(rig, THREE) == [0, 6, 0]);
    assert!(entry(&town.rig, 0).moving.is_none());
}

#[test]
fn while_versions_are_mixed_new_shards_go_to_the_newest() {
    let mut town = Town::hosting(&["a", "b"], &still());
    for (name, app_version) in [("c", "10.0"), ("d", "9.1")] {
        let birth = Birth { app_version, ..town.rig.birth() };
        town.rig.start_as(name, birth);
    }
    town.rig.wait_until("four", 8 * SECOND, |rig| rig.is_whole(&FIVE[..4]));
    town.host(&["c", "d"], &still());
    town.want("a", 0..9);
    town.rig.wait_until("given away", SECOND, |rig| counts(rig, &FIVE[..4]) == [0, 0, 9, 0]);
}

/// Everything to the last host; whatever is elsewhere moves there, to a host that there is not, and to itself.
struct ToTheLast;

impl Strategy for ToTheLast {
    fn allocate(&self, _: u32, hosts: &[HostLoad]) -> Option<Uid> {
        hosts.last().map(|host| host.uid)
    }

    fn rebalance(&self, spread: &Spread<'_>) -> Vec<(u32, Uid)> {
        let last = spread.hosts.last().map(|host| host.uid);
        let here = spread.places.iter().map(|(number, owner)| (*number, *owner));
        let there = spread.places.keys().filter_map(|number| last.map(|to| (*number, to)));
        let nowhere = spread.places.keys().filter_map(|number| Uid::new(77).map(|to| (*number, to)));
        nowhere.chain(here).chain(there).collect()
    }
}

#[test]
fn a_users_strategy_decides_and_its_nonsense_does_not_count() {
    let kind = Kind { allocation: Allocation::Custom, ..kind() };
    let mut town = Town::grown(THREE);
    let custom = Custom { kind: kind.name.clone(), strategy: Arc::new(ToTheLast) };
    for name in THREE {
        town.rig.command(name, Command::Allocate(custom.clone()));
    }
    town.host(&["a", "b"], &kind);
    town.fill("a", &kind);
    assert_eq!(counts(&town.rig, THREE), [0, 30, 0]);
    town.host(&["c"], &kind);
    town.obey_until("all at the last", 5, |rig| counts(rig, THREE) == [0, 0, 30]);
}

#[test]
fn nothing_is_given_away_in_a_cluster_that_shuts_down() {
    let mut town = Town::hosting(THREE, &kind());
    town.rig.cut(&["c"], &["a", "b"]);
    town.rig.command("a", Command::CloseCluster);
    town.rig.wait_until("closing", SECOND, |rig| table(rig).is_closing());
    town.want("a", 0..5);
    town.rig.pass(SECOND / 2);
    assert!(town.rig.nodes.contains_key("c") && entries(&town.rig).is_empty());
}

/// A node that does not vote is another voter in each life; its directory is known all the same. Nothing else gives owners to the shards of this type.
#[test]
fn a_shard_returns_to_a_node_that_does_not_vote() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut town = Town::of(Rig::grown(Settings { durable: true, ..Settings::default() }, &names));
    let outside = names.into_iter().find(|name| !town.rig.voters("a").contains(name)).expect("five vote");
    town.host(&names, &still());
    let before = (town.rig.uid(outside), town.rig.nodes[outside].voter());
    let other = if outside == "a" { "b" } else { "a" };
    town.say(other, |report| {
        report.wanted = [shard(0)].into();
        report.places = vec![(shard(0), before.0)];
    });
    town.rig.wait_until("it has an owner", SECOND, |rig| owners(rig, other).get(&0) == Some(&before.0));
    town.say(other, |report| report.places.clear());
    town.rig.crash(outside);
    town.rig.start(outside);
    town.rig.wait_until("its former life is replaced at once", SECOND / 2, |rig| {
        rig.heard(&Event::Removed(before.0, Removal::Replaced))
    });
    town.rig.wait_until("it is back", 5 * SECOND, |rig| rig.is_whole(&names));
    assert_ne!(town.rig.nodes[outside].voter(), before.1);
    town.host(&[outside], &still());
    let after = town.rig.uid(outside);
    town.rig
        .wait_until("it has its shard again", 5 * SECOND, |rig| owners(rig, other).get(&0) == Some(&after));
}
