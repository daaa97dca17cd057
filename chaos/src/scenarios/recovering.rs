//! Most voters are lost for good, and an operator has the one that is left recover it.

use std::time::{Duration, Instant};

use super::{Outcome, REMOVAL_BOUND, seconds};
use crate::fleet::{ANSWER_BOUND, Entities, Fleet, SETTLE_BOUND};
use crate::words::{Answer, LEDGER};

/// How many entities are asked.
const IDS: usize = 200;
/// How long it may take until all of them have answered: a lease, the wait for those of others, and some more on a busy machine.
const AGAIN_BOUND: Duration = Duration::from_secs(10);
/// How long a node that hears no majority looks for it, in vain, before it is told to recover.
const IN_VAIN: Duration = Duration::from_secs(30);
/// How long it may take until the node knows who does not answer.
const PLAN_BOUND: Duration = Duration::from_secs(60);

pub(super) fn the_last_of_three(fleet: &mut Fleet) -> Outcome {
    bereave(fleet)?;
    recover(fleet)
}

pub(super) fn after_a_while(fleet: &mut Fleet) -> Outcome {
    bereave(fleet)?;
    let (before, began) = (fleet.uid(3)?, Instant::now());
    while began.elapsed() < IN_VAIN {
        let view = fleet.status(3)?.view;
        if view.standing != "suspended" || view.uid != before {
            return Err(format!("it is {} as {}, and was {before}", view.standing, view.uid));
        }
        // How long it lasts is what is tested.
        std::thread::sleep(Duration::from_millis(200));
    }
    recover(fleet)
}

/// Three voters with entities, two of which are killed; the third is suspended then.
fn bereave(fleet: &mut Fleet) -> Result<(), String> {
    for place in 1..=4 {
        fleet.give_entities(place, Entities { part: "host", is_written_down: false });
    }
    fleet.form(3)?;
    all_answer(fleet, 3)?;
    if let Ok(plan) = fleet.ask(3, "recovery", ANSWER_BOUND) {
        return Err(format!("there is nothing to recover, and it would: {plan:?}"));
    }
    fleet.kill(1)?;
    fleet.kill(2)?;
    fleet.hear(3, REMOVAL_BOUND, |heard| match heard.view() {
        Some(view) if view.standing == "suspended" => Ok(()),
        view => Err(format!("it is {:?}", view.map(|view| &view.standing))),
    })
}

fn recover(fleet: &mut Fleet) -> Outcome {
    let shards = dry_run(fleet)?;
    if let Ok(done) = fleet.ask(3, "recover n1", ANSWER_BOUND) {
        return Err(format!("n2 was given up, and nobody vouched for that: {done:?}"));
    }
    let ordered = Instant::now();
    fleet.ask(3, "recover n1 n2", AGAIN_BOUND)?;
    all_answer(fleet, 3)?;
    let again = ordered.elapsed();
    if again > AGAIN_BOUND {
        return Err(format!("the entities answered only after {}", seconds(again)));
    }
    // One at an address of the dead, and one at another.
    fleet.start(1)?;
    fleet.start(4)?;
    let joined = fleet.settled(SETTLE_BOUND)?;
    all_answer(fleet, 4)?;
    Ok(format!(
        "{shards} shards lost their state, all entities answered {} after the order, two joined within {}",
        seconds(again),
        seconds(joined)
    ))
}

/// Waits until the plan gives up both that are dead, and nobody else: how many shards begin anew.
fn dry_run(fleet: &mut Fleet) -> Result<usize, String> {
    let until = Instant::now() + PLAN_BOUND;
    loop {
        let why = match fleet.ask(3, "recovery", ANSWER_BOUND) {
            Ok(Answer::Recovery { voters: (3, 2), kept, given_up, shards })
                if kept.is_empty() && given_up.len() == 2 && shards > 0 =>
            {
                return if given_up == ["n1", "n2"] || given_up == ["n2", "n1"] {
                    Ok(shards)
                } else {
                    Err(format!("it would give up {given_up:?}"))
                };
            }
            Ok(plan) => format!("{plan:?}"),
            Err(why) => why,
        };
        if Instant::now() >= until {
            return Err(format!("no plan within {PLAN_BOUND:?}: {why}"));
        }
        // Nobody says when: it has to be asked for.
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn all_answer(fleet: &mut Fleet, place: usize) -> Result<(), String> {
    let words = format!("poke {LEDGER} {IDS} {}", SETTLE_BOUND.as_millis());
    match fleet.ask(place, &words, SETTLE_BOUND + ANSWER_BOUND)? {
        Answer::Asked { failed: 0, .. } => Ok(()),
        other => Err(format!("not all entities answered: {other:?}")),
    }
}
