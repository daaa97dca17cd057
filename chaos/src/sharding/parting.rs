//! Ways that are cut: the smaller side suspends, the larger goes on with everything, and no entity lives on both.

use std::time::{Duration, Instant};

use super::stage::{CLIENT, SECOND_CLIENT, Stage};
use crate::fleet::SETTLE_BOUND;
use crate::history::now;
use crate::scenarios::Outcome;
use crate::scenarios::one_cluster::{cluster_of, one_cluster};
use crate::words::LEDGER;

/// The default, of which a lease is made.
const ROUND_TRIP: Duration = Duration::from_millis(100);
/// How long the cut lasts after the others have gone on.
const LONGER: Duration = Duration::from_secs(2);
/// The same, where nobody may lose patience.
const MINUTE: Duration = Duration::from_secs(60);

pub(super) fn two_from_three(stage: &mut Stage<'_>) -> Outcome {
    part(stage, &[1, 2], &[3, 4, 5], LONGER)
}

/// Six members, five voters: the side of the older client has three of them.
pub(super) fn two_from_two(stage: &mut Stage<'_>) -> Outcome {
    part(stage, &[3, 4], &[1, 2], LONGER)
}

/// Seven members, five voters: three of them are the smaller side, with the older client.
pub(super) fn voters_on_the_smaller_side(stage: &mut Stage<'_>) -> Outcome {
    // The seventh.
    stage.fleet.start(5)?;
    stage.fleet.settled(SETTLE_BOUND)?;
    stage.balanced()?;
    // What has moved to the seventh, and had no turn there, would be lost with it, and nobody could tell where it lived.
    stage.every_entity_has_had_a_turn()?;
    stage.tolerates()?;
    let (cluster, began) = (cluster_of(stage.fleet)?, Instant::now());
    let voters = stage.fleet.status(CLIENT)?.view.voters;
    for place in [1, 2, CLIENT] {
        if !voters.contains(&stage.fleet.uid(place)?) {
            return Err(format!("n{place} does not vote, and {voters:?} do"));
        }
    }
    let outcome = part(stage, &[3, 4, 5], &[1, 2], MINUTE)?;
    one_cluster(stage.fleet, began, &cluster)?;
    Ok(format!("{outcome}, for {MINUTE:?}"))
}

/// Cuts off those hosts that have fewer votes, with the second client, for a time, and heals.
fn part(stage: &mut Stage<'_>, fewer: &[usize], more: &[usize], longer: Duration) -> Outcome {
    stage.set_apart(SECOND_CLIENT, u64::MAX)?;
    stage.harm(fewer)?;
    let with = |hosts: &[usize], client| hosts.iter().copied().chain([client]).collect::<Vec<_>>();
    stage.fleet.ground.part(&with(fewer, SECOND_CLIENT), &with(more, CLIENT))?;
    let cut = now();
    stage.balanced_over(LEDGER, more)?;
    stage.every_entity_has_had_a_turn()?;
    // How long it lasts is what is tested.
    std::thread::sleep(longer);
    let lease = 2 * (stage.max_pause() + ROUND_TRIP);
    // And half of it more, as the cut takes effect at one node after the other.
    let lease = u64::try_from((lease * 3 / 2).as_nanos()).unwrap_or(u64::MAX);
    for place in fewer {
        stage.expect_quiet(*place, cut + lease, now())?;
    }
    stage.harm_is_over();
    stage.fleet.ground.heal()?;
    stage.fleet.settled(SETTLE_BOUND)?;
    stage.balanced()?;
    // From now on it is a client like any other.
    stage.set_apart(SECOND_CLIENT, now())?;
    stage.every_entity_has_had_a_turn()?;
    Ok(format!("n{fewer:?} cut off, {}", stage.fleet.ground.name()))
}
