//! How faults strike, and how they are taken back.

use borough_protocol::flaws::Flaw;
use borough_protocol::incarnation::Uid;
use borough_protocol::log::Log;
use borough_protocol::node::Command;
use borough_protocol::table::Cluster;
use borough_protocol::version::Term;

use super::{Happening, World};
use crate::sim::cuts::SlotIndex;
use crate::sim::fault::{Fault, Target};
use crate::sim::life::Life;
use crate::sim::moment::{Nanos, SECOND};
use crate::sim::plan::nanos;
use crate::sim::rare::Rare;
use crate::sim::strike::Strike;
use crate::sim::violation::Violation;

/// What a fault leaves to be taken back at its end.
#[derive(Debug)]
pub(super) enum Lift {
    /// These ways are open again, and these slots can take their part.
    Cuts { ways: Vec<(SlotIndex, SlotIndex)>, hurt: Vec<SlotIndex> },
    /// This slot can take its part.
    Hurt(SlotIndex),
    /// The storm of that number is over.
    Storm(usize),
}

impl World {
    /// Does what the fault says, unless nobody is there to be struck or the mode forbids it.
    pub(super) fn strike(&mut self, place: usize, victim: Option<Uid>) -> Result<(), Violation> {
        if self.is_healing {
            return Ok(());
        }
        let now = self.now;
        self.victim = victim;
        let Strike { number, fault, .. } = self.strikes[place].clone();
        self.trace.line(now, || format!("fault {number}: {fault}"));
        let resolved = fault.with_targets(|target| self.whom(target).map_or(target, Target::Slot));
        let resolved = match resolved {
            Fault::VotersCutOff { lasts } => Fault::Partition { side: self.fewest_voters(), lasts },
            other => other,
        };
        self.striking = Some(Strike { number, at: now, cue: None, fault: resolved });
        let outcome = self.strike_with(number, fault);
        self.striking = None;
        outcome
    }

    fn strike_with(&mut self, number: usize, fault: Fault) -> Result<(), Violation> {
        let now = self.now;
        match fault {
            Fault::Crash { whom, back_after } => return self.crash(whom, back_after),
            Fault::Pause { whom, lasts } => self.pause(whom, lasts),
            Fault::Partition { side, lasts } => self.partition(&side, lasts),
            Fault::VotersCutOff { lasts } => {
                let side = self.fewest_voters();
                if !side.is_empty() {
                    if side.len() * 2 < self.slots.len() {
                        self.met.count(Rare::VotersOnTheSmallerSide);
                    }
                    self.partition(&side, lasts);
                }
            }
            Fault::Restart { slots, back_within } => return self.restart(&slots, back_within),
            Fault::WallClock { whom, seconds } => {
                if let Some(slot) = self.whom(whom) {
                    self.note_strike();
                    self.slots[slot].wall_clock_off += seconds;
                    self.rules.let_go_of_eras();
                    self.met.count(Rare::WallClockSet);
                }
            }
            Fault::Apart { one, other, lasts } => self.cut_pair((one, other), true, lasts),
            Fault::OneWay { from, to, lasts } => self.cut_pair((from, to), false, lasts),
            Fault::BadLinks { ways, lasts } => self.break_links(ways, lasts),
            Fault::Deaf { whom, lasts } => self.isolate(whom, |slot, other| (other, slot), lasts),
            Fault::Mute { whom, lasts } => self.isolate(whom, |slot, other| (slot, other), lasts),
            Fault::Storm { weather, lasts } => {
                if self.bears_storm(lasts) {
                    self.note_strike();
                    self.network.begin_storm(number, weather);
                    for slot in 0..self.slots.len() {
                        self.trouble(slot, lasts);
                    }
                    self.queue.plan(now.after(lasts), Happening::Lift(Lift::Storm(number)));
                }
            }
            Fault::Leave { whom, back_after } => return self.leave(whom, back_after),
            Fault::Down { by, whom } => return self.down(by, whom),
            Fault::Refused { by, whom } => {
                if let Some((by, uid)) = self.whom(by).zip(self.uid_of(whom)) {
                    self.note_strike();
                    // It is half suspected: a renewal that is lost now may cost it its membership.
                    if let Some(slot) = self.slots.slot_of(uid) {
                        self.trouble(slot, 0);
                    }
                    return self.command(by, Command::Refused(uid));
                }
            }
            Fault::Start { slot } => {
                self.note_strike();
                return self.start(slot, None);
            }
            Fault::Close { by } => return self.close(by),
            Fault::Recover { whom, back_after, lasts } => return self.bereave(whom, back_after, lasts),
            Fault::SeedsCutOff { of, lasts, is_followed } => {
                return self.cut_seeds_off(of, lasts, is_followed);
            }
            Fault::RecoverByMistake { whom, lasts } => self.mistake(whom, lasts),
            Fault::DiskStuck { whom, lasts } => self.stick(whom, lasts),
            Fault::DiskFull { whom, lasts, back_after } => return self.fill(whom, lasts, back_after),
            Fault::DiskLost { whom, back_after } => return self.lose_disk(whom, back_after),
            Fault::DiskRestored { whom, after, back_after } => self.copy_disk(whom, after, back_after),
            Fault::Replaced { whom, back_after, lasts } => self.replace(whom, back_after, lasts),
            Fault::PowerCycle { back_after } => return self.cycle_power(&back_after),
        }
        Ok(())
    }

