//! What happens to disks, and what nodes with disks are owed.

use std::collections::BTreeSet;

use borough_protocol::disk::{Bond, Image, Record, Write};
use borough_protocol::log::Log;
use borough_protocol::node::Input;
use borough_protocol::table::Cluster;
use borough_protocol::voters::VoterId;

use super::faults::Lift;
use super::{Happening, World};
use crate::sim::cuts::SlotIndex;
use crate::sim::disk::Copy;
use crate::sim::fault::Target;
use crate::sim::moment::{MILLISECOND, Nanos, SECOND};
use crate::sim::rare::Rare;
use crate::sim::violation::Violation;

/// A process says that its disk does not work when it has taken no write for so long.
const NOTICED: Nanos = 6 * SECOND;
/// How often a process whose disk is not level looks again before its next life begins.
const LOOK: Nanos = 100 * MILLISECOND;
/// How long after one disk was restored from a copy the next may be.
const RESTORED: Nanos = 20 * SECOND;

impl World {
    /// The life in that slot wants something written.
    pub(super) fn write(&mut self, slot: SlotIndex, number: u64, write: Write) {
        let Some(life) = self.slots[slot].life.as_ref().map(|life| life.number) else { return };
        self.trace.line(self.now, || format!("n{slot} writes {number}: {}", shown(&write)));
        let due = self.disks.write((self.now, slot), (life, number), write);
        self.queue.plan(due, Happening::Synced { slot });
    }

    /// The life in that slot wants that written. If it founds a cluster, and not by the order of an operator, it has heard everybody it has to.
    pub(super) fn is_founding_right(&self, slot: SlotIndex, write: &Write) -> Result<(), Violation> {
        let Some(life) = &self.slots[slot].life else { return Ok(()) };
        let Write::Become { record: Some(record), log, .. } = write else { return Ok(()) };
        let founds = record.bond == Bond::Member && !log.is_empty();
        if !founds || self.rules.is_begun_anew(record.memory.cluster) {
            return Ok(());
        }
        life.watch.founds(life.uid(), &self.disks.of(slot).level())
    }

    /// A write may be synced.
    pub(super) fn synced(&mut self, slot: SlotIndex) -> Result<(), Violation> {
        let Some(synced) = self.disks.of_mut(slot).sync(self.now) else {
            if let Some(due) = self.disks.of(slot).next().filter(|due| *due > self.now) {
                self.queue.plan(due, Happening::Synced { slot });
            }
            return Ok(());
        };
        self.trace.note([self.now.nanos(), synced.number]);
        self.succeeds(slot);
        self.is_truly_ended(slot)?;
        if self.slots[slot].life_numbered(synced.life).is_some() {
            return self.give(slot, Input::Written(synced.number));
        }
        Ok(())
    }

    /// A cluster that succeeds others by the order of an operator is on the disk there: those have ended.
    fn succeeds(&mut self, slot: SlotIndex) {
        let record = self.disks.of(slot).image.record.as_ref();
        let Some(cluster) = record.map(|record| record.memory.cluster) else { return };
        if self.rules.is_begun_anew(cluster) {
            let ancestors: Vec<Cluster> =
                record.iter().flat_map(|record| record.memory.ancestors.iter()).collect();
            for before in ancestors {
                self.lineages.end(before);
            }
        }
    }

    /// A disk says that a cluster has ended only if it has.
    fn is_truly_ended(&mut self, slot: SlotIndex) -> Result<(), Violation> {
        let record = self.disks.of(slot).image.record.as_ref();
        let Some(record) = record.filter(|record| record.bond == Bond::Ended) else { return Ok(()) };
        let cluster = record.memory.cluster;
        if self.lineages.is_ended_by(cluster, slot)
            || self.lineages.has_ended(cluster)
            || self.lineages.is_without(cluster, |voter| self.disks.has(voter))
        {
            return Ok(());
        }
        let text = format!("the disk of n{slot} says that {cluster:?} has ended");
        Err(Violation::Safety("recorded", text))
    }

