//! The driver of many nodes: as the simulator's, without rules that look at every step, and with every byte counted.

use std::collections::BTreeMap;
use std::mem;

use borough_protocol::Effects;
use borough_protocol::incarnation::{Address, Uid};
use borough_protocol::log::Log;
use borough_protocol::machine::Machine;
use borough_protocol::node::{Effect, Input, Message, Node, Peer};
use borough_protocol::random::Random;
use borough_protocol::settings::Checked;

use super::traffic::{Kind, Traffic};
use crate::sim::birth::{Birth, draw_uid, number_of};
use crate::sim::clock::Clock;
use crate::sim::cuts::SlotIndex;
use crate::sim::moment::{MILLISECOND, Moment, Nanos};
use crate::sim::network::{Fate, Network, Weather};
use crate::sim::queue::Queue;

/// One network, in good order.
const WEATHER: Weather = Weather {
    delay_min: MILLISECOND / 5,
    delay_max: 5 * MILLISECOND,
    late_per_mille: 10,
    late_max: 40 * MILLISECOND,
    loss_per_mille: 0,
    twice_per_mille: 0,
};

/// Many nodes and the network between them.
#[derive(Debug)]
pub(super) struct Crowd {
    now: Moment,
    settings: Checked,
    seeds: Vec<Address>,
    slots: Vec<Slot>,
    by_address: BTreeMap<Address, SlotIndex>,
    /// The slot of each life there ever was.
    births: Vec<(Uid, SlotIndex)>,
    queue: Queue<Happening>,
    network: Network,
    random: Random,
    effects: Effects<Effect>,
    handled: u64,
    /// The largest message of each kind since counting began.
    largest: [u64; Kind::COUNT],
}

/// An address.
#[derive(Debug)]
struct Slot {
    address: Address,
    life: Option<Life>,
    traffic: Traffic,
    /// How long lives ran here since counting began, but for the one that runs.
    lived: Nanos,
}

/// A node that runs.
#[derive(Debug)]
struct Life {
    /// Which life of the run it is, counted from 0.
    number: usize,
    node: Node,
    clock: Clock,
    since: Moment,
    /// The wake that is planned; an earlier one that was replaced finds another number here.
    wake: Option<Moment>,
    wakes: u32,
}

/// Something that happens at its moment.
#[derive(Debug)]
enum Happening {
    Start { slot: SlotIndex },
    Arrival { from: Uid, slot: SlotIndex, life: Option<Uid>, bytes: u32, message: Message },
    Wake { slot: SlotIndex, number: u32, life: usize },
}

/// What a node is to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It has no voice: it asks the voters for its lease, and one of them for the table.
    Member,
    /// It votes, and is not the coordinator.
    Voter,
    /// It votes and acts.
    Coordinator,
}

impl Crowd {
    /// So many places for nodes, none of which runs. All seek the first few.
    pub(super) fn new(slots: usize, seeds: usize, settings: Checked, seed: u64) -> Self {
        let mut random = Random::seeded(seed);
        let slots: Vec<Slot> = (0..slots).map(Slot::new).collect();
        Self {
            now: Moment::START,
            settings,
            seeds: slots.iter().take(seeds).map(|slot| slot.address.clone()).collect(),
            by_address: slots.iter().enumerate().map(|(slot, it)| (it.address.clone(), slot)).collect(),
            births: Vec::new(),
            queue: Queue::default(),
            network: Network::new(slots.len(), WEATHER, random.fork()),
            slots,
            random,
            effects: Effects::default(),
            handled: 0,
            largest: [0; Kind::COUNT],
        }
    }

    pub(super) fn now(&self) -> Moment {
        self.now
    }

    /// How many inputs the nodes handled.
    pub(super) fn handled(&self) -> u64 {
        self.handled
    }

    /// The largest message of each kind since counting began.
    pub(super) fn largest(&self) -> [u64; Kind::COUNT] {
        self.largest
    }

