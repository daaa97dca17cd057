//! Lanes: letters, turns, fences.

use borough_protocol::flaws::Flaw;
use borough_protocol::sharding::region::{Input, Word};
use borough_protocol::sharding::{Epoch, ShardId};

use super::{Act, World};
use crate::sim::cuts::SlotIndex;
use crate::sim::life::Life;
use crate::sim::moment::{MILLISECOND, Nanos, SECOND};
use crate::sim::plan::nanos;
use crate::sim::sharding::{Deed, Ended, Frame, Handling, Lane, Letter, Situation};
use crate::sim::violation::Violation;

/// How long a lane waits for turns to end before it says that a move cannot be.
const FREEZE_LIMIT: Nanos = 3 * SECOND;
/// More that waits for the table is no longer bounded.
const WAITING_MAX: usize = 5000;

impl World {
    /// Puts a letter into the mailbox of a lane.
    pub(super) fn post(&mut self, slot: SlotIndex, shard: ShardId, letter: Letter) {
        let (Some(sharding), Some(life)) = (&mut self.sharding, &mut self.slots[slot].life) else { return };
        let uid = life.uid();
        let Some(site) = &mut life.site else { return };
        let lane = site.lane(uid, shard);
        lane.mailbox.push_back(letter);
        if !lane.is_planned {
            lane.is_planned = true;
            let delay = sharding.dawdle(MILLISECOND / 2);
            self.plan_act(slot, delay, Act::Letter { shard });
        }
    }

    pub(super) fn lane_steps(&mut self, slot: SlotIndex, shard: ShardId) -> Result<(), Violation> {
        let (Some(sharding), Some(life)) = (&mut self.sharding, &mut self.slots[slot].life) else {
            return Ok(());
        };
        let uid = life.uid();
        let Some(site) = &mut life.site else { return Ok(()) };
        let lane = site.lane(uid, shard);
        self.trace.line(self.now, || format!("n{slot} {uid} {shard:?} {:?}", lane.mailbox.front()));
        let mut deeds = Vec::new();
        let batch = if sharding.random.per_mille(300) { 1 } else { 16 };
        for _ in 0..batch {
            lane.step(&mut deeds);
        }
        if lane.waiting() > 0 {
            sharding.situations.count(Situation::MessageWaitedForTheTable);
        }
        if lane.waiting() > WAITING_MAX {
            return Err(Violation::Safety("bounds", format!("{} wait at {uid:?}", lane.waiting())));
        }
        lane.is_planned = !lane.mailbox.is_empty();
        if lane.is_planned {
            let delay = sharding.dawdle(MILLISECOND / 10);
            self.plan_act(slot, delay, Act::Letter { shard });
        }
        self.do_all(slot, shard, deeds)?;
        self.begin_turns(slot, shard)
    }

    fn do_all(&mut self, slot: SlotIndex, shard: ShardId, deeds: Vec<Deed>) -> Result<(), Violation> {
        for deed in deeds {
            let (Some(sharding), Some(life)) = (&mut self.sharding, &self.slots[slot].life) else {
                return Ok(());
            };
            let uid = life.uid();
            let Some(key) = life.site.as_ref().map(|site| site.key(shard)) else { return Ok(()) };
            match deed {
                Deed::Send { to, frame } => self.transmit(slot, to, frame)?,
                Deed::Tell(input) => self.tell_region(slot, input)?,
                Deed::Done { origin, nonce } => {
                    let word = Word::BarrierDone { nonce };
                    if origin == uid {
                        let delay = self.soon();
                        self.plan_act(slot, delay, Act::Word(word));
                    } else {
                        self.transmit(slot, origin, Frame::Word(word))?;
                    }
                }
                Deed::End(id, ended) => {
                    self.trace.line(self.now, || format!("n{slot} {id} {ended:?}"));
                    sharding.books.end(id, ended)?;
                }
                Deed::HadNoOtherHost => sharding.books.excuse(key),
                Deed::GoesOn { lineage, counts } => sharding.books.goes_on(key, lineage, &counts)?,
                Deed::Fence { epoch } => {
                    let delay = self.soon();
                    self.plan_act(slot, delay, Act::Fence { shard, epoch });
                }
                Deed::Freezing { next } => {
                    // Who gives up just when it is done says both.
                    let is_impossible =
                        !self.is_healing && sharding.random.per_mille(sharding.load.impossible);
                    let delay = sharding.random.below(60 * MILLISECOND);
                    if is_impossible {
                        self.plan_act(slot, delay, Act::Impossible { shard, next });
                    }
                    self.plan_act(slot, FREEZE_LIMIT, Act::Limit { shard, next });
                }
            }
        }
        Ok(())
    }

