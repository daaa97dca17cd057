//! A node that takes nothing while it is flooded.

use std::time::{Duration, Instant};

use super::{Outcome, REMOVAL_BOUND};
use crate::fleet::{Fleet, SETTLE_BOUND, name};
use crate::words::Answer;

/// How long the slow one stands still: three times the longest fail-over.
const STILL: Duration = Duration::from_millis(10_500);
/// How long asks are measured.
const MEASURED: Duration = Duration::from_secs(3);
/// More than fits into all queues and buffers between two nodes, and takes longer than an order to stand still.
const FLOOD: u64 = 2_000_000;
/// So many that it ends only with the node.
const ENDLESS: u64 = u64::MAX;
/// The bytes of each message.
const WEIGHT: u64 = 256;

pub(super) fn blocked(fleet: &mut Fleet) -> Outcome {
    fleet.form(3)?;
    let before = asks(fleet, 1, 3)?;
    let began = Instant::now();
    let flood = begin_flood(fleet, FLOOD)?;
    fleet.order(2, &format!("block-workers {}", STILL.as_millis()))?;
    fleet.hear(2, Duration::from_secs(2), |heard| {
        if heard.blocked > 0 { Ok(()) } else { Err("its workers are not blocked".to_owned()) }
    })?;
    let during = asks(fleet, 1, 3)?;
    if fleet.is_answered(1, flood)? {
        return Err("the flood was over before it was measured".to_owned());
    }
    // Until it is awake again, and has taken everything.
    let flood = fleet.answer(1, flood, STILL + Duration::from_secs(30))?;
    fleet.undisturbed(&fleet.places(), began)?;
    let Answer::Told { accepted, failed, .. } = &flood else { return Err(format!("the flood: {flood:?}")) };
    if *accepted != FLOOD {
        return Err(format!("{accepted} of {FLOOD} were accepted: {failed:?}"));
    }
    let taken = fleet.status_until(2, Duration::from_secs(30), |status| {
        if status.received == FLOOD {
            Ok(())
        } else {
            Err(format!("{} of {FLOOD} were taken", status.received))
        }
    })?;
    if taken.out_of_order > 0 {
        return Err(format!("{} came out of order", taken.out_of_order));
    }
    fleet.settled(SETTLE_BOUND)?;
    judge(before, during)
}

pub(super) fn frozen(fleet: &mut Fleet) -> Outcome {
    fleet.form(3)?;
    let before = asks(fleet, 1, 3)?;
    let uid = fleet.uid(2)?;
    let flood = begin_flood(fleet, ENDLESS)?;
    fleet.freeze(2)?;
    let frozen = Instant::now();
    let during = asks(fleet, 1, 3)?;
    fleet.removed(uid, &[1, 3], frozen, REMOVAL_BOUND)?;
    let flood = fleet.answer(1, flood, REMOVAL_BOUND)?;
    if !matches!(flood, Answer::Told { failed: Some(_), .. }) {
        return Err(format!("the flood to a lost node ended as {flood:?}"));
    }
    fleet.settled_at(&[1, 3], SETTLE_BOUND)?;
    fleet.thaw(2)?;
    fleet.settled(SETTLE_BOUND)?;
    judge(before, during)
}

/// Floods the second node from the first. It has begun to arrive: who is to stand still must have been found before.
fn begin_flood(fleet: &mut Fleet, count: u64) -> Result<u64, String> {
    let flood = fleet.order(1, &format!("tell {} {count} {WEIGHT}", name(2)))?;
    fleet.status_until(2, Duration::from_secs(5), |status| {
        if status.received > 0 { Ok(()) } else { Err("no flood".to_owned()) }
    })?;
    Ok(flood)
}

#[derive(Clone, Copy)]
struct Asks {
    median_us: u64,
    max_us: u64,
}

fn asks(fleet: &mut Fleet, from: usize, to: usize) -> Result<Asks, String> {
    let order = format!("asks {} {}", name(to), MEASURED.as_millis());
    match fleet.ask(from, &order, MEASURED + Duration::from_secs(8))? {
        Answer::Asked { answered: 1.., failed: 0, median_us, max_us } => Ok(Asks { median_us, max_us }),
        other => Err(format!("asks from {from} to {to}: {other:?}")),
    }
}

/// Asks to others are answered as before, but for what the machine itself is busy with.
fn judge(before: Asks, during: Asks) -> Outcome {
    if during.median_us > 10 * before.median_us + 5_000 || during.max_us > before.max_us + 500_000 {
        return Err(format!(
            "asks to the third node took {} µs, at most {} µs; before {} µs, at most {} µs",
            during.median_us, during.max_us, before.median_us, before.max_us
        ));
    }
    Ok(format!(
        "asks to the third node: median {} µs, max {} µs; before {} µs, {} µs",
        during.median_us, during.max_us, before.median_us, before.max_us
    ))
}
