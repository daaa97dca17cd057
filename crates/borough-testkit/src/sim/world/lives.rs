//! Lives begin, wake, stand still, go on and end.

use std::mem;

use borough_protocol::flaws::Flaw;
use borough_protocol::incarnation::{Address, Uid};
use borough_protocol::node::{End, GaveUp, Input, Node};

use super::discovery::Discovery;
use super::{Happening, World};
use crate::sim::birth::{Birth, number_of};
use crate::sim::clock::Clock;
use crate::sim::cuts::SlotIndex;
use crate::sim::invariants::Rules;
use crate::sim::life::Life;
use crate::sim::moment::{MILLISECOND, SECOND};
use crate::sim::rare::Rare;
use crate::sim::slots::Operator;
use crate::sim::violation::Violation;

/// Deadlines handled at one moment after which a machine is taken to run in circles.
const CIRCLES: u32 = 1000;

impl World {
    pub(super) fn start(&mut self, slot: SlotIndex, uid: Option<Uid>) -> Result<(), Violation> {
        if self.slots[slot].life.is_some() || self.slots.is_replaced(slot) {
            return Ok(());
        }
        if self.settings.durable && !self.is_disk_ready(slot) {
            return Ok(());
        }
        let disk = self.settings.durable.then(|| self.disks.of_mut(slot).open());
        if disk.as_ref().is_some_and(|(image, _)| image.log.is_some()) {
            self.met.count(Rare::VoterResumed);
        }
        let uid = uid.unwrap_or_else(|| self.slots.draw_uid(slot, &mut self.random));
        let clock = Clock::draw(self.now, self.settings.drift_per_mille, &mut self.random);
        self.lineages.begins(slot);
        let order = self.slots[slot].recovers.take();
        let memory = self.slots[slot].memory.take();
        let prefers = self.slots[slot].prefers.take();
        let seeds = self.shown_to(slot, number_of(uid));
        let image = disk.as_ref().map(|(image, _)| image.clone());
        let birth = Birth {
            now: self.now,
            address: &self.slots[slot].address,
            uid,
            app_version: "",
            seeds: &seeds,
            expect: self.discovery.as_ref().map(Discovery::expect),
            settings: &self.settings,
            memory,
            prefers,
            recovers: order.map(|(before, _)| before.era),
            disk,
            wall_clock_off: self.slots[slot].wall_clock_off,
        };
        let start = birth.start(clock.show(self.now), &mut self.random);
        self.trace.note([self.now.nanos(), uid.get()]);
        let process = if self.slots[slot].is_same_process { "the same" } else { "a new" };
        self.trace.line(self.now, || format!("n{slot} starts as {uid:?} in {process} process"));
        let node = Node::new(clock.show(self.now), start, &mut self.effects);
        match order.zip(node.cluster()) {
            Some(((before, Operator::Mistaken), cluster)) => self.is_begun_by_mistake(slot, cluster, before),
            Some(((before, Operator::Right), cluster)) => self.rules.begun_anew(cluster, before),
            None => {}
        }
        let is_listed = self.lineages.lists_that_count().any(|voters| voters.names(node.voter()));
        image.as_ref().map_or(Ok(()), |image| Rules::starts(&node, image, is_listed))?;
        self.slots.is_voter((uid, node.voter()), slot);
        let number = number_of(uid);
        let mut life = Life::new(number, self.now, node, clock);
        // One that an operator has begin anew is another voter.
        let resumed = image.filter(|image| image.log.is_some() && image.voter == life.node.voter());
        if let Some(cluster) = life.node.cluster().filter(|_| resumed.is_some() && order.is_none()) {
            life.watch.resumes(cluster, life.node.voter());
        }
        self.slots[slot].life = Some(life);
        self.slots[slot].was_used = true;
        self.plan_work(slot);
        self.settle(slot)
    }

    /// The seeds of a node in that slot, all of them.
    pub(super) fn seeds_of(&self, slot: SlotIndex) -> &[Address] {
        &self.seeds[slot]
    }

    pub(super) fn end(&mut self, slot: SlotIndex, end: &End) -> Result<(), Violation> {
        self.trace.line(self.now, || format!("n{slot} ends: {end:?}"));
        self.close_site(slot)?;
        self.keeps_state(slot, end)?;
        self.yields(slot, end)?;
        self.note_end(slot, end);
        self.closed_at = if *end == End::Closed { Some(self.now) } else { self.closed_at };
        is_readable(slot, end)?;
        // One that left is another process when it comes back.
        let is_same_process = matches!(end, End::GaveUp(_));
        let memory = self.slots[slot].life.as_ref().and_then(|life| life.node.memory());
        self.slots[slot].empty(self.now);
        self.slots[slot].is_same_process = is_same_process;
        self.slots[slot].memory = memory.filter(|_| is_same_process);
        self.slots[slot].prefers = match end {
            End::GaveUp(GaveUp::Overtaken(cluster)) => Some(*cluster),
            _ => None,
        };
        self.slots[slot].gave_up = matches!(end, End::GaveUp(_));
        // Nobody ordered the end of the cluster: all of its nodes left, and each comes back as it would have.
        let has_left = *end == End::Left || (*end == End::Closed && self.closed.is_none());
        let back_after = match end {
            End::GaveUp(why) => {
                match why {
                    GaveUp::Removed => self.met.count(Rare::GaveUpRemoved),
                    GaveUp::Suspended => self.met.count(Rare::GaveUpSuspended),
                    GaveUp::Forsaken => self.met.count(Rare::GaveUpForsaken),
                    GaveUp::Overtaken(_) => self.met.count(Rare::GaveUpOvertaken),
                    GaveUp::DownAll => self.met.count(Rare::GaveUpDownAll),
                    GaveUp::Over => self.met.count(Rare::GaveUpOver),
                    GaveUp::Recovers => self.met.count(Rare::BegunAnew),
                    GaveUp::Copy => self.met.count(Rare::GaveUpCopy),
                }
                Some(if *why == GaveUp::Recovers {
                    MILLISECOND
                } else {
                    self.random.between(10 * MILLISECOND, 500 * MILLISECOND)
                })
            }
            End::Left | End::Refused(_) | End::Unreadable(_) => self.slots[slot].back_after.take(),
            End::Closed => {
                self.met.count(Rare::ClusterClosed);
                self.slots[slot].was_used = false;
                self.slots[slot].back_after.take().filter(|_| has_left)
            }
        };
        // Once everything heals, every slot is to run: one whose leave ends only then is back as soon as those that are away when it begins.
        let back_after = match back_after {
            Some(delay) if self.is_healing => Some(delay.min(SECOND)),
            None if self.is_healing && (*end != End::Closed || has_left) => Some(SECOND),
            other => other,
        };
        if let Some(delay) = back_after {
            let at = self.now.after(delay);
            if has_left {
                self.returned = self.returned.max(at);
            }
            self.queue.plan(at, Happening::Start { slot, uid: None });
        }
        Ok(())
    }

