//! Five durable voters, each with a disk that takes its time; a network that delays, loses, doubles, reorders and cuts; crashes
//! of any of them, of all at once too, that lose what was not written. All from one seed.

mod chaos;
mod policy;
mod rollback;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use borough_protocol::flaws::Flaws;
use borough_protocol::log::raft::Message;
use borough_protocol::log::{Committed, Log};
use borough_protocol::random::Random;
use borough_protocol::time::Timestamp;
use borough_protocol::version::Term;
use borough_protocol::voters::VoterId;

use super::voter::{Copy, Said, Voter};
use crate::carrier::{State, uid};
use crate::group::uids;
use crate::judge::Judge;

const COUNT: u64 = 5;
const TICK_MS: u64 = 50;

enum Event {
    Tick {
        number: u64,
        life: u64,
    },
    /// The disk is done with some writes.
    Disk {
        number: u64,
        life: u64,
    },
    Arrival {
        from: u64,
        to: u64,
        message: Message<u64, State>,
    },
    Restart(u64),
    /// Two stand at the same time, while others crash and are back at once.
    Duel,
    /// The process crashes and is back within milliseconds.
    Blink(u64),
    Propose,
    Chaos,
}

/// One voter's place: its disk outlives its process.
struct Place {
    /// None while the process is down.
    voter: Option<Voter>,
    disk: Copy,
    /// Older copies of the disk.
    backups: Vec<Copy>,
    /// Processes so far.
    life: u64,
    state: State,
    disk_busy: bool,
    disk_full: bool,
    disk_ms: u64,
    coordinator_heard: Timestamp,
    stood: Timestamp,
}

/// What happened, to see that a run was not idle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) events: u64,
    pub(super) commits: u64,
    pub(super) joints: u64,
    pub(super) snapshots: u64,
    pub(super) crashes: u64,
    /// Writes that a crash lost, and that it did not although nobody was told.
    pub(super) writes_lost: u64,
    pub(super) writes_unreported: u64,
    pub(super) full_disks: u64,
    pub(super) rollbacks: u64,
    pub(super) offices: u64,
    pub(super) healed_ms: u64,
}

impl Counts {
    pub(super) fn add(&mut self, other: Self) {
        self.events += other.events;
        self.commits += other.commits;
        self.joints += other.joints;
        self.snapshots += other.snapshots;
        self.crashes += other.crashes;
        self.writes_lost += other.writes_lost;
        self.writes_unreported += other.writes_unreported;
        self.full_disks += other.full_disks;
        self.rollbacks += other.rollbacks;
        self.offices += other.offices;
        self.healed_ms = self.healed_ms.max(other.healed_ms);
    }
}

pub(super) struct Rig {
    pub(super) judge: Judge,
    pub(super) counts: Counts,
    flaws: Flaws,
    random: Random,
    now: Timestamp,
    order: u64,
    queue: BTreeMap<(Timestamp, u64), Event>,
    places: BTreeMap<u64, Place>,
    /// Who was in office, by term.
    offices: BTreeMap<Term, VoterId>,
    payload: u64,
    /// The voters that the policy wants.
    wanted: BTreeSet<VoterId>,
    cut: BTreeSet<(u64, u64)>,
    lost_per_mille: u64,
    doubled_per_mille: u64,
    delay_ms: (u64, u64),
    faults: bool,
    /// Elections all the time.
    harsh: bool,
}

impl Rig {
    pub(super) fn new(seed: u64, flaws: Flaws) -> Self {
        let now = Timestamp::from_millis(1);
        let place = |number| {
            let voter = if number == 1 { Voter::founder(1, flaws, now) } else { Voter::fresh(number, flaws) };
            Place {
                voter: Some(voter),
                disk: Copy::default(),
                backups: vec![Copy::default()],
                life: 0,
                state: State::default(),
                disk_busy: false,
                disk_full: false,
                disk_ms: 5,
                coordinator_heard: now,
                stood: Timestamp::ZERO,
            }
        };
        let mut rig = Self {
            judge: Judge::default(),
            counts: Counts::default(),
            flaws,
            random: Random::seeded(seed),
            now,
            order: 0,
            queue: BTreeMap::new(),
            places: (1..=COUNT).map(|number| (number, place(number))).collect(),
            offices: BTreeMap::new(),
            payload: 0,
            wanted: uids(1..=3),
            cut: BTreeSet::new(),
            lost_per_mille: 0,
            doubled_per_mille: 0,
            delay_ms: (5, 30),
            faults: true,
            harsh: seed % 2 == 1,
        };
        for number in 1..=COUNT {
            rig.settle(number, Vec::new());
            rig.after(number, Event::Tick { number, life: 0 });
        }
        rig.after(20, Event::Propose);
        rig.after(if seed.is_multiple_of(3) { 30 } else { 800 }, Event::Chaos);
        rig
    }

