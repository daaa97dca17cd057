//! A few nodes on a network that does what the test says.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::time::Duration;

use borough_protocol::incarnation::{Address, Facts, Incarnation, NodeId, Uid};
use borough_protocol::log::Log;
use borough_protocol::node::{Command, Effect, End, Event, Input, Message, Node, Peer, Start};
use borough_protocol::settings::{Checked, Settings};
use borough_protocol::time::Timestamp;
use borough_protocol::{Effects, Machine};

/// How long a message takes.
const DELAY: Duration = Duration::from_millis(5);

pub(crate) struct Rig {
    pub(crate) now: Timestamp,
    pub(crate) nodes: BTreeMap<&'static str, Node>,
    pub(crate) events: Vec<(&'static str, Event)>,
    pub(crate) ends: Vec<(&'static str, End)>,
    pub(crate) settings: Settings,
    cut: BTreeSet<(&'static str, &'static str)>,
    queue: BinaryHeap<Reverse<(Timestamp, u64)>>,
    under_way: BTreeMap<u64, (&'static str, Uid, Peer, Message)>,
    count: u64,
    seeds: Vec<&'static str>,
}

impl Rig {
    pub(crate) fn new(seeds: &[&'static str]) -> Self {
        Self::with(Settings::default(), seeds)
    }

    pub(crate) fn with(settings: Settings, seeds: &[&'static str]) -> Self {
        Self {
            now: Timestamp::from_millis(1000),
            nodes: BTreeMap::new(),
            events: Vec::new(),
            ends: Vec::new(),
            settings,
            cut: BTreeSet::new(),
            queue: BinaryHeap::new(),
            under_way: BTreeMap::new(),
            count: 0,
            seeds: seeds.to_vec(),
        }
    }

    /// Starts a node under that address, with the rig's seeds; the uid is a new one each time.
    pub(crate) fn start(&mut self, address: &'static str) {
        let seeds = self.seeds.clone();
        self.start_with(address, &seeds, self.settings.clone());
    }

    pub(crate) fn start_with(&mut self, address: &'static str, seeds: &[&'static str], settings: Settings) {
        self.count += 1;
        let start = Start {
            me: Incarnation {
                address: Address::new(address),
                uid: Uid::new(100 + self.count).expect("not 0"),
            },
            facts: Facts {
                id: NodeId::new(address),
                roles: [].into(),
                app_version: "1".into(),
                zone: "".into(),
            },
            seeds: seeds.iter().map(|seed| Address::new(*seed)).collect(),
            settings: Checked::new(settings).expect("good settings"),
            era: u32::try_from(self.now.as_nanos() / 1_000_000_000).expect("small"),
            seed: self.count,
        };
        let mut effects = Effects::default();
        let node = Node::new(self.now, start, &mut effects);
        self.nodes.insert(address, node);
        self.perform(address, &mut effects);
    }

    pub(crate) fn crash(&mut self, address: &'static str) {
        self.nodes.remove(address).expect("running");
    }

    pub(crate) fn command(&mut self, address: &'static str, command: Command) {
        self.input(address, Input::Command(command));
    }

    /// Nothing of the first group reaches the second, and nothing of the second the first.
    pub(crate) fn cut(&mut self, some: &[&'static str], others: &[&'static str]) {
        self.cut_one_way(some, others);
        self.cut_one_way(others, some);
    }

    pub(crate) fn cut_one_way(&mut self, from: &[&'static str], to: &[&'static str]) {
        self.cut.extend(from.iter().flat_map(|from| to.iter().map(move |to| (*from, *to))));
    }

    pub(crate) fn heal(&mut self) {
        self.cut.clear();
    }

    /// Lets that much time pass.
    pub(crate) fn pass(&mut self, time: Duration) {
        self.until(self.now + time, |_| false);
    }

    /// Lets time pass until it is so; the test fails if it is not within that time.
    pub(crate) fn wait_until(&mut self, what: &str, within: Duration, so: impl Fn(&Self) -> bool) {
        let end = self.now + within;
        assert!(self.until(end, &so), "not so within {within:?}: {what}\n{}", self.describe());
    }

    fn until(&mut self, end: Timestamp, so: impl Fn(&Self) -> bool) -> bool {
        loop {
            if so(self) {
                return true;
            }
            let deadline = self.nodes.iter().map(|(address, node)| (node.next_deadline(), *address)).min();
            let message = self.queue.peek().map(|Reverse((at, _))| *at);
            let next =
                deadline.map_or(Timestamp::NEVER, |(at, _)| at).min(message.unwrap_or(Timestamp::NEVER));
            if next > end {
                self.now = end;
                return so(self);
            }
            self.now = self.now.max(next);
            if message.is_some_and(|at| at <= self.now) {
                self.deliver();
            } else if let Some((_, address)) = deadline {
                self.input(address, Input::Deadline);
            }
        }
    }

    fn deliver(&mut self) {
        let Some(Reverse((_, number))) = self.queue.pop() else { return };
        let (origin, from, to, message) = self.under_way.remove(&number).expect("under way");
        let target = self.nodes.iter().find(|(address, node)| match &to {
            Peer::Node(uid) => node.uid() == *uid,
            Peer::Address(there) => there.as_str() == **address,
        });
        let Some(target) = target.map(|(address, _)| *address) else { return };
        if !self.cut.contains(&(origin, target)) {
            self.input(target, Input::Message { from, message });
        }
    }

    fn input(&mut self, address: &'static str, input: Input) {
        let mut effects = Effects::default();
        let node = self.nodes.get_mut(address).expect("running");
        node.handle(self.now, input, &mut effects);
        node.assert_invariants(self.now);
        self.perform(address, &mut effects);
    }

    fn perform(&mut self, address: &'static str, effects: &mut Effects<Effect>) {
        let from = self.nodes[address].uid();
        for effect in effects.drain() {
            match effect {
                Effect::Send { to, message } => {
                    self.count += 1;
                    self.under_way.insert(self.count, (address, from, to, message));
                    self.queue.push(Reverse((self.now + DELAY, self.count)));
                }
                Effect::Close(_) => {}
                Effect::Publish(event) => self.events.push((address, event)),
                Effect::End(end) => self.ends.push((address, end)),
            }
        }
        if self.nodes[address].is_ended() {
            self.nodes.remove(address);
        }
    }

    pub(crate) fn uid(&self, address: &str) -> Uid {
        self.nodes[address].uid()
    }

    /// Whether exactly these run, know each other as members, and may work.
    pub(crate) fn is_whole(&self, addresses: &[&str]) -> bool {
        addresses.iter().all(|address| {
            let Some(node) = self.nodes.get(address) else { return false };
            let Some(table) = node.table() else { return false };
            node.may_run(self.now)
                && table.members().len() == addresses.len()
                && addresses.iter().all(|other| {
                    self.nodes.get(other).is_some_and(|other| table.member(other.uid()).is_some())
                })
        })
    }

    /// Who is in office.
    pub(crate) fn coordinator(&self) -> Option<&'static str> {
        let mut acting = self.nodes.iter().filter(|(_, node)| node.log().is_some_and(Log::may_act));
        let found = acting.next().map(|(address, _)| *address);
        found.filter(|_| acting.next().is_none())
    }

    /// Who votes, as that node has it.
    pub(crate) fn voters(&self, address: &str) -> BTreeSet<&'static str> {
        let table = self.nodes[address].table().expect("in a cluster");
        let name = |uid: &Uid| {
            self.nodes.iter().find(|(_, node)| node.uid() == *uid).map_or("gone", |(name, _)| *name)
        };
        table.voters().now.iter().chain(&table.voters().next).map(name).collect()
    }

    pub(crate) fn describe(&self) -> String {
        let mut text = format!("at {:?}, ends {:?}\n", self.now, self.ends);
        for (address, node) in &self.nodes {
            text += &format!("{address} {:?} runs {} ", node.uid(), node.may_run(self.now));
            if let (Some(table), Some(log), Some(document)) = (node.table(), node.log(), node.document()) {
                text += &format!(
                    "{:?} {:?} members {:?} removed {:?} voters {:?} term {:?} office {} {} log voters {:?} learners {:?} coordinator {:?} gossip {:?} converged {}",
                    table.cluster(),
                    table.version(),
                    table.members().keys().collect::<Vec<_>>(),
                    table.removed(),
                    table.voters(),
                    log.term(),
                    log.in_office(),
                    log.may_act(),
                    log.voters(),
                    log.learners(),
                    log.coordinator(),
                    document
                        .view(true)
                        .iter()
                        .map(|line| (line.member.uid(), line.shown, line.unreachable))
                        .collect::<Vec<_>>(),
                    document.is_converged(),
                );
            }
            text += "\n";
        }
        text
    }
}
