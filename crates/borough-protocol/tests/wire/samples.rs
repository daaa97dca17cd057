//! One message of each kind, as a cluster of a few nodes says it. Every number in them differs from its neighbours, so that two fields
//! that change places are noticed.
//!
//! The golden files are these, written once. A sample is never changed; for a new variant there is a new one.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use borough_protocol::disk::Pledge;
use borough_protocol::formation::{Knock, LogEnd, Memory, Over, Past, Vow, Welcome};
use borough_protocol::gossip::{self, Delta, Gone, Obituary, Status};
use borough_protocol::heartbeat;
use borough_protocol::incarnation::{Address, Disk, Facts, Incarnation, NodeId, Uid};
use borough_protocol::lease::{Renew, Renewed, Verdict};
use borough_protocol::log::Entry;
use borough_protocol::log::raft::{self, Item, Snapshot};
use borough_protocol::log::register::{self, News, Swap};
use borough_protocol::node::{Feed, Greeting, Life, Message, QuietReport, Report, Word};
use borough_protocol::settings::{ClusterSettings, Refusal, Versions};
use borough_protocol::sharding::{Allocation, Epoch, Hashing, Kind, KindId, ShardId, ShardReport, Step};
use borough_protocol::store::{Answer, Ask};
use borough_protocol::table::{Admission, Ancestors, Change, Cluster, Removal, Table};
use borough_protocol::vector_clock::{Author, Dot, VectorClock};
use borough_protocol::version::{Term, Version};
use borough_protocol::voters::{VoterId, Voters};

/// Sorted, as uids are everywhere.
const UIDS: [u64; 5] = [
    0x1c6e_31d0_9a44_72f3,
    0x4b20_8f5d_e317_0c9a,
    0x83d9_05ba_6612_4e7f,
    0xb7f4_1a08_2dc3_9951,
    0xe25a_c97f_10b8_36d4,
];

/// The name of each file, and what is in it.
pub(crate) fn all() -> Vec<(&'static str, Message)> {
    let mut all = seeking();
    all.extend(
        words().into_iter().map(|(name, word)| (name, Message::Word { cluster: cluster().tag(), word })),
    );
    all.extend(asks().into_iter().map(|(name, ask)| (name, Message::ToStore(ask))));
    all.extend(answers().into_iter().map(|(name, answer)| (name, Message::FromStore(answer))));
    all
}

fn seeking() -> Vec<(&'static str, Message)> {
    let knock = |attempt| Knock {
        me: incarnation(2),
        facts: facts(2),
        settings: settings(),
        seeds: [1, 2, 3].map(address).into(),
        attempt,
        memory: attempt.map(|_| memory()),
        over: attempt.iter().map(|_| Over { cluster: cluster(), voters: table().voters().id }).collect(),
        ended: attempt.iter().map(|_| cluster()).collect(),
        rests: attempt.is_none(),
    };
    let refusal = Refusal { setting: "max_pause".into(), ours: "400 ms".into(), theirs: "250 ms".into() };
    vec![
        ("knock", Message::Knock(Arc::new(knock(Some(3))))),
        ("knock-of-one-that-rests", Message::Knock(Arc::new(knock(None)))),
        ("promise", promise(true, Past::Fresh)),
        ("promise-of-one-that-gave-up", promise(true, Past::GaveUp(memory()))),
        ("no-promise-of-one-that-is-suspended", promise(false, Past::Suspended(memory(), Some(log_end())))),
        ("no-promise-of-one-that-is-suspended-with-a-disk", promise(false, Past::Suspended(memory(), None))),
        ("no-promise-of-one-that-left", promise(false, Past::Left(memory()))),
        ("promise-of-one-whose-cluster-ended", promise(true, Past::Ended(memory()))),
        ("release", Message::Release { attempt: 7 }),
        ("welcome", Message::Welcome(Arc::new(Welcome { table: table(), gossip: delta() }))),
        ("refused", Message::Refused(refusal)),
        ("gone", Message::Gone),
        ("copy", Message::Copy),
        ("hello", Message::Hello(greeting(Life::Working, Some(7), None))),
        ("hello-answer", Message::Hello(greeting(Life::Suspended, Some(8), Some(7)))),
        ("hello-last", Message::Hello(greeting(Life::Forming, None, Some(8)))),
    ]
}

