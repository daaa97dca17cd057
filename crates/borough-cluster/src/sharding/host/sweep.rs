//! Entities that go because they were idle, or because there are too many.

use std::time::Duration;

use borough_actor::remote::Message;
use borough_actor::{Actor, StopReason};
use tokio::time::Instant;

use super::alarms::Due;
use super::busy::{Waits, busy};
use super::hall::{Hall, STAMP};
use super::policy::Ranks;
use super::settings::Settings;
use super::table::Body;
use super::turns::Turns;

/// How many times an entity may be looked at before it is found idle.
const LOOKS: u32 = 4;
/// Of those above the limit so many more go at once, as a part of the limit, that not every new one has to look for another to go.
const SPARE: usize = 16;

/// See the module.
pub(super) struct Sweep {
    /// How long an entity may be idle, by the lane's clock.
    idle: Option<u32>,
    every: Duration,
    /// Which shard is looked at next.
    next: usize,
    /// How many entities the lane may have.
    limit: Option<usize>,
}

impl Sweep {
    pub(super) fn new<A: Actor>(settings: &Settings<A>, lanes: u32) -> Self {
        let idle = settings.passivate_after.map(|after| after.max(STAMP));
        let limit = settings.max_entities.map(|most| (most / lanes as usize).max(1));
        Self {
            idle: idle.map(|idle| u32::try_from(idle.as_millis() / STAMP.as_millis()).unwrap_or(u32::MAX)),
            every: idle.map_or(Duration::MAX, |idle| (idle / LOOKS).max(STAMP)),
            next: 0,
            limit,
        }
    }

    pub(super) fn ranks<A: Actor>(&self, settings: &Settings<A>, shards: u32, lanes: u32) -> Option<Ranks> {
        Ranks::new(settings.passivation, self.limit, shards, lanes)
    }

    /// Whether anybody wants to know when entities were used: otherwise no clock is read for it.
    #[inline]
    pub(super) fn needs_stamps(&self) -> bool {
        self.idle.is_some() || self.limit.is_some()
    }

    #[inline]
    pub(super) fn is_over(&self, population: usize) -> bool {
        self.limit.is_some_and(|limit| population > limit)
    }
}

impl<A: Actor, T: Turns<A>> Hall<A, T>
where
    A::Msg: Message,
{
    /// Sets the lane's clock for the next look at idle entities. Each look is at one shard, so that none takes long.
    pub(super) fn set_sweep(&mut self) {
        if self.sweep.idle.is_some() {
            let shards = u32::try_from(self.shards.len().max(1)).unwrap_or(u32::MAX);
            let wait = (self.sweep.every / shards).max(Duration::from_millis(1));
            self.floor.alarms.set(Instant::now() + wait, Due::Sweep);
        }
    }

    /// Looks for idle entities.
    pub(super) fn sweep_idle(&mut self) {
        self.set_sweep();
        let Some(idle) = self.sweep.idle else { return };
        let Some(before) = self.floor.stamp.checked_sub(idle) else { return };
        self.sweep.next = (self.sweep.next + 1) % self.shards.len().max(1);
        let Some(Some(shard)) = self.shards.get_mut(self.sweep.next) else { return };
        let Some(home) = shard.home.as_mut().filter(|home| !home.frozen) else { return };
        for slot in home.table.taken() {
            let place = home.table.peek(slot);
            // One whose timer is to ring is not idle.
            let rings = || {
                home.table.owned.get(&slot).is_some_and(|owned| owned.belongings.next_deadline().is_some())
            };
            if matches!(place.body, Body::Live(_)) && place.stamp <= before && !rings() {
                let entity = busy(&mut home.table.slot(slot).body);
                entity.leaves = true;
                entity.queue.push_back(Waits::End(StopReason::Passivated));
                self.floor.leaving += 1;
                self.floor.go_on(home, slot);
            }
        }
    }

    /// There are too many: lets those go that were not used for the longest time.
    #[cold]
    pub(super) fn make_room(&mut self) {
        let Some(limit) = self.sweep.limit else { return };
        if self.floor.ranks.is_some() {
            return self.make_room_by_rank(limit);
        }
        let mut stamps = Vec::with_capacity(self.floor.population);
        for (number, shard) in self.shards.iter().enumerate() {
            let Some(home) = shard.as_ref().and_then(|shard| shard.home.as_ref()).filter(|home| !home.frozen)
            else {
                continue;
            };
            for slot in home.table.taken() {
                let place = home.table.peek(slot);
                if matches!(place.body, Body::Live(_)) {
                    stamps.push((place.stamp, number, slot));
                }
            }
        }
        let too_many = self.floor.staying().saturating_sub(limit) + limit / SPARE;
        if too_many < stamps.len() {
            stamps.select_nth_unstable(too_many);
            stamps.truncate(too_many);
        }
        for (_, number, slot) in stamps {
            self.let_end(number, slot);
        }
    }

    /// There are too many: lets those go that the policy names.
    fn make_room_by_rank(&mut self, limit: usize) {
        for _ in limit..self.floor.staying() {
            let Some((number, slot)) = self.floor.ranks.as_mut().and_then(Ranks::victim) else { return };
            self.let_end(number, slot);
        }
    }

    /// Has an entity end: with the stop message, if there is one, and after what waits for it.
    fn let_end(&mut self, number: usize, slot: u32) {
        let home = self.shards.get_mut(number).and_then(|shard| shard.as_mut()?.home.as_mut());
        let Some(home) = home.filter(|home| !home.frozen && slot < home.table.slots()) else { return };
        if home.table.peek(slot).is_vacant() {
            return;
        }
        let entity = busy(&mut home.table.slot(slot).body);
        self.floor.leaving += usize::from(!entity.leaves);
        entity.leaves = true;
        if let Some(stop_with) = &self.floor.settings.stop_with
            && let Ok(message) = borough_actor::resident::catch(|| stop_with())
        {
            entity.queue.push_back(Waits::Last(message));
        }
        entity.queue.push_back(Waits::End(StopReason::Passivated));
        self.floor.go_on(home, slot);
    }
}
