//! Regions: when they come to be, what they are told, and what they want done.

use std::collections::VecDeque;
use std::sync::Arc;

use borough_protocol::Effects;
use borough_protocol::flaws::Flaw;
use borough_protocol::incarnation::Uid;
use borough_protocol::machine::Machine;
use borough_protocol::node::Command;
use borough_protocol::sharding::region::{Effect, Input, Pace, Patience, Word};
use borough_protocol::sharding::{Epoch, KindId, ShardId};

use super::{Act, World};
use crate::sim::cuts::SlotIndex;
use crate::sim::moment::SECOND;
use crate::sim::sharding::{Frame, Item, Letter, Site, Situation};
use crate::sim::violation::Violation;
use crate::sim::world::Happening;

/// More records than that at one node are no longer bounded: shards of a run do not move more often in the time of a record.
const RECORDS_MAX: usize = 1000;

impl World {
    /// The life in that slot may have joined a cluster, or have a newer table.
    pub(in crate::sim::world) fn look_at_site(&mut self, slot: SlotIndex) -> Result<(), Violation> {
        let (Some(sharding), Some(life)) = (&mut self.sharding, &mut self.slots[slot].life) else {
            return Ok(());
        };
        let uid = life.uid();
        let Some(table) = life.node.table() else { return Ok(()) };
        match &mut life.site {
            Some(site) if site.seen == table.version() => Ok(()),
            Some(site) => {
                site.seen = table.version();
                sharding.books.see(self.now, table)?;
                if !site.table_is_due {
                    site.table_is_due = true;
                    let dawdles = sharding.random.per_mille(3 * sharding.load.dawdling);
                    let delay = if dawdles { sharding.random.below(sharding.load.dawdle) } else { 0 };
                    self.plan_act(slot, delay, Act::Table);
                }
                Ok(())
            }
            None => {
                let (load, flaws) = (sharding.load.clone(), self.settings.flaws);
                let patience =
                    Patience { drain: Some(std::time::Duration::from_secs(10)), ..Patience::default() };
                life.site = Some(Box::new(Site::new(uid, table, load.senders, patience, flaws)));
                // Of those that were removed before it came it hears nothing else.
                let removed: Vec<Uid> = table.removed().keys().copied().collect();
                self.open_site(slot, &load);
                removed.into_iter().try_for_each(|removed| self.close_streams(slot, removed))
            }
        }
    }

    /// Plans what happens at a new site: types are started, now or later, and senders begin.
    fn open_site(&mut self, slot: SlotIndex, load: &crate::sim::sharding::Load) {
        let Some(mut random) = self.sharding.as_mut().map(|sharding| sharding.random.fork()) else { return };
        for kind in 0..load.kinds.len() {
            let always = slot < 2;
            let hosts = always || random.per_mille(load.hosting);
            let late = if random.per_mille(300) { random.below(15 * SECOND) } else { 0 };
            self.plan_act(slot, late, Act::Host { kind, hosts });
            if hosts && random.per_mille(if always { 200 } else { 300 }) {
                let end = late + random.between(SECOND, 30 * SECOND);
                self.plan_act(slot, end, Act::End { kind });
                // Of the first two somebody hosts it in the end.
                if always || random.per_mille(500) {
                    self.plan_act(slot, end + random.between(SECOND, 10 * SECOND), Act::Host { kind, hosts });
                }
            }
        }
        for sender in 0..load.senders {
            self.plan_act(slot, random.below(SECOND), Act::Send { sender });
        }
        if let Some(wishes) = load.wishes {
            self.plan_act(slot, random.below(wishes), Act::Wish);
        }
    }

    pub(super) fn region_sees_table(&mut self, slot: SlotIndex) -> Result<(), Violation> {
        let Some(life) = &mut self.slots[slot].life else { return Ok(()) };
        let Some((site, table)) = life.site.as_mut().zip(life.node.table()) else { return Ok(()) };
        site.table_is_due = false;
        let table = Arc::new(table.clone());
        let term = table.version().term;
        if site.term != term && self.settings.flaws.has(Flaw::HoldLostAtNewTerm) {
            site.routes.values_mut().for_each(crate::sim::sharding::Route::lose);
        }
        site.term = term;
        self.tell_region(slot, Input::Table(table.clone()))?;
        let Some(site) = self.slots[slot].life.as_mut().and_then(|life| life.site.as_mut()) else {
            return Ok(());
        };
        let lanes: Vec<ShardId> = site.lanes.keys().copied().collect();
        for shard in lanes {
            self.post(slot, shard, Letter::Look(table.clone()));
        }
        Ok(())
    }

