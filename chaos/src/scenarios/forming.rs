//! All seeds are started at once.

use std::time::Duration;

use super::{Outcome, seconds};
use crate::fleet::{Fleet, SETTLE_BOUND, name};

pub(super) fn three(fleet: &mut Fleet) -> Outcome {
    form(fleet, 3)
}

pub(super) fn five(fleet: &mut Fleet) -> Outcome {
    form(fleet, 5)
}

pub(super) fn seven(fleet: &mut Fleet) -> Outcome {
    form(fleet, 7)
}

/// The promise, on a machine that has nothing else to do.
const GOAL: Duration = Duration::from_secs(4);
/// Beyond this the formation has failed, on a machine that is busy with other things too.
const BOUND: Duration = Duration::from_secs(10);

fn form(fleet: &mut Fleet, nodes: usize) -> Outcome {
    let began = fleet.launch_all(nodes)?;
    fleet.all_up(BOUND)?;
    let took = began.elapsed();
    // And it is one that lasts: the voters follow within seconds.
    fleet.settled(SETTLE_BOUND)?;
    fleet.formed = began.elapsed();
    for place in 1..=nodes {
        // Everybody finds the actors of the next.
        let next = name(place % nodes + 1);
        fleet.ask(place, &format!("lookup {next}"), Duration::from_secs(6))?;
    }
    let goal = if took > GOAL { format!(", above the goal of {}", seconds(GOAL)) } else { String::new() };
    Ok(format!("each saw all after {}{goal}", seconds(took)))
}