    /// The fault does strike.
    pub(super) fn note_strike(&mut self) {
        self.struck.extend(self.striking.take());
    }

    /// Takes back what a fault left.
    pub(super) fn lift(&mut self, lift: &Lift) {
        match lift {
            Lift::Cuts { ways, hurt } => {
                for slot in hurt {
                    self.mend(*slot);
                }
                for (from, to) in ways {
                    self.network.cuts.lift(*from, *to);
                    self.founding.open_since(self.now, *from, *to);
                }
            }
            Lift::Hurt(slot) => self.mend(*slot),
            Lift::Storm(number) => {
                self.network.end_storm(*number);
                self.founding.fair_since(self.now);
            }
        }
    }

    fn mend(&mut self, slot: SlotIndex) {
        // Healing may have mended it before.
        self.slots[slot].hurt = self.slots[slot].hurt.saturating_sub(1);
    }

    /// No more faults: everything that is cut, paused or empty comes back.
    pub(in crate::sim) fn heal(&mut self) {
        self.is_healing = true;
        self.network.heal();
        self.founding.healed(self.now);
        self.heal_disks();
        self.owe_going_on();
        self.trace.line(self.now, || "everything heals".to_owned());
        for slot in 0..self.slots.len() {
            self.slots[slot].hurt = 0;
            if let Some(life) = &mut self.slots[slot].life {
                if let Some(pause) = &mut life.pause {
                    pause.until = self.now;
                    let number = life.number;
                    self.queue.plan(self.now, Happening::Resume { slot, life: number });
                }
            } else if self.slots[slot].was_used {
                let delay = self.random.below(SECOND);
                self.queue.plan(self.now.after(delay), Happening::Start { slot, uid: None });
            }
        }
    }

    pub(super) fn crash(&mut self, whom: Target, back_after: Option<Nanos>) -> Result<(), Violation> {
        let Some(slot) = self.whom(whom).filter(|slot| self.bears_loss_of(*slot)) else { return Ok(()) };
        self.note_strike();
        self.crash_now(slot, back_after)
    }

    pub(super) fn crash_now(&mut self, slot: SlotIndex, back_after: Option<Nanos>) -> Result<(), Violation> {
        self.note_crash(slot);
        self.expect_removal(slot, Nanos::MAX);
        self.close_site(slot)?;
        self.slots[slot].is_same_process = false;
        // A new process knows nothing of the lives in the last one.
        (self.slots[slot].memory, self.slots[slot].prefers) = (None, None);
        self.crash_disk(slot)?;
        let Some(life) = self.slots[slot].empty(self.now) else { return Ok(()) };
        if let Some(delay) = back_after {
            let uid = self.settings.flaws.has(Flaw::RestartedVoterKeepsItsVote).then(|| life.uid());
            self.queue.plan(self.now.after(delay), Happening::Start { slot, uid });
        }
        Ok(())
    }