    /// Runs until that moment, or until something is broken.
    fn run_until(&mut self, end: Timestamp) {
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

    pub(super) fn run_for(&mut self, duration: Duration) {
        self.run_until(self.now + duration);
    }

    /// The faults end. Whether within the limit there is one coordinator, all vote, and everybody is level.
    pub(super) fn heals_within(&mut self, limit: Duration) -> bool {
        self.stop_faults();
        self.wanted = uids(1..=COUNT);
        let (start, committed) = (self.now, self.judge.last());
        let healed = self.waits_for(limit, |rig| rig.is_whole(committed));
        let took = u64::try_from(self.now.since(start).as_millis()).expect("short");
        self.counts.healed_ms = self.counts.healed_ms.max(took);
        healed
    }

    pub(super) fn start_faults(&mut self) {
        self.faults = true;
        self.after(50, Event::Chaos);
    }

    fn stop_faults(&mut self) {
        self.faults = false;
        self.heal_network();
        for number in 1..=COUNT {
            let place = self.place(number);
            (place.disk_full, place.disk_ms) = (false, 5);
            self.use_disk(number);
        }
    }

    fn waits_for(&mut self, limit: Duration, condition: impl Fn(&Self) -> bool) -> bool {
        let end = self.now + limit;
        while self.now < end && self.judge.violation().is_none() {
            self.run_until(self.now + Duration::from_millis(100));
            if condition(self) {
                return true;
            }
        }
        false
    }

    fn is_whole(&self, committed: u64) -> bool {
        let level = |place: &Place| {
            let applied = place.state.version.index;
            place.voter.is_some() && applied > committed && applied + 8 > self.judge.last()
        };
        let voters = uids(1..=COUNT);
        let led = self.coordinator().is_some_and(|(_, voter)| {
            let log = &voter.log;
            log.voters().now == voters && !log.voters().is_joint() && log.may_act()
        });
        led && self.places.values().all(level)
    }

    /// The one in office in the newest term.
    fn coordinator(&self) -> Option<(u64, &Voter)> {
        let voters = self.places.iter().filter_map(|(number, place)| Some((*number, place.voter.as_ref()?)));
        voters.filter(|(_, voter)| voter.log.in_office()).max_by_key(|(_, voter)| voter.log.term())
    }

    fn place(&mut self, number: u64) -> &mut Place {
        self.places.get_mut(&number).expect("one of five")
    }

    fn after(&mut self, millis: u64, event: Event) {
        self.order += 1;
        self.queue.insert((self.now + Duration::from_millis(millis), self.order), event);
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Tick { number, life } => self.tick(number, life),
            Event::Disk { number, life } => self.finish_writes(number, life),
            Event::Arrival { from, to, message } => self.arrive(from, to, message),
            Event::Restart(number) => self.restart(number),
            Event::Duel if self.faults => self.duel(),
            Event::Blink(number) if self.faults => self.crash(number, 10),
            Event::Propose => self.propose(),
            Event::Chaos if self.faults => {
                self.make_trouble();
                let pause = if self.harsh { (10, 200) } else { (50, 600) };
                let pause = self.random.between(pause.0, pause.1);
                self.after(pause, Event::Chaos);
            }
            Event::Chaos | Event::Duel | Event::Blink(_) => {}
        }
    }

    fn tick(&mut self, number: u64, life: u64) {
        let (now, wanted) = (self.now, self.wanted.clone());
        let place = self.place(number);
        if place.life != life || place.voter.is_none() {
            return;
        }
        let mut out = Vec::new();
        policy::act(uid(number), place, now, &wanted, &mut out);
        self.settle(number, out);
        self.after(TICK_MS, Event::Tick { number, life });
    }

