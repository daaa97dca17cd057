//! How the sharding of simulated nodes is driven: regions, lanes, streams and senders.

mod hosting;
mod regions;
mod sending;
mod settled;
mod streams;

use std::collections::BTreeMap;

use borough_protocol::incarnation::Uid;
use borough_protocol::random::Random;
use borough_protocol::sharding::region::{Input, Word};
use borough_protocol::sharding::{Epoch, ShardId};

use super::{Happening, World};
use crate::sim::cuts::SlotIndex;
use crate::sim::fault::Target;
use crate::sim::moment::{MILLISECOND, Nanos, SECOND};
use crate::sim::plan::Plan;
use crate::sim::sharding::{Books, Load, Situation, Situations, Store, Stream};
use crate::sim::violation::Violation;

/// The sharding of a run.
#[derive(Debug)]
pub(super) struct Sharding {
    load: Load,
    streams: BTreeMap<(Uid, Uid), Stream>,
    store: Store,
    books: Books,
    situations: Situations,
    random: Random,
}

/// Something that happens to shards, at one node.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    /// The region looks at the newest table.
    Table,
    /// Its deadline may have come.
    Wake { number: u32 },
    /// What it says to itself.
    Word(Word),
    /// The next letter of that lane.
    Letter { shard: ShardId },
    /// Entities may begin turns.
    Stir { shard: ShardId },
    /// The turn of an entity ends, or is polled again.
    Turn { shard: ShardId, entity: u8, number: u64 },
    /// The store is to be fenced.
    Fence { shard: ShardId, epoch: Epoch },
    /// The move of that epoch should be cut by now.
    Limit { shard: ShardId, next: Epoch },
    /// It is said to be impossible, whether or not it was cut.
    Impossible { shard: ShardId, next: Epoch },
    /// A sender does the next thing.
    Send { sender: u8 },
    /// A sender enqueues by the way it has looked up.
    Enqueue { sender: u8 },
    /// An operator wishes something.
    Wish,
    /// A type is started, as a host or not.
    Host { kind: usize, hosts: bool },
    /// A type ends here.
    End { kind: usize },
    /// The node leaves.
    Drain,
    /// The node stands still in a turn.
    StandStill,
    /// The node crashes, or is removed by an operator.
    Betrayed { crashes: bool },
}

impl Sharding {
    pub(super) fn new(plan: &Plan) -> Option<Self> {
        Some(Self {
            load: plan.sharding.clone()?,
            streams: BTreeMap::new(),
            store: Store::default(),
            books: Books::default(),
            situations: Situations::default(),
            random: Random::seeded(plan.seed ^ 0x5E4D),
        })
    }

    /// How long a step takes that usually takes at most `usual`.
    fn dawdle(&mut self, usual: Nanos) -> Nanos {
        if self.random.per_mille(self.load.dawdling) {
            return self.random.below(self.load.dawdle);
        }
        self.random.below(usual)
    }
}

impl World {
    /// Plans that for the life in that slot.
    fn plan_act(&mut self, slot: SlotIndex, delay: Nanos, act: Act) {
        if let Some(life) = &self.slots[slot].life {
            let life = life.number;
            self.queue.plan(self.now.after(delay), Happening::Act { slot, life, act });
        }
    }

    /// That happens, unless the life is over; if it stands still, it happens once it goes on.
    pub(super) fn act(&mut self, slot: SlotIndex, life: usize, act: Act) -> Result<(), Violation> {
        let Some(it) = self.slots[slot].life_numbered(life) else { return Ok(()) };
        if let Some(pause) = it.pause {
            let later = pause.until.max(self.now.after(1));
            self.queue.plan(later, Happening::Act { slot, life, act });
            return Ok(());
        }
        if it.site.is_none() {
            return Ok(());
        }
        self.trace.note([self.now.nanos(), life as u64]);
        match act {
            Act::Table => self.region_sees_table(slot),
            Act::Wake { number } => self.region_wakes(slot, number),
            Act::Word(word) => self.region_hears_itself(slot, word),
            Act::Letter { shard } => self.lane_steps(slot, shard),
            Act::Stir { shard } => self.begin_turns(slot, shard),
            Act::Turn { shard, entity, number } => self.turn_ends(slot, shard, entity, number),
            Act::Fence { shard, epoch } => self.fence(slot, shard, epoch),
            Act::Limit { shard, next } => self.move_is_late(slot, shard, next),
            Act::Impossible { shard, next } => {
                self.tell_region(slot, Input::Impossible { shard, epoch: next })
            }
            Act::Send { sender } => self.sender_acts(slot, sender),
            Act::Enqueue { sender } => self.sender_enqueues(slot, sender),
            Act::Wish => self.operator_wishes(slot),
            Act::Host { kind, hosts } => self.start_type(slot, kind, hosts),
            Act::End { kind } => self.end_type(slot, kind),
            Act::StandStill => {
                let lasts = self.sharding.as_mut().map_or(0, |it| it.random.between(SECOND, 6 * SECOND));
                if !self.is_healing {
                    self.pause(Target::Slot(slot), lasts);
                }
                Ok(())
            }
            Act::Betrayed { crashes: true } => self.crash(Target::Slot(slot), Some(SECOND)),
            Act::Betrayed { crashes: false } => self.down(Target::Coordinator, Target::Slot(slot)),
            Act::Drain => self.tell_region(slot, Input::Drain),
        }
    }

    /// That came up.
    fn count(&mut self, situation: Situation) {
        if let Some(sharding) = &mut self.sharding {
            sharding.situations.count(situation);
        }
    }

    /// The one in that slot has just given a shard away: a bad moment to end, or to be removed.
    fn betray(&mut self, slot: SlotIndex) {
        let Some(sharding) = &mut self.sharding else { return };
        let chance = sharding.load.betrayals;
        if !self.is_healing && sharding.random.per_mille(chance) {
            let delay = sharding.random.below(60 * MILLISECOND);
            let crashes = sharding.random.per_mille(300);
            self.plan_act(slot, delay, Act::Betrayed { crashes });
        }
    }

    /// The first moment at which something that is to happen soon can happen.
    fn soon(&mut self) -> Nanos {
        self.sharding.as_mut().map_or(0, |sharding| sharding.dawdle(MILLISECOND))
    }

    /// The node in that slot leaves: nothing more is sent from there, and what lives there is to move away.
    pub(super) fn plan_drain(&mut self, slot: SlotIndex) {
        if let Some(site) = self.slots[slot].life.as_mut().and_then(|life| life.site.as_mut()) {
            site.is_leaving = true;
        }
        self.plan_act(slot, 0, Act::Drain);
    }
}
