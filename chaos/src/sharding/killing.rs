//! Nodes are killed: what lived there begins anew elsewhere, everything else goes on.

use std::time::Instant;

use super::stage::Stage;
use crate::scenarios::Outcome;

pub(super) fn a_member(stage: &mut Stage<'_>) -> Outcome {
    let coordinator = stage.coordinator()?;
    let victim = stage.hosts().into_iter().rfind(|place| *place != coordinator).ok_or("there is nobody")?;
    kill(stage, victim)
}

pub(super) fn the_coordinator(stage: &mut Stage<'_>) -> Outcome {
    let victim = stage.coordinator()?;
    let (lost, since) = (stage.fleet.uid(victim)?, Instant::now());
    let killed = stage.kill(victim)?;
    let followed = stage.followed_after(lost, since)?;
    stage.expect_answers(killed, followed);
    all_is_well(stage)?;
    Ok(format!("n{victim} killed"))
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
    all_is_well(stage)?;
    Ok(format!("n{victim} killed"))
}

/// Waits until every shard has an owner and every entity has answered again.
fn all_is_well(stage: &mut Stage<'_>) -> Result<(), String> {
    stage.balanced()?;
    stage.every_entity_has_had_a_turn()
}
