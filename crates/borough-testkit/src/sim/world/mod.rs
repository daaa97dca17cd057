//! The driver of a simulated cluster: the second one of the very machines that real nodes run.
//!
//! It knows true time, who runs where and who is in a turn; the machines know none of it. Everything that happens is taken
//! from one queue, and every machine that handled something is looked at by the rules before the next thing happens.
//!
//! ```text
//!            start                pause                end, crash
//! slot empty -----> slot running <-----> slot paused   -----------> slot empty
//! ```

mod ambush;
mod bad_links;
mod budget;
mod discovery;
mod disks;
mod failover;
mod faults;
mod founding;
mod lineages;
mod lives;
mod recovery;
mod replaced;
mod second_clusters;
mod settled;
mod sharding;
mod troubles;
mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use borough_protocol::Effects;
use borough_protocol::incarnation::{Address, Uid};
use borough_protocol::machine::Machine;
use borough_protocol::node::{Command, Effect, Event, Input, Message, Peer};
use borough_protocol::random::Random;
use borough_protocol::settings::{Checked, Strategy};
use borough_protocol::table::{Cluster, Removal};

use self::discovery::Discovery;
use self::failover::Overdue;
use self::faults::Lift;
use self::founding::Founding;
use self::lineages::Lineages;
use self::second_clusters::Follow;
use self::sharding::{Act, Sharding};
use super::cuts::SlotIndex;
use super::disk::{Copy, Disks};
use super::invariants::{Before, Rules};
use super::meeting::Meeting;
use super::message_kind::kind;
use super::moment::{Moment, Nanos};
use super::network::{Fate, Network};
use super::plan::{Mode, Plan};
use super::queue::Queue;
use super::rare::{Met, Rare};
use super::slots::Slots;
use super::strike::Strike;
use super::trace::{Lines, Trace};
use super::violation::Violation;

/// A cluster, its network and its fate.
#[derive(Debug)]
pub(super) struct World {
    now: Moment,
    mode: Mode,
    settings: Checked,
    /// Which seeds the nodes of each slot name.
    seeds: Vec<Vec<Address>>,
    /// Who shows those seeds; none if the lists are written down.
    discovery: Option<Discovery>,
    slots: Slots,
    /// What is to happen to it, and which of it lies in wait.
    strikes: Vec<Strike>,
    waiting: Vec<usize>,
    victim: Option<Uid>,
    /// Whether faults strike whatever the mode allows.
    is_forced: bool,
    /// The fault that is about to strike, with roles looked up.
    striking: Option<Strike>,
    /// Those that did.
    struck: Vec<Strike>,
    queue: Queue<Happening>,
    network: Network,
    rules: Rules,
    founding: Founding,
    lineages: Lineages,
    disks: Disks,
    /// When a disk was last restored from a copy, and how many were.
    restored: Option<(Moment, usize)>,
    sharding: Option<Sharding>,
    trace: Trace,
    met: Met,
    /// Chance for starts, turns and everything else that is not the network's.
    random: Random,
    effects: Effects<Effect>,
    handled: u64,
    is_healing: bool,
    /// Who was removed as cut off: most hear of it later than the first.
    cut_off: BTreeSet<Uid>,
    /// Since when no word has passed between two slots in one direction or both; of those that are cut apart no longer, since when it last was so.
    apart_since: BTreeMap<(SlotIndex, SlotIndex), Moment>,
    /// Who was removed because an operator wanted it, and when the first node heard of it.
    removed_on_request: BTreeMap<Uid, Moment>,
    /// When the last node that left in order is started again.
    returned: Moment,
    /// Since when as many vote as the strategy asks for; none: they are too few to remove anybody.
    complete_since: Option<Moment>,
    /// What the input is that a node handles, if a node of another cluster greets it.
    meeting: Option<Meeting>,
    /// The cluster that somebody was told to shut down.
    closed: Option<Cluster>,
    /// When a life last ended because its whole cluster was shut down.
    closed_at: Option<Moment>,
    circles: u32,
    circles_at: Moment,
}

