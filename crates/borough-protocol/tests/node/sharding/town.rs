//! Clusters with regions that are the tests' own: they say what a region would say, and the table shows what came of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use borough_protocol::incarnation::Uid;
use borough_protocol::node::Command;
use borough_protocol::settings::Settings;
use borough_protocol::sharding::{Allocation, Entry, Epoch, Hashing, Kind, KindId, ShardId, ShardReport};
use borough_protocol::table::{KindTable, Table};

use crate::rig::{MILLI, Rig, SECOND};

pub(crate) const THREE: &[&str] = &["a", "b", "c"];
pub(crate) const FIVE: &[&str] = &["a", "b", "c", "d", "e"];
pub(crate) const KIND: KindId = KindId(0);

/// Thirty shards, of which three move at once.
pub(crate) fn kind() -> Kind {
    Kind {
        name: "account".into(),
        shards: 30,
        hashing: Hashing::Xxh3,
        role: None,
        min_hosts: 1,
        allocation: Allocation::LeastShards { absolute: 0, percent: 10 },
        codec: 1,
    }
}

/// The same, but nothing moves by itself.
pub(crate) fn still() -> Kind {
    Kind { allocation: Allocation::External, ..kind() }
}

pub(crate) fn shard(number: u32) -> ShardId {
    ShardId { kind: KIND, number }
}

/// A cluster and what its regions have to say.
pub(crate) struct Town {
    pub(crate) rig: Rig,
    said: BTreeMap<&'static str, ShardReport>,
    seq: u64,
}

impl Town {
    pub(crate) fn of(rig: Rig) -> Self {
        Self { rig, said: BTreeMap::new(), seq: 0 }
    }

    pub(crate) fn grown(names: &[&'static str]) -> Self {
        Self::of(Rig::grown(Settings::default(), names))
    }

    /// A cluster whose members all host the type.
    pub(crate) fn hosting(names: &[&'static str], kind: &Kind) -> Self {
        let mut town = Self::grown(names);
        town.host(names, kind);
        town
    }

    /// A cluster whose members all host the type, with owners for all its shards.
    pub(crate) fn full(names: &[&'static str], kind: &Kind) -> Self {
        let mut town = Self::hosting(names, kind);
        town.fill(names[0], kind);
        town
    }

    /// These host the type from now on.
    pub(crate) fn host(&mut self, names: &[&'static str], kind: &Kind) {
        let kind = Arc::new(kind.clone());
        for name in names {
            self.say(name, |report| report.kinds = vec![(kind.clone(), true)]);
        }
        let hosts = |rig: &Rig| {
            let table = rig.table(names[0]).kind(KIND);
            names.iter().all(|name| table.is_some_and(|kind| kind.hosts().contains(&rig.uid(name))))
        };
        self.rig.wait_until("all host it", SECOND, hosts);
        for name in names {
            self.say(name, |report| report.kinds.clear());
        }
    }

    /// Somebody sends to all shards.
    pub(crate) fn fill(&mut self, name: &'static str, kind: &Kind) {
        self.want(name, 0..kind.shards);
        self.rig.wait_until("all have owners", SECOND, |rig| {
            rig.nodes.keys().all(|name| owners(rig, name).len() == kind.shards as usize)
        });
        self.say(name, |report| report.wanted.clear());
    }

    pub(crate) fn want(&mut self, name: &'static str, numbers: impl IntoIterator<Item = u32>) {
        self.say(name, |report| report.wanted = numbers.into_iter().map(shard).collect());
    }

    /// That node's region has something else to say from now on.
    pub(crate) fn say(&mut self, name: &'static str, change: impl FnOnce(&mut ShardReport)) {
        self.seq += 1;
        let report = self.said.entry(name).or_default();
        change(report);
        report.seq = self.seq;
        self.rig.command(name, Command::Shards(Arc::new(report.clone())));
    }

    /// Regions do what the table says: who is to have a shard has it at once.
    pub(crate) fn obey(&mut self) {
        let names: Vec<&'static str> = self.rig.nodes.keys().copied().collect();
        for name in names {
            let uid = self.rig.uid(name);
            let installed: Vec<(ShardId, Epoch)> = self
                .rig
                .table(name)
                .kind(KIND)
                .into_iter()
                .flat_map(KindTable::shards)
                .filter_map(|(number, entry)| entry.moving.map(|moving| (*number, moving)))
                .filter(|(_, (to, _))| *to == uid)
                .map(|(number, (_, epoch))| (shard(number), epoch))
                .collect();
            if self.said.entry(name).or_default().installed != installed {
                self.say(name, |report| report.installed = installed);
            }
        }
    }

    /// Lets time pass with regions that do what the table says, until it is so.
    pub(crate) fn obey_until(&mut self, what: &str, seconds: u32, so: impl Fn(&Rig) -> bool) {
        for _ in 0..100 * seconds {
            if so(&self.rig) {
                return;
            }
            self.obey();
            self.rig.pass(10 * MILLI);
        }
        panic!("not so within {seconds} s: {what}\n{}", self.rig.describe());
    }

    /// Begins to move a shard from `a`; says which, and at which epoch it moves to that node.
    pub(crate) fn begin_move(&mut self, to: &'static str) -> (u32, Epoch) {
        let (from, to) = (self.rig.uid("a"), self.rig.uid(to));
        let owners = owners(&self.rig, "a");
        let number = *owners.iter().find(|(_, owner)| **owner == from).expect("it has some").0;
        self.say("a", |report| report.places = vec![(shard(number), to)]);
        self.rig.wait_until("moving", SECOND, |rig| entry(rig, number).moving.is_some());
        let (towards, epoch) = entry(&self.rig, number).moving.expect("moving");
        assert_eq!(towards, to);
        self.say("a", |report| report.places.clear());
        (number, epoch)
    }
}

/// Somebody's table.
pub(crate) fn table(rig: &Rig) -> &Table {
    rig.table(rig.nodes.keys().next().expect("somebody runs"))
}

pub(crate) fn entry(rig: &Rig, number: u32) -> Entry {
    *table(rig).shard(shard(number)).expect("has an owner")
}

pub(crate) fn entries(rig: &Rig) -> Vec<Entry> {
    table(rig).kind(KIND).map_or(Vec::new(), |kind| kind.shards().values().copied().collect())
}

/// Who owns which shard, as that node has it.
pub(crate) fn owners(rig: &Rig, name: &str) -> BTreeMap<u32, Uid> {
    let shards = rig.table(name).kind(KIND).map(KindTable::shards);
    shards.into_iter().flatten().map(|(number, entry)| (*number, entry.owner)).collect()
}

/// How many shards each of these owns.
pub(crate) fn counts(rig: &Rig, names: &[&str]) -> Vec<usize> {
    let entries = entries(rig);
    let count = |name: &&str| entries.iter().filter(|entry| entry.owner == rig.uid(name)).count();
    names.iter().map(count).collect()
}

/// How many shards move at the moment.
pub(crate) fn moving(rig: &Rig) -> usize {
    entries(rig).iter().filter(|entry| entry.moving.is_some()).count()
}
