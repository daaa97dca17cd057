//! Ways that are cut: the smaller side suspends, the larger goes on with everything, and no entity lives on both.

use std::time::Duration;

use super::stage::{CLIENT, SECOND_CLIENT, Stage};
use crate::fleet::SETTLE_BOUND;
use crate::history::now;
use crate::scenarios::Outcome;
use crate::words::LEDGER;

/// The default, of which a lease is made.
const ROUND_TRIP: Duration = Duration::from_millis(100);
/// How long the cut lasts after the others have gone on.
const LONGER: Duration = Duration::from_secs(2);

pub(super) fn two_from_three(stage: &mut Stage<'_>) -> Outcome {
    part(stage, &[1, 2], &[3, 4, 5])
}

/// Six members, five voters: the side of the older client has three of them.
pub(super) fn two_from_two(stage: &mut Stage<'_>) -> Outcome {
    part(stage, &[3, 4], &[1, 2])
}

fn part(stage: &mut Stage<'_>, fewer: &[usize], more: &[usize]) -> Outcome {
    stage.set_apart(SECOND_CLIENT, u64::MAX)?;
    stage.harm(fewer)?;
    let with = |hosts: &[usize], client| hosts.iter().copied().chain([client]).collect::<Vec<_>>();
    stage.fleet.ground.part(&with(fewer, SECOND_CLIENT), &with(more, CLIENT))?;
    let cut = now();
    stage.balanced_over(LEDGER, more)?;
    stage.every_entity_has_had_a_turn()?;
    // How long it lasts is what is tested.
    std::thread::sleep(LONGER);
    let lease = 2 * (stage.max_pause() + ROUND_TRIP);
    // And half of it more, as the cut takes effect at one node after the other.
    let lease = u64::try_from((lease * 3 / 2).as_nanos()).unwrap_or(u64::MAX);
    for place in fewer {
        stage.expect_quiet(*place, cut + lease, now())?;
    }
    stage.fleet.ground.heal()?;
    stage.fleet.settled(SETTLE_BOUND)?;
    stage.balanced()?;
    // From now on it is a client like any other.
    stage.set_apart(SECOND_CLIENT, now())?;
    stage.every_entity_has_had_a_turn()?;
    Ok(format!("n{fewer:?} cut off, {}", stage.fleet.ground.name()))
}