    /// Whether the next life of the process there can begin: all of the last one is written. If not, plans to look again.
    pub(super) fn is_disk_ready(&mut self, slot: SlotIndex) -> bool {
        let is_ready = self.disks.of(slot).is_level();
        if !is_ready {
            self.queue.plan(self.now.after(LOOK), Happening::Start { slot, uid: None });
        }
        is_ready
    }

    /// The process there is gone, and with it a part of what it had not synced. The other part is on the disk, and counts like what was synced.
    pub(super) fn crash_disk(&mut self, slot: SlotIndex) -> Result<(), Violation> {
        if !self.settings.durable {
            return Ok(());
        }
        if self.disks.crash(slot) > 0 {
            self.met.count(Rare::WritesLost);
        }
        self.succeeds(slot);
        self.is_truly_ended(slot)
    }

    pub(super) fn stick(&mut self, whom: Target, lasts: Nanos) {
        let Some(slot) = self.whom(whom).filter(|slot| self.bears_loss_of(*slot)) else { return };
        self.note_strike();
        self.met.count(Rare::DiskStuck);
        self.disks.of_mut(slot).get_stuck(self.now.after(lasts));
        self.slots[slot].hurt += 1;
        self.trouble(slot, lasts);
        self.queue.plan(self.now.after(lasts), Happening::Lift(Lift::Hurt(slot)));
        if lasts > NOTICED {
            self.queue.plan(self.now.after(NOTICED), Happening::DiskNoticed { slot });
        }
    }

    /// The process notices whether its disk works. One that noticed a stuck disk notices when it works again: also if another fault made it last longer.
    pub(super) fn notice_disk(&mut self, slot: SlotIndex) -> Result<(), Violation> {
        let stuck_until = self.disks.of(slot).stuck_until(self.now);
        if let Some(until) = stuck_until {
            self.queue.plan(until, Happening::DiskNoticed { slot });
        }
        let works = stuck_until.is_none() && !self.disks.of(slot).is_full;
        self.give(slot, Input::DiskWorks(works))
    }

    pub(super) fn fill(&mut self, whom: Target, lasts: Nanos, back_after: Nanos) -> Result<(), Violation> {
        let Some(slot) = self.whom(whom).filter(|slot| self.bears_loss_of(*slot)) else { return Ok(()) };
        self.note_strike();
        self.met.count(Rare::DiskFull);
        self.disks.of_mut(slot).is_full = true;
        self.slots[slot].hurt += 1;
        self.trouble(slot, lasts);
        self.queue.plan(self.now.after(lasts), Happening::Lift(Lift::Hurt(slot)));
        self.queue.plan(self.now.after(lasts), Happening::DiskFreed { slot, back_after });
        self.notice_disk(slot)
    }

    /// An operator makes room and starts the process again, unless it was started meanwhile.
    pub(super) fn free_disk(&mut self, slot: SlotIndex, back_after: Nanos) -> Result<(), Violation> {
        if !self.disks.of(slot).is_full {
            return Ok(());
        }
        if self.slots[slot].life.is_some() {
            return self.crash_now(slot, Some(back_after));
        }
        // The process waits in vain for what its last life wrote.
        self.slots[slot].is_same_process = false;
        (self.slots[slot].memory, self.slots[slot].prefers) = (None, None);
        self.crash_disk(slot)?;
        Ok(())
    }

    /// The machine is lost with its disk; another one comes with an empty one.
    pub(super) fn lose_disk(&mut self, whom: Target, back_after: Nanos) -> Result<(), Violation> {
        let slot = self.whom(whom).filter(|slot| self.bears_loss_of(*slot) && self.can_spare_disk(*slot));
        let Some(slot) = slot else { return Ok(()) };
        self.note_strike();
        self.met.count(Rare::DiskLost);
        self.crash_now(slot, Some(back_after))?;
        self.disks.replace(slot);
        Ok(())
    }

