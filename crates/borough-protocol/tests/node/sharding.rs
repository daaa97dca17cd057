//! The coordinator and the reports: who hosts what, who gets which shard, and how a shard moves.
//!
//! The regions are the tests' own: they say what a region would say, and the table shows what came of it.

use std::sync::Arc;

use borough_protocol::incarnation::Uid;
use borough_protocol::node::Command;
use borough_protocol::settings::Settings;
use borough_protocol::sharding::{Allocation, Entry, Epoch, Hashing, Kind, KindId, ShardId, ShardReport};

use crate::rig::{MILLI, Rig, SECOND};

const THREE: &[&str] = &["a", "b", "c"];
const KIND: KindId = KindId(0);

fn kind() -> Arc<Kind> {
    Arc::new(Kind {
        name: "account".into(),
        shards: 30,
        hashing: Hashing::Xxh3,
        role: None,
        min_hosts: 1,
        allocation: Allocation::LeastShards { absolute: 0, percent: 10 },
    })
}

fn shard(number: u32) -> ShardId {
    ShardId { kind: KIND, number }
}

fn report(rig: &mut Rig, name: &'static str, seq: u64, report: ShardReport) {
    rig.command(name, Command::Shards(Arc::new(ShardReport { seq, ..report })));
}

fn hosting(kind: &Arc<Kind>) -> ShardReport {
    ShardReport { kinds: vec![(kind.clone(), true)], ..ShardReport::default() }
}

fn wanting(numbers: impl IntoIterator<Item = u32>) -> ShardReport {
    ShardReport { wanted: numbers.into_iter().map(shard).collect(), ..ShardReport::default() }
}

/// A cluster whose members all host the type.
fn town(names: &[&'static str], kind: &Arc<Kind>) -> Rig {
    let mut rig = Rig::grown(Settings::default(), names);
    for name in names {
        report(&mut rig, name, 1, hosting(kind));
    }
    rig.wait_until("all host it", SECOND, |rig| hosts(rig, names[0]).len() == names.len());
    for name in names {
        report(&mut rig, name, 2, ShardReport::default());
    }
    rig
}

/// A cluster whose members all host the type, and all shards of it.
fn full_town(names: &[&'static str], kind: &Arc<Kind>) -> Rig {
    let mut rig = town(names, kind);
    report(&mut rig, names[0], 3, wanting(0..kind.shards));
    rig.wait_until("all have owners", SECOND, |rig| {
        rig.nodes.keys().all(|name| entries(rig, name).len() == kind.shards as usize)
    });
    report(&mut rig, names[0], 4, ShardReport::default());
    rig
}

fn hosts(rig: &Rig, name: &str) -> Vec<Uid> {
    rig.table(name).kind(KIND).map_or(Vec::new(), |kind| kind.hosts().iter().copied().collect())
}

fn entries(rig: &Rig, name: &str) -> Vec<Entry> {
    rig.table(name).kind(KIND).map_or(Vec::new(), |kind| kind.shards().values().copied().collect())
}

fn entry(rig: &Rig, number: u32) -> Entry {
    let name = *rig.nodes.keys().next().expect("somebody runs");
    *rig.table(name).shard(shard(number)).expect("has an owner")
}

fn owned(rig: &Rig, name: &str) -> usize {
    let uid = rig.uid(name);
    entries(rig, name).iter().filter(|entry| entry.owner == uid).count()
}

#[test]
fn a_type_is_declared_by_the_first_who_hosts_it() {
    let mut rig = Rig::grown(Settings::default(), THREE);
    report(&mut rig, "c", 1, hosting(&kind()));
    rig.wait_until("hosted", SECOND, |rig| hosts(rig, "a") == [rig.uid("c")]);
    assert_eq!(**rig.table("a").kind(KIND).expect("declared").kind(), *kind());
}

#[test]
fn wanted_shards_are_spread_over_the_hosts() {
    let rig = full_town(THREE, &kind());
    for name in THREE {
        assert_eq!(owned(&rig, name), 10, "{name}");
    }
}

#[test]
fn a_move_is_settled_once_the_receiver_has_everything() {
    let mut rig = full_town(THREE, &kind());
    let (from, to) = (entry(&rig, 7).owner, rig.uid("c"));
    let to = if from == to { rig.uid("b") } else { to };
    let place = ShardReport { places: vec![(shard(7), to)], ..ShardReport::default() };
    report(&mut rig, "b", 10, place);
    rig.wait_until("moving", SECOND, |rig| entry(rig, 7).moving.is_some());
    let Entry { epoch, issued, moving, .. } = entry(&rig, 7);
    assert_eq!(moving, Some((to, epoch.next())));
    assert_eq!(issued, epoch.next());
    let receiver = *THREE.iter().find(|name| rig.uid(name) == to).expect("there");
    rig.always("not settled", SECOND, |rig| entry(rig, 7).owner == from);
    let installed = vec![(shard(7), issued)];
    report(&mut rig, receiver, 11, ShardReport { installed, ..ShardReport::default() });
    rig.wait_until("settled", 300 * MILLI, |rig| entry(rig, 7).owner == to);
    assert_eq!(entry(&rig, 7), Entry { owner: to, epoch: issued, issued, lineage: epoch, moving: None });
    assert!(epoch > Epoch::ZERO);
}
