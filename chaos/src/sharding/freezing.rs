//! An owner stands still for longer than a fail-over, and goes on: what moved meanwhile it gives up.

use std::time::{Duration, Instant};

use super::stage::Stage;
use crate::fleet::SETTLE_BOUND;
use crate::history::{Thaw, now};
use crate::scenarios::Outcome;
use crate::words::LEDGER;

const FROZEN: Duration = Duration::from_secs(15);

pub(super) fn an_owner(stage: &mut Stage<'_>) -> Outcome {
    let coordinator = stage.coordinator()?;
    let victim = stage.hosts().into_iter().rfind(|place| *place != coordinator).ok_or("there is nobody")?;
    let others: Vec<_> = stage.hosts().into_iter().filter(|place| *place != victim).collect();
    let process = stage.fleet.process_name(victim)?;
    stage.harm(&[victim])?;
    stage.fleet.freeze(victim)?;
    let frozen = Instant::now();
    stage.balanced_over(LEDGER, &others)?;
    // How long it stands still is what is tested.
    std::thread::sleep(FROZEN.saturating_sub(frozen.elapsed()));
    let before = now();
    stage.fleet.thaw(victim)?;
    stage.expected.frozen.insert(process, Thaw::new(before, now(), stage.max_pause()));
    stage.fleet.settled(SETTLE_BOUND)?;
    stage.balanced()?;
    stage.every_entity_has_had_a_turn()?;
    Ok(format!("n{victim} frozen for {FROZEN:?}"))
}