    /// All of them die, or none does.
    fn restart(&mut self, slots: &[SlotIndex], back_within: Nanos) -> Result<(), Violation> {
        if !self.bears_loss_of_all(slots) {
            return Ok(());
        }
        self.note_strike();
        self.met.count(Rare::SeveralRestarted);
        for slot in slots {
            // One after another, the last first: who is back first is not always the first seed.
            let delay = back_within * (slots.len() - slot % slots.len()) as u64 / slots.len() as u64;
            self.crash_now(*slot, Some(delay))?;
        }
        Ok(())
    }

    fn note_crash(&mut self, slot: SlotIndex) {
        let Some(voter) = self.slots[slot].life.as_ref().map(|life| life.node.voter()) else { return };
        let lists = self.lists_in_force();
        let Some(voters) = lists.into_iter().find(|voters| voters.is_joint() && voters.names(voter)) else {
            return;
        };
        let is_leaver = !voters.next.contains(&voter);
        self.met.count(Rare::VoterCrashedInJointPhase);
        if is_leaver {
            self.met.count(Rare::LeaverCrashedInJointPhase);
        }
        if self.coordinator() == Some(slot) {
            self.met.count(Rare::CoordinatorCrashedInJointPhase);
        }
    }

    pub(super) fn pause(&mut self, whom: Target, lasts: Nanos) {
        let is_short = lasts <= nanos(self.settings.max_pause);
        let Some(slot) = self.whom(whom).filter(|slot| is_short || self.bears_loss_of(*slot)) else { return };
        let now = self.now;
        let Some(life) = &mut self.slots[slot].life else { return };
        // Two short pauses that run into each other are a long one.
        if is_short && life.pause.is_some() {
            return;
        }
        self.struck.extend(self.striking.take());
        if life.turn_at(now).is_some() {
            self.met.count(Rare::PausedInATurn);
        }
        life.begin_pause(now, lasts);
        let Some(pause) = life.pause else { return };
        self.queue.plan(pause.until, Happening::Resume { slot, life: life.number });
        self.trouble(slot, lasts);
        if !is_short {
            self.expect_removal(slot, lasts);
            self.slots[slot].hurt += 1;
            self.queue.plan(now.after(lasts), Happening::Lift(Lift::Hurt(slot)));
        }
    }

    fn partition(&mut self, side: &[SlotIndex], lasts: Nanos) {
        let rest: Vec<SlotIndex> = (0..self.slots.len()).filter(|slot| !side.contains(slot)).collect();
        let Some(hurt) = self.bears_loss_of_one([side, &rest]).map(<[_]>::to_vec) else { return };
        self.note_strike();
        if self.slots.running().any(|(slot, _)| !self.slots.is_member(slot)) {
            self.met.count(Rare::PartitionDuringJoin);
        }
        if self.voters_within(side) == self.voters_within(&rest) {
            self.met.count(Rare::VotersSplitEvenly);
        }
        for slot in &hurt {
            self.expect_removal(*slot, lasts);
        }
        let ways = side.iter().flat_map(|one| rest.iter().flat_map(|other| [(*one, *other), (*other, *one)]));
        self.cut(ways.collect(), hurt, lasts);
    }

    fn cut_pair(&mut self, (from, to): (Target, Target), both_ways: bool, lasts: Nanos) {
        let Some((from, to)) = self.whom(from).zip(self.whom(to)).filter(|(from, to)| from != to) else {
            return;
        };
        let Some(hurt) = self.bears_loss_of_one([&[to], &[from]]).map(<[_]>::to_vec) else { return };
        self.note_strike();
        let mut ways = vec![(from, to)];
        if both_ways {
            ways.push((to, from));
        }
        self.expect_choice((from, to), lasts);
        self.cut(ways, hurt, lasts);
    }

