//! The oldest host is not heard by three others: it is removed, and what lived elsewhere notices nothing.

use std::time::Instant;

use super::stage::{CLIENT, Stage};
use crate::fleet::SETTLE_BOUND;
use crate::scenarios::Outcome;
use crate::scenarios::bad_links::BAD_LINKS_BOUND;
use crate::scenarios::one_cluster::{cluster_of, one_cluster};
use crate::words::LEDGER;

pub(super) fn of_the_oldest(stage: &mut Stage<'_>) -> Outcome {
    let (cluster, began) = (cluster_of(stage.fleet)?, Instant::now());
    let by_age = stage.fleet.by_age()?;
    let hosts: Vec<_> = by_age.into_iter().filter(|place| *place != CLIENT).collect();
    let Some((oldest, others)) = hosts.split_first() else { return Err("there is nobody".to_owned()) };
    let uid = stage.fleet.uid(*oldest)?;
    stage.harm(&[*oldest])?;
    // With the two next to it, it has most votes of five: the voters alone would keep it.
    for other in &others[2..] {
        stage.fleet.ground.cut(*oldest, *other)?;
    }
    let witnesses: Vec<_> = others.iter().copied().chain([CLIENT]).collect();
    stage.removed(uid, &witnesses, BAD_LINKS_BOUND)?;
    let removed = began.elapsed();
    stage.balanced_over(LEDGER, others)?;
    stage.every_entity_has_had_a_turn()?;
    stage.harm_is_over();
    stage.fleet.ground.heal()?;
    // It gets no shards before everybody has heard it for a minute.
    stage.fleet.settled(SETTLE_BOUND)?;
    stage.every_entity_has_had_a_turn()?;
    stage.fleet.undisturbed_lives(&witnesses, began)?;
    one_cluster(stage.fleet, began, &cluster)?;
    Ok(format!("n{oldest} alone was removed, after {:.1} s", removed.as_secs_f64()))
}