/// Something that happens at its moment.
#[derive(Debug)]
enum Happening {
    Start { slot: SlotIndex, uid: Option<Uid> },
    Retire { slot: SlotIndex },
    Arrival { from: Uid, slot: SlotIndex, life: Option<Uid>, message: Message },
    Wake { slot: SlotIndex, number: u32, life: usize },
    Resume { slot: SlotIndex, life: usize },
    Work { slot: SlotIndex, life: usize },
    Drained { slot: SlotIndex, life: usize },
    Fault { place: usize },
    Sprung { place: usize, victim: Option<Uid> },
    Lift(Lift),
    Overdue(Overdue),
    Recover { slot: SlotIndex, cluster: Cluster, tries: u32 },
    Mistake { slot: SlotIndex, cluster: Cluster, until: Moment },
    Follow(Follow),
    Shown { slot: SlotIndex, life: usize },
    Act { slot: SlotIndex, life: usize, act: Act },
    Pump { from: Uid, to: Uid },
    Synced { slot: SlotIndex },
    DiskNoticed { slot: SlotIndex },
    DiskFreed { slot: SlotIndex, back_after: Nanos },
    Restore { slot: SlotIndex, copy: Box<Copy>, back_after: Nanos },
}

impl World {
    /// The world of that plan, before anything happened in it.
    pub(super) fn new(plan: &Plan, lines: Option<Lines>) -> Self {
        let mut random = Random::seeded(plan.seed ^ 0x0BAD_5EED);
        let slots = Slots::empty(plan.slots);
        let mut world = Self {
            now: Moment::START,
            mode: plan.mode,
            seeds: addresses(&plan.seeds, &slots),
            discovery: Discovery::of(plan),
            is_forced: plan.is_forced,
            striking: None,
            struck: Vec::new(),
            slots,
            strikes: plan.strikes.clone(),
            waiting: Vec::new(),
            victim: None,
            queue: Queue::default(),
            network: Network::new(plan.slots, plan.weather, random.fork()),
            rules: Rules::new(plan),
            founding: Founding::new(plan.slots),
            lineages: Lineages::default(),
            disks: Disks::new(plan.seed, plan.slots, matches!(plan.mode, Mode::Calm | Mode::Closing)),
            restored: None,
            sharding: Sharding::new(plan),
            trace: Trace::new(plan.seed, lines),
            met: Met::default(),
            random,
            effects: Effects::default(),
            handled: 0,
            is_healing: false,
            cut_off: BTreeSet::new(),
            apart_since: BTreeMap::new(),
            removed_on_request: BTreeMap::new(),
            returned: Moment::START,
            meeting: None,
            closed: None,
            closed_at: None,
            circles: 0,
            circles_at: Moment::START,
            complete_since: match plan.settings.strategy {
                Strategy::StaticQuorum { .. } => None,
                Strategy::KeepMajority
                | Strategy::KeepOldest
                | Strategy::DownAll
                | Strategy::LeaseMajority => Some(Moment::START),
            },
            settings: plan.settings.clone(),
        };
        for (slot, at) in plan.starts.iter().enumerate() {
            world.queue.plan(*at, Happening::Start { slot, uid: None });
        }
        for (place, strike) in plan.strikes.iter().enumerate() {
            world.queue.plan(strike.at, Happening::Fault { place });
        }
        world
    }

    /// Lets happen what happens until then.
    pub(super) fn run(&mut self, until: Moment) -> Result<(), Violation> {
        while let Some((at, happening)) = self.queue.take(until) {
            self.now = at;
            self.happen(happening)?;
        }
        self.now = until;
        Ok(())
    }

    /// What time it is.
    pub(super) fn now(&self) -> Moment {
        self.now
    }

    /// Whether more was lost than a cluster outlives, planned or not.
    pub(super) fn is_wild(&self) -> bool {
        self.mode == Mode::Wild
    }

    /// How many inputs the machines handled.
    pub(super) fn handled(&self) -> u64 {
        self.handled
    }

    /// The hash over everything that happened.
    pub(super) fn trace_hash(&self) -> u64 {
        self.trace.hash()
    }

    /// The rare situations that came up.
    pub(super) fn met(&self) -> &Met {
        &self.met
    }

    /// The faults that struck, each at its moment and with the slots it struck.
    pub(super) fn struck(&self) -> &[Strike] {
        &self.struck
    }