    /// Fences the store, if the type has one, and lets the shard run. Who has no lease starts nothing.
    pub(super) fn fence(&mut self, slot: SlotIndex, shard: ShardId, epoch: Epoch) -> Result<(), Violation> {
        let now = self.now;
        let (Some(sharding), Some(life)) = (&mut self.sharding, &mut self.slots[slot].life) else {
            return Ok(());
        };
        let (uid, may_run) = (life.uid(), life.node.may_run(life.local(now)));
        let Some(site) = &mut life.site else { return Ok(()) };
        let key = site.key(shard);
        let is_stored = is_stored(sharding, site, shard);
        let lane = site.lane(uid, shard);
        let Some((lineage, began)) = lane.begins_at(epoch) else { return Ok(()) };
        if !may_run {
            self.plan_act(slot, 30 * MILLISECOND, Act::Fence { shard, epoch });
            return Ok(());
        }
        let fences = !self.settings.flaws.has(Flaw::FencedAtFirstWrite);
        if is_stored && fences {
            let strangers = if self.is_healing { 0 } else { sharding.load.strangers };
            if strangers > 0 && sharding.random.per_mille(strangers) {
                // Another cluster, of an era that may be later.
                let ahead = Epoch::new(epoch.get() + sharding.random.below(3 << 32));
                sharding.store.estrange(key, ahead);
                sharding.situations.count(Situation::StrangerFencedTheStore);
            }
            if let Err(seen) = sharding.store.fence(key, epoch, uid) {
                // A newer one was here: whatever this one believes, it runs nothing.
                return self.tell_region(slot, Input::Refused { shard, epoch, seen });
            }
        }
        let stored = is_stored.then(|| sharding.store.read(key, epoch));
        if began {
            sharding.books.begins(key, lineage, stored.clone().unwrap_or_default());
        }
        let mut deeds = Vec::new();
        lane.is_fenced(epoch, stored.filter(|_| began), &mut deeds);
        self.do_all(slot, shard, deeds)?;
        self.begin_turns(slot, shard)
    }

    /// Every entity that has something to do begins a turn, if the node may run.
    pub(super) fn begin_turns(&mut self, slot: SlotIndex, shard: ShardId) -> Result<(), Violation> {
        let now = self.now;
        let longest = nanos(self.settings.max_pause);
        let (Some(sharding), Some(life)) = (&mut self.sharding, &mut self.slots[slot].life) else {
            return Ok(());
        };
        let (uid, may_run) = (life.uid(), life.node.may_run(life.local(now)));
        let Some(site) = &mut life.site else { return Ok(()) };
        let key = site.key(shard);
        let idle = site.lanes.get(&shard).map(Lane::idle_entities).unwrap_or_default();
        if !may_run {
            if !idle.is_empty() {
                self.plan_act(slot, 20 * MILLISECOND, Act::Stir { shard });
            }
            return Ok(());
        }
        let is_quiet = is_quiet(sharding, site, shard);
        let Some(lane) = site.lanes.get_mut(&shard) else { return Ok(()) };
        let mut planned = Vec::new();
        for entity in idle {
            let is_stuck = !self.is_healing && sharding.random.below(10_000) < sharding.load.stuck;
            let is_parked = is_stuck || sharding.random.per_mille(150);
            let length = match sharding.random.below(800) {
                _ if is_stuck => sharding.random.between(4 * SECOND, 15 * SECOND),
                _ if is_parked && sharding.random.per_mille(30) => sharding.random.below(4 * longest),
                _ if is_parked => sharding.random.below(20 * MILLISECOND),
                0..400 if is_quiet => longest - 1,
                0 => longest - 1,
                1 => sharding.random.below(longest),
                _ => sharding.random.below(MILLISECOND),
            };
            if let Some((epoch, turn)) = lane.begin_turn(now, entity, is_parked) {
                sharding.books.begin_turn(key, epoch, uid)?;
                self.trace.line(now, || format!("n{slot} {uid} {shard:?} at {epoch} begins {}", turn.id));
                planned.push((length, Act::Turn { shard, entity, number: turn.number }));
                if !is_parked && length + 1 == longest && sharding.random.per_mille(sharding.load.stills) {
                    planned.push((length / 2, Act::StandStill));
                }
            }
        }
        for (length, act) in &planned {
            if let Act::Turn { entity, .. } = act {
                self.runs_nowhere_else(slot, shard, *entity)?;
            }
            self.plan_act(slot, *length, *act);
        }
        Ok(())
    }

