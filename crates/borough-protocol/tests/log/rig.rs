//! Five places where nodes live, a network that delays, loses, doubles, reorders and cuts (also one way), crashes after which
//! another node starts in the same place, and a small policy that decides who stands and who votes. All from one seed.

mod chaos;
mod policy;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use borough_protocol::random::Random;
use borough_protocol::time::Timestamp;
use borough_protocol::voters::{VoterId, Voters};

use crate::carrier::{Carrier, State, uid};
use crate::judge::Judge;

const PLACES: usize = 5;
const TICK_MS: u64 = 50;
const HELLO_EVERY: Duration = Duration::from_millis(250);

#[derive(Clone)]
enum Packet<M> {
    Log(M),
    /// Says that the node is there, and whether it wants to leave.
    Hello {
        leaving: bool,
    },
}

enum Event<M> {
    Tick(VoterId),
    Arrival { from: VoterId, to: VoterId, packet: Packet<M> },
    Start { place: usize },
    Propose,
    Chaos,
}

struct Host<L> {
    log: L,
    place: usize,
    state: State,
    heard: BTreeMap<VoterId, (Timestamp, bool)>,
    hello_at: Timestamp,
    /// The policy's wish, and since when it has been the same.
    wish: (BTreeSet<VoterId>, Timestamp),
    coordinator_heard: Timestamp,
    stood: Timestamp,
    leaving: Option<Timestamp>,
}

/// What happened, to see that a run was not idle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) events: u64,
    pub(crate) commits: u64,
    pub(crate) joints: u64,
    pub(crate) snapshots: u64,
    pub(crate) crashes: u64,
    pub(crate) cuts: u64,
    pub(crate) offices: u64,
    pub(crate) healed_ms: u64,
}

pub(crate) struct Rig<L: Carrier> {
    pub(crate) judge: Judge,
    pub(crate) counts: Counts,
    breaks: L::Breaks,
    random: Random,
    now: Timestamp,
    order: u64,
    queue: BTreeMap<(Timestamp, u64), Event<L::Message>>,
    hosts: BTreeMap<VoterId, Host<L>>,
    born: u64,
    payload: u64,
    network: Network,
    faults: bool,
    /// Elections and proposals all the time.
    harsh: bool,
    /// Crashes leave a quorum of every list in force, so that the rest can go on.
    survivable: bool,
    crashed_at: Timestamp,
}

struct Network {
    cut: BTreeSet<(usize, usize)>,
    lost_per_mille: u64,
    doubled_per_mille: u64,
    delay_ms: (u64, u64),
}

impl Network {
    fn healthy() -> Self {
        Self { cut: BTreeSet::new(), lost_per_mille: 0, doubled_per_mille: 0, delay_ms: (5, 30) }
    }
}

impl<L: Carrier> Rig<L> {
    pub(crate) fn new(seed: u64, breaks: L::Breaks) -> Self {
        let mut rig = Self {
            judge: Judge::default(),
            counts: Counts::default(),
            breaks,
            random: Random::seeded(seed),
            now: Timestamp::ZERO,
            order: 0,
            queue: BTreeMap::new(),
            hosts: BTreeMap::new(),
            born: 0,
            payload: 0,
            network: Network::healthy(),
            faults: true,
            harsh: seed % 4 == 1,
            survivable: !seed.is_multiple_of(8),
            crashed_at: Timestamp::ZERO,
        };
        for place in 0..PLACES {
            rig.after(1 + 60 * place as u64, Event::Start { place });
        }
        rig.after(300, Event::Propose);
        rig.after(1200, Event::Chaos);
        rig
    }

    /// Whether a run of this seed must heal.
    pub(crate) fn must_heal(&self) -> bool {
        self.survivable
    }

    /// Runs until that moment, or until something is broken.
    pub(crate) fn run_until(&mut self, end: Timestamp) {
        while self.judge.violation().is_none() {
            let Some(entry) = self.queue.first_entry() else { break };
            let (moment, _) = *entry.key();
            if moment > end {
                break;
            }
            let event = entry.remove();
            self.now = moment;
            self.counts.events += 1;
            self.happen(event);
        }
        self.now = end;
    }

    /// The faults end. Whether within the limit there is one coordinator, the wanted voters, and everybody is level.
    pub(crate) fn heals_within(&mut self, limit: Duration) -> bool {
        self.faults = false;
        self.network = Network::healthy();
        for host in self.hosts.values_mut() {
            host.leaving = None;
        }
        let (start, committed) = (self.now, self.judge.last());
        while self.now < start + limit && self.judge.violation().is_none() {
            self.run_until(self.now + Duration::from_millis(100));
            if self.is_whole(committed) {
                self.counts.healed_ms = u64::try_from(self.now.since(start).as_millis()).expect("short");
                return true;
            }
        }
        false
    }

    fn is_whole(&self, committed: u64) -> bool {
        let all: BTreeSet<VoterId> = self.hosts.keys().copied().collect();
        let level = |host: &Host<L>| {
            let applied = host.state.version.index;
            applied > committed && applied + 8 > self.judge.last()
        };
        let mut offices = self.hosts.values().filter(|host| host.log.in_office());
        let one = offices.next().is_some_and(|host| {
            let voters = host.log.voters();
            voters.now == all && !voters.is_joint() && host.log.may_act()
        });
        all.len() == PLACES && one && offices.next().is_none() && self.hosts.values().all(level)
    }

    fn after(&mut self, millis: u64, event: Event<L::Message>) {
        self.order += 1;
        self.queue.insert((self.now + Duration::from_millis(millis), self.order), event);
    }