fn memory() -> Arc<Memory> {
    let voters = table().voters().clone();
    let places = (1..=3).map(|place| (VoterId::of_life(uid(place)), address(place))).collect();
    let (cluster, ancestors) = (cluster(), Ancestors::default());
    Arc::new(Memory { cluster, ancestors, voters, places, durable: true })
}

fn log_end() -> Arc<LogEnd> {
    let memory = memory();
    Arc::new(LogEnd { last: at(7, 300), voters: memory.voters.clone(), places: memory.places.clone() })
}

fn promise(granted: bool, past: Past) -> Message {
    let pledge = Pledge { voter: VoterId::of_life(uid(3)), address: address(3), uid: uid(3), attempt: 300 };
    Message::Promise(Vow {
        seed: address(1),
        attempt: 300,
        granted,
        withdrawn: !granted,
        holder: address(2),
        past,
        voter: VoterId::of_life(uid(1)),
        pledged: [pledge].into(),
        heard_of: [memory()].into(),
    })
}

fn greeting(life: Life, nonce: Option<u64>, answers: Option<u64>) -> Greeting {
    let before = Cluster { era: cluster().era - 1, ..cluster() };
    Greeting { life, cluster: cluster(), ancestors: Ancestors::of([before]), settings: 300, nonce, answers }
}

fn words() -> Vec<(&'static str, Word)> {
    let mut words = vec![
        ("word-heartbeat-beat", Word::Heartbeat(heartbeat::Message::Beat { seq: 86_399 })),
        ("word-heartbeat-echo", Word::Heartbeat(heartbeat::Message::Echo { seq: 86_398 })),
        ("word-renew", Word::Renew(renew())),
        ("word-renew-of-a-guest", Word::Renew(Renew { admission: None, feed: false, ..renew() })),
        ("word-feed-entries", Word::Feed(Feed::Entries(entries().into()))),
        ("word-feed-whole", Word::Feed(Feed::Whole(table()))),
        ("word-quiet", Word::Quiet(QuietReport { seq: 12, quiet: [4, 3].map(uid).into() })),
        ("word-log-lost", Word::LogLost(300)),
        ("word-report-leave", Word::Report(Report::Leave)),
        ("word-report-goodbye", Word::Report(Report::Goodbye)),
        ("word-report-down", Word::Report(Report::Down(uid(4)))),
        ("word-report-close", Word::Report(Report::Close)),
        ("word-gone", Word::Gone),
        ("word-feed-entries-of-shards", Word::Feed(Feed::Entries(entries_of(changes_of_shards()).into()))),
        ("word-shards", Word::Shards(Arc::new(shard_report()))),
    ];
    words.extend(gossip().map(|(name, message)| (name, Word::Gossip(message))));
    words.extend(log().map(|(name, message)| (name, Word::Log(message))));
    words.extend(renewed().map(|(name, renewed)| (name, Word::Renewed(renewed))));
    words
}

