//! A few nodes on a network that does what the test says.
//!
//! A node's name is its address, with a `'` behind it for each later life that is there together with an earlier one:
//! `e'` listens where `e` did, and whoever sends to that address reaches `e'`.

mod clock;
mod describe;
mod disks;
mod judge;
mod network;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use borough_protocol::flaws::Flaws;
use borough_protocol::formation::{FoundingRule, Memory, Search};
use borough_protocol::incarnation::{Address, Facts, Incarnation, NodeId, Uid};
use borough_protocol::log::Log;
use borough_protocol::node::{Command, Effect, End, Event, Input, Node, Peer, Start};
use borough_protocol::settings::{Checked, Settings};
use borough_protocol::table::{Cluster, Table};
use borough_protocol::time::Timestamp;
use borough_protocol::voters::VoterId;
use borough_protocol::{Effects, Machine};

pub(crate) use self::clock::Clock;
use self::disks::Disks;
use self::judge::Judge;
use self::network::Network;
pub(crate) use self::network::{Fate, Parcel};

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const MILLI: Duration = Duration::from_millis(1);

pub(crate) struct Rig {
    /// By a clock that nobody has.
    pub(crate) now: Timestamp,
    pub(crate) nodes: BTreeMap<&'static str, Node>,
    pub(crate) events: Vec<(&'static str, Event)>,
    pub(crate) ends: Vec<(&'static str, End)>,
    pub(crate) settings: Settings,
    /// What every node started from now on does wrong.
    pub(crate) flaws: Flaws,
    pub(crate) network: Network,
    /// Whether a node may be running when what it owned was given away: only beyond the bounds that are promised.
    pub(crate) beyond_bounds: bool,
    judge: Judge,
    clocks: BTreeMap<&'static str, Clock>,
    /// Those that are stopped, and since when; whether a turn hangs in the middle.
    paused: BTreeMap<&'static str, (Timestamp, bool)>,
    missed: Vec<Parcel>,
    count: u64,
    seeds: Vec<&'static str>,
    /// What a process whose last life ended by itself remembers.
    memories: BTreeMap<&'static str, Arc<Memory>>,
    /// When a process began whose last life ended by itself, or which has a life now.
    processes: BTreeMap<&'static str, Timestamp>,
    /// Used if the settings say that voters are durable.
    pub(crate) disks: Disks,
}

/// How one node differs from the others.
pub(crate) struct Birth {
    pub(crate) seeds: Vec<&'static str>,
    pub(crate) settings: Settings,
    pub(crate) roles: Vec<String>,
    pub(crate) app_version: &'static str,
    /// Whether it recovers its cluster.
    pub(crate) recovers: bool,
    pub(crate) founding: FoundingRule,
    /// The cluster that its last life yielded to.
    pub(crate) prefers: Option<Cluster>,
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
            flaws: Flaws::default(),
            network: Network::default(),
            beyond_bounds: false,
            judge: Judge::default(),
            clocks: BTreeMap::new(),
            paused: BTreeMap::new(),
            missed: Vec::new(),
            count: 0,
            seeds: seeds.to_vec(),
            memories: BTreeMap::new(),
            processes: BTreeMap::new(),
            disks: Disks::default(),
        }
    }

