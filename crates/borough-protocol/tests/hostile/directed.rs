//! One rule at a time: a word that breaks it, and what holds all the same.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use borough_protocol::gossip::{self, Delta, Gone, Obituary};
use borough_protocol::incarnation::Uid;
use borough_protocol::lease::{Renew, Renewed, Verdict};
use borough_protocol::log::raft::{self, Item, Snapshot};
use borough_protocol::log::{Entry, Log};
use borough_protocol::node::{Feed, Placed, QuietReport, Report, Word};
use borough_protocol::table::{Change, Table};
use borough_protocol::vector_clock::{Author, Dot, VectorClock};
use borough_protocol::version::Version;

use crate::net::{Net, SECOND, uid};

/// Of no node in any net.
const STRANGER: u64 = 777;

fn behind(version: Version, by: u64) -> Version {
    Version { index: version.index + by, ..version }
}

fn feed(entries: Vec<Placed>) -> Word {
    Word::Feed(Feed::Entries(entries.into()))
}

/// All of the nodes are there, run, and go by the same table.
fn assert_whole(net: &Net, count: usize) {
    assert_eq!((net.nodes.len(), &net.ends), (count, &vec![]));
    for node in net.nodes.values() {
        let members = node.table().expect("it takes part").members().len();
        assert_eq!((node.may_run(net.now), members), (true, count), "{:?}", node.uid());
    }
}

fn heard_by(net: &Net, number: u64) -> usize {
    // Nothing but its debug text shows what a voter remembers.
    format!("{:?}", net.node(number)).matches("Heard { at:").count()
}

#[test]
fn a_feed_with_a_hole_inside_makes_none() {
    let mut net = Net::cluster(3);
    let version = net.table(1).version();
    let entries = vec![(behind(version, 1), Entry::Nothing), (behind(version, 5), Entry::Nothing)];
    net.say(uid(2), uid(1), feed(entries));
    assert_eq!(net.table(1).version(), behind(version, 1));
}

#[test]
fn a_feed_that_ends_beyond_all_numbers_changes_nothing() {
    let mut net = Net::cluster(3);
    let version = net.table(1).version();
    let last = Version { index: u64::MAX, ..version };
    net.say(uid(2), uid(1), feed(vec![(Version::ZERO, Entry::Nothing), (last, Entry::Nothing)]));
    assert_eq!(net.table(1).version(), version);
}

/// What the coordinator of the net says to another node in place of all entries up to ten places ahead.
fn say_snapshot(net: &mut Net, of: impl Fn(&Table, Version) -> Table) -> (Uid, Version) {
    let coordinator = net.coordinator();
    let other = *net.nodes.keys().find(|other| **other != coordinator).expect("there are others");
    let node = &net.nodes[&other];
    let (log, table) = (node.log().expect("it takes part"), node.table().expect("it takes part"));
    let version = Version { term: log.term(), index: log.last_index() + 10 };
    let snapshot = Snapshot {
        term: log.term(),
        version,
        voters: log.voters().clone(),
        learners: BTreeSet::new(),
        state: Arc::new(of(table, version)),
    };
    net.say(coordinator, other, Word::Log(raft::Message::Snapshot(Box::new(snapshot))));
    (other, version)
}

fn fill(mut table: Table, to: Version) -> Table {
    while table.version().index < to.index {
        let next = Version { term: to.term, index: table.version().index + 1 };
        table.apply(next, &Entry::Nothing);
    }
    table
}

#[test]
fn a_snapshot_of_the_right_table_is_taken() {
    let mut net = Net::cluster(3);
    let (other, version) = say_snapshot(&mut net, |table, version| fill(table.clone(), version));
    assert_eq!(net.table(other.get()).version(), version);
}

#[test]
fn a_snapshot_whose_table_is_older_changes_nothing() {
    let mut net = Net::cluster(3);
    let (other, version) = say_snapshot(&mut net, |table, _| table.clone());
    let log = net.node(other.get()).log().expect("it takes part");
    assert!(log.last_index() < version.index);
    let (coordinator, committed) = (net.coordinator(), version.index + 1);
    let entries = vec![Item::Payload(Change::Drain(uid(STRANGER)))];
    let append = raft::Message::Append { term: version.term, prev: version, committed, entries };
    net.say(coordinator, other, Word::Log(append));
    net.pass(5 * SECOND);
    assert_whole(&net, 3);
}

