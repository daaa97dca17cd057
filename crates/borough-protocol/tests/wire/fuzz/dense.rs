//! The lists that grow most when they are read: each item as few bytes as there can be.

use std::collections::BTreeSet;
use std::sync::Arc;

use borough_protocol::formation::Knock;
use borough_protocol::gossip;
use borough_protocol::incarnation::{Address, Facts, Incarnation, NodeId};
use borough_protocol::log::Entry;
use borough_protocol::log::raft::{self, Item};
use borough_protocol::log::register::{self, News, Swap};
use borough_protocol::node::{Feed, Message, QuietReport, Word};
use borough_protocol::settings::{ClusterSettings, Versions};
use borough_protocol::sharding::{Allocation, Epoch, Hashing, Kind, KindId, ShardId, ShardReport, Step};
use borough_protocol::store::{Answer, Ask};
use borough_protocol::table::{Admission, Change, Cluster, Table};
use borough_protocol::vector_clock::Author;
use borough_protocol::version::{Term, Version};

use crate::codec::encode;
use crate::net::uid;

/// How many items each list has: no other number in the messages is written as this one is.
const COUNT: usize = 30_011;

fn word(word: Word) -> Message {
    Message::Word { cluster: 0, word }
}

fn append(item: &Item<Change>) -> Message {
    let entries = vec![item.clone(); COUNT];
    word(Word::Log(raft::Message::Append { term: Term::ZERO, prev: Version::ZERO, committed: 0, entries }))
}

fn knock(roles: usize, rows: usize, seeds: usize) -> Message {
    let facts = Facts {
        id: NodeId::new(""),
        roles: vec![String::new(); roles].into(),
        app_version: "".into(),
        zone: "".into(),
        disk: None,
    };
    Message::Knock(Arc::new(Knock {
        me: Incarnation { address: Address::new(""), uid: uid(1) },
        facts: Arc::new(facts),
        settings: ClusterSettings::new(Versions { min: 0, max: 0 }, vec![Default::default(); rows]),
        seeds: vec![Address::new(""); seeds].into(),
        attempt: None,
        memory: None,
        over: [].into(),
        ended: [].into(),
        rests: false,
    }))
}

/// A table whose members say nothing of themselves.
fn table() -> Table {
    let facts =
        Facts { id: NodeId::new(""), roles: [].into(), app_version: "".into(), zone: "".into(), disk: None };
    let facts = Arc::new(facts);
    let mut table = Table::new(Cluster { name: 0, era: 0, founder: uid(1) });
    for number in 1..=2000 {
        let incarnation = Incarnation { address: Address::new(format!("{number:x}")), uid: uid(number) };
        let admission = Admission { incarnation, facts: facts.clone() };
        let version = Version { term: Term::ZERO, index: number };
        table.apply(version, &Entry::Payload(Change::Admit(Arc::new(admission))));
    }
    table
}

fn report(report: ShardReport) -> Message {
    word(Word::Shards(Arc::new(report)))
}

fn kind() -> Kind {
    Kind {
        name: "".into(),
        shards: 0,
        hashing: Hashing::Md5,
        role: None,
        min_hosts: 0,
        allocation: Allocation::Custom,
        codec: 1,
    }
}

/// A table of one type whose every shard has an owner.
fn sharded() -> Table {
    let mut table = table();
    let kind = Kind { name: "x".into(), shards: Kind::SHARDS_MAX, ..kind() };
    let own = |number| (ShardId { kind: KindId(0), number }, Step::Own(uid(1), Epoch::first(0)));
    let steps = (0..Kind::SHARDS_MAX).map(own).collect();
    let changes = [Change::Declare(Arc::new(kind)), Change::Host(uid(1), KindId(0)), Change::Shards(steps)];
    for (index, change) in (2001..).zip(changes) {
        table.apply(Version { term: Term::ZERO, index }, &Entry::Payload(change));
    }
    table
}

