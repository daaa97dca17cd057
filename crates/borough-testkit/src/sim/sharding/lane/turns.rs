//! The turns of the entities of a shard, and what must be before the first one.

use std::collections::BTreeMap;

use borough_protocol::sharding::Epoch;
use borough_protocol::sharding::region::Input;

use super::{Deed, Lane};
use crate::sim::moment::Moment;
use crate::sim::sharding::message::MessageId;

/// A turn of an entity.
#[derive(Clone, Copy, Debug)]
pub(in crate::sim) struct Turn {
    /// Which turn of the lane.
    pub(in crate::sim) number: u64,
    pub(in crate::sim) id: MessageId,
    /// When the piece of it that runs now began.
    pub(in crate::sim) since: Moment,
    /// Whether it awaits something, and is to be polled once more.
    pub(in crate::sim) is_parked: bool,
}

impl Lane {
    /// The store is fenced: it may run. What was stored is there, if it began anew.
    pub(in crate::sim) fn is_fenced(
        &mut self,
        epoch: Epoch,
        stored: Option<BTreeMap<u8, u32>>,
        deeds: &mut Vec<Deed>,
    ) {
        let Some(home) = self.home.as_mut().filter(|home| home.epoch == epoch && !home.is_ready) else {
            return;
        };
        (home.is_ready, home.is_new, home.runs_at) = (true, false, epoch);
        for (number, count) in stored.into_iter().flatten() {
            home.entities.entry(number).or_default().count = count;
        }
        self.cut_if_quiet(deeds);
    }

    /// If it lives here by that epoch: its lineage, and whether it begins anew now.
    pub(in crate::sim) fn begins_at(&self, epoch: Epoch) -> Option<(Epoch, bool)> {
        let home = self.home.as_ref().filter(|home| home.epoch == epoch && !home.is_raised)?;
        Some((home.lineage, home.is_new))
    }

    /// Whether an entity could begin a turn.
    pub(in crate::sim) fn idle_entities(&self) -> Vec<u8> {
        let Some(home) = self.home.as_ref().filter(|home| home.is_ready && home.frost.is_none()) else {
            return Vec::new();
        };
        let idle = home.entities.iter().filter(|(_, it)| it.turn.is_none() && !it.queue.is_empty());
        idle.map(|(number, _)| *number).collect()
    }

    /// That entity begins a turn.
    pub(in crate::sim) fn begin_turn(
        &mut self,
        now: Moment,
        entity: u8,
        is_parked: bool,
    ) -> Option<(Epoch, Turn)> {
        let home = self.home.as_mut()?;
        let it = home.entities.get_mut(&entity)?;
        let id = it.queue.pop_front()?;
        self.turns += 1;
        let turn = Turn { number: self.turns, id, since: now, is_parked };
        it.turn = Some(turn);
        Some((home.epoch, turn))
    }

    /// The turn that entity is in.
    pub(in crate::sim) fn turn_of(&self, entity: u8) -> Option<Turn> {
        self.home.as_ref()?.entities.get(&entity)?.turn
    }

    /// The turn of that number, if it is still under way, the epoch and lineage it runs by, and what its entity has counted.
    pub(in crate::sim) fn turn(
        &mut self,
        entity: u8,
        number: u64,
    ) -> Option<(&mut Turn, (Epoch, Epoch), u32)> {
        let home = self.home.as_mut()?;
        let it = home.entities.get_mut(&entity)?;
        let count = it.count;
        let turn = it.turn.as_mut().filter(|turn| turn.number == number)?;
        Some((turn, (home.runs_at, home.lineage), count))
    }

    /// The turn of that entity is over. What it did counts, unless the store refused it.
    pub(in crate::sim) fn end_turn(&mut self, entity: u8, counts: bool, deeds: &mut Vec<Deed>) {
        if let Some(it) = self.home.as_mut().and_then(|home| home.entities.get_mut(&entity)) {
            it.turn = None;
            it.count += u32::from(counts);
        }
        self.fence_if_quiet(deeds);
        self.cut_if_quiet(deeds);
    }

    /// A move was to be cut by now.
    pub(in crate::sim) fn give_up_move(&self, next: Epoch, deeds: &mut Vec<Deed>) {
        let frost = self.home.as_ref().and_then(|home| home.frost);
        if frost.is_some_and(|frost| frost.next == next && !frost.is_cut) {
            deeds.push(Deed::Tell(Input::Impossible { shard: self.shard, epoch: next }));
        }
    }
}