    fn happen(&mut self, happening: Happening) -> Result<(), Violation> {
        match happening {
            Happening::Arrival { from, slot, life, message } => self.arrive(from, slot, life, message),
            Happening::Wake { slot, number, life } => self.wake(slot, number, life),
            Happening::Work { slot, life } => self.work(slot, life),
            Happening::Start { slot, uid } => self.start(slot, uid),
            Happening::Retire { slot } => self.retire(slot),
            Happening::Resume { slot, life } => self.resume(slot, life),
            Happening::Drained { slot, life } => self.drained(slot, life),
            Happening::Fault { place } => self.strike_or_wait(place),
            Happening::Sprung { place, victim } => self.strike(place, victim),
            Happening::Overdue(overdue) => self.overdue(overdue),
            Happening::Recover { slot, cluster, tries } => self.recover(slot, cluster, tries),
            Happening::Mistake { slot, cluster, until } => self.recover_by_mistake(slot, cluster, until),
            Happening::Shown { slot, life } => self.is_shown(slot, life),
            Happening::Follow(follow) => {
                self.follow(follow);
                Ok(())
            }
            Happening::Act { slot, life, act } => self.act(slot, life, act),
            Happening::Pump { from, to } => self.pump(from, to),
            Happening::Synced { slot } => self.synced(slot),
            Happening::DiskNoticed { slot } => self.notice_disk(slot),
            Happening::DiskFreed { slot, back_after } => self.free_disk(slot, back_after),
            Happening::Restore { slot, copy, back_after } => self.restore(slot, *copy, back_after),
            Happening::Lift(lift) => {
                self.lift(&lift);
                Ok(())
            }
        }
    }

    fn arrive(
        &mut self,
        from: Uid,
        slot: SlotIndex,
        life: Option<Uid>,
        message: Message,
    ) -> Result<(), Violation> {
        let Some(receiver) = &self.slots[slot].life else { return Ok(()) };
        let uid = receiver.uid();
        let is_cut = self.slots.slot_of(from).is_some_and(|sender| self.network.cuts.is_cut(sender, slot));
        if is_cut || life.is_some_and(|life| life != uid) {
            return Ok(());
        }
        self.trace.note([self.now.nanos(), from.get(), uid.get(), kind(&message)]);
        self.give(slot, Input::Message { from, message })
    }

    /// Gives an input to the life in that slot, now or once it goes on.
    fn give(&mut self, slot: SlotIndex, input: Input) -> Result<(), Violation> {
        match &mut self.slots[slot].life {
            Some(life) if life.pause.is_some() => {
                life.backlog.push_back(input);
                Ok(())
            }
            Some(_) => self.handle(slot, input),
            None => Ok(()),
        }
    }

    fn handle(&mut self, slot: SlotIndex, input: Input) -> Result<(), Violation> {
        let Some(life) = &mut self.slots[slot].life else { return Ok(()) };
        self.handled += 1;
        let local = life.local(self.now);
        self.trace.line(self.now, || format!("n{slot} {} {}", life.uid(), shown(&input)));
        if let Input::Message { message, .. } = &input {
            life.watch.hears(message);
        }
        let before = Before::input(life, &input);
        self.meeting = Meeting::of(self.now, life, &input);
        life.node.handle(local, input, &mut self.effects);
        if let Some(before) = before {
            self.met.count(Rare::HeardFromRemoved);
            before.is_unchanged(life)?;
        }
        self.settle(slot)
    }

    /// Looks at what the life has become, does what it wants and plans when to wake it.
    fn settle(&mut self, slot: SlotIndex) -> Result<(), Violation> {
        if let Some(life) = &mut self.slots[slot].life {
            let disk = self.settings.durable.then(|| self.disks.of(slot));
            self.rules.look(self.now, life, disk, &mut self.met)?;
        }
        if self.settings.durable {
            self.note_lineage(slot);
        }
        let mut effects = mem::take(&mut self.effects);
        let outcome = effects.drain().try_for_each(|effect| self.perform(slot, effect));
        self.effects = effects;
        outcome?;
        self.look_at_site(slot)?;
        if !self.waiting.is_empty() {
            self.spring(slot);
        }
        if let Some(life) = &mut self.slots[slot].life
            && life.sees_other_voters()
        {
            self.note_lists(slot);
            self.watch_quorum();
            self.watch_completeness();
        }
        self.plan_wake(slot);
        Ok(())
    }

