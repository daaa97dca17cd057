//! A few nodes, each with a clock of its own, and a register that they reach over the same network.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

use borough_protocol::flaws::Flaws;
use borough_protocol::formation::Search;
use borough_protocol::incarnation::{Address, Facts, Incarnation, NodeId, Uid};
use borough_protocol::log::Log;
use borough_protocol::node::{Command, Effect, End, Event, Input, Message, Node, Peer, Start};
use borough_protocol::random::Random;
use borough_protocol::settings::{Checked, Settings, Strategy};
use borough_protocol::store::Register;
use borough_protocol::time::Timestamp;
use borough_protocol::version::{Term, Version};
use borough_protocol::voters::VoterId;
use borough_protocol::{Effects, Machine};

use crate::links::Links;

pub(crate) const SECOND: Duration = Duration::from_secs(1);
/// The store's name among those that can be cut.
pub(crate) const STORE: &str = "store";

/// How the network treats each message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    pub(crate) delay_max: Duration,
    pub(crate) lost_percent: u64,
    pub(crate) twice_percent: u64,
}

impl Weather {
    pub(crate) const FAIR: Self =
        Self { delay_max: Duration::from_millis(5), lost_percent: 0, twice_percent: 0 };
    pub(crate) const FOUL: Self =
        Self { delay_max: Duration::from_millis(90), lost_percent: 10, twice_percent: 10 };
}

struct Life {
    node: Node,
    clock: Clock,
    /// It does nothing until then.
    frozen: Timestamp,
}

/// What a node's clock shows: its rate in thousandths of the true one.
#[derive(Clone, Copy, Debug)]
struct Clock {
    rate: u64,
    start: Timestamp,
}

impl Clock {
    fn at(self, time: Timestamp) -> Timestamp {
        let passed = time.since(self.start).as_nanos() * u128::from(self.rate) / 1000;
        Timestamp::from_millis(1000) + Duration::from_nanos(u64::try_from(passed).expect("short"))
    }

    /// The first true moment at which it shows that.
    fn when(self, shown: Timestamp) -> Timestamp {
        if shown == Timestamp::NEVER {
            return shown;
        }
        let passed = shown.since(Timestamp::from_millis(1000)).as_nanos() * 1000;
        self.start
            + Duration::from_nanos(u64::try_from(passed.div_ceil(u128::from(self.rate))).expect("short"))
    }
}