    /// Whether without that disk a majority is left of every list of voters that may be in force, and every node still names a seed that has never lost its
    /// disk. Nothing is promised otherwise: seeds that have all lost their disks and reach nobody found another cluster. Nor if a promise is lost that may have
    /// made a founder, or the disk of a node that has such a promise, or what a voter knows of the end of a cluster that other disks still name. One that is about to vote counts as one that does.
    fn can_spare_disk(&self, slot: SlotIndex) -> bool {
        let Image { voter: spared, pledges, record, .. } = &self.disks.of(slot).image;
        let spared = *spared;
        let names = |other: SlotIndex, cluster: Cluster| {
            let record = self.disks.of(other).image.record.as_ref();
            other != slot && record.is_some_and(|record| record.memory.cluster == cluster)
        };
        let knows_of_end = record
            .as_ref()
            .filter(|record| record.bond != Bond::Member)
            .is_some_and(|record| (0..self.slots.len()).any(|other| names(other, record.memory.cluster)));
        let has_promised = |other: SlotIndex| {
            self.disks.of(other).image.pledges.iter().any(|pledge| pledge.voter.is_of_directory(spared))
        };
        pledges.is_empty()
            && !(0..self.slots.len()).any(has_promised)
            && !knows_of_end
            && !self.is_learner(spared)
            && self.seeds_bear_loss_of(|lost| lost == slot)
            && self
                .lineages
                .lists_that_count()
                .all(|voters| voters.quorum(|voter| voter != spared && self.disks.has(voter)))
    }

    fn is_learner(&self, voter: VoterId) -> bool {
        let mut logs = self.slots.running().filter_map(|(_, life)| life.node.log());
        logs.any(|log| log.learners().contains(&voter))
    }

    /// Whether every node still names a seed that remembers a cluster and has never lost its disk if those lose theirs. One that was in no cluster yet knows
    /// no more than one with an empty disk.
    pub(super) fn seeds_bear_loss_of(&self, loses: impl Fn(SlotIndex) -> bool) -> bool {
        let is_fresh = |seed: SlotIndex| self.disks.of(seed).image.record.is_none();
        let is_lost = |seed: &SlotIndex| loses(*seed) || self.disks.is_lost(*seed) || is_fresh(*seed);
        !(0..self.slots.len()).any(|founder| self.listed(founder).iter().all(is_lost))
    }

    /// Somebody makes a copy of the disk there, which is put back later.
    pub(super) fn copy_disk(&mut self, whom: Target, after: Nanos, back_after: Nanos) {
        let Some(slot) = self.whom(whom) else { return };
        self.note_strike();
        let copy = Box::new(self.disks.of(slot).copy());
        self.queue.plan(self.now.after(after), Happening::Restore { slot, copy, back_after });
    }

    /// The operator puts a copy back if it is safe to. Nothing is promised if more than one voter forgets something at a time: all other voters must
    /// have everything that any voter may have confirmed, and know of the newest term. The other voters are those of today and those of the copy: the voter
    /// goes by its old list until it hears of another one. Nor of a copy from the time when the voter decided alone: if it reaches nobody, nothing tells it
    /// that this time is over. Nor of a copy without a promise that may have made a founder.
    pub(super) fn restore(
        &mut self,
        slot: SlotIndex,
        copy: Copy,
        back_after: Nanos,
    ) -> Result<(), Violation> {
        if !copy.has_log() {
            return self.restore_without_log(slot, copy, back_after);
        }
        let is_soon = self.restored.is_some_and(|(at, _)| self.now < at.after(RESTORED));
        let count = self.restored.map_or(0, |(_, count)| count);
        let forgets_promise = !self.disks.of(slot).image.pledges.is_empty();
        if self.is_healing
            || is_soon
            || forgets_promise
            || copy.decides_alone()
            || !self.may_forget(slot, &copy.voters(), count + 1)
        {
            return Ok(());
        }
        self.trace.line(self.now, || format!("n{slot} crashes, and its disk is restored from a copy"));
        self.restored = Some((self.now, count + 1));
        self.met.count(Rare::DiskRestored);
        self.crash_now(slot, Some(back_after))?;
        self.disks.of_mut(slot).restore(copy);
        Ok(())
    }

