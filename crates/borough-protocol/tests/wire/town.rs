//! A few nodes, and a store, that hear of each other only what was written and read again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use borough_protocol::formation::Search;
use borough_protocol::incarnation::{Address, Facts, Incarnation, NodeId, Uid};
use borough_protocol::node::{Command, Effect, End, Event, Input, Message, Node, Peer, Start};
use borough_protocol::settings::{Checked, Settings, Strategy};
use borough_protocol::sharding::{Allocation, Hashing, Kind, KindId, ShardId, ShardReport};
use borough_protocol::store::Register;
use borough_protocol::table::KindTable;
use borough_protocol::time::Timestamp;
use borough_protocol::{Effects, Machine};

use crate::codec::{decode, encode};
use crate::words::kind;

pub(crate) const SECOND: Duration = Duration::from_secs(1);
const WAY: Duration = Duration::from_millis(2);

/// A message as it was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) kind: &'static str,
    /// How large it was.
    pub(crate) bytes: usize,
    /// How large the machine thinks it is, with a frame around it.
    pub(crate) estimate: usize,
}

pub(crate) struct Town {
    pub(crate) now: Timestamp,
    pub(crate) nodes: BTreeMap<Uid, Node>,
    pub(crate) ends: Vec<(Uid, End)>,
    pub(crate) sent: Vec<Sent>,
    settings: Checked,
    register: Register,
    regions: BTreeMap<Uid, ShardReport>,
    addresses: BTreeMap<Address, Uid>,
    under_way: VecDeque<(Timestamp, Uid, Uid, Vec<u8>)>,
}

impl Town {
    /// Nodes that vote among themselves, or whose one voter is the store.
    pub(crate) fn new(settings: Settings) -> Self {
        let checked = match settings.strategy {
            Strategy::LeaseMajority => Checked::with_simulated_store(settings),
            Strategy::KeepMajority
            | Strategy::StaticQuorum { .. }
            | Strategy::KeepOldest
            | Strategy::DownAll => Checked::new(settings),
        };
        Self {
            now: Timestamp::from_millis(1000),
            nodes: BTreeMap::new(),
            ends: Vec::new(),
            sent: Vec::new(),
            settings: checked.expect("good settings"),
            register: Register::default(),
            regions: BTreeMap::new(),
            addresses: BTreeMap::new(),
            under_way: VecDeque::new(),
        }
    }

