//! Seed lists that are discovered: when a process starts, the service that it asks may show a part of the nodes only, and all of them later.

use std::sync::Arc;

use borough_protocol::incarnation::Address;
use borough_protocol::node::Command;
use borough_protocol::random::Random;

use super::{Happening, World};
use crate::sim::cuts::SlotIndex;
use crate::sim::moment::{Nanos, SECOND};
use crate::sim::plan::Plan;
use crate::sim::rare::Rare;
use crate::sim::violation::Violation;

/// So many of a thousand processes see a part at first.
const PARTIAL: u64 = 500;
/// How long a part is shown.
const SHOWN_FOR: (Nanos, Nanos) = (SECOND, 10 * SECOND);

/// The service that shows who is there.
#[derive(Debug)]
pub(super) struct Discovery {
    /// So many nodes each node expects to find.
    expect: usize,
    random: Random,
}

impl Discovery {
    /// The one of that run, if its lists are discovered.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        plan.is_discovered
            .then(|| Self { expect: plan.nodes, random: Random::seeded(plan.seed ^ 0xD15C_0000) })
    }

    /// So many nodes each node expects to find.
    pub(super) fn expect(&self) -> usize {
        self.expect
    }
}

impl World {
    /// The seeds that a process sees that starts in that slot now. If those are not all, it is shown the rest later.
    pub(super) fn shown_to(&mut self, slot: SlotIndex, life: usize) -> Vec<Address> {
        let all = self.seeds_of(slot).to_vec();
        let Some(discovery) = &mut self.discovery else { return all };
        if !discovery.random.per_mille(PARTIAL) {
            return all;
        }
        self.met.count(Rare::PartOfTheSeedsShown);
        let shown = all.into_iter().filter(|_| discovery.random.per_mille(300)).collect();
        let after = discovery.random.between(SHOWN_FOR.0, SHOWN_FOR.1);
        self.queue.plan(self.now.after(after), Happening::Shown { slot, life });
        shown
    }

    /// The life of that number in that slot sees all seeds from now on.
    pub(super) fn is_shown(&mut self, slot: SlotIndex, life: usize) -> Result<(), Violation> {
        if self.slots[slot].life_numbered(life).is_none() {
            return Ok(());
        }
        let all: Arc<[Address]> = self.seeds_of(slot).into();
        self.command(slot, Command::Seeds(all))
    }
}
