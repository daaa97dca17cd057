//! Moves that are planned: nothing is lost, doubled or out of order, and every entity keeps its state.

use std::time::{Duration, Instant};

use super::stage::Stage;
use super::verdict::millis;
use crate::fleet::{SETTLE_BOUND, name};
use crate::scenarios::Outcome;

/// How long a node may take to leave.
pub(super) const LEAVE_BOUND: Duration = Duration::from_secs(30);

pub(super) fn join(stage: &mut Stage<'_>) -> Outcome {
    let before = stage.balanced()?;
    let newcomer = 4;
    let began = Instant::now();
    stage.fleet.start(newcomer)?;
    let after = stage.balanced()?;
    let took = began.elapsed();
    let moved = after.moved_only_to(&name(newcomer), &before)?;
    stage.every_entity_has_had_a_turn()?;
    Ok(format!("{moved} shards moved, only to the newcomer, within {}", millis(took)))
}

pub(super) fn leave(stage: &mut Stage<'_>) -> Outcome {
    let took = let_go(stage, 2)?;
    stage.every_entity_has_had_a_turn()?;
    Ok(format!("left within {}", millis(took)))
}

pub(super) fn rolling_restart(stage: &mut Stage<'_>) -> Outcome {
    let slowest = restart_all(stage)?;
    Ok(format!("slowest leave {}", millis(slowest)))
}

/// Has each of the first three leave and start again: how long the slowest took to end.
pub(super) fn restart_all(stage: &mut Stage<'_>) -> Result<Duration, String> {
    let mut slowest = Duration::ZERO;
    for place in 1..=3 {
        slowest = slowest.max(let_go(stage, place)?);
        stage.fleet.start(place)?;
        stage.fleet.settled(SETTLE_BOUND)?;
        stage.balanced()?;
    }
    stage.every_entity_has_had_a_turn()?;
    Ok(slowest)
}

/// Has a node leave, and waits until the others have what it had: how long it took to end.
pub(super) fn let_go(stage: &mut Stage<'_>, place: usize) -> Result<Duration, String> {
    let asked = Instant::now();
    let status = stage.fleet.terminate(place, LEAVE_BOUND)?;
    let took = asked.elapsed();
    if !status.success() {
        return Err(format!("n{place} ended by {status} after SIGTERM"));
    }
    stage.balanced()?;
    Ok(took)
}
