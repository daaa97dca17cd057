//! Faults that lie in wait for a bad moment.

use borough_protocol::incarnation::Uid;
use borough_protocol::log::Log;
use borough_protocol::table::Change;

use super::{Happening, World};
use crate::sim::cuts::SlotIndex;
use crate::sim::life::Life;
use crate::sim::strike::Cue;
use crate::sim::violation::Violation;

impl World {
    /// The moment of a fault has come: it strikes, or begins to lie in wait.
    pub(super) fn strike_or_wait(&mut self, place: usize) -> Result<(), Violation> {
        if self.strikes[place].cue.is_none() {
            return self.strike(place, None);
        }
        self.waiting.push(place);
        Ok(())
    }

    /// Looks whether the life in that slot is in a situation that a fault waits for.
    pub(super) fn spring(&mut self, slot: SlotIndex) {
        let Some(life) = &self.slots[slot].life else { return };
        let promised = self.promised_by(slot);
        let writes = self.settings.durable && self.disks.of(slot).writes_log();
        let strikes = &self.strikes;
        let found = self.waiting.iter().position(|place| {
            strikes[*place].cue.is_some_and(|(cue, _)| is_in(cue, life, (writes, promised.is_some())))
        });
        let Some(found) = found else { return };
        let place = self.waiting[found];
        let Some((cue, delay)) = strikes[place].cue else { return };
        let victim = match cue {
            Cue::Write | Cue::Promises => Some(life.uid()),
            Cue::Promised => promised,
            Cue::Election | Cue::JointPhase | Cue::Removal => victim_in(life),
        };
        self.waiting.remove(found);
        self.queue.plan(self.now.after(delay), Happening::Sprung { place, victim });
    }

    /// Who has a promise of the life in that slot, which is in no cluster.
    fn promised_by(&self, slot: SlotIndex) -> Option<Uid> {
        if !self.settings.durable || self.slots[slot].life.as_ref()?.node.cluster().is_some() {
            return None;
        }
        self.disks.of(slot).image.pledges.last().map(|pledge| pledge.uid)
    }
}

fn is_in(cue: Cue, life: &Life, (writes, has_promised): (bool, bool)) -> bool {
    if matches!(cue, Cue::Promised | Cue::Promises) {
        return has_promised;
    }
    let Some(log) = life.node.log() else { return false };
    match cue {
        Cue::Election => log.in_office() && !log.may_act(),
        Cue::JointPhase => log.voters().is_joint(),
        Cue::Write => writes,
        Cue::Removal => log.in_office() && victim_in(life).is_some(),
        Cue::Promised | Cue::Promises => false,
    }
}

/// Whose removal the life has appended and does not know to be committed.
fn victim_in(life: &Life) -> Option<Uid> {
    life.node.log()?.tail().find_map(|change| match change {
        Change::Remove(uid, _) => Some(*uid),
        Change::Admit(_)
        | Change::Drain(_)
        | Change::Free(_)
        | Change::Forget(_)
        | Change::Close
        | Change::Declare(_)
        | Change::Host(..)
        | Change::EndHosting(..)
        | Change::Shards(_) => None,
    })
}