    /// An entity has begun a turn: no other cluster runs it at this moment, and none has a lease.
    fn runs_nowhere_else(&self, slot: SlotIndex, shard: ShardId, entity: u8) -> Result<(), Violation> {
        self.runs_alone(slot)?;
        let Some(life) = &self.slots[slot].life else { return Ok(()) };
        let (Some(cluster), Some(site)) = (life.node.cluster(), &life.site) else { return Ok(()) };
        let name = site.region.table().kind(shard.kind).map(|kind| kind.kind().name.clone());
        let longest = nanos(self.settings.max_pause);
        for (other_slot, other) in self.others(cluster) {
            let lanes = other.site.iter().flat_map(|site| {
                let is_same = |of: &ShardId| {
                    let kind = site.region.table().kind(of.kind).map(|kind| kind.kind().name.clone());
                    of.number == shard.number && kind == name
                };
                site.lanes.iter().filter(move |(of, _)| is_same(of)).map(|(_, lane)| lane)
            });
            let turns = lanes.filter_map(|lane| lane.turn_of(entity));
            if turns.into_iter().any(|turn| !turn.is_parked && self.now.since(turn.since) <= longest) {
                let text = format!(
                    "{shard:?}, entity {entity}, runs at n{slot} and in another cluster at n{other_slot}"
                );
                return Err(Violation::Safety("one_runner", text));
            }
        }
        Ok(())
    }

    /// A turn ends; one that was parked only if the node may run.
    pub(super) fn turn_ends(
        &mut self,
        slot: SlotIndex,
        shard: ShardId,
        entity: u8,
        number: u64,
    ) -> Result<(), Violation> {
        let now = self.now;
        let flaws = self.settings.flaws;
        let longest = nanos(self.settings.max_pause);
        let (Some(sharding), Some(life)) = (&mut self.sharding, &mut self.slots[slot].life) else {
            return Ok(());
        };
        let (uid, may_run) = (life.uid(), life.node.may_run(life.local(now)));
        let Some(site) = &mut life.site else { return Ok(()) };
        let (key, is_stored) = (site.key(shard), is_stored(sharding, site, shard));
        let Some(lane) = site.lanes.get_mut(&shard) else { return Ok(()) };
        let Some((turn, (epoch, lineage), count)) = lane.turn(entity, number) else { return Ok(()) };
        if turn.is_parked {
            if !may_run && !flaws.has(Flaw::ParkedPolledWithoutLease) {
                self.plan_act(slot, 20 * MILLISECOND, Act::Turn { shard, entity, number });
                return Ok(());
            }
            // Polled once more: a piece of its own, which is over at once.
            (turn.is_parked, turn.since) = (false, now);
        }
        let is_excused = now.since(turn.since) > longest;
        let id = turn.id;
        if is_excused {
            sharding.situations.count(Situation::TurnLongerThanAllowed);
        }
        self.trace.line(now, || format!("n{slot} {uid} {shard:?} at {epoch} ends {id}"));
        if is_stored && flaws.has(Flaw::FencedAtFirstWrite) {
            // What is refused here is refused again as it is written.
            let _ = sharding.store.fence(key, epoch, uid);
        }
        let counts = !is_stored || sharding.store.write(key, (epoch, uid), (entity, count + 1))?;
        if counts {
            // What the store took counts, however late it was.
            let is_excused = is_excused && !is_stored;
            let handling = Handling { id, by: uid, epoch, lineage, count: count + 1, is_excused };
            sharding.books.handle(handling)?;
        } else {
            sharding.situations.count(Situation::StoreRefusedALateWrite);
            sharding.books.end(id, Ended::Lost("the store was fenced by a newer owner"))?;
        }
        let mut deeds = Vec::new();
        lane.end_turn(entity, counts, &mut deeds);
        self.do_all(slot, shard, deeds)?;
        self.begin_turns(slot, shard)
    }

    pub(super) fn move_is_late(
        &mut self,
        slot: SlotIndex,
        shard: ShardId,
        next: Epoch,
    ) -> Result<(), Violation> {
        let Some(site) = self.slots[slot].life.as_mut().and_then(|life: &mut Life| life.site.as_mut()) else {
            return Ok(());
        };
        let mut deeds = Vec::new();
        if let Some(lane) = site.lanes.get(&shard) {
            lane.give_up_move(next, &mut deeds);
        }
        self.do_all(slot, shard, deeds)
    }
}

/// Whether the type of that shard is seldom sent to.
fn is_quiet(sharding: &super::Sharding, site: &crate::sim::sharding::Site, shard: ShardId) -> bool {
    let kind = site.region.table().kind(shard.kind);
    kind.is_some_and(|kind| sharding.load.is_quiet(&kind.kind().name))
}

/// Whether the type of that shard writes to the store.
fn is_stored(sharding: &super::Sharding, site: &crate::sim::sharding::Site, shard: ShardId) -> bool {
    let name = site.region.table().kind(shard.kind).map(|kind| kind.kind().name.clone());
    sharding.load.kinds.iter().any(|(kind, stored)| Some(&kind.name) == name.as_ref() && *stored)
}
