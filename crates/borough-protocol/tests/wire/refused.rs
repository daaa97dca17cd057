//! Values that no correct node has do not come out of bytes: each rule with what it lets pass and what it does not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use borough_protocol::gossip::{self, Delta, Gone, Obituary, Status};
use borough_protocol::incarnation::{Address, Facts, Incarnation, NodeId, Uid};
use borough_protocol::log::Entry;
use borough_protocol::log::raft::Item;
use borough_protocol::node::QuietReport;
use borough_protocol::sharding::{self, Allocation, Epoch, Hashing, Kind};
use borough_protocol::table::{Change, Cluster, Member, Removal, Removed, State, Table};
use borough_protocol::vector_clock::{Author, Dot, VectorClock};
use borough_protocol::version::{Term, Version};
use borough_protocol::voters::Voters;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::codec::{encode, read};
use borough_protocol::voters::VoterId;

fn uid(number: u64) -> Uid {
    Uid::new(number).expect("not 0")
}

fn at(term: u64, index: u64) -> Version {
    Version { term: Term::new(term), index }
}

/// Reads what was written as something else.
fn read_as<T: DeserializeOwned>(claim: &impl Serialize) -> Option<T> {
    read(&encode(claim))
}

fn reads<T: DeserializeOwned>(claim: &impl Serialize) -> bool {
    read_as::<T>(claim).is_some()
}

#[test]
fn a_uid_is_not_0() {
    assert_eq!(read_as::<Uid>(&1_u64.to_le_bytes()), Some(uid(1)));
    assert_eq!(read_as::<Uid>(&0_u64.to_le_bytes()), None);
}

#[test]
fn a_clock_is_sorted_and_counts() {
    let (table, one, two) = (Author::Table, Author::Node(uid(1)), Author::Node(uid(2)));
    let clock: VectorClock = [(two, 5), (table, 7), (one, 9)].into_iter().collect();
    assert_eq!(read_as(&[(table, 7_u64), (one, 9), (two, 5)].to_vec()), Some(clock));
    assert!(!reads::<VectorClock>(&vec![(table, 7_u64), (two, 5), (one, 9)]), "not in order");
    assert!(!reads::<VectorClock>(&vec![(one, 5_u64), (one, 9)]), "one author twice");
    assert!(!reads::<VectorClock>(&vec![(table, 7_u64), (one, 0)]), "no change");
}

#[test]
fn once_there_was_a_list_somebody_votes() {
    let nobody = Vec::<Uid>::new();
    let some = vec![uid(1), uid(2)];
    assert_eq!(read_as(&(Version::ZERO, &nobody, &nobody)), Some(Voters::default()));
    assert!(reads::<Voters>(&(at(1, 2), &some, &nobody)));
    assert!(!reads::<Voters>(&(at(1, 2), &nobody, &nobody)));
    assert!(!reads::<Voters>(&(Version::ZERO, &nobody, &some)));
}

#[test]
fn no_entry_says_that_nobody_votes() {
    let (some, nobody) = (BTreeSet::from([VoterId::of_life(uid(1))]), BTreeSet::new());
    let entry = |now: &BTreeSet<VoterId>| Entry::<Change>::Voters { now: now.clone(), next: nobody.clone() };
    assert!(reads::<Entry<Change>>(&entry(&some)));
    assert!(!reads::<Entry<Change>>(&entry(&nobody)));
    let item = |now: &BTreeSet<VoterId>| Item::<Change>::Lists {
        now: now.clone(),
        next: nobody.clone(),
        learners: nobody.clone(),
    };
    assert!(reads::<Item<Change>>(&item(&some)));
    assert!(!reads::<Item<Change>>(&item(&nobody)));
}

fn facts() -> Arc<Facts> {
    Arc::new(Facts {
        id: NodeId::new("n"),
        roles: [].into(),
        app_version: "1".into(),
        zone: "".into(),
        disk: None,
    })
}

fn incarnation(number: u64) -> Incarnation {
    Incarnation { address: Address::new(format!("a{number}")), uid: uid(number) }
}