pub(crate) struct Rig {
    pub(crate) now: Timestamp,
    pub(crate) register: Register,
    pub(crate) events: Vec<(&'static str, Event)>,
    pub(crate) ends: Vec<(&'static str, End)>,
    pub(crate) settings: Settings,
    pub(crate) weather: Weather,
    pub(crate) flaws: Flaws,
    /// The clock rates of nodes that are started later, in thousandths; 1000 if none is said.
    pub(crate) rates: BTreeMap<&'static str, u64>,
    pub(crate) random: Random,
    lives: BTreeMap<&'static str, Life>,
    pub(crate) links: Links,
    queue: BinaryHeap<Reverse<(Timestamp, u64)>>,
    under_way: BTreeMap<u64, (&'static str, Uid, Peer, Message)>,
    count: u64,
    seeds: Vec<&'static str>,
    in_office: BTreeMap<Term, Uid>,
    version: Version,
}

impl Rig {
    pub(crate) fn new(seeds: &[&'static str]) -> Self {
        Self::with(Settings::default(), seeds, 1)
    }

    pub(crate) fn with(settings: Settings, seeds: &[&'static str], seed: u64) -> Self {
        Self {
            now: Timestamp::from_millis(1000),
            register: Register::default(),
            events: Vec::new(),
            ends: Vec::new(),
            settings: Settings { strategy: Strategy::LeaseMajority, ..settings },
            weather: Weather::FAIR,
            flaws: Flaws::default(),
            rates: BTreeMap::new(),
            random: Random::seeded(seed),
            lives: BTreeMap::new(),
            links: Links::default(),
            queue: BinaryHeap::new(),
            under_way: BTreeMap::new(),
            count: 0,
            seeds: seeds.to_vec(),
            in_office: BTreeMap::new(),
            version: Version::ZERO,
        }
    }

    /// Five nodes in one cluster.
    pub(crate) fn five() -> Self {
        let mut rig = Self::new(&["a", "b", "c"]);
        rig.start_all(&["a", "b", "c", "d", "e"]);
        rig.events.clear();
        rig
    }

    pub(crate) fn start_all(&mut self, addresses: &[&'static str]) {
        for address in addresses {
            self.start(address);
        }
        self.wait_until("one cluster", 20 * SECOND, |rig| rig.is_whole(addresses));
    }

    /// Starts a node under that address; the uid is a new one each time.
    pub(crate) fn start(&mut self, address: &'static str) {
        self.count += 1;
        let mut settings = Checked::with_simulated_store(self.settings.clone()).expect("good settings");
        settings.flaws = self.flaws;
        let clock = Clock { rate: self.rates.get(address).copied().unwrap_or(1000), start: self.now };
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
                disk: None,
            },
            search: Search {
                seeds: self.seeds.iter().map(|seed| Address::new(*seed)).collect(),
                ..Search::default()
            },
            settings,
            era: u32::try_from(self.now.as_nanos() / 1_000_000_000).expect("small"),
            seed: self.count,
            recovers: false,
            disk: None,
            process_since: clock.at(self.now),
        };
        let mut effects = Effects::default();
        let node = Node::new(clock.at(self.now), start, &mut effects);
        self.lives.insert(address, Life { node, clock, frozen: Timestamp::ZERO });
        self.perform(address, &mut effects);
    }

    pub(crate) fn crash(&mut self, address: &'static str) {
        self.lives.remove(address).expect("running");
    }

    pub(crate) fn command(&mut self, address: &'static str, command: Command) {
        self.input(address, Input::Command(command));
    }

    /// The node does nothing for that long; its clock goes on.
    pub(crate) fn freeze(&mut self, address: &'static str, time: Duration) {
        self.lives.get_mut(address).expect("running").frozen = self.now + time;
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
            let deadline = |life: &Life| life.clock.when(life.node.next_deadline()).max(life.frozen);
            let due = self.lives.iter().map(|(address, life)| (deadline(life), *address)).min();
            let message = self.queue.peek().map(|Reverse((at, _))| *at);
            let next = due.map_or(Timestamp::NEVER, |(at, _)| at).min(message.unwrap_or(Timestamp::NEVER));
            if next > end {
                self.now = end;
                return so(self);
            }
            self.now = self.now.max(next);
            if message.is_some_and(|at| at <= self.now) {
                self.deliver();
            } else if let Some((_, address)) = due {
                self.input(address, Input::Deadline);
            }
            self.judge();
        }
    }

    fn deliver(&mut self) {
        let Some(Reverse((_, number))) = self.queue.pop() else { return };
        let (origin, from, to, message) = self.under_way.remove(&number).expect("under way");
        if to == Peer::Node(Uid::STORE) {
            let Message::ToStore(ask) = message else { panic!("no store understands {message:?}") };
            if !self.links.is_cut(origin, STORE) {
                let answer = Message::FromStore(self.register.handle(from, ask));
                self.send(STORE, Uid::STORE, &Peer::Node(from), &answer);
            }
            return;
        }
        let target = self.lives.iter().find(|(address, life)| match &to {
            Peer::Node(uid) => life.node.uid() == *uid,
            Peer::Address(there) => there.as_str() == **address,
        });
        let Some((target, frozen)) = target.map(|(address, life)| (*address, life.frozen)) else { return };
        if self.links.is_cut(origin, target) {
            return;
        }
        if frozen > self.now {
            self.under_way.insert(number, (origin, from, to, message));
            self.queue.push(Reverse((frozen, number)));
            return;
        }
        self.input(target, Input::Message { from, message });
    }

    fn input(&mut self, address: &'static str, input: Input) {
        let mut effects = Effects::default();
        let life = self.lives.get_mut(address).expect("running");
        let shown = life.clock.at(self.now);
        life.node.handle(shown, input, &mut effects);
        life.node.assert_invariants(shown);
        self.perform(address, &mut effects);
    }

    fn perform(&mut self, address: &'static str, effects: &mut Effects<Effect>) {
        let from = self.uid(address);
        for effect in effects.drain() {
            match effect {
                Effect::Send { to, message } => self.send(address, from, &to, &message),
                Effect::Close(_) | Effect::Write { .. } => {}
                Effect::Publish(event) => self.events.push((address, event)),
                Effect::End(end) => self.ends.push((address, end)),
            }
        }
        if self.lives[address].node.is_ended() {
            self.lives.remove(address);
        }
    }

    fn send(&mut self, origin: &'static str, from: Uid, to: &Peer, message: &Message) {
        let weather = self.weather;
        if self.random.below(100) < weather.lost_percent {
            return;
        }
        let copies = if self.random.below(100) < weather.twice_percent { 2 } else { 1 };
        for _ in 0..copies {
            self.count += 1;
            let longest = u64::try_from(weather.delay_max.as_nanos()).expect("short");
            let delay = Duration::from_nanos(self.random.between(1, longest));
            self.under_way.insert(self.count, (origin, from, to.clone(), message.clone()));
            self.queue.push(Reverse((self.now + delay, self.count)));
        }
    }

    /// What must hold after every step.
    fn judge(&mut self) {
        let Some(table) = self.register.table() else { return };
        assert!(table.version() >= self.version, "the register went back");
        self.version = table.version();
        assert!(table.voters().now.iter().eq([&VoterId::STORE]) && table.voters().next.is_empty());
        let pause = self.settings.max_pause;
        for (address, life) in &self.lives {
            let uid = life.node.uid();
            if let Some(log) = life.node.log().filter(|log| log.in_office()) {
                let first = *self.in_office.entry(log.term()).or_insert(uid);
                assert_eq!(first, uid, "two in office in one term");
            }
            let freed = table.removed().get(&uid).is_some_and(|removed| removed.freed);
            // A turn that began before the lease was over may take as long as a pause.
            let began = life.clock.at(self.now - pause);
            assert!(!freed || !life.node.may_run(began), "{address} runs what was freed");
            if let Some(own) = life.node.table().filter(|own| own.version() == table.version()) {
                assert_eq!(own, table, "two tables of one version");
            }
        }
    }

    pub(crate) fn node(&self, address: &str) -> Option<&Node> {
        self.lives.get(address).map(|life| &life.node)
    }

    pub(crate) fn uid(&self, address: &str) -> Uid {
        self.lives[address].node.uid()
    }

    /// Whether work may run there now.
    pub(crate) fn runs(&self, address: &str) -> bool {
        self.lives.get(address).is_some_and(|life| life.node.may_run(life.clock.at(self.now)))
    }

    /// Whether exactly these run, know each other as members, and may work.
    pub(crate) fn is_whole(&self, addresses: &[&str]) -> bool {
        addresses.iter().all(|address| {
            let Some(table) = self.node(address).and_then(Node::table) else { return false };
            let is_member =
                |other: &&str| self.node(other).is_some_and(|other| table.member(other.uid()).is_some());
            self.runs(address) && table.members().len() == addresses.len() && addresses.iter().all(is_member)
        })
    }

    /// Who is in office by its own account, if it is one.
    pub(crate) fn coordinator(&self) -> Option<&'static str> {
        let acts = |life: &Life| life.node.log().is_some_and(Log::may_act);
        let mut acting = self.lives.iter().filter(|(_, life)| acts(life));
        let found = acting.next().map(|(address, _)| *address);
        found.filter(|_| acting.next().is_none())
    }

    pub(crate) fn has_event(&self, event: &Event) -> bool {
        self.events.iter().any(|(_, other)| other == event)
    }

    pub(crate) fn nobody_was_removed(&self) -> bool {
        !self.events.iter().any(|(_, event)| matches!(event, Event::Removed(..)))
    }

    pub(crate) fn describe(&self) -> String {
        let lives = self.lives.iter().map(|(address, life)| {
            let Life { node, clock, .. } = life;
            let log = node.log().map(|log| (log.term(), log.in_office(), log.coordinator()));
            format!("{address} {:?} {clock:?} {log:?} {:?}\n", node.uid(), node.table())
        });
        let lives: Vec<String> = lives.collect();
        format!("at {:?}, ends {:?}\n{:?}\n{}", self.now, self.ends, self.register, lives.concat())
    }
}
