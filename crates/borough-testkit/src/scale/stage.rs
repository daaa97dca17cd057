//! Where a run takes place: the nodes, and what was measured of them so far.

use super::crowd::{Crowd, Role};
use super::phase::Phase;
use crate::sim::cuts::SlotIndex;
use crate::sim::moment::{MILLISECOND, Moment, Nanos, SECOND};

/// How often the nodes are looked at while they should come to agree.
const GLANCE: Nanos = 20 * MILLISECOND;
/// How long they may take.
const PATIENCE: Nanos = 120 * SECOND;

pub(super) struct Stage<'a> {
    pub(super) crowd: Crowd,
    pub(super) phases: Vec<Phase>,
    /// What the phase that is measured says of when all knew.
    pub(super) known_after: Option<Nanos>,
    /// Who is told of each phase when it is over.
    tell: &'a mut dyn FnMut(&Phase),
}

impl<'a> Stage<'a> {
    pub(super) fn new(crowd: Crowd, tell: &'a mut dyn FnMut(&Phase)) -> Self {
        Self { crowd, phases: Vec::new(), known_after: None, tell }
    }

    /// A node starts there, at any moment within that time.
    pub(super) fn start_within(&mut self, slot: SlotIndex, within: Nanos) {
        let delay = self.crowd.random().below(within);
        self.crowd.start_after(slot, delay);
    }

    /// Lets time pass.
    pub(super) fn wait(&mut self, length: Nanos) {
        self.crowd.run(self.crowd.now().after(length));
    }

    /// Counts what is sent while that happens.
    pub(super) fn measure(
        &mut self,
        name: &'static str,
        act: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        let (began, handled) = (self.crowd.now(), self.crowd.handled());
        self.crowd.begin_counting();
        act(self).map_err(|missing| format!("{name}: {missing}"))?;
        let mut phase = Phase::of(&self.crowd, name, self.crowd.now().since(began), handled);
        phase.known_after = self.known_after.take();
        (self.tell)(&phase);
        self.phases.push(phase);
        Ok(())
    }

    /// Waits until these nodes, so many, agree on everything; says when.
    pub(super) fn settle(&mut self, count: usize, of: impl Fn(SlotIndex) -> bool) -> Result<Moment, String> {
        self.until(|crowd| crowd.unsettled(count, &of))
    }

    /// Waits until nothing is missing any more; says when.
    pub(super) fn until(&mut self, missing: impl Fn(&Crowd) -> Option<String>) -> Result<Moment, String> {
        let began = self.crowd.now();
        loop {
            self.wait(GLANCE);
            let Some(missing) = missing(&self.crowd) else { return Ok(self.crowd.now()) };
            if self.crowd.now().since(began) >= PATIENCE {
                return Err(missing);
            }
        }
    }

    /// So many that have no voice, drawn by chance, in order.
    pub(super) fn some_members(&mut self, count: usize) -> Vec<SlotIndex> {
        let running = self.crowd.running().map(|(slot, _)| slot);
        let mut members: Vec<SlotIndex> =
            running.filter(|slot| self.crowd.role(*slot) == Role::Member).collect();
        while members.len() > count {
            let out = self.crowd.random().below(members.len() as u64);
            members.remove(usize::try_from(out).unwrap_or_default());
        }
        members
    }
}
