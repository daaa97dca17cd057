//! Processes and runtimes that stand still.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{Outcome, REMOVAL_BOUND, seconds};
use crate::fleet::{ANSWER_BOUND, Fleet, SETTLE_BOUND};

/// Below the default of `max_pause`, with room for the time that the signals take.
const SHORT: Duration = Duration::from_millis(300);
/// Three times the longest fail-over of default settings.
const THREE_FAILOVERS: Duration = Duration::from_millis(10_500);

/// What a node says that was told to leave, and gave up its lease already.
const CANNOT_LEAVE: &str = "the node cannot leave";

/// What a node logs at ERROR that cannot run its entities any more.
pub(crate) const GIVES_UP: &str = "the node cannot run its entities";

pub(super) fn long(fleet: &mut Fleet) -> Outcome {
    fleet.form(5)?;
    let victim = 5;
    let before = fleet.uid(victim)?;
    let others: Vec<_> = fleet.places().into_iter().filter(|place| *place != victim).collect();
    fleet.freeze(victim)?;
    let took = fleet.removed(before, &others, Instant::now(), REMOVAL_BOUND)?;
    fleet.settled_at(&others, SETTLE_BOUND)?;
    fleet.thaw(victim)?;
    let thawed = Instant::now();
    fleet.hear(victim, REMOVAL_BOUND, |heard| match heard.view() {
        Some(view) if view.uid != before => Ok(()),
        view => Err(format!("it still is {:?}", view.map(|view| (view.uid, &view.standing)))),
    })?;
    fleet.settled(SETTLE_BOUND)?;
    Ok(format!("removed everywhere after {}, back after {}", seconds(took), seconds(thawed.elapsed())))
}

pub(super) fn short(fleet: &mut Fleet) -> Outcome {
    fleet.form(3)?;
    let began = Instant::now();
    let mut pauses = 0;
    for _ in 0..3 {
        for place in fleet.places() {
            fleet.freeze(place)?;
            // How long it stands still is what is tested.
            sleep(SHORT);
            fleet.thaw(place)?;
            pauses += 1;
            // It catches up before the next is frozen: two at once are no majority of three.
            fleet.status(place)?;
            sleep(SHORT);
        }
    }
    fleet.undisturbed(&fleet.places(), began)?;
    fleet.settled(SETTLE_BOUND)?;
    Ok(format!("{pauses} pauses of {SHORT:?}, nothing seen"))
}

pub(super) fn blocked_workers(fleet: &mut Fleet) -> Outcome {
    fleet.form(3)?;
    let began = Instant::now();
    fleet.order(2, &format!("block-workers {}", THREE_FAILOVERS.as_millis()))?;
    fleet.hear(2, Duration::from_secs(2), |heard| {
        if heard.blocked > 0 { Ok(()) } else { Err("its workers are not blocked".to_owned()) }
    })?;
    let stuck = fleet.order(2, "status")?;
    sleep(THREE_FAILOVERS.saturating_sub(Duration::from_millis(500)));
    if fleet.is_answered(2, stuck)? {
        return Err("the workers were not blocked".to_owned());
    }
    fleet.answer(2, stuck, Duration::from_secs(5))?;
    fleet.undisturbed(&fleet.places(), began)?;
    fleet.settled(SETTLE_BOUND)?;
    Ok(format!("blocked for {THREE_FAILOVERS:?}, nothing seen"))
}

/// That a node which gave up its lease says at once that it cannot leave.
pub(crate) fn cannot_leave(fleet: &mut Fleet, place: usize) -> Result<(), String> {
    match fleet.ask(place, "leave-apart", ANSWER_BOUND) {
        Err(why) if why.contains(CANNOT_LEAVE) => Ok(()),
        Err(why) => Err(format!("its leave should fail at once: {why}")),
        Ok(answer) => Err(format!("it cannot work, and left all the same: {answer:?}")),
    }
}

pub(super) fn runtime_gone(fleet: &mut Fleet) -> Outcome {
    fleet.form(5)?;
    let (began, victim) = (Instant::now(), 5);
    let before = fleet.uid(victim)?;
    let others: Vec<_> = fleet.places().into_iter().filter(|place| *place != victim).collect();
    fleet.expected_errors.push(GIVES_UP);
    fleet.ask(victim, "drop-runtime", ANSWER_BOUND)?;
    let dropped = Instant::now();
    fleet.hear(victim, REMOVAL_BOUND, |heard| match heard.view() {
        Some(view) if view.standing.starts_with("failed") => Ok(()),
        view => Err(format!("it is {:?}", view.map(|view| &view.standing))),
    })?;
    cannot_leave(fleet, victim)?;
    let took = fleet.removed(before, &others, dropped, REMOVAL_BOUND)?;
    fleet.settled_at(&others, SETTLE_BOUND)?;
    fleet.kill(victim)?;
    fleet.start(victim)?;
    let started = Instant::now();
    fleet.settled(SETTLE_BOUND)?;
    fleet.undisturbed_lives(&others, began)?;
    Ok(format!(
        "it gave up its lease, and was removed everywhere after {}; its next process was back after {}",
        seconds(took),
        seconds(started.elapsed())
    ))
}