/// The name of each, and its bytes.
pub(crate) fn lists() -> Vec<(&'static str, Vec<u8>)> {
    let one = || BTreeSet::from([borough_protocol::voters::VoterId::of_life(uid(1))]);
    let nothing = vec![(Version::ZERO, Entry::<Change>::Nothing); COUNT];
    let cluster = Cluster { name: 0, era: 0, founder: uid(1) };
    let swap =
        Swap::Append { term: Term::ZERO, last: Version::ZERO, payloads: vec![Change::Close; COUNT].into() };
    let ask = register::Ask { number: 0, known: Version::ZERO, of_all: false, swap };
    let answer = |news, renewals| {
        let answer = register::Answer { number: 0, term: Term::ZERO, holder: None, news, renewals };
        Message::FromStore(Answer::Log(answer))
    };
    let shard = ShardId { kind: KindId(0), number: 0 };
    let numbers = || (1..).take(COUNT);
    let quiet = numbers().map(uid).collect();
    let clock = Arc::new(numbers().map(|number| (Author::Node(uid(number)), 1)).collect());
    let all = [
        ("terms", append(&Item::Term(Term::ZERO))),
        ("changes", append(&Item::Payload(Change::Close))),
        ("voters", append(&Item::Lists { now: one(), next: one(), learners: one() })),
        ("lists of the forgotten", append(&Item::Payload(Change::Forget([].into())))),
        ("fed entries", word(Word::Feed(Feed::Entries(nothing.clone().into())))),
        ("entries of the store", answer(News::Entries(nothing), vec![])),
        ("renewals", answer(News::Entries(vec![]), vec![(uid(1), 1); COUNT])),
        ("payloads for the store", Message::ToStore(Ask::Log { cluster, ask })),
        ("roles", knock(COUNT, 0, 0)),
        ("settings", knock(0, COUNT, 0)),
        ("seeds", knock(0, 0, COUNT)),
        ("bits", word(Word::Gossip(gossip::Message::Seen { version: 0, bits: vec![0; COUNT].into() }))),
        ("the quiet", word(Word::Quiet(QuietReport { seq: 0, quiet }))),
        ("a clock", word(Word::Gossip(gossip::Message::Pull { clock }))),
        ("steps", append(&Item::Payload(Change::Shards([].into())))),
        (
            "one step each",
            append(&Item::Payload(Change::Shards([(shard, Step::Settle(Epoch::ZERO))].into()))),
        ),
        ("types", append(&Item::Payload(Change::Declare(Arc::new(kind()))))),
        ("wanted shards", report(ShardReport { wanted: vec![shard; COUNT], ..ShardReport::default() })),
        ("ended types", report(ShardReport { ended: vec![KindId(0); COUNT], ..ShardReport::default() })),
        (
            "reported types",
            report(ShardReport { kinds: vec![(Arc::new(kind()), true); COUNT], ..ShardReport::default() }),
        ),
        ("shards", word(Word::Feed(Feed::Whole(Arc::new(sharded()))))),
        ("members", word(Word::Feed(Feed::Whole(Arc::new(table()))))),
    ];
    all.into_iter().map(|(name, message)| (name, encode(&message))).collect()
}

/// The same with another count in front: a little more, as many as there are bytes or nearly, more than there can be.
pub(crate) fn lies(bytes: &[u8]) -> Vec<Vec<u8>> {
    let count = encode(&COUNT);
    let Some(at) = bytes.windows(count.len()).position(|window| window == count) else { return Vec::new() };
    let (front, items) = (&bytes[..at], &bytes[at + count.len()..]);
    let within = items.len().max(COUNT + 1);
    let counts =
        [COUNT + 1, within - within / 50, within, items.len() + 1, COUNT * 5, usize::MAX / 2, usize::MAX];
    counts.iter().map(|count| [front, &encode(count), items].concat()).collect()
}