    fn perform(&mut self, slot: SlotIndex, effect: Effect) -> Result<(), Violation> {
        let Some(life) = &self.slots[slot].life else {
            return Err(Violation::Safety("suspended", format!("n{slot} wanted {effect:?} after its end")));
        };
        let uid = life.uid();
        match effect {
            Effect::Send { to, message } => {
                self.rules.listen(self.now, life, &to, &message)?;
                if self.settings.durable
                    && let Peer::Node(to) = to
                    && let Some(voter) = self.slots.voter_of(to)
                {
                    Rules::listen_to_voter(life, self.disks.of(slot), voter, &message)?;
                }
                if let Some(life) = &mut self.slots[slot].life {
                    life.watch.says(self.now, &message);
                }
                self.send(slot, uid, &to, message);
            }
            // What a removed node sent before is still on its way: the machine has to refuse it by itself.
            Effect::Close(_) => {}
            Effect::Write { number, write } => {
                self.is_founding_right(slot, &write)?;
                self.write(slot, number, write);
            }
            Effect::Publish(event) => self.publish(slot, &event)?,
            Effect::End(end) => self.end(slot, &end)?,
        }
        Ok(())
    }

    fn send(&mut self, slot: SlotIndex, from: Uid, to: &Peer, message: Message) {
        let (to_slot, life) = match to {
            Peer::Node(uid) => (self.slots.slot_of(*uid), Some(*uid)),
            Peer::Address(address) => (self.slots.slot_at(address), None),
        };
        let Some(to_slot) = to_slot else { return };
        let mut plan = |delay: Nanos, message| {
            let arrival = Happening::Arrival { from, slot: to_slot, life, message };
            self.queue.plan(self.now.after(delay), arrival);
        };
        match self.network.fate(slot, to_slot) {
            Fate::Lost => {}
            Fate::Arrives(delay) => plan(delay, message),
            Fate::ArrivesTwice(delay, again) => {
                plan(delay, message.clone());
                plan(again, message);
            }
        }
    }

    fn publish(&mut self, slot: SlotIndex, event: &Event) -> Result<(), Violation> {
        let Some(life) = &mut self.slots[slot].life else { return Ok(()) };
        let uid = life.uid();
        self.trace.line(self.now, || format!("n{slot} {uid} says {event:?}"));
        life.watch.hear(self.now, (uid, event), &mut self.met);
        match event {
            Event::Drain if self.sharding.is_some() => self.plan_drain(slot),
            Event::Drain => self.plan_drained(slot),
            Event::Closing => life.is_drained = true,
            Event::Admitted(_) if self.slots[slot].gave_up => {
                self.slots[slot].gave_up = false;
                self.met.count(Rare::GaveUpAndReturned);
            }
            Event::Removed(whom, Removal::CutOff) => self.is_cut_off(*whom)?,
            _ => {}
        }
        match event {
            Event::Admitted(_) => self.is_admitted_again(slot)?,
            Event::Joined(cluster) => {
                let is_recovery = self.rules.is_begun_anew(*cluster);
                self.joins(slot, *cluster, is_recovery);
            }
            Event::Resumed => {
                let cluster = self.slots[slot].life.as_ref().and_then(|life| life.node.cluster());
                cluster.map_or(Ok(()), |cluster| self.acts(cluster))?;
            }
            Event::Removed(removed, why) => {
                self.note_removed(slot, *removed);
                self.note_order(*removed, *why);
                self.close_streams(slot, *removed)?;
                self.is_healthy_removed(*removed, *why)?;
            }
            _ => {}
        }
        self.rules.hear(self.now, (uid, event), &self.slots, &mut self.met)
    }

    fn command(&mut self, slot: SlotIndex, command: Command) -> Result<(), Violation> {
        self.give(slot, Input::Command(command))
    }
}

fn addresses(lists: &[Vec<SlotIndex>], slots: &Slots) -> Vec<Vec<Address>> {
    let address = |slot: &SlotIndex| slots[*slot].address.clone();
    lists.iter().map(|seeds| seeds.iter().map(address).collect()).collect()
}

fn shown(input: &Input) -> String {
    match input {
        Input::Message { from, message } => format!("<- {from} {message:?}"),
        Input::Command(command) => format!("is told {command:?}"),
        Input::Deadline => "wakes".to_owned(),
        Input::Written(number) => format!("has written {number}"),
        Input::DiskWorks(works) => format!("is told that its disk works: {works}"),
    }
}