    /// The copy was made before the node had a log. The voter forgets everything, so it is promised what is promised of a disk that is lost, if the copy knows of no
    /// other cluster and of no promise that may be over.
    fn restore_without_log(
        &mut self,
        slot: SlotIndex,
        copy: Copy,
        back_after: Nanos,
    ) -> Result<(), Violation> {
        let image = &self.disks.of(slot).image;
        let cluster = |record: Option<&Record>| {
            record.filter(|record| record.bond == Bond::Member).map(|record| record.memory.cluster)
        };
        let (before, now) = (copy.record(), image.record.as_ref());
        let knows_no_other = before.is_none() || cluster(before).is_some() && cluster(before) == cluster(now);
        if self.is_healing
            || image.log.is_none()
            || copy.has_promised()
            || !knows_no_other
            || !self.bears_loss_of(slot)
            || !self.can_spare_disk(slot)
        {
            return Ok(());
        }
        self.trace.line(self.now, || {
            format!("n{slot} crashes, and its disk is restored from a copy without a log")
        });
        self.met.count(Rare::RestoredWithoutLog);
        self.crash_now(slot, Some(back_after))?;
        if copy.record().is_none() {
            self.disks.note_lost(slot);
        }
        self.disks.of_mut(slot).restore(copy);
        Ok(())
    }

    /// Whether the cluster is as it was promised to be if the voter there forgets something and counts those, and that many forgot something in this run.
    fn may_forget(&self, slot: SlotIndex, counts: &BTreeSet<VoterId>, count: usize) -> bool {
        let Some(coordinator) = self.coordinator().and_then(|slot| self.slots[slot].life.as_ref()) else {
            return false;
        };
        let Some(log) = coordinator.node.log() else { return false };
        let voters = log.voters();
        let has_all = |voter: &VoterId| {
            let slot = self.slots.slot_of_voter(*voter);
            let life = self.slots.life_of_voter(*voter);
            let other = life.and_then(|life| life.node.log());
            let is_level = slot.is_some_and(|slot| self.takes_part(slot) && self.disks.of(slot).is_level());
            is_level
                && other
                    .is_some_and(|other| other.term() == log.term() && other.last_index() >= log.last_index())
        };
        log.may_act()
            && !voters.is_joint()
            && 2 * count < voters.now.len()
            && self.slots[slot].life.is_some()
            && self.bears_loss_of(slot)
            && voters.now.iter().chain(counts).all(has_all)
    }

    /// Everything crashes at once.
    pub(super) fn cycle_power(&mut self, back_after: &[Nanos]) -> Result<(), Violation> {
        let running: Vec<SlotIndex> = self.slots.running().map(|(slot, _)| slot).collect();
        if !self.bears_loss_of_all(&running) {
            return Ok(());
        }
        self.note_strike();
        self.met.count(Rare::AllCrashed);
        for slot in running {
            let delay = back_after.get(slot).copied().unwrap_or(SECOND);
            self.crash_now(slot, Some(delay))?;
        }
        Ok(())
    }

    /// No more faults: every disk works from now on.
    pub(super) fn heal_disks(&mut self) {
        for slot in 0..self.slots.len() {
            if self.disks.of(slot).is_full {
                self.queue.plan(self.now, Happening::DiskFreed { slot, back_after: SECOND });
            }
            if self.disks.of(slot).is_stuck(self.now) {
                self.disks.of_mut(slot).come_loose();
                self.queue.plan(self.now, Happening::Synced { slot });
                self.queue.plan(self.now, Happening::DiskNoticed { slot });
            }
        }
    }
}

/// A write in few words.
fn shown(write: &Write) -> String {
    match write {
        Write::Record(record) => format!("{:?} of {:?}", record.bond, record.memory.cluster),
        Write::Become { voter, record, log } => {
            let record = record.as_ref().map(|record| (record.bond, record.memory.cluster));
            format!("becomes {voter:?} with {record:?} and {} writes of its log", log.len())
        }
        Write::Pledges(pledges) => format!("{pledges:?}"),
        Write::Log(write) => format!("{write:?}").chars().take(200).collect(),
    }
}