    fn happen(&mut self, event: Event<L::Message>) {
        match event {
            Event::Start { place } => self.start(place),
            Event::Tick(who) => self.tick(who),
            Event::Arrival { from, to, packet } => self.arrive(from, to, packet),
            Event::Propose => self.propose(),
            Event::Chaos if self.faults => {
                self.make_trouble();
                let pause = if self.harsh { (60, 300) } else { (150, 900) };
                let pause = self.random.between(pause.0, pause.1);
                self.after(pause, Event::Chaos);
            }
            Event::Chaos => {}
        }
    }

    fn start(&mut self, place: usize) {
        self.born += 1;
        let me = uid(self.born);
        let log = match self.born {
            1 => L::found(me, self.breaks, self.now),
            _ => L::make(me, self.breaks),
        };
        let host = Host {
            log,
            place,
            state: State::default(),
            heard: BTreeMap::new(),
            hello_at: self.now,
            wish: (BTreeSet::new(), self.now),
            coordinator_heard: self.now,
            stood: Timestamp::ZERO,
            leaving: None,
        };
        self.hosts.insert(me, host);
        self.tick(me);
    }

    fn tick(&mut self, who: VoterId) {
        let now = self.now;
        let alive: Vec<VoterId> = self.hosts.keys().copied().collect();
        let Some(host) = self.hosts.get_mut(&who) else { return };
        let mut out = Vec::new();
        if now >= host.log.next_deadline() {
            host.log.on_deadline(now, &mut out);
        }
        policy::stand_if_quiet(who, host, now, &mut out);
        policy::change_lists(who, host, (now, &alive), &mut out);
        self.settle(who, out);
        self.say_hello(who);
        self.leave_if_unneeded(who);
        self.after(TICK_MS, Event::Tick(who));
    }

    fn say_hello(&mut self, who: VoterId) {
        let Some(host) = self.hosts.get_mut(&who).filter(|host| self.now >= host.hello_at) else { return };
        host.hello_at = self.now + HELLO_EVERY;
        let leaving = host.leaving.is_some();
        let others: Vec<VoterId> = self.hosts.keys().copied().filter(|&uid| uid != who).collect();
        for to in others {
            self.send(who, to, &Packet::Hello { leaving });
        }
    }

    fn send(&mut self, from: VoterId, to: VoterId, packet: &Packet<L::Message>) {
        let copies = 1 + u64::from(self.random.per_mille(self.network.doubled_per_mille));
        for _ in 0..copies {
            if !self.random.per_mille(self.network.lost_per_mille) {
                let (low, high) = self.network.delay_ms;
                let delay = self.random.between(low, high);
                self.after(delay, Event::Arrival { from, to, packet: packet.clone() });
            }
        }
    }

    fn arrive(&mut self, from: VoterId, to: VoterId, packet: Packet<L::Message>) {
        let sender = self.hosts.get(&from).map(|host| host.place);
        let Some(host) = self.hosts.get_mut(&to) else { return };
        if sender.is_some_and(|place| self.network.cut.contains(&(place, host.place))) {
            return;
        }
        match packet {
            Packet::Hello { leaving } => drop(host.heard.insert(from, (self.now, leaving))),
            Packet::Log(message) => {
                let (mut out, before) = (Vec::new(), host.log.last_index());
                if let Err(malformed) = host.log.handle(self.now, from, message, &mut out) {
                    self.judge.accuse(format!("{to:?}: {malformed}"));
                }
                self.counts.cuts += u64::from(host.log.last_index() < before);
                self.settle(to, out);
            }
        }
    }

    fn propose(&mut self) {
        let hosts = self.hosts.iter().filter(|(_, host)| host.log.in_office());
        let all: Vec<VoterId> = hosts.map(|(uid, _)| *uid).collect();
        for who in all {
            self.payload += 1;
            let Some(host) = self.hosts.get_mut(&who) else { continue };
            let mut out = Vec::new();
            // Whoever hands over takes nothing; another time, then.
            let _ = host.log.propose(self.now, self.payload, &mut out);
            self.settle(who, out);
        }
        let pause = match (self.faults, self.harsh) {
            (true, true) => self.random.between(5, 45),
            (true, false) => self.random.between(20, 170),
            (false, _) => 97,
        };
        self.after(pause, Event::Propose);
    }

    /// After every call of a log: what it was told, what it sends.
    fn settle(&mut self, who: VoterId, out: Vec<(VoterId, L::Message)>) {
        let Some(host) = self.hosts.get_mut(&who) else { return };
        host.log.assert_sound();
        let office = host.log.in_office().then(|| host.log.term());
        let told = host.log.take_committed();
        self.judge.hear(who, office, &mut host.state, told);
        for (to, message) in out {
            self.send(who, to, &Packet::Log(message));
        }
        self.counts.commits = self.judge.last();
        self.counts.joints = self.judge.joints;
        self.counts.snapshots = self.judge.snapshots;
        self.counts.offices = self.judge.offices();
    }

    /// The lists that somebody may still go by: those committed, and those at the end of each log that has all of that.
    fn lists_in_force(&self) -> impl Iterator<Item = &Voters> {
        let last = self.judge.last();
        let newest = self.hosts.values().filter(move |host| host.log.last_index() >= last);
        newest.map(|host| host.log.voters()).chain([self.judge.voters()])
    }

    /// What each node is like, for a run that did not heal.
    pub(crate) fn describe(&self) -> String {
        let mut text = format!("{:?}, committed {}, {:?}", self.now, self.judge.last(), self.judge.voters());
        for (uid, host) in &self.hosts {
            let log = &host.log;
            let line = format!(
                "\n{uid:?} {:?} office {} applied {:?} last {} {:?} {:?}",
                log.term(),
                log.in_office(),
                host.state.version,
                log.last_index(),
                log.voters(),
                log.learners()
            );
            text.push_str(&line);
        }
        text
    }
}