    /// A cluster in which each is older than the next, and as many vote as ever will.
    pub(crate) fn grown(settings: Settings, names: &[&'static str]) -> Self {
        Self::grown_with(Flaws::default(), settings, names)
    }

    pub(crate) fn grown_with(flaws: Flaws, settings: Settings, names: &[&'static str]) -> Self {
        let mut rig = Self::with(settings, &names[..names.len().min(3)]);
        rig.flaws = flaws;
        // The first founds alone; later lives find each other by up to three seeds.
        rig.start_with(names[0], &names[..1], rig.settings.clone());
        for place in 1..=names.len() {
            if place > 1 {
                rig.start(names[place - 1]);
            }
            rig.wait_until("grown", 15 * SECOND, |rig| rig.is_whole(&names[..place]));
        }
        rig.pass(15 * SECOND);
        rig.events.clear();
        rig
    }

    /// Starts a node of that name, with the rig's seeds; the uid is a new one each time.
    pub(crate) fn start(&mut self, name: &'static str) {
        let birth = self.birth();
        self.start_as(name, birth);
    }

    pub(crate) fn start_with(&mut self, name: &'static str, seeds: &[&'static str], settings: Settings) {
        let birth = Birth { seeds: seeds.to_vec(), settings, ..self.birth() };
        self.start_as(name, birth);
    }

    /// What a node is born with, if the test has no other wish.
    pub(crate) fn birth(&self) -> Birth {
        Birth {
            seeds: self.seeds.clone(),
            settings: self.settings.clone(),
            roles: Vec::new(),
            app_version: "1",
            recovers: false,
            // Without seeds it stands for a node on a port that nobody knows.
            founding: FoundingRule { unknown_to_others: self.seeds.is_empty(), ..FoundingRule::default() },
            prefers: None,
        }
    }

    pub(crate) fn start_as(&mut self, name: &'static str, birth: Birth) {
        self.count += 1;
        let mut settings = Checked::new(birth.settings).expect("good settings");
        settings.flaws = self.flaws;
        let address = address(name);
        let disk = settings.durable.then(|| self.disks.open(address));
        let now = self.local(name);
        let process_since = *self.processes.entry(name).or_insert(now);
        let start = Start {
            me: Incarnation {
                address: Address::new(address),
                uid: Uid::new(100 + self.count).expect("not 0"),
            },
            facts: Facts {
                id: NodeId::new(address),
                roles: birth.roles.into(),
                app_version: birth.app_version.into(),
                zone: "".into(),
                disk: disk.as_ref().map(|(_, disk)| *disk),
            },
            search: Search {
                seeds: birth.seeds.iter().map(|seed| Address::new(*seed)).collect(),
                founding: birth.founding,
                memory: self.memories.remove(name),
                is_unlisted: false,
                known: Vec::new(),
                prefers: birth.prefers,
                leases_until: None,
                bond: None,
                pledges: None,
            },
            settings,
            era: u32::try_from(self.now.as_nanos() / 1_000_000_000).expect("small"),
            seed: self.count,
            recovers: birth.recovers,
            disk: disk.map(|(image, _)| image),
            process_since,
        };
        let mut effects = Effects::default();
        let node = Node::new(now, start, &mut effects);
        assert!(self.nodes.insert(name, node).is_none(), "{name} runs already");
        self.perform(name, &mut effects);
    }

    /// Does it to each.
    pub(crate) fn each(&mut self, names: &[&'static str], act: impl Fn(&mut Self, &'static str)) {
        for name in names {
            act(self, name);
        }
    }

    pub(crate) fn crash(&mut self, name: &'static str) {
        self.nodes.remove(name).expect("running");
        self.disks.crash(address(name));
        self.memories.remove(name);
        self.processes.remove(name);
        self.paused.remove(name);
    }

    /// Whether the disk of that node takes writes from now on; the node is told.
    pub(crate) fn disk_works(&mut self, name: &'static str, works: bool) {
        self.disks.of(name).full = !works;
        self.input(name, Input::DiskWorks(works));
    }

    pub(crate) fn command(&mut self, name: &'static str, command: Command) {
        self.input(name, Input::Command(command));
    }

    /// An operator vouches that the others are dead: its next life recovers the cluster.
    pub(crate) fn recover(&mut self, name: &'static str, known: &[&'static str]) {
        self.command(name, Command::Recover);
        assert!(!self.nodes.contains_key(name), "it does not recover\n{}", self.describe());
        let birth = Birth { seeds: known.to_vec(), recovers: true, ..self.birth() };
        self.start_as(name, birth);
    }

    /// The process stops as it is, perhaps in the middle of a turn, and hears nothing until it goes on.
    pub(crate) fn pause(&mut self, name: &'static str) {
        let runs = self.runs(name);
        self.paused.insert(name, (self.now, runs));
    }

    /// It goes on; its turn has ended, and what came meanwhile is there.
    pub(crate) fn resume(&mut self, name: &'static str) {
        self.resume_and_read(name, Duration::ZERO);
    }