/// A delta about nodes 1 to 3.
fn delta() -> Delta {
    let dot = Dot { author: Author::Table, count: 1 };
    let member = |number| gossip::Member {
        incarnation: incarnation(number),
        facts: facts(),
        status: Status::Up,
        admission: at(1, number),
        dot,
    };
    let report = Arc::new(gossip::Report { dot, unreachable: BTreeSet::new() });
    let age = std::time::Duration::ZERO;
    Delta {
        members: (1..=3).map(|number| Arc::new(member(number))).collect(),
        reachability: (1..=3).map(|number| (uid(number), report.clone())).collect(),
        tombstones: (1..=3).map(|number| Obituary { uid: uid(number), how: Gone::Left, dot, age }).collect(),
        clock: Arc::default(),
        content: 1,
        seen: [7].into(),
        reply: false,
    }
}

#[test]
fn the_lists_of_a_delta_are_in_order_and_name_nobody_twice() {
    assert_eq!(read_as(&delta()), Some(delta()));
    let breaks: [fn(&mut Delta); 6] = [
        |delta| delta.members.swap(1, 2),
        |delta| delta.members[1] = delta.members[0].clone(),
        |delta| delta.reachability.swap(0, 1),
        |delta| delta.reachability[2] = delta.reachability[1].clone(),
        |delta| delta.tombstones.swap(1, 2),
        |delta| delta.tombstones[1] = delta.tombstones[0],
    ];
    for (place, broken) in breaks.into_iter().enumerate() {
        let mut delta = delta();
        broken(&mut delta);
        assert!(!reads::<Delta>(&delta), "case {place}");
    }
}

/// A table as a peer may write it.
#[derive(Serialize)]
struct Claim {
    cluster: Cluster,
    ancestors: Vec<Cluster>,
    version: Version,
    voters: Voters,
    most_voters: u32,
    members: Vec<Member>,
    removed: BTreeMap<Uid, Removed>,
    closing: bool,
    kinds: Vec<KindClaim>,
}

#[derive(Serialize)]
struct KindClaim {
    kind: Kind,
    hosts: Vec<Uid>,
    shards: Vec<(u32, sharding::Entry)>,
}

/// A table at entry 9, with members 1 to 3; node 4 is removed.
fn claim() -> Claim {
    let member = |number| Member {
        admission: at(1, number + 1),
        incarnation: incarnation(number),
        facts: facts(),
        state: State::Active,
        changed: at(2, number + 2),
    };
    let removed = Removed { version: at(2, 9), why: Removal::Quiet, freed: false, disk: None };
    Claim {
        cluster: Cluster { name: 1, era: 2, founder: uid(1) },
        ancestors: Vec::new(),
        version: at(2, 9),
        voters: Voters {
            id: at(2, 9),
            now: BTreeSet::from([VoterId::of_life(uid(1))]),
            next: BTreeSet::new(),
        },
        most_voters: 3,
        members: (1..=3).map(member).collect(),
        removed: BTreeMap::from([(uid(4), removed)]),
        closing: false,
        kinds: vec![kind("account"), kind("basket")],
    }
}

/// A type that nodes 1 and 2 host; its second shard moves, and its third is an orphan.
fn kind(name: &str) -> KindClaim {
    let kind = Kind {
        name: name.into(),
        shards: 8,
        hashing: Hashing::Xxh3,
        role: None,
        min_hosts: 1,
        allocation: Allocation::External,
        codec: 1,
    };
    let owned = |owner, epoch| sharding::Entry { owner, epoch, issued: epoch, lineage: epoch, moving: None };
    let moving = Some((uid(2), epoch(4)));
    let moves = sharding::Entry { issued: epoch(5), lineage: epoch(2), moving, ..owned(uid(1), epoch(3)) };
    let shards = vec![(0, owned(uid(1), epoch(1))), (3, moves), (7, owned(uid(4), epoch(2)))];
    KindClaim { kind, hosts: vec![uid(1), uid(2)], shards }
}

fn epoch(count: u64) -> Epoch {
    Epoch::new(2 << 32 | count)
}

