//! A small net of nodes that loses nothing: every message takes two milliseconds, and a test may say anything to anybody.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use borough_protocol::formation::Search;
use borough_protocol::incarnation::{Address, Facts, Incarnation, NodeId, Uid};
use borough_protocol::log::Log;
use borough_protocol::node::{Effect, End, Input, Message, Node, Peer, Start, Word};
use borough_protocol::settings::{Checked, Settings, Strategy};
use borough_protocol::store::Register;
use borough_protocol::table::Table;
use borough_protocol::time::Timestamp;
use borough_protocol::{Effects, Machine};

pub(crate) const SECOND: Duration = Duration::from_secs(1);
const WAY: Duration = Duration::from_millis(2);
/// More inputs than that without a moment between them are a circle.
const STORM: u32 = 50_000;
/// How many of the messages under way are remembered.
const OVERHEARD: usize = 4000;

pub(crate) fn uid(number: u64) -> Uid {
    Uid::new(number).expect("not 0")
}

#[derive(Debug)]
pub(crate) struct Net {
    pub(crate) now: Timestamp,
    pub(crate) nodes: BTreeMap<Uid, Node>,
    pub(crate) ends: Vec<(Uid, End)>,
    /// What nodes said to each other, the oldest overwritten by the newest.
    pub(crate) overheard: Vec<Message>,
    /// What happened last, and to whom: what a panic is about.
    pub(crate) last: Option<(Uid, Input)>,
    pub(crate) register: Register,
    pub(crate) settings: Checked,
    said: usize,
    addresses: BTreeMap<Address, Uid>,
    under_way: VecDeque<(Timestamp, Uid, Uid, Message)>,
}

impl Net {
    fn new(settings: Checked) -> Self {
        Self {
            now: Timestamp::from_millis(1000),
            nodes: BTreeMap::new(),
            ends: Vec::new(),
            overheard: Vec::new(),
            last: None,
            register: Register::default(),
            settings,
            said: 0,
            addresses: BTreeMap::new(),
            under_way: VecDeque::new(),
        }
    }

    /// Nodes that vote among themselves.
    pub(crate) fn of_voters() -> Self {
        Self::new(Checked::new(Settings::default()).expect("good settings"))
    }

    /// Nodes whose one voter is the store.
    pub(crate) fn of_store() -> Self {
        let settings = Settings { strategy: Strategy::LeaseMajority, ..Settings::default() };
        Self::new(Checked::with_simulated_store(settings).expect("good settings"))
    }

    /// A cluster of nodes 1 to `count`, all of which run.
    pub(crate) fn cluster(count: u64) -> Self {
        let mut net = Self::of_voters();
        for number in 1..=count {
            net.start(number, number);
        }
        net.pass(25 * SECOND);
        for node in net.nodes.values() {
            assert!(node.may_run(net.now), "{:?} does not run", node.uid());
        }
        net
    }

    /// Where node `place` listens. The first three are everybody's seeds.
    pub(crate) fn address(place: u64) -> Address {
        Address::new(format!("a{place}"))
    }

    pub(crate) fn start(&mut self, number: u64, place: u64) {
        let (me, address) = (uid(number), Self::address(place));
        let start = Start {
            me: Incarnation { address: address.clone(), uid: me },
            facts: facts(&address),
            search: Search { seeds: (1..=3).map(Self::address).collect(), ..Search::default() },
            settings: self.settings.clone(),
            era: u32::try_from(self.now.as_nanos() / 1_000_000_000).expect("soon"),
            seed: number,
            recovers: false,
            disk: None,
            process_since: self.now,
        };
        let mut effects = Effects::default();
        let node = Node::new(self.now, start, &mut effects);
        self.addresses.insert(address, me);
        self.nodes.insert(me, node);
        self.perform(me, &mut effects);
    }

    /// The node is gone without a word.
    pub(crate) fn crash(&mut self, number: u64) {
        self.nodes.remove(&uid(number)).expect("it runs");
    }