    pub(crate) fn uid(number: u64) -> Uid {
        // As large as chance makes them.
        Uid::new(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)).expect("not 0")
    }

    fn address(place: u64) -> Address {
        Address::new(format!("10.0.0.{place}:7420"))
    }

    /// Life `number` begins at that place; the first three places are everybody's seeds.
    pub(crate) fn start(&mut self, number: u64, place: u64) {
        let (uid, address) = (Self::uid(number), Self::address(place));
        let start = Start {
            me: Incarnation { address: address.clone(), uid },
            facts: Facts {
                id: NodeId::new(format!("node-{place}")),
                roles: ["front".to_owned()].into(),
                app_version: "1.4.0".into(),
                zone: "eu-central-1a".into(),
                disk: None,
            },
            search: Search { seeds: (1..=3).map(Self::address).collect(), ..Search::default() },
            settings: self.settings.clone(),
            era: 217_000_000 + u32::try_from(self.now.as_nanos() / 1_000_000_000).expect("soon"),
            seed: number,
            recovers: false,
            disk: None,
            process_since: self.now,
        };
        let mut effects = Effects::default();
        let node = Node::new(self.now, start, &mut effects);
        self.addresses.insert(address, uid);
        self.nodes.insert(uid, node);
        self.perform(uid, &mut effects);
    }

    pub(crate) fn crash(&mut self, number: u64) {
        self.nodes.remove(&Self::uid(number)).expect("it runs");
    }

    pub(crate) fn command(&mut self, number: u64, command: Command) {
        self.input(Self::uid(number), Input::Command(command));
    }

    /// That node hosts a type of so many shards, and sends to all of them.
    pub(crate) fn host(&mut self, number: u64, shards: u32) {
        let kind = Kind {
            name: "account".into(),
            shards,
            hashing: Hashing::Xxh3,
            role: Some("front".into()),
            min_hosts: 2,
            allocation: Allocation::LeastShards { absolute: 0, percent: 25 },
            codec: 1,
        };
        let wanted = (0..shards).map(|number| ShardId { kind: KindId(0), number }).collect();
        let hosts = ShardReport { kinds: vec![(Arc::new(kind), true)], wanted, ..ShardReport::default() };
        self.regions.insert(Self::uid(number), ShardReport { seq: 1, ..hosts });
    }

    /// Each region says what it has; whatever is to move to it is there at once.
    fn report(&mut self) {
        for (uid, mut report) in self.regions.clone() {
            let Some(table) = self.nodes.get(&uid).and_then(Node::table) else { continue };
            let shards = table.kind(KindId(0)).into_iter().flat_map(KindTable::shards);
            let moving = shards.filter_map(|(number, entry)| Some((*number, entry.moving?)));
            report.installed = moving
                .filter(|(_, (to, _))| *to == uid)
                .map(|(number, (_, epoch))| (ShardId { kind: KindId(0), number }, epoch))
                .collect();
            if self.regions[&uid] != report || report.seq == 1 {
                report.seq += 1;
                self.regions.insert(uid, report.clone());
                self.input(uid, Input::Command(Command::Shards(Arc::new(report))));
            }
        }
    }

    /// How many shards have an owner that is there.
    pub(crate) fn owned(&self) -> usize {
        self.nodes.keys().map(|uid| self.shards_of(*uid)).sum()
    }

    pub(crate) fn owned_by(&self, number: u64) -> usize {
        self.shards_of(Self::uid(number))
    }

    fn shards_of(&self, uid: Uid) -> usize {
        let table = self.nodes.values().next().and_then(Node::table);
        table.map_or(0, |table| table.owned_by(uid).count())
    }

    /// Whether that many run, and each knows of all of them as members.
    pub(crate) fn is_whole(&self, count: usize) -> bool {
        self.nodes.len() == count
            && self.nodes.values().all(|node| {
                node.may_run(self.now) && node.table().is_some_and(|table| table.members().len() == count)
            })
    }

    /// Lets time pass until it is so.
    pub(crate) fn wait_until(&mut self, what: &str, so: impl Fn(&Self) -> bool) {
        for _ in 0..600 {
            if so(self) {
                return;
            }
            self.report();
            self.pass(SECOND / 10);
        }
        panic!("not so within a minute: {what}");
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            let arrives = self.under_way.front().map_or(Timestamp::NEVER, |(at, ..)| *at);
            let deadlines = self.nodes.values().map(|node| (node.next_deadline(), node.uid()));
            let (due, whose) = deadlines.min().unwrap_or((Timestamp::NEVER, Uid::STORE));
            let next = arrives.min(due).max(self.now);
            if next > end {
                self.now = end;
                return;
            }
            self.now = next;
            if arrives > due {
                self.input(whose, Input::Deadline);
            } else if let Some((_, from, to, bytes)) = self.under_way.pop_front() {
                self.deliver(from, to, &bytes);
            }
        }
    }

    fn deliver(&mut self, from: Uid, to: Uid, bytes: &[u8]) {
        let message = decode(bytes).expect("what a node says is read");
        match message {
            Message::ToStore(ask) if to == Uid::STORE => {
                let answer = self.register.handle(from, ask);
                self.send(to, from, &Message::FromStore(answer));
            }
            message => self.input(to, Input::Message { from, message }),
        }
    }

    fn input(&mut self, to: Uid, input: Input) {
        let Some(node) = self.nodes.get_mut(&to) else { return };
        let mut effects = Effects::default();
        node.handle(self.now, input, &mut effects);
        node.assert_invariants(self.now);
        self.perform(to, &mut effects);
    }

    fn perform(&mut self, me: Uid, effects: &mut Effects<Effect>) {
        let mut drains = false;
        for effect in effects.drain() {
            match effect {
                Effect::Send { to: Peer::Node(to), message } => self.send(me, to, &message),
                Effect::Send { to: Peer::Address(address), message } => {
                    if let Some(to) = self.addresses.get(&address).copied() {
                        self.send(me, to, &message);
                    }
                }
                Effect::End(end) => {
                    self.ends.push((me, end));
                    self.nodes.remove(&me);
                }
                Effect::Publish(event) => drains |= event == Event::Drain,
                Effect::Close(_) | Effect::Write { .. } => {}
            }
        }
        if drains {
            self.input(me, Input::Command(Command::Drained));
        }
    }

    /// What is read back is what was said.
    fn send(&mut self, from: Uid, to: Uid, message: &Message) {
        let bytes = encode(message);
        let read = decode(&bytes).unwrap_or_else(|| panic!("not read: {message:?}"));
        assert_eq!(format!("{read:?}"), format!("{message:?}"));
        let (kind, estimate) = (kind(message), message.wire_size());
        self.sent.push(Sent { kind, bytes: bytes.len(), estimate });
        self.under_way.push_back((self.now + WAY, from, to, bytes));
    }
}
