//! Nodes are killed: what lived there begins anew elsewhere, everything else goes on.

use super::stage::Stage;
use crate::scenarios::Outcome;

pub(super) fn a_member(stage: &mut Stage<'_>) -> Outcome {
    let coordinator = stage.coordinator()?;
    let victim = stage.hosts().into_iter().rfind(|place| *place != coordinator).ok_or("there is nobody")?;
    kill(stage, victim)
}

pub(super) fn the_coordinator(stage: &mut Stage<'_>) -> Outcome {
    let victim = stage.coordinator()?;
    kill(stage, victim)
}

pub(super) fn two_coordinators(stage: &mut Stage<'_>) -> Outcome {
    let first = stage.coordinator()?;
    let uid = stage.fleet.uid(first)?;
    stage.kill(first)?;
    let second = stage.coordinator_after(Some(uid))?;
    // At once: of five voters two may be lost.
    kill(stage, second)?;
    Ok(format!("n{first} killed, then n{second}"))
}

fn kill(stage: &mut Stage<'_>, victim: usize) -> Outcome {
    stage.kill(victim)?;
    stage.balanced()?;
    stage.every_entity_has_had_a_turn()?;
    Ok(format!("n{victim} killed"))
}