    pub(super) fn region_wakes(&mut self, slot: SlotIndex, number: u32) -> Result<(), Violation> {
        let now = self.now;
        let Some(life) = &mut self.slots[slot].life else { return Ok(()) };
        let local = life.local(now);
        if life.site.as_mut().is_some_and(|site| site.take_wake(number, local)) {
            self.count_circle(slot)?;
            return self.tell_region(slot, Input::Deadline);
        }
        self.plan_region_wake(slot);
        Ok(())
    }

    pub(super) fn region_hears_itself(&mut self, slot: SlotIndex, word: Word) -> Result<(), Violation> {
        let Some(from) = self.slots[slot].life.as_ref().map(crate::sim::life::Life::uid) else {
            return Ok(());
        };
        self.tell_region(slot, Input::Word { from, word })
    }

    fn plan_region_wake(&mut self, slot: SlotIndex) {
        let now = self.now;
        let Some(life) = &mut self.slots[slot].life else { return };
        let number = life.number;
        if let Some((at, wake)) = life.site.as_mut().and_then(|site| site.plan_wake(now, &life.clock)) {
            self.queue.plan(at, Happening::Act { slot, life: number, act: Act::Wake { number: wake } });
        }
    }

    /// Tells the region something, and does what it wants.
    pub(in crate::sim::world) fn tell_region(
        &mut self,
        slot: SlotIndex,
        input: Input,
    ) -> Result<(), Violation> {
        let mut inputs = VecDeque::from([input]);
        let mut commands = Vec::new();
        while let Some(input) = inputs.pop_front() {
            let Some(life) = &mut self.slots[slot].life else { return Ok(()) };
            let (local, uid) = (life.local(self.now), life.uid());
            let Some(site) = &mut life.site else { return Ok(()) };
            self.handled += 1;
            self.trace.line(self.now, || format!("n{slot} {uid} region: {}", shown(&input)));
            let mut effects = Effects::default();
            site.region.handle(local, input, &mut effects);
            site.region.assert_invariants(local);
            if site.region.records() > RECORDS_MAX {
                return Err(Violation::Safety(
                    "bounds",
                    format!("{uid:?} has {} records", site.region.records()),
                ));
            }
            for effect in effects.drain() {
                if let Some(situation) = situation(&effect) {
                    self.count(situation);
                }
                self.trace.line(self.now, || format!("n{slot} {uid} region wants {effect:?}"));
                self.perform_for_region(slot, uid, effect, &mut inputs, &mut commands)?;
            }
        }
        self.plan_region_wake(slot);
        for command in commands {
            if command == Command::Drained {
                let Some(life) = self.slots[slot].life.as_ref().map(|life| life.number) else {
                    return Ok(());
                };
                self.queue.plan(self.now, Happening::Drained { slot, life });
            } else {
                self.command(slot, command)?;
            }
        }
        Ok(())
    }