fn gossip() -> [(&'static str, gossip::Message); 4] {
    let version = 0xd1b5_4a32_d192_ed03;
    [
        ("word-gossip-digest", gossip::Message::Digest { version, seen: 0x8c31_77e2 }),
        ("word-gossip-pull", gossip::Message::Pull { clock: clock() }),
        ("word-gossip-delta", gossip::Message::Delta(delta())),
        ("word-gossip-seen", gossip::Message::Seen { version, bits: [0b1011, 1 << 63].into() }),
    ]
}

fn log() -> [(&'static str, raft::Message<Change, Arc<Table>>); 9] {
    let (term, last) = (Term::new(5), at(4, 1031));
    let lists =
        Item::Lists { now: voter_ids(&[1, 2]), next: voter_ids(&[1, 2, 3]), learners: voter_ids(&[4]) };
    let mut entries = vec![Item::Term(term), lists];
    entries.extend(changes().into_iter().map(Item::Payload));
    let beat = raft::Message::Append { term, prev: last, committed: 1030, entries: vec![] };
    let append = raft::Message::Append { term, prev: last, committed: 1029, entries };
    let snapshot = Snapshot {
        term,
        version: table().version(),
        voters: table().voters().clone(),
        learners: voter_ids(&[5]),
        state: table(),
    };
    [
        ("word-log-pre-vote", raft::Message::PreVote { term, last }),
        ("word-log-pre-vote-reply", raft::Message::PreVoteReply { term }),
        ("word-log-vote", raft::Message::Vote { term, last, forced: true }),
        ("word-log-vote-reply", raft::Message::VoteReply { term, granted: true }),
        ("word-log-append", append),
        ("word-log-append-nothing", beat),
        ("word-log-append-reply", raft::Message::AppendReply { term, last }),
        ("word-log-stand-now", raft::Message::StandNow { term }),
        ("word-log-snapshot", raft::Message::Snapshot(Box::new(snapshot))),
    ]
}

fn renew() -> Renew {
    let (admission, voters) = (Some(at(1, 3)), at(2, 9));
    Renew { admission, voters, seq: 4711, answered: 4710, version: at(4, 1031), feed: true }
}

fn renewed() -> [(&'static str, Renewed); 4] {
    let renewed = |verdict| Renewed { seq: 4711, coordinator: Some(uid(1)), verdict };
    [
        ("word-renewed-acked", renewed(Verdict::Acked)),
        ("word-renewed-new-voters", renewed(Verdict::NewVoters(Arc::new(voters())))),
        ("word-renewed-not-yet", Renewed { coordinator: None, ..renewed(Verdict::NotYet) }),
        ("word-renewed-not-admitted", renewed(Verdict::NotAdmitted)),
    ]
}

fn asks() -> Vec<(&'static str, Ask)> {
    let log = |swap| Ask::Log {
        cluster: cluster(),
        ask: register::Ask { number: 77, known: at(4, 1031), of_all: true, swap },
    };
    let old = Cluster { era: 21, founder: uid(5), ..cluster() };
    let append = Swap::Append { term: Term::new(4), last: at(3, 1030), payloads: changes().into() };
    vec![
        ("to-store-look", Ask::Look),
        ("to-store-found", Ask::Found { cluster: cluster(), settings: settings(), instead_of: Some(old) }),
        ("to-store-log-look", log(Swap::None)),
        ("to-store-log-stand", log(Swap::Stand { term: Term::new(4) })),
        ("to-store-log-append", log(append)),
        ("to-store-renew", Ask::Renew { cluster: cluster(), renew: renew() }),
    ]
}

fn answers() -> Vec<(&'static str, Answer)> {
    let log = |news| {
        let renewals = vec![(uid(1), 4711), (uid(2), 12)];
        let (number, term, holder) = (77, Term::new(4), Some(uid(2)));
        Answer::Log(register::Answer { number, term, holder, news, renewals })
    };
    let whole = News::Whole { version: table().version(), voters: table().voters().clone(), state: table() };
    let holds = Answer::Holds { cluster: cluster(), settings: settings(), closed: true };
    let [(_, acked), ..] = renewed();
    vec![
        ("from-store-empty", Answer::Empty),
        ("from-store-holds", holds),
        ("from-store-log-entries", log(News::Entries(entries()))),
        ("from-store-log-whole", log(whole)),
        ("from-store-renewed", Answer::Renewed(acked)),
    ]
}

/// Every change there is.
fn changes() -> Vec<Change> {
    let mut changes = vec![
        Change::Admit(Arc::new(Admission { incarnation: incarnation(4), facts: facts(4) })),
        Change::Drain(uid(3)),
        Change::Free(uid(5)),
        Change::Forget([uid(5), uid(4)].into()),
        Change::Close,
    ];
    let whys = [Removal::Quiet, Removal::Goodbye, Removal::Replaced, Removal::Operator, Removal::CutOff];
    changes.extend(whys.map(|why| Change::Remove(uid(2), why)));
    changes
}

/// Every change of shards, every step, and every way to map ids and to give shards away.
fn changes_of_shards() -> Vec<Change> {
    let steps = [
        (shard(0, 17), Step::Own(uid(2), epoch(1))),
        (shard(1, 300), Step::Move(uid(3), epoch(6))),
        (shard(2, 70_000), Step::Settle(epoch(9))),
        (shard(3, 4), Step::CallOff(epoch(7))),
        (shard(0, 5), Step::Raise(epoch(12))),
    ];
    let mut changes: Vec<Change> = kinds().into_iter().map(Change::Declare).collect();
    changes.extend([
        Change::Host(uid(1), KindId(2)),
        Change::EndHosting(uid(4), KindId(300)),
        Change::Shards(steps.into()),
    ]);
    changes
}

fn kinds() -> [Arc<Kind>; 4] {
    let kind = |name: &str, shards, hashing, role: Option<&str>, min_hosts, allocation, codec| {
        let (name, role) = (name.into(), role.map(Into::into));
        Arc::new(Kind { name, shards, hashing, role, min_hosts, allocation, codec })
    };
    let least = Allocation::LeastShards { absolute: 64, percent: 10 };
    let custom = Hashing::Custom(0x9216_d5d9_8979_fb1b);
    [
        kind("account", 256, Hashing::Xxh3, Some("store"), 3, least, 1),
        kind("basket", 1000, Hashing::Md5, None, 1, Allocation::Rendezvous, 2),
        kind("customer", 12, custom, Some("front"), 2, Allocation::External, 3),
        kind("delivery", 40, Hashing::Xxh3, None, 4, Allocation::Custom, 15),
    ]
}

fn shard_report() -> ShardReport {
    let [account, basket, ..] = kinds();
    ShardReport {
        seq: 301,
        kinds: vec![(account, true), (basket, false)],
        ended: vec![KindId(3), KindId(5)],
        wanted: vec![shard(0, 17), shard(1, 130)],
        frozen: vec![(shard(0, 18), epoch(2))],
        installed: vec![(shard(0, 19), epoch(3)), (shard(1, 20), epoch(4))],
        impossible: vec![(shard(2, 21), epoch(5))],
        dropped: vec![(shard(3, 23), epoch(6))],
        places: vec![(shard(1, 22), uid(3))],
        refused: vec![(shard(0, 24), epoch(7), epoch(11))],
        is_forcing: true,
    }
}

/// Every entry there is, one behind the other.
fn entries() -> Vec<(Version, Entry<Change>)> {
    entries_of(changes())
}

fn entries_of(changes: Vec<Change>) -> Vec<(Version, Entry<Change>)> {
    let mut entries =
        vec![Entry::Nothing, Entry::Voters { now: voter_ids(&[1, 2, 3]), next: voter_ids(&[1, 3, 4]) }];
    entries.extend(changes.into_iter().map(Entry::Payload));
    (1032..).map(|index| at(4, index)).zip(entries).collect()
}

/// Three members, one of which leaves, and two that were removed. Of the first type one shard is owned, one moves, one was moved, and one
/// is an orphan; nobody hosts the others.
fn table() -> Arc<Table> {
    let admit = |place| {
        Entry::Payload(Change::Admit(Arc::new(Admission {
            incarnation: incarnation(place),
            facts: facts(place),
        })))
    };
    let mut history = vec![(0, Entry::Voters { now: voter_ids(&[1]), next: BTreeSet::new() })];
    history.extend((1..=5).map(|place| (1, admit(place))));
    history.push((2, Entry::Voters { now: voter_ids(&[1, 2, 3]), next: BTreeSet::new() }));
    history.extend(kinds().map(|kind| (2, Entry::Payload(Change::Declare(kind)))));
    history.extend([1, 2, 4].map(|place| (2, Entry::Payload(Change::Host(uid(place), KindId(0))))));
    let own = |number, place| (shard(0, number), Step::Own(uid(place), epoch(1)));
    let to_second = |number| (shard(0, number), Step::Move(uid(2), epoch(2)));
    let steps = [vec![own(3, 1), own(5, 1), own(7, 1), own(200, 4)], vec![to_second(5), to_second(7)]];
    history.extend(steps.map(|steps| (2, Entry::Payload(Change::Shards(steps.into())))));
    history.push((2, Entry::Payload(Change::Shards([(shard(0, 7), Step::Settle(epoch(2)))].into()))));
    let changes = [
        Change::Remove(uid(4), Removal::CutOff),
        Change::Remove(uid(5), Removal::Goodbye),
        Change::Drain(uid(3)),
        Change::Close,
    ];
    history.extend(changes.map(|change| (3, Entry::Payload(change))));
    let mut table = Table::new(cluster());
    for (index, (term, entry)) in (1..).zip(history) {
        table.apply(at(term, index), &entry);
    }
    Arc::new(table)
}

fn delta() -> Arc<Delta> {
    let member = |place, status, admission, dot| {
        let (incarnation, facts) = (incarnation(place), facts(place));
        Arc::new(gossip::Member { incarnation, facts, status, admission, dot })
    };
    let by_table = |count| Dot { author: Author::Table, count };
    let by = |place, count| Dot { author: Author::Node(uid(place)), count };
    let (report, nothing) = (uids(&[2, 4]), BTreeSet::new());
    let hows = [Gone::Down, Gone::Left, Gone::Replaced, Gone::Vanished];
    let obituary = |(number, how)| {
        let age = Duration::from_millis(1500 * (number + 1)) + Duration::from_nanos(2);
        Obituary {
            uid: Uid::new(UIDS[4] + 1 + number).expect("not 0"),
            how,
            dot: by_table(900 + number),
            age,
        }
    };
    Arc::new(Delta {
        members: vec![
            member(1, Status::Exiting, at(1, 2), by(1, 6)),
            member(2, Status::Leaving, at(1, 3), by_table(10)),
            member(3, Status::Up, at(1, 4), by_table(4)),
            member(4, Status::Joining, Version::ZERO, by(2, 5)),
        ],
        reachability: vec![
            (uid(1), Arc::new(gossip::Report { dot: by(1, 4), unreachable: report })),
            (uid(3), Arc::new(gossip::Report { dot: by(3, 8), unreachable: nothing })),
        ],
        tombstones: (0..).zip(hows).map(obituary).collect(),
        clock: clock(),
        content: 0x60be_e2be_e120_fc15,
        seen: [0b1101].into(),
        reply: true,
    })
}

fn clock() -> Arc<VectorClock> {
    let counts = [(Author::Node(uid(3)), 300), (Author::Table, 1031), (Author::Node(uid(1)), 6)];
    Arc::new(counts.into_iter().collect())
}

fn voters() -> Voters {
    Voters { id: at(2, 9), now: voter_ids(&[1, 2, 3]), next: voter_ids(&[2, 3, 4, 5]) }
}

fn settings() -> ClusterSettings {
    let rows = [("cluster", "borough"), ("strategy", "keep-majority"), ("max_pause", "400 ms")];
    let rows = rows.map(|(name, value)| (name.to_owned(), value.to_owned()));
    ClusterSettings::new(Versions { min: 1, max: 2 }, rows)
}

fn cluster() -> Cluster {
    Cluster { name: 0xa076_1d64_78bd_642f, era: 217_000_000, founder: uid(1) }
}

fn facts(place: usize) -> Arc<Facts> {
    Arc::new(Facts {
        id: NodeId::new(format!("node-{place}")),
        roles: ["front".to_owned(), "store".to_owned()].into(),
        app_version: "1.4.0".into(),
        zone: "eu-central-1a".into(),
        disk: (place == 3).then(|| Disk { voter: VoterId::of_life(uid(4)), life: 300 }),
    })
}

fn incarnation(place: usize) -> Incarnation {
    Incarnation { address: address(place), uid: uid(place) }
}

fn address(place: usize) -> Address {
    Address::new(format!("10.0.0.{place}:7420"))
}

fn voter_ids(places: &[usize]) -> BTreeSet<VoterId> {
    places.iter().map(|place| VoterId::of_life(uid(*place))).collect()
}

fn uids(places: &[usize]) -> BTreeSet<Uid> {
    places.iter().map(|place| uid(*place)).collect()
}

/// Of the node at that place, counted from 1.
fn uid(place: usize) -> Uid {
    Uid::new(UIDS[place - 1]).expect("not 0")
}

fn shard(kind: u16, number: u32) -> ShardId {
    ShardId { kind: KindId(kind), number }
}

fn epoch(count: u64) -> Epoch {
    Epoch::new(u64::from(cluster().era) << 32 | count)
}

fn at(term: u64, index: u64) -> Version {
    Version { term: Term::new(term), index }
}