#[test]
fn a_snapshot_of_another_cluster_changes_nothing() {
    let mut net = Net::cluster(3);
    let before = net.table(1).cluster();
    let (other, version) = say_snapshot(&mut net, |table, version| {
        let mut cluster = table.cluster();
        cluster.era += 1;
        fill(Table::new(cluster), version)
    });
    let log = net.node(other.get()).log().expect("it takes part");
    assert!(log.last_index() < version.index);
    assert_eq!(net.table(other.get()).cluster(), before);
}

#[test]
fn a_stranger_cannot_end_a_node() {
    let mut net = Net::cluster(3);
    for seq in 0..40 {
        let renewed = Renewed { seq, coordinator: None, verdict: Verdict::NotAdmitted };
        net.say(uid(STRANGER), uid(1), Word::Renewed(renewed));
    }
    net.pass(6 * SECOND);
    assert_whole(&net, 3);
}

#[test]
fn a_verdict_on_nothing_that_was_asked_ends_no_node() {
    let mut net = Net::cluster(3);
    for seq in [0, u64::MAX] {
        let renewed = Renewed { seq, coordinator: None, verdict: Verdict::NotAdmitted };
        net.say(uid(2), uid(1), Word::Renewed(renewed));
    }
    net.pass(6 * SECOND);
    assert_whole(&net, 3);
}

#[test]
fn quiet_reports_of_strangers_remove_nobody() {
    let mut net = Net::cluster(3);
    let (coordinator, quiet) = (net.coordinator(), (1..=3).map(uid).collect());
    let report = QuietReport { seq: 1, quiet };
    for stranger in STRANGER..STRANGER + 5 {
        net.say(uid(stranger), coordinator, Word::Quiet(report.clone()));
    }
    net.pass(6 * SECOND);
    assert_whole(&net, 3);
}

#[test]
fn a_stranger_shuts_no_cluster_down_and_has_nobody_removed() {
    let mut net = Net::cluster(3);
    let coordinator = net.coordinator();
    let others = (1..=3).map(uid).filter(|other| *other != coordinator);
    let downs = others.map(Report::Down).collect::<Vec<_>>();
    for report in [Report::Close, Report::Leave, Report::Goodbye].into_iter().chain(downs) {
        net.say(uid(STRANGER), coordinator, Word::Report(report));
    }
    net.pass(6 * SECOND);
    assert_whole(&net, 3);
}

/// A delta with nothing in it but the end of that node, so long ago.
fn obituary_of(number: u64, age: Duration) -> Word {
    let dot = Dot { author: Author::Node(uid(5)), count: 99 };
    let delta = Delta {
        members: vec![],
        reachability: vec![],
        tombstones: vec![Obituary { uid: uid(number), how: Gone::Vanished, dot, age }],
        clock: Arc::new(VectorClock::default()),
        content: 0,
        seen: Arc::from([]),
        reply: false,
    };
    Word::Gossip(gossip::Message::Delta(Arc::new(delta)))
}

#[test]
fn an_obituary_alone_removes_no_member() {
    let mut net = Net::cluster(5);
    net.say(uid(STRANGER), uid(5), obituary_of(4, Duration::ZERO));
    net.pass(10 * SECOND);
    assert_whole(&net, 5);
}

#[test]
fn a_node_knows_itself_whatever_its_own_obituary_says() {
    let mut net = Net::cluster(3);
    net.say(uid(2), uid(1), obituary_of(1, Duration::MAX));
    net.pass(10 * SECOND);
    assert_whole(&net, 3);
    assert!(net.node(1).document().expect("it takes part").is_member(uid(1)));
}

#[test]
fn what_was_heard_of_the_dead_is_forgotten() {
    let mut net = Net::cluster(5);
    for number in 101..=106 {
        net.start(number, 9);
        net.pass(5 * SECOND);
        net.crash(number);
        net.pass(5 * SECOND);
    }
    net.pass(30 * SECOND);
    for number in 1..=5 {
        assert!(heard_by(&net, number) <= 5, "{number} remembers {}", heard_by(&net, number));
    }
}

#[test]
fn what_was_heard_of_strangers_is_forgotten() {
    let mut net = Net::cluster(3);
    for stranger in STRANGER..STRANGER + 200 {
        let (voters, version) = (Version::ZERO, Version::ZERO);
        let renew = Renew { admission: None, voters, seq: 1, answered: 0, version, feed: false };
        (1..=3).for_each(|number| net.say(uid(stranger), uid(number), Word::Renew(renew.clone())));
    }
    net.pass(30 * SECOND);
    for number in 1..=3 {
        assert!(heard_by(&net, number) <= 3, "{number} remembers {}", heard_by(&net, number));
    }
    assert_whole(&net, 3);
}
