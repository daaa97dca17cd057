//! Entities that go because they were idle, or because there are too many.

use std::time::Duration;

use borough_actor::remote::Message;
use borough_actor::{Actor, StopReason};
use tokio::time::Instant;

use super::alarms::Due;
use super::busy::Waits;
use super::floor::busy;
use super::hall::{Hall, STAMP};
use super::policy::Policy;
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
    pub(super) policy: Option<Box<dyn Policy>>,
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
            policy: settings.passivation.0.as_ref().zip(limit).map(|(make, limit)| make(limit)),
        }
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
                busy(&mut home.table.slot(slot).body).queue.push_back(Waits::End(StopReason::Passivated));
                self.floor.go_on(home, slot);
            }
        }
    }

    /// There are too many: lets those go that were not used for the longest time.
    #[cold]
    pub(super) fn make_room(&mut self) {
        let Some(limit) = self.sweep.limit else { return };
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
        let too_many = self.floor.population.saturating_sub(limit) + limit / SPARE;
        if too_many < stamps.len() {
            stamps.select_nth_unstable(too_many);
            stamps.truncate(too_many);
        }
        for (_, number, slot) in stamps {
            let Some(home) = self.shards[number].as_mut().and_then(|shard| shard.home.as_mut()) else {
                continue;
            };
            let entity = busy(&mut home.table.slot(slot).body);
            entity.queue.push_back(Waits::End(StopReason::Passivated));
            if let Some(stop_with) = &self.floor.settings.stop_with
                && let Ok(message) = borough_actor::resident::catch(|| stop_with())
            {
                entity.queue.push_front(Waits::Last(message));
            }
            self.floor.go_on(home, slot);
        }
    }
}
