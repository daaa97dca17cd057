//! A process is killed.

use super::{FAILOVER_TARGET, Outcome, REMOVAL_BOUND, seconds};
use crate::fleet::{Fleet, SETTLE_BOUND};

pub(super) fn a_member(fleet: &mut Fleet) -> Outcome {
    fleet.form(5)?;
    let coordinator = coordinator(fleet)?;
    let victim = fleet.places().into_iter().rfind(|place| *place != coordinator).ok_or("there is nobody")?;
    kill(fleet, victim)
}

pub(super) fn the_coordinator(fleet: &mut Fleet) -> Outcome {
    fleet.form(5)?;
    let victim = coordinator(fleet)?;
    kill(fleet, victim)
}

/// Where the coordinator is.
pub(super) fn coordinator(fleet: &mut Fleet) -> Result<usize, String> {
    let first = *fleet.places().first().ok_or("there is nobody")?;
    let uid = fleet.status(first)?.view.coordinator.ok_or("there is no coordinator")?;
    for place in fleet.places() {
        if fleet.uid(place)? == uid {
            return Ok(place);
        }
    }
    Err(format!("the coordinator {uid} is none of the processes"))
}

fn kill(fleet: &mut Fleet, victim: usize) -> Outcome {
    let uid = fleet.uid(victim)?;
    let killed = fleet.kill(victim)?;
    let took = fleet.removed(uid, &fleet.places(), killed, REMOVAL_BOUND)?;
    fleet.settled(SETTLE_BOUND)?;
    let settled = killed.elapsed();
    let late = if took > FAILOVER_TARGET { " (above the target of 3.5 s)" } else { "" };
    Ok(format!("removed everywhere after {}{late}, agreed after {}", seconds(took), seconds(settled)))
}
