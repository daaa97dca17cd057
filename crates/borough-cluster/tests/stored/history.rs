//! The history of a cluster that had everything in it: every change of the table, and every value that a change can have.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use borough_protocol::disk::{Bond, Pledge, Record};
use borough_protocol::formation::Memory;
use borough_protocol::incarnation::{Address, Disk, Facts, Incarnation, NodeId, Uid};
use borough_protocol::log::Entry;
use borough_protocol::sharding::{Allocation, Epoch, Hashing, Kind, KindId, ShardId, Step};
use borough_protocol::table::{Admission, Ancestors, Change, Cluster, Removal, Table};
use borough_protocol::version::{Term, Version};
use borough_protocol::voters::VoterId;

const ERA: u32 = 217_000_000;

fn uid(number: u64) -> Uid {
    Uid::new(number).unwrap()
}

/// The voter of the directory of node `number`.
pub(crate) fn voter(number: u64) -> VoterId {
    VoterId::new(0x1000 + number).unwrap()
}

pub(crate) fn voters<const N: usize>(numbers: [u64; N]) -> BTreeSet<VoterId> {
    numbers.map(voter).into()
}

fn admit(number: u64) -> Change {
    let incarnation =
        Incarnation { address: Address::new(format!("10.0.0.{number}:25520")), uid: uid(number) };
    let facts = Facts {
        id: NodeId::new(format!("node-{number}")),
        roles: ["back".to_owned(), "front".to_owned()].into(),
        app_version: "1.4.0".into(),
        zone: "eu-central-1a".into(),
        // One node has no directory.
        disk: (number != 4).then(|| Disk { voter: voter(number), life: (number << 24) + 1 }),
    };
    Change::Admit(Arc::new(Admission { incarnation, facts: Arc::new(facts) }))
}

fn declare(name: &str, role: Option<&str>, hashing: Hashing, allocation: Allocation) -> Change {
    let (name, role) = (name.into(), role.map(Into::into));
    Change::Declare(Arc::new(Kind { name, shards: 100, hashing, role, min_hosts: 2, allocation, codec: 3 }))
}

fn shards<const N: usize>(steps: [(u32, Step); N]) -> Change {
    let kind = KindId(0);
    Change::Shards(steps.map(|(number, step)| (ShardId { kind, number }, step)).into())
}

/// Epoch `number` of the cluster.
fn epoch(number: u64) -> Epoch {
    Epoch::new((u64::from(ERA) << 32) + number)
}

pub(crate) fn cluster() -> Cluster {
    Cluster { name: 0x0123_4567_89ab_cdef, era: ERA, founder: uid(1) }
}

fn ancestors() -> Ancestors {
    let founding = |era, founder| Cluster { era, founder: uid(founder), ..cluster() };
    Ancestors::of([founding(ERA - 900, 71), founding(ERA - 5, 72)])
}

/// What the snapshot stands for.
fn first() -> Vec<Entry<Change>> {
    let least = Allocation::LeastShards { absolute: 5, percent: 25 };
    let changes = vec![
        admit(1),
        admit(2),
        admit(3),
        admit(4),
        admit(5),
        admit(6),
        admit(7),
        admit(8),
        declare("accounts", Some("back"), Hashing::Xxh3, least),
        declare("carts", None, Hashing::Md5, Allocation::Rendezvous),
        declare("sensors", None, Hashing::Custom(u64::MAX), Allocation::External),
        Change::Host(uid(1), KindId(0)),
        Change::Host(uid(2), KindId(0)),
        Change::Host(uid(3), KindId(0)),
        Change::Host(uid(3), KindId(1)),
        Change::Host(uid(3), KindId(2)),
        shards([0, 1, 2, 3].map(|number| (number, Step::Own(uid(1), epoch(1))))),
        shards([
            (0, Step::Move(uid(2), epoch(2))),
            (1, Step::Move(uid(2), epoch(2))),
            (2, Step::Move(uid(3), epoch(2))),
        ]),
        shards([(0, Step::Settle(epoch(2))), (1, Step::CallOff(epoch(2)))]),
        shards([(3, Step::Raise(Epoch::first(ERA + 1)))]),
        Change::Drain(uid(2)),
        Change::Remove(uid(4), Removal::Quiet),
        Change::Remove(uid(5), Removal::Goodbye),
        Change::Remove(uid(6), Removal::Replaced),
        Change::Remove(uid(7), Removal::Operator),
        Change::Remove(uid(8), Removal::CutOff),
        Change::Free(uid(6)),
    ];
    let lists = [
        Entry::Nothing,
        Entry::Voters { now: voters([1]), next: voters([]) },
        Entry::Voters { now: voters([1]), next: voters([1, 2, 3]) },
    ];
    lists.into_iter().chain(changes.into_iter().map(Entry::Payload)).collect()
}

