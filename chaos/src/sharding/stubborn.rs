//! Entities that ignore that they are to stop: their shards move all the same, in bounded time, and hold up no others.

use std::time::{Duration, Instant};

use super::moving::LEAVE_BOUND;
use super::stage::{CLIENT, Stage};
use super::verdict::millis;
use crate::scenarios::Outcome;
use crate::words::{Answer, MULE};

/// How many mules there are.
const MULES: usize = 2_000;
/// How long they may take to answer in the end.
const POKE_BOUND: Duration = Duration::from_secs(15);

pub(super) fn mules(stage: &mut Stage<'_>) -> Outcome {
    poke(stage)?;
    let began = Instant::now();
    stage.fleet.start(4)?;
    let hosts = stage.hosts();
    stage.balanced_over(MULE, &hosts)?;
    let joined = began.elapsed();
    stage.balanced()?;
    poke(stage)?;
    let began = Instant::now();
    let status = stage.fleet.terminate(2, LEAVE_BOUND)?;
    if !status.success() {
        return Err(format!("n2 ended by {status} after SIGTERM"));
    }
    let left = began.elapsed();
    let hosts = stage.hosts();
    poke(stage)?;
    stage.balanced_over(MULE, &hosts)?;
    stage.balanced()?;
    stage.every_entity_has_had_a_turn()?;
    Ok(format!("mules balanced within {}, a node with mules left within {}", millis(joined), millis(left)))
}

/// All mules answer.
fn poke(stage: &mut Stage<'_>) -> Result<(), String> {
    let order = format!("poke {MULE} {MULES} {}", POKE_BOUND.as_millis());
    match stage.fleet.ask(CLIENT, &order, 2 * POKE_BOUND)? {
        Answer::Asked { failed: 0, .. } => Ok(()),
        answer => Err(format!("not all mules answer: {answer:?}")),
    }
}