    /// Cuts the ways between one slot and all others that `way` names.
    fn isolate(
        &mut self,
        whom: Target,
        way: impl Fn(SlotIndex, SlotIndex) -> (SlotIndex, SlotIndex),
        lasts: Nanos,
    ) {
        let Some(slot) = self.whom(whom).filter(|slot| self.bears_loss_of(*slot)) else { return };
        self.note_strike();
        self.expect_removal(slot, lasts);
        let others = (0..self.slots.len()).filter(|other| *other != slot);
        self.cut(others.map(|other| way(slot, other)).collect(), vec![slot], lasts);
    }

    pub(super) fn cut(&mut self, ways: Vec<(SlotIndex, SlotIndex)>, hurt: Vec<SlotIndex>, lasts: Nanos) {
        self.note_cut(&ways);
        for (from, to) in &ways {
            self.network.cuts.cut(*from, *to);
        }
        for (from, to) in &ways {
            self.trouble(*from, lasts);
            self.trouble(*to, lasts);
        }
        for slot in &hurt {
            self.slots[*slot].hurt += 1;
        }
        self.queue.plan(self.now.after(lasts), Happening::Lift(Lift::Cuts { ways, hurt }));
    }

    fn leave(&mut self, whom: Target, back_after: Option<Nanos>) -> Result<(), Violation> {
        let Some(slot) = self.whom(whom).filter(|slot| self.bears_leave_of(*slot)) else { return Ok(()) };
        self.note_strike();
        self.slots[slot].back_after = back_after;
        if let Some(life) = &mut self.slots[slot].life {
            life.is_leaving = true;
        }
        if self.coordinator() == Some(slot) {
            self.met.count(Rare::CoordinatorLeft);
        }
        self.command(slot, Command::Leave)
    }

    pub(super) fn down(&mut self, by: Target, whom: Target) -> Result<(), Violation> {
        let Some((by, slot)) = self.whom(by).zip(self.whom(whom)) else { return Ok(()) };
        let Some(uid) = self.uid_of(whom).filter(|_| self.bears_loss_of(slot)) else { return Ok(()) };
        self.note_strike();
        self.command(by, Command::Down(uid))
    }

    /// Only who belongs to a cluster can have it shut down.
    fn close(&mut self, by: Target) -> Result<(), Violation> {
        let Some(slot) = self.whom(by).filter(|slot| self.takes_part(*slot)).or(self.coordinator()) else {
            return Ok(());
        };
        self.note_strike();
        self.closed = self.slots[slot].life.as_ref().and_then(|life| life.node.cluster());
        self.command(slot, Command::CloseCluster)
    }

    /// The slot that is struck, if somebody runs there.
    pub(super) fn whom(&self, target: Target) -> Option<SlotIndex> {
        match target {
            Target::Slot(slot) => self.slots[slot].life.as_ref().map(|_| slot),
            Target::Coordinator => self.coordinator(),
            Target::Victim => self
                .victim
                .filter(|uid| self.slots.life(*uid).is_some())
                .and_then(|uid| self.slots.slot_of(uid)),
            Target::Follower(first) => {
                let slots = self.slots.len();
                (first..first + slots).map(|slot| slot % slots).find(|slot| self.follows(*slot))
            }
        }
    }

    fn uid_of(&self, target: Target) -> Option<Uid> {
        self.slots[self.whom(target)?].life.as_ref().map(Life::uid)
    }

    /// Who is in office, in the newest term of the newest cluster.
    pub(super) fn coordinator(&self) -> Option<SlotIndex> {
        let office = |(slot, life): (SlotIndex, &Life)| -> Option<((Cluster, Term), SlotIndex)> {
            let log = life.node.log().filter(|log| log.in_office())?;
            Some(((life.node.cluster()?, log.term()), slot))
        };
        self.slots.running().filter_map(office).max().map(|(_, slot)| slot)
    }

    fn follows(&self, slot: SlotIndex) -> bool {
        let votes = |life: &Life| {
            life.node.log().is_some_and(|log| !log.in_office() && log.voters().names(life.node.voter()))
        };
        self.slots[slot].life.as_ref().is_some_and(votes)
    }
}