    /// A member gives up what it has only if it was removed, waited to leave, or for another founding.
    fn keeps_state(&self, slot: SlotIndex, end: &End) -> Result<(), Violation> {
        let Some(life) = &self.slots[slot].life else { return Ok(()) };
        if *end == End::GaveUp(GaveUp::Removed)
            && life.watch.is_admitted()
            && !self.rules.is_removed(life.uid())
        {
            let text = format!("{:?} gave up as removed, and was not", life.uid());
            return Err(Violation::Safety("keeps_state", text));
        }
        if *end == End::GaveUp(GaveUp::Suspended) && !life.is_leaving {
            let text =
                format!("{:?} gave up because it was suspended, and was not told to leave", life.uid());
            return Err(Violation::Safety("keeps_state", text));
        }
        Ok(())
    }

    /// A node yields to another cluster only as the rules of a meeting say.
    fn yields(&self, slot: SlotIndex, end: &End) -> Result<(), Violation> {
        let Some(life) = &self.slots[slot].life else { return Ok(()) };
        match &self.meeting {
            Some(meeting)
                if matches!(end, End::GaveUp(GaveUp::Overtaken(_))) && meeting.uid == life.uid() =>
            {
                life.watch.yields(self.now, meeting, &self.settings)
            }
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn wake(&mut self, slot: SlotIndex, number: u32, life: usize) -> Result<(), Violation> {
        let Some(it) = self.slots[slot].life_numbered(life) else { return Ok(()) };
        if !it.take_wake(number) || it.pause.is_some() {
            return Ok(());
        }
        self.wake_if_due(slot)
    }

    /// Deadlines may have moved on since the wake was planned: then another one is.
    fn wake_if_due(&mut self, slot: SlotIndex) -> Result<(), Violation> {
        let Some(life) = &self.slots[slot].life else { return Ok(()) };
        if !life.is_due(self.now) {
            self.plan_wake(slot);
            return Ok(());
        }
        self.trace.note([self.now.nanos(), life.uid().get()]);
        self.count_circle(slot)?;
        self.handle(slot, Input::Deadline)
    }

    pub(super) fn plan_wake(&mut self, slot: SlotIndex) {
        if let Some(life) = &mut self.slots[slot].life
            && let Some((at, number)) = life.plan_wake(self.now)
        {
            self.queue.plan(at, Happening::Wake { slot, number, life: life.number });
        }
    }

    /// A machine whose deadline never moves on would stop true time.
    pub(super) fn count_circle(&mut self, slot: SlotIndex) -> Result<(), Violation> {
        if self.circles_at != self.now {
            (self.circles, self.circles_at) = (0, self.now);
        }
        self.circles += 1;
        if self.circles > CIRCLES {
            return Err(Violation::Liveness("circles", format!("n{slot}'s deadline stays in the past")));
        }
        Ok(())
    }

    /// The process goes on: everything that waited for it is there at once, and its clock may have passed its deadline.
    pub(super) fn resume(&mut self, slot: SlotIndex, life: usize) -> Result<(), Violation> {
        let now = self.now;
        let Some(it) = self.slots[slot].life_numbered(life) else { return Ok(()) };
        let Some(pause) = it.pause.filter(|pause| pause.until <= now) else { return Ok(()) };
        it.pause = None;
        self.slots[slot].awake_since = now;
        let Some(it) = self.slots[slot].life_numbered(life) else { return Ok(()) };
        if self.rules.is_removed(it.uid()) {
            self.met.count(Rare::PausedUntilRemoved);
        }
        if self.settings.flaws.has(Flaw::ClockStopsInPause) {
            it.clock.lose(now.since(pause.since));
        }
        let backlog = mem::take(&mut it.backlog);
        self.trace.line(now, || format!("n{slot} goes on"));
        if self.random.per_mille(500) {
            self.wake_if_due(slot)?;
        }
        for input in backlog {
            // The life may end in the middle of its backlog.
            if self.slots[slot].life.as_ref().is_some_and(|it| it.number == life) {
                self.handle(slot, input)?;
            }
        }
        self.wake_if_due(slot)
    }
}

/// What is synced of a log is the log of a voter, whatever was lost behind it.
fn is_readable(slot: SlotIndex, end: &End) -> Result<(), Violation> {
    match end {
        End::Unreadable(why) => Err(Violation::Safety("readable", format!("the disk of n{slot}: {why}"))),
        End::Left | End::Closed | End::GaveUp(_) | End::Refused(_) => Ok(()),
    }
}
