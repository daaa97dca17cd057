//! A process that lives, and whose runtime does not: it is gone, or handlers block all its threads.

use std::time::{Duration, Instant};

use super::stage::Stage;
use crate::fleet::{ANSWER_BOUND, SETTLE_BOUND};
use crate::history::{Thaw, now};
use crate::scenarios::Outcome;
use crate::scenarios::pausing::{GIVES_UP, cannot_leave};
use crate::words::LEDGER;

/// What is logged at ERROR of workers that do not answer: of the driver, of a worker with a handler, of one without.
const SILENT: [&str; 3] =
    ["the region driver does not answer", "a handler blocks its worker", "the runtime does not run a worker"];
/// What is logged at ERROR of a handler that outlasts its lease: while it runs, and when it returns.
const OUTLASTS: [&str; 2] = ["a handler still runs although", "a handler returned although"];

/// How long it takes until a worker that does not answer is named, 15 s, and some more on a busy machine.
const NAMED_BOUND: Duration = Duration::from_secs(30);
/// The shortest time after which a node that is wedged gives up its lease.
pub(super) const WEDGED_AFTER: Duration = Duration::from_secs(15);
/// So long nobody was removed, as far as a node knows, before it gives up its lease for that; and some more.
const QUIET: Duration = Duration::from_secs(5 * 60 + 5);
/// What a node says that was told to leave, and whose handlers never return.
const HAS_NOT_LEFT: &str = "the node has not left yet";
/// How long it takes until it says so, 75 s, and some more on a busy machine.
const WEDGED_LEAVE_BOUND: Duration = Duration::from_secs(75 + 15);
/// How long the others may take to remove it: its turn among those who could be wedged comes 10 s after the one before.
const GIVE_UP_BOUND: Duration = Duration::from_secs(15 + 10 * 6 + 20);

pub(super) fn runtime_gone(stage: &mut Stage<'_>) -> Outcome {
    let (victim, others) = victim(stage)?;
    stage.fleet.expected_errors.push(GIVES_UP);
    stage.harm(&[victim])?;
    let began = Instant::now();
    stage.fleet.ask(victim, "drop-runtime", ANSWER_BOUND)?;
    stage.balanced_over(LEDGER, &others)?;
    stage.every_entity_has_had_a_turn()?;
    stage.harm_is_over();
    has_failed(stage, victim)?;
    cannot_leave(stage.fleet, victim)?;
    start_again(stage, victim)?;
    stage.fleet.undisturbed_lives(&others, began)?;
    Ok(format!("n{victim} lost its runtime"))
}

pub(super) fn blocked(stage: &mut Stage<'_>) -> Outcome {
    let (victim, _) = victim(stage)?;
    let (process, began) = (stage.fleet.process_name(victim)?, Instant::now());
    stage.fleet.expected_errors.extend(SILENT);
    // Nothing ends by it.
    stage.harm(&[])?;
    let from = now();
    wedge(stage, victim)?;
    stage.logged(victim, SILENT[1], NAMED_BOUND)?;
    stage.fleet.ask(victim, "release", ANSWER_BOUND)?;
    stage.expected.wedged.insert(process, (from, now()));
    stage.harm_shows();
    let lasted = began.elapsed();
    stage.balanced()?;
    stage.every_entity_has_had_a_turn()?;
    stage.fleet.undisturbed(&stage.fleet.places(), began)?;
    Ok(format!("handlers blocked n{victim} for {:.1} s, and nothing moved", lasted.as_secs_f64()))
}