    /// Whether a node that is there listens at that place.
    pub(crate) fn is_taken(&self, place: u64) -> bool {
        self.addresses.get(&Self::address(place)).is_some_and(|uid| self.nodes.contains_key(uid))
    }

    pub(crate) fn node(&self, number: u64) -> &Node {
        &self.nodes[&uid(number)]
    }

    pub(crate) fn table(&self, number: u64) -> &Table {
        self.node(number).table().expect("it takes part")
    }

    /// Which of the nodes is in office.
    pub(crate) fn coordinator(&self) -> Uid {
        let in_office = |node: &&Node| node.log().is_some_and(Log::in_office);
        self.nodes.values().find(in_office).expect("somebody is in office").uid()
    }

    /// Somebody says a word of this cluster to a node.
    pub(crate) fn say(&mut self, from: Uid, to: Uid, word: Word) {
        let cluster = self.nodes[&to].tag().expect("it takes part");
        self.input(to, Input::Message { from, message: Message::Word { cluster, word } });
    }

    pub(crate) fn input(&mut self, to: Uid, input: Input) {
        let Some(node) = self.nodes.get_mut(&to) else { return };
        self.last = Some((to, input.clone()));
        let mut effects = Effects::default();
        node.handle(self.now, input, &mut effects);
        node.assert_invariants(self.now);
        self.perform(to, &mut effects);
    }

    fn perform(&mut self, me: Uid, effects: &mut Effects<Effect>) {
        for effect in effects.drain() {
            match effect {
                Effect::Send { to, message } => {
                    let to = match to {
                        Peer::Node(uid) => Some(uid),
                        Peer::Address(address) => self.addresses.get(&address).copied(),
                    };
                    if let Some(to) = to {
                        self.overhear(&message);
                        self.under_way.push_back((self.now + WAY, me, to, message));
                    }
                }
                Effect::End(end) => {
                    self.ends.push((me, end));
                    self.nodes.remove(&me);
                }
                Effect::Publish(_) | Effect::Close(_) | Effect::Write { .. } => {}
            }
        }
    }

    fn overhear(&mut self, message: &Message) {
        match self.overheard.get_mut(self.said % OVERHEARD) {
            Some(place) => *place = message.clone(),
            None => self.overheard.push(message.clone()),
        }
        self.said += 1;
    }

    /// Lets that much time pass, with everything that happens in it.
    pub(crate) fn pass(&mut self, time: Duration) {
        let (end, mut at_once) = (self.now + time, 0);
        loop {
            let arrives = self.under_way.front().map_or(Timestamp::NEVER, |(at, ..)| *at);
            let deadlines = self.nodes.values().map(|node| (node.next_deadline(), node.uid()));
            let (due, whose) = deadlines.min().unwrap_or((Timestamp::NEVER, Uid::STORE));
            let next = arrives.min(due).max(self.now);
            if next > end {
                self.now = end;
                return;
            }
            at_once = if next == self.now { at_once + 1 } else { 0 };
            assert!(at_once < STORM, "the nodes run in circles at {next:?}");
            self.now = next;
            if arrives <= due {
                let (_, from, to, message) = self.under_way.pop_front().expect("something arrives");
                self.deliver(from, to, message);
            } else {
                self.input(whose, Input::Deadline);
            }
        }
    }

    fn deliver(&mut self, from: Uid, to: Uid, message: Message) {
        match message {
            Message::ToStore(ask) if to == Uid::STORE => {
                let answer = Message::FromStore(self.register.handle(from, ask));
                self.overhear(&answer);
                self.under_way.push_back((self.now + WAY, to, from, answer));
            }
            message => self.input(to, Input::Message { from, message }),
        }
    }
}

pub(crate) fn facts(address: &Address) -> Facts {
    let id = NodeId::new(address.as_str());
    Facts { id, roles: [].into(), app_version: "1".into(), zone: "".into(), disk: None }
}