    fn arrive(&mut self, from: u64, to: u64, message: Message<u64, State>) {
        let now = self.now;
        let Some(voter) = self.place(to).voter.as_mut() else { return };
        let mut out = Vec::new();
        if let Err(malformed) = voter.log.handle(now, uid(from), message, &mut out) {
            self.judge.accuse(format!("{to}: {malformed}"));
        }
        self.settle(to, out);
    }

    fn propose(&mut self) {
        for number in 1..=COUNT {
            self.payload += 1;
            let (now, payload, mut out) = (self.now, self.payload, Vec::new());
            let Some(voter) = self.place(number).voter.as_mut() else { continue };
            // Not in office, or handing over: another time.
            let _ = voter.log.propose(now, payload, &mut out);
            self.settle(number, out);
        }
        let pause = if self.faults { self.random.between(5, 150) } else { 97 };
        self.after(pause, Event::Propose);
    }

    /// After every call of a log: what it wants written, what it was told, what it sends.
    fn settle(&mut self, number: u64, out: Said) {
        let place = self.places.get_mut(&number).expect("one of five");
        let Some(voter) = &mut place.voter else { return };
        voter.log.assert_invariants();
        voter.queue_writes();
        let office = voter.log.in_office().then(|| voter.log.term());
        let told = voter.told();
        let newest = told.iter().map(|committed| match committed {
            Committed::Entry(version, _) | Committed::Snapshot { version, .. } => version.index,
        });
        if newest.max().is_some_and(|newest| newest > voter.disk.last_index()) {
            self.judge.accuse(format!("{number} was told what is not on its disk"));
        }
        self.judge.hear(uid(number), office, &mut place.state, told);
        if let Some(term) = office {
            let first = *self.offices.entry(term).or_insert(uid(number));
            if first != uid(number) {
                self.judge.accuse(format!("{first:?} and {number} are both in office in {term:?}"));
            }
        }
        for (to, message) in out {
            self.send(number, to.get(), &message);
        }
        self.use_disk(number);
        self.counts.commits = self.judge.last();
        self.counts.joints = self.judge.joints;
        self.counts.snapshots = self.judge.snapshots;
        self.counts.offices = self.judge.offices();
    }

    fn send(&mut self, from: u64, to: u64, message: &Message<u64, State>) {
        if self.cut.contains(&(from, to)) {
            return;
        }
        let copies = 1 + u64::from(self.random.per_mille(self.doubled_per_mille));
        for _ in 0..copies {
            if !self.random.per_mille(self.lost_per_mille) {
                let delay = self.random.between(self.delay_ms.0, self.delay_ms.1);
                self.after(delay, Event::Arrival { from, to, message: message.clone() });
            }
        }
    }

    /// Lets the disk begin with what is queued.
    fn use_disk(&mut self, number: u64) {
        let place = self.place(number);
        let Some(voter) = &place.voter else { return };
        if place.disk_busy || place.disk_full || voter.queue.is_empty() {
            return;
        }
        place.disk_busy = true;
        let (life, longest) = (place.life, place.disk_ms);
        let delay = self.random.between(0, longest);
        self.after(delay, Event::Disk { number, life });
    }

    fn finish_writes(&mut self, number: u64, life: u64) {
        let (now, count) = (self.now, self.random.between(1, 4));
        let keeps = self.random.below(4) == 0;
        let place = self.place(number);
        if place.life != life || place.disk_full {
            return;
        }
        place.disk_busy = false;
        let Some(voter) = &mut place.voter else { return };
        let out = voter.write_and_report(now, usize::try_from(count).expect("few"));
        if keeps {
            place.backups.push(voter.disk.clone());
        }
        self.settle(number, out);
    }

    /// What each node is like, for a run that did not heal.
    pub(super) fn describe(&self) -> String {
        let mut text = format!("{:?}, committed {}, {:?}", self.now, self.judge.last(), self.judge.voters());
        for (number, place) in &self.places {
            let line = place.voter.as_ref().map_or("down".to_owned(), |voter| {
                let log = &voter.log;
                format!(
                    "{:?} office {} applied {:?} last {} unwritten {} {:?}",
                    log.term(),
                    log.in_office(),
                    place.state.version,
                    log.last_index(),
                    voter.queue.len(),
                    log.voters()
                )
            });
            text.extend(["\n", &number.to_string(), " ", &line]);
        }
        text
    }
}
