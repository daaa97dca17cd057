//! Nodes that come and go.

use std::time::{Duration, Instant};

use super::{Outcome, REMOVAL_BOUND, seconds};
use crate::fleet::{Fleet, SETTLE_BOUND};

pub(super) fn restarts(fleet: &mut Fleet) -> Outcome {
    fleet.form(3)?;
    let began = Instant::now();
    let mut joined = Duration::ZERO;
    for life in 0..20 {
        fleet.kill(3)?;
        fleet.start(3)?;
        // Every other life ends before anybody has heard of it, or soon after.
        if life % 2 == 1 {
            let started = Instant::now();
            is_up(fleet, 3)?;
            joined = joined.max(started.elapsed());
        }
    }
    let restarted = began.elapsed();
    let last = Instant::now();
    fleet.settled(SETTLE_BOUND)?;
    Ok(format!(
        "20 restarts within {}, slowest join {}, all agreed {} after the last",
        seconds(restarted),
        seconds(joined),
        seconds(last.elapsed())
    ))
}

/// Waits until all see that the present life at a place is up.
pub(super) fn is_up(fleet: &Fleet, newcomer: usize) -> Result<(), String> {
    let uid = fleet.uid(newcomer)?;
    for place in fleet.places() {
        fleet.hear(place, SETTLE_BOUND, |heard| match heard.view() {
            Some(view) if view.up().contains(&uid) => Ok(()),
            _ => Err(format!("n{newcomer} is not up")),
        })?;
    }
    Ok(())
}

pub(super) fn joins_and_kills(fleet: &mut Fleet) -> Outcome {
    fleet.form(3)?;
    let began = Instant::now();
    let (mut slowest, mut unprotected) = (Duration::ZERO, Duration::ZERO);
    // The oldest goes each time, so that in the end nobody is left of those who began.
    for round in 1..=5 {
        let newcomer = 3 + round;
        fleet.start(newcomer)?;
        let asked = Instant::now();
        is_up(fleet, newcomer)?;
        slowest = slowest.max(asked.elapsed());
        let victim = *fleet.places().first().ok_or("nobody is left")?;
        let uid = fleet.uid(victim)?;
        let killed = fleet.kill(victim)?;
        fleet.removed(uid, &fleet.places(), killed, REMOVAL_BOUND)?;
        // Of three voters only one may be lost at a time: the next goes when another votes in its place.
        fleet.settled(SETTLE_BOUND)?;
        unprotected = unprotected.max(killed.elapsed());
    }
    let took = began.elapsed();
    if took > Duration::from_secs(60) {
        return Err(format!("5 joins and 5 kills took {}", seconds(took)));
    }
    Ok(format!(
        "5 joins, 5 kills within {}, slowest join {}, slowest replacement of a voter {}",
        seconds(took),
        seconds(slowest),
        seconds(unprotected)
    ))
}

pub(super) fn rolling_restart(fleet: &mut Fleet) -> Outcome {
    fleet.form(3)?;
    let mut slowest = Duration::ZERO;
    for place in 1..=3 {
        let uid = fleet.uid(place)?;
        let asked = Instant::now();
        let status = fleet.terminate(place, Duration::from_secs(20))?;
        if !status.success() {
            return Err(format!("n{place} ended by {status} after SIGTERM"));
        }
        slowest = slowest.max(asked.elapsed());
        fleet.removed(uid, &fleet.places(), asked, REMOVAL_BOUND)?;
        fleet.settled(SETTLE_BOUND)?;
        fleet.start(place)?;
        fleet.settled(SETTLE_BOUND)?;
    }
    Ok(format!("slowest leave {}", seconds(slowest)))
}