    fn perform_for_region(
        &mut self,
        slot: SlotIndex,
        uid: Uid,
        effect: Effect,
        inputs: &mut VecDeque<Input>,
        commands: &mut Vec<Command>,
    ) -> Result<(), Violation> {
        let Some(site) = self.slots[slot].life.as_mut().and_then(|life| life.site.as_mut()) else {
            return Ok(());
        };
        match effect {
            Effect::Close { shard } => {
                let closed = site.routes.entry(shard).or_default().close();
                inputs.extend(closed.map(|used| Input::Closed { shard, used }));
            }
            Effect::Open { shard, to, tag } => {
                let held = site.routes.entry(shard).or_default().open(to, tag);
                for item in held {
                    self.transmit(slot, to, Frame::Item { shard, tag, item })?;
                }
            }
            Effect::Barrier { shard, to, tag, nonce, min_version } => {
                let item = Item::Barrier { origin: uid, nonce, min_version };
                self.transmit(slot, to, Frame::Item { shard, tag, item })?;
            }
            Effect::Send { to, word } if to == uid => {
                let delay = self.soon();
                self.plan_act(slot, delay, Act::Word(word));
            }
            Effect::Send { to, word } => self.transmit(slot, to, Frame::Word(word))?,
            Effect::Report(report) => commands.push(Command::Shards(Arc::new(report))),
            // Turns end by themselves here.
            Effect::Publish(_) | Effect::Force { .. } => {}
            Effect::Drained => commands.push(Command::Drained),
            Effect::Start { shard, .. }
            | Effect::Freeze { shard, .. }
            | Effect::Transfer { shard, .. }
            | Effect::Resume { shard, .. }
            | Effect::Raise { shard, .. }
            | Effect::Run { shard, .. }
            | Effect::Discard { shard, .. }
            | Effect::Release { shard, .. }
            | Effect::Drop { shard, .. }
            | Effect::Forget { shard, .. } => {
                let lineage = site.region.table().shard(shard).map_or(Epoch::ZERO, |entry| entry.lineage);
                if matches!(effect, Effect::Release { .. }) {
                    self.betray(slot);
                }
                self.post(slot, shard, Letter::Order(effect, lineage));
            }
        }
        Ok(())
    }

    pub(super) fn start_type(&mut self, slot: SlotIndex, kind: usize, hosts: bool) -> Result<(), Violation> {
        let Some(kind) = self.sharding.as_ref().map(|sharding| sharding.load.kinds[kind].0.clone()) else {
            return Ok(());
        };
        self.tell_region(slot, Input::Start { kind, hosts, pace: Pace::default() })
    }

    pub(super) fn end_type(&mut self, slot: SlotIndex, kind: usize) -> Result<(), Violation> {
        let Some(name) = self.sharding.as_ref().map(|sharding| sharding.load.kinds[kind].0.name.clone())
        else {
            return Ok(());
        };
        self.tell_region(slot, Input::End { kind: name })
    }

    /// Wishes that some shard is at some host.
    pub(super) fn operator_wishes(&mut self, slot: SlotIndex) -> Result<(), Violation> {
        let (Some(sharding), Some(life)) = (&mut self.sharding, &self.slots[slot].life) else {
            return Ok(());
        };
        let Some(wishes) = sharding.load.wishes.filter(|_| !self.is_healing) else { return Ok(()) };
        let delay = sharding.random.below(wishes);
        let mut wish = None;
        if let Some(site) = &life.site {
            let table = site.region.table();
            let place = sharding.random.below(table.kinds().len().max(1) as u64);
            let id = KindId(u16::try_from(place).unwrap_or(0));
            if let Some(kind) = table.kind(id) {
                let shards: Vec<u32> = kind.shards().keys().copied().collect();
                let hosts: Vec<Uid> = kind.hosts().iter().copied().collect();
                let shard = sharding.random.pick(&shards).map(|number| ShardId { kind: id, number: *number });
                wish = shard.zip(sharding.random.pick(&hosts).copied());
            }
        }
        self.plan_act(slot, delay, Act::Wish);
        match wish {
            Some((shard, to)) => self.tell_region(slot, Input::Place { shard, to }),
            None => Ok(()),
        }
    }
}

/// What an effect tells of the situation.
fn situation(effect: &Effect) -> Option<Situation> {
    Some(match effect {
        Effect::Release { .. } => Situation::ShardMoved,
        Effect::Resume { .. } => Situation::ResumedAfterCallOff,
        Effect::Raise { .. } => Situation::EpochRaised,
        Effect::Transfer { .. } => Situation::SentElsewhereWhileFrozen,
        Effect::Discard { .. } => Situation::InstallDiscarded,
        Effect::Drop { .. } => Situation::ShardDropped,
        Effect::Barrier { min_version: None, .. } => Situation::BarrierSent,
        Effect::Barrier { .. } => Situation::BarrierSentStraight,
        Effect::Send { word: Word::ChainBroken { .. }, .. } => Situation::ChainBroken,
        Effect::Send { word: Word::Clear { .. }, .. } => Situation::LeavingNodeWasTold,
        Effect::Forget { .. } => Situation::SomethingForgotten,
        _ => return None,
    })
}

fn shown(input: &Input) -> String {
    match input {
        Input::Table(table) => format!("table {:?}", table.version()),
        other => format!("{other:?}"),
    }
}