/// What the log has behind the snapshot: every change once.
pub(crate) fn second() -> Vec<Entry<Change>> {
    let changes = [
        admit(9),
        declare("lamps", Some("front"), Hashing::Xxh3, Allocation::Custom),
        Change::Host(uid(9), KindId(0)),
        shards([
            (2, Step::Settle(epoch(2))),
            (4, Step::Own(uid(9), epoch(1))),
            (0, Step::Move(uid(9), epoch(3))),
            (1, Step::Raise(epoch(9))),
            (5, Step::CallOff(epoch(1))),
        ]),
        Change::EndHosting(uid(3), KindId(2)),
        Change::Drain(uid(9)),
        Change::Free(uid(4)),
        Change::Forget([uid(4), uid(6)].into()),
        Change::Remove(uid(3), Removal::Operator),
        Change::Close,
    ];
    let lists = [Entry::Nothing, Entry::Voters { now: voters([1, 2, 3]), next: voters([]) }];
    lists.into_iter().chain(changes.map(Entry::Payload)).collect()
}

/// Of which term the entries behind the snapshot are.
pub(crate) const TERM: u64 = 7;

/// The table of the snapshot.
pub(crate) fn table() -> Table {
    let mut table = Table::new(cluster()).with_ancestors(ancestors());
    for (place, entry) in first().iter().enumerate() {
        let index = u64::try_from(place).unwrap() + 1;
        table.apply(Version { term: Term::new(TERM - 1), index }, entry);
    }
    table
}

/// The table after everything.
pub(crate) fn newest(mut table: Table, entries: &[Entry<Change>]) -> Table {
    for entry in entries {
        let index = table.version().index + 1;
        table.apply(Version { term: Term::new(TERM), index }, entry);
    }
    table
}

/// A record of that cluster.
pub(crate) fn record(bond: Bond) -> Record {
    let table = table();
    let members = table.members().values().map(|member| member.incarnation.address.clone()).collect();
    let wait = Some(Duration::from_millis(1660));
    Record { bond, memory: Arc::new(Memory::of_table(&table, true)), members, wait }
}

/// What a node without a cluster has promised.
pub(crate) fn pledges() -> Vec<Pledge> {
    let pledge = |number: u64, attempt| Pledge {
        voter: voter(number),
        address: Address::new(format!("10.0.0.{number}:25520")),
        uid: uid(number << 40),
        attempt,
    };
    vec![pledge(2, 1), pledge(3, u32::MAX)]
}

/// Which change it is: a new one is added here, and to the golden directories of the version that brings it.
pub(crate) fn number(change: &Change) -> usize {
    match change {
        Change::Admit(_) => 0,
        Change::Drain(_) => 1,
        Change::Remove(..) => 2,
        Change::Free(_) => 3,
        Change::Forget(_) => 4,
        Change::Close => 5,
        Change::Declare(_) => 6,
        Change::Host(..) => 7,
        Change::EndHosting(..) => 8,
        Change::Shards(_) => 9,
    }
}

pub(crate) const CHANGES: usize = 10;