    pub(super) fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// Lets happen what happens until then.
    pub(super) fn run(&mut self, until: Moment) {
        while let Some((at, happening)) = self.queue.take(until) {
            self.now = at;
            self.happen(happening);
        }
        self.now = until;
    }

    /// A node starts there after so long.
    pub(super) fn start_after(&mut self, slot: SlotIndex, delay: Nanos) {
        self.queue.plan(self.now.after(delay), Happening::Start { slot });
    }

    /// The process there is gone, without a word, and does not come back.
    pub(super) fn crash(&mut self, slot: SlotIndex) -> Option<Uid> {
        self.bury(slot).map(|life| life.node.uid())
    }

    /// Nothing gets from the one side to the other any more.
    pub(super) fn cut(&mut self, side: &[SlotIndex]) {
        for slot in 0..self.slots.len() {
            for other in side.iter().filter(|_| !side.contains(&slot)) {
                self.network.cuts.cut(slot, *other);
                self.network.cuts.cut(*other, slot);
            }
        }
    }

    /// Everything gets everywhere again.
    pub(super) fn heal(&mut self) {
        self.network.cuts.lift_all();
    }

    /// The nodes that run, and where.
    pub(super) fn running(&self) -> impl Iterator<Item = (SlotIndex, &Node)> + '_ {
        self.slots.iter().enumerate().filter_map(|(slot, it)| Some((slot, &it.life.as_ref()?.node)))
    }

    /// Whether the node there may run: it has its lease.
    pub(super) fn may_run(&self, slot: SlotIndex) -> bool {
        let life = self.slots[slot].life.as_ref();
        life.is_some_and(|life| life.node.may_run(life.clock.show(self.now)))
    }

    /// What the node there is to the others; a member, if there is none.
    pub(super) fn role(&self, slot: SlotIndex) -> Role {
        let Some(life) = &self.slots[slot].life else { return Role::Member };
        let votes = |table: &borough_protocol::table::Table| table.voters().names(life.node.voter());
        if !life.node.table().is_some_and(votes) {
            Role::Member
        } else if life.node.log().is_some_and(Log::in_office) {
            Role::Coordinator
        } else {
            Role::Voter
        }
    }

    /// Forgets what was sent up to now.
    pub(super) fn begin_counting(&mut self) {
        self.largest = [0; Kind::COUNT];
        for slot in &mut self.slots {
            slot.traffic = Traffic::default();
            slot.lived = 0;
            if let Some(life) = &mut slot.life {
                life.since = self.now;
            }
        }
    }

    /// What the nodes there sent and received since counting began, and for how long one ran.
    pub(super) fn traffic(&self, slot: SlotIndex) -> (&Traffic, Nanos) {
        let slot = &self.slots[slot];
        let lives = slot.life.as_ref().map_or(0, |life| self.now.since(life.since));
        (&slot.traffic, slot.lived + lives)
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Arrival { from, slot, life, bytes, message } => {
                self.arrive(from, (slot, life), bytes, message);
            }
            Happening::Wake { slot, number, life } => self.wake(slot, number, life),
            Happening::Start { slot } => self.start(slot),
        }
    }

    fn start(&mut self, slot: SlotIndex) {
        if self.slots[slot].life.is_some() {
            return;
        }
        let number = self.births.len();
        let uid = draw_uid(number, &mut self.random);
        self.births.push((uid, slot));
        let clock = Clock::draw(self.now, self.settings.drift_per_mille, &mut self.random);
        let birth = Birth {
            now: self.now,
            address: &self.slots[slot].address,
            uid,
            app_version: "1.0.0",
            seeds: &self.seeds,
            expect: None,
            settings: &self.settings,
            memory: None,
            prefers: None,
            recovers: None,
            disk: None,
            wall_clock_off: 0,
        };
        let start = birth.start(clock.show(self.now), &mut self.random);
        let node = Node::new(clock.show(self.now), start, &mut self.effects);
        let life = Life { number, node, clock, since: self.now, wake: None, wakes: 0 };
        self.slots[slot].life = Some(life);
        self.settle(slot, uid);
    }

    fn arrive(&mut self, from: Uid, (slot, life): (SlotIndex, Option<Uid>), bytes: u32, message: Message) {
        let cut = self.network.cuts.is_cut(self.births[number_of(from)].1, slot);
        let it = &mut self.slots[slot];
        let Some(receiver) = &it.life else { return };
        if cut || life.is_some_and(|life| life != receiver.node.uid()) {
            return;
        }
        it.traffic.receive(Kind::of(&message), u64::from(bytes));
        self.handle(slot, Input::Message { from, message });
    }

    fn handle(&mut self, slot: SlotIndex, input: Input) {
        let Some(life) = &mut self.slots[slot].life else { return };
        self.handled += 1;
        let uid = life.node.uid();
        life.node.handle(life.clock.show(self.now), input, &mut self.effects);
        self.settle(slot, uid);
    }

    /// Does what the node wants and plans when to wake it.
    fn settle(&mut self, slot: SlotIndex, uid: Uid) {
        let mut effects = mem::take(&mut self.effects);
        for effect in effects.drain() {
            match effect {
                Effect::Send { to, message } => self.send(slot, uid, &to, message),
                Effect::Close(_) | Effect::Publish(_) | Effect::Write { .. } => {}
                Effect::End(_) => {
                    self.bury(slot);
                    let delay = self.random.between(10 * MILLISECOND, 500 * MILLISECOND);
                    self.start_after(slot, delay);
                }
            }
        }
        self.effects = effects;
        self.plan_wake(slot);
    }

    fn send(&mut self, slot: SlotIndex, from: Uid, to: &Peer, message: Message) {
        let (to_slot, life) = match to {
            Peer::Node(uid) => match self.births.get(number_of(*uid)) {
                Some((known, slot)) if known == uid => (*slot, Some(*uid)),
                _ => return,
            },
            Peer::Address(address) => match self.by_address.get(address) {
                Some(slot) => (*slot, None),
                None => return,
            },
        };
        let (kind, bytes) = (Kind::of(&message), message.wire_size() as u64);
        self.slots[slot].traffic.send(kind, bytes);
        self.largest[kind as usize] = self.largest[kind as usize].max(bytes);
        if let Fate::Arrives(delay) = self.network.fate(slot, to_slot) {
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            let arrival = Happening::Arrival { from, slot: to_slot, life, bytes, message };
            self.queue.plan(self.now.after(delay), arrival);
        }
    }

    fn bury(&mut self, slot: SlotIndex) -> Option<Life> {
        let life = self.slots[slot].life.take()?;
        self.slots[slot].lived += self.now.since(life.since);
        Some(life)
    }

    fn wake(&mut self, slot: SlotIndex, number: u32, life: usize) {
        let Some(it) = self.slots[slot].life.as_mut().filter(|it| it.number == life) else { return };
        if it.wake.is_none() || it.wakes != number {
            return;
        }
        it.wake = None;
        if it.node.next_deadline() <= it.clock.show(self.now) {
            self.handle(slot, Input::Deadline);
        } else {
            self.plan_wake(slot);
        }
    }

    /// Deadlines move on with most inputs: the wake that is planned stays, unless it would come too late.
    fn plan_wake(&mut self, slot: SlotIndex) {
        let Some(life) = &mut self.slots[slot].life else { return };
        let Some(due) = life.clock.when(life.node.next_deadline()) else { return };
        let due = due.max(self.now);
        if life.wake.is_some_and(|planned| planned <= due) {
            return;
        }
        life.wake = Some(due);
        life.wakes += 1;
        let wake = Happening::Wake { slot, number: life.wakes, life: life.number };
        self.queue.plan(due, wake);
    }
}

impl Slot {
    fn new(slot: SlotIndex) -> Self {
        // As long as an address and a port are.
        let address = Address::new(format!("10.0.{:03}.{:03}:4370", slot / 250, slot % 250));
        Self { address, life: None, traffic: Traffic::default(), lived: 0 }
    }
}