pub(super) fn given_up(stage: &mut Stage<'_>) -> Outcome {
    let (victim, others) = victim(stage)?;
    let (process, uid) = (stage.fleet.process_name(victim)?, stage.fleet.uid(victim)?);
    stage.fleet.expected_errors.extend(SILENT.into_iter().chain(OUTLASTS).chain([GIVES_UP]));
    stage.rest(QUIET.saturating_sub(stage.fleet.process(victim)?.since.elapsed()))?;
    let began = Instant::now();
    stage.harm(&[victim])?;
    let from = now();
    wedge(stage, victim)?;
    stage.removed(uid, &others, GIVE_UP_BOUND)?;
    let removed = began.elapsed();
    cannot_leave(stage.fleet, victim)?;
    stage.balanced_over(LEDGER, &others)?;
    stage.expected.wedged.insert(process.clone(), (from, now()));
    stage.every_entity_has_had_a_turn()?;
    stage.harm_is_over();
    let before = now();
    stage.fleet.ask(victim, "release", ANSWER_BOUND)?;
    // The turns that were blocked go on, as is said in the documentation; no other may.
    let thaw = Thaw::new(before, now(), stage.max_pause()).of_blocked_turns();
    stage.expected.frozen.insert(process, thaw);
    has_failed(stage, victim)?;
    stage.every_entity_has_had_a_turn()?;
    start_again(stage, victim)?;
    stage.fleet.undisturbed_lives(&others, began)?;
    Ok(format!("n{victim} was blocked, gave up, and was removed after {:.1} s", removed.as_secs_f64()))
}

/// Handlers block its runtime, and it is told to leave: it says that it cannot, and the others take over once its process is stopped.
pub(super) fn told_to_leave(stage: &mut Stage<'_>) -> Outcome {
    let (victim, others) = victim(stage)?;
    let process = stage.fleet.process_name(victim)?;
    stage.fleet.expected_errors.extend(SILENT);
    let (began, from) = (Instant::now(), now());
    wedge(stage, victim)?;
    match stage.fleet.ask(victim, "leave-apart", WEDGED_LEAVE_BOUND) {
        Err(why) if why.contains(HAS_NOT_LEFT) => {}
        Err(why) => return Err(format!("its leave should say that it has not left: {why}")),
        Ok(answer) => return Err(format!("its handlers block, and it left all the same: {answer:?}")),
    }
    let took = began.elapsed();
    stage.expected.wedged.insert(process, (from, now()));
    stage.kill(victim)?;
    stage.balanced_over(LEDGER, &others)?;
    stage.every_entity_has_had_a_turn()?;
    stage.harm_is_over();
    stage.fleet.start(victim)?;
    stage.fleet.settled(SETTLE_BOUND)?;
    stage.balanced()?;
    stage.every_entity_has_had_a_turn()?;
    stage.fleet.undisturbed_lives(&others, began)?;
    Ok(format!("n{victim} was blocked, and said so after {:.1} s, told to leave", took.as_secs_f64()))
}

/// A host that is not the coordinator, and the other hosts.
fn victim(stage: &mut Stage<'_>) -> Result<(usize, Vec<usize>), String> {
    let coordinator = stage.coordinator()?;
    let victim = stage.hosts().into_iter().rfind(|place| *place != coordinator).ok_or("there is nobody")?;
    Ok((victim, stage.hosts().into_iter().filter(|place| *place != victim).collect()))
}

/// Has handlers block every thread of the runtime, in the middle of a turn each.
fn wedge(stage: &mut Stage<'_>, victim: usize) -> Result<(), String> {
    stage.fleet.order(victim, "wedge")?;
    stage.fleet.hear(victim, ANSWER_BOUND, |heard| {
        if heard.blocked > 0 { Ok(()) } else { Err("its workers are not blocked".to_owned()) }
    })
}

fn has_failed(stage: &Stage<'_>, victim: usize) -> Result<(), String> {
    stage.fleet.hear(victim, SETTLE_BOUND, |heard| match heard.view() {
        Some(view) if view.standing.starts_with("failed") => Ok(()),
        view => Err(format!("it is {:?}", view.map(|view| &view.standing))),
    })
}

/// Ends the process, and starts another.
fn start_again(stage: &mut Stage<'_>, victim: usize) -> Result<(), String> {
    stage.fleet.kill(victim)?;
    stage.fleet.start(victim)?;
    stage.fleet.settled(SETTLE_BOUND)?;
    stage.balanced()?;
    stage.every_entity_has_had_a_turn()
}