    /// It goes on, and reads what came meanwhile only so much later: its own deadlines come first.
    pub(crate) fn resume_and_read(&mut self, name: &'static str, later: Duration) {
        self.paused.remove(name).expect("paused");
        for parcel in std::mem::take(&mut self.missed) {
            self.network.deliver_again(self.now + later, parcel);
        }
    }

    /// It goes on, and its clock knows nothing of the time between.
    pub(crate) fn resume_as_if_no_time_had_passed(&mut self, name: &'static str) {
        let slept = self.now.since(self.paused[name].0);
        let now = self.now;
        self.clock(name).stood_still(now, slept);
        self.resume(name);
    }

    /// The clock of that node runs at so many thousandths of true time from now on.
    pub(crate) fn clock_rate(&mut self, name: &'static str, rate: u64) {
        let now = self.now;
        self.clock(name).run_at(now, rate);
    }

    fn clock(&mut self, name: &'static str) -> &mut Clock {
        self.clocks.entry(name).or_insert(Clock::TRUE)
    }

    /// What that node's clock shows.
    pub(crate) fn local(&self, name: &str) -> Timestamp {
        self.clocks.get(name).unwrap_or(&Clock::TRUE).at(self.now)
    }

    pub(crate) fn cut(&mut self, some: &[&'static str], others: &[&'static str]) {
        self.network.links.cut(some, others);
    }