/// What is wrong, and how it gets so.
type Break = (&'static str, fn(&mut Claim));

#[test]
fn a_table_is_such_as_entries_can_make() {
    let table: Table = read_as(&claim()).expect("nothing is wrong with it");
    assert_eq!(encode(&table), encode(&claim()));
    let breaks: [Break; 14] = [
        ("more voters than ever voted at once", |claim| claim.most_voters = 0),
        ("further than any log", |claim| claim.version.index = 1 << 62),
        ("in a term that never is", |claim| claim.version.term = Term::new(u64::MAX)),
        ("voters of later", |claim| claim.voters.id.index = 10),
        ("members not in order", |claim| claim.members.swap(0, 1)),
        ("a member twice", |claim| claim.members[1].incarnation.uid = uid(1)),
        ("an address twice", |claim| claim.members[1].incarnation.address = Address::new("a1")),
        ("an admission twice", |claim| claim.members[1].admission = at(1, 2)),
        ("admitted by nothing", |claim| claim.members[0].admission = Version::ZERO),
        ("admitted later", |claim| claim.members[0].admission = at(2, 10)),
        ("changed later", |claim| claim.members[0].changed = at(2, 10)),
        ("changed before it came", |claim| claim.members[2].changed = at(1, 3)),
        ("removed and there", |claim| claim.members[2].incarnation.uid = uid(4)),
        ("removed later", |claim| claim.removed.values_mut().for_each(|removed| removed.version.index = 10)),
    ];
    refuse(&breaks);
}

#[test]
fn the_shards_of_a_table_are_such_as_steps_can_make() {
    let breaks: [Break; 21] = [
        ("no codec", |claim| claim.kinds[0].kind.codec = 0),
        ("a codec that never is", |claim| claim.kinds[0].kind.codec = Kind::CODEC_MAX + 1),
        ("a type without a name", |claim| claim.kinds[0].kind.name = "".into()),
        ("too long a name", |claim| claim.kinds[0].kind.name = "x".repeat(256).into()),
        ("too long a role", |claim| claim.kinds[0].kind.role = Some("x".repeat(256).into())),
        ("a type twice", |claim| claim.kinds[1].kind.name = "account".into()),
        ("no shards", |claim| claim.kinds[0].kind.shards = 0),
        ("too many shards", |claim| claim.kinds[0].kind.shards = Kind::SHARDS_MAX + 1),
        ("too many in all", |claim| {
            claim.kinds.push(kind("c"));
            claim.kinds.iter_mut().for_each(|kind| kind.kind.shards = Kind::SHARDS_MAX);
        }),
        ("hosts not in order", |claim| claim.kinds[0].hosts.swap(0, 1)),
        ("a host that is removed", |claim| claim.kinds[0].hosts.push(uid(4))),
        ("shards not in order", |claim| claim.kinds[0].shards.swap(0, 1)),
        ("a shard twice", |claim| claim.kinds[0].shards[1].0 = 0),
        ("a shard too many", |claim| claim.kinds[0].shards[2].0 = 8),
        ("an owner that does not host it", |claim| claim.kinds[0].shards[0].1.owner = uid(3)),
        ("an epoch not issued", |claim| claim.kinds[0].shards[0].1.issued = Epoch::new(1)),
        ("a lineage to come", |claim| claim.kinds[0].shards[0].1.lineage = epoch(2)),
        ("no lineage", |claim| claim.kinds[0].shards[0].1.lineage = Epoch::ZERO),
        ("of an era far ahead", |claim| claim.kinds[0].shards[0].1.issued = Epoch::first(u32::MAX)),
        ("moving to its owner", |claim| claim.kinds[0].shards[1].1.moving = Some((uid(1), epoch(4)))),
        ("moving at an old epoch", |claim| claim.kinds[0].shards[1].1.moving = Some((uid(2), epoch(3)))),
    ];
    refuse(&breaks);
    let mut raised = claim();
    raised.kinds[0].shards[0].1.issued = Epoch::first(3);
    assert!(reads::<Table>(&raised), "an epoch may be raised into an era to come");
}

fn refuse(breaks: &[Break]) {
    for (what, broken) in breaks {
        let mut claim = claim();
        broken(&mut claim);
        assert!(!reads::<Table>(&claim), "{what}");
    }
}

#[test]
fn a_list_is_not_longer_than_what_is_there() {
    let report = QuietReport { seq: 1, quiet: [uid(1), uid(2)].into() };
    let mut bytes = encode(&report);
    assert_eq!(read(&bytes), Some(report));
    bytes[1] = 3;
    assert_eq!(read::<QuietReport>(&bytes), None);
    let endless = [&[1][..], &[0xFF; 9], &[1], &bytes[2..]].concat();
    assert_eq!(read::<QuietReport>(&endless), None);
}