    /// Cuts every link between two of these groups.
    pub(crate) fn split(&mut self, sides: &[&[&'static str]]) {
        for (place, side) in sides.iter().enumerate() {
            for other in &sides[place + 1..] {
                self.network.links.cut(side, other);
            }
        }
    }

    pub(crate) fn cut_one_way(&mut self, from: &[&'static str], to: &[&'static str]) {
        self.network.links.cut_one_way(from, to);
    }

    pub(crate) fn heal(&mut self) {
        self.network.links.heal();
    }

    /// What the test held back arrives now.
    pub(crate) fn release(&mut self) {
        self.network.release(self.now, Fate::Held, false);
    }

    /// What was copied arrives again.
    pub(crate) fn replay(&mut self, backwards: bool) {
        self.network.release(self.now, Fate::Copied, backwards);
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

    /// Lets time pass; the test fails the moment it is not so.
    pub(crate) fn always(&mut self, what: &str, time: Duration, so: impl Fn(&Self) -> bool) {
        let end = self.now + time;
        assert!(!self.until(end, |rig| !so(rig)), "not so any more: {what}\n{}", self.describe());
    }

    fn until(&mut self, end: Timestamp, so: impl Fn(&Self) -> bool) -> bool {
        loop {
            self.judge();
            if so(self) {
                return true;
            }
            let awake = self.nodes.iter().filter(|(name, _)| !self.paused.contains_key(*name));
            let when = |name: &str, node: &Node| {
                self.clocks.get(name).unwrap_or(&Clock::TRUE).when(node.next_deadline())
            };
            let deadline = awake.map(|(name, node)| (when(name, node), *name)).min();
            let message = self.network.next();
            let next = deadline.map_or(Timestamp::NEVER, |(at, _)| at).min(message).min(self.disks.next());
            if next > end {
                self.now = end;
                self.judge();
                return so(self);
            }
            self.now = self.now.max(next);
            if let Some((written, number)) = self.disks.sync(self.now) {
                if let Some(name) = self.nodes.keys().copied().rfind(|name| address(name) == written) {
                    self.input(name, Input::Written(number));
                }
            } else if message <= self.now {
                self.deliver();
            } else if let Some((_, name)) = deadline {
                self.input(name, Input::Deadline);
            }
        }
    }

    fn judge(&self) {
        let running = |name: &str, node: &Node| self.judge.is_freed(node.uid()) && self.runs(name);
        let twice = self.nodes.iter().find(|(name, node)| running(name, node));
        assert!(
            self.beyond_bounds || twice.is_none(),
            "{:?} runs what may run elsewhere\n{}",
            twice.map(|(name, _)| name),
            self.describe()
        );
    }

    fn deliver(&mut self) {
        let Some(mut parcel) = self.network.take() else { return };
        let target = match &parcel.to {
            Peer::Node(uid) => self.nodes.iter().find(|(_, node)| node.uid() == *uid).map(|(name, _)| *name),
            // The newest life has the address.
            Peer::Address(there) => self.nodes.keys().copied().rfind(|name| address(name) == there.as_str()),
        };
        let Some(target) = target else { return };
        parcel.at = target;
        if !self.network.lets_pass(&mut parcel) {
            return;
        }
        if self.paused.contains_key(target) {
            self.missed.push(parcel);
        } else {
            self.input(target, Input::Message { from: parcel.uid, message: parcel.message });
        }
    }

    fn input(&mut self, name: &'static str, input: Input) {
        let mut effects = Effects::default();
        let now = self.local(name);
        let node = self.nodes.get_mut(name).expect("running");
        node.handle(now, input, &mut effects);
        node.assert_invariants(now);
        self.judge.look(node);
        self.perform(name, &mut effects);
    }

    fn perform(&mut self, name: &'static str, effects: &mut Effects<Effect>) {
        let uid = self.nodes[name].uid();
        for effect in effects.drain() {
            match effect {
                Effect::Send { to, message } => {
                    self.network.send(self.now, Parcel { from: name, uid, to, at: "", message });
                }
                Effect::Close(_) => {}
                Effect::Publish(event) => {
                    self.judge.hear(&event);
                    self.events.push((name, event));
                }
                Effect::End(end) => {
                    if !matches!(end, End::GaveUp(_)) {
                        self.processes.remove(name);
                    }
                    self.ends.push((name, end));
                }
                Effect::Write { number, write } => {
                    self.disks.write(address(name), self.now, number, write);
                }
            }
        }
        if self.nodes[name].is_ended()
            && let Some(node) = self.nodes.remove(name)
        {
            self.disks.flush(address(name));
            self.memories.extend(node.memory().map(|memory| (name, memory)));
        }
    }

    pub(crate) fn uid(&self, name: &str) -> Uid {
        self.nodes[name].uid()
    }

    pub(crate) fn table(&self, name: &str) -> &Table {
        self.nodes[name].table().expect("in a cluster")
    }

    /// Whether work runs there: it may, or it stopped in the middle of it.
    pub(crate) fn runs(&self, name: &str) -> bool {
        match self.paused.get(name) {
            Some((_, hangs)) => *hangs,
            None => self.nodes.get(name).is_some_and(|node| node.may_run(self.local(name))),
        }
    }

    /// Those that run.
    pub(crate) fn running(&self) -> BTreeSet<&'static str> {
        self.nodes.keys().copied().filter(|name| self.runs(name)).collect()
    }

    /// Whether exactly these run, know each other as members, and may work.
    pub(crate) fn is_whole(&self, names: &[&str]) -> bool {
        names.iter().all(|name| {
            let Some(table) = self.nodes.get(name).and_then(Node::table) else { return false };
            self.runs(name)
                && table.members().len() == names.len()
                && names.iter().all(|other| {
                    self.nodes.get(other).is_some_and(|other| table.member(other.uid()).is_some())
                })
        })
    }

    /// Who is in office.
    pub(crate) fn coordinator(&self) -> Option<&'static str> {
        let mut acting = self.nodes.iter().filter(|(_, node)| node.log().is_some_and(Log::may_act));
        let found = acting.next().map(|(name, _)| *name);
        found.filter(|_| acting.next().is_none())
    }

    /// Who votes, as that node has it.
    pub(crate) fn voters(&self, name: &str) -> BTreeSet<&'static str> {
        let table = self.table(name);
        let name = |voter: &VoterId| {
            self.nodes.iter().find(|(_, node)| node.voter() == *voter).map_or("gone", |(name, _)| *name)
        };
        table.voters().now.iter().chain(&table.voters().next).map(name).collect()
    }

    /// Whether anybody was told of it.
    pub(crate) fn heard(&self, event: &Event) -> bool {
        self.events.iter().any(|(_, heard)| heard == event)
    }

    /// Whether anybody was removed.
    pub(crate) fn anybody_removed(&self) -> bool {
        self.events.iter().any(|(_, event)| matches!(event, Event::Removed(..)))
    }
}

/// Where a node of that name listens.
fn address(name: &'static str) -> &'static str {
    name.trim_end_matches('\'')
}
