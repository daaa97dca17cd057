//! All seeds are started at once.

use super::{Outcome, seconds};
use crate::fleet::{Fleet, name};

pub(super) fn three(fleet: &mut Fleet) -> Outcome {
    form(fleet, 3)
}

pub(super) fn five(fleet: &mut Fleet) -> Outcome {
    form(fleet, 5)
}

pub(super) fn seven(fleet: &mut Fleet) -> Outcome {
    form(fleet, 7)
}

fn form(fleet: &mut Fleet, nodes: usize) -> Outcome {
    let took = fleet.form(nodes)?;
    for place in 1..=nodes {
        // Everybody finds the actors of the next.
        let next = name(place % nodes + 1);
        fleet.ask(place, &format!("lookup {next}"), std::time::Duration::from_secs(6))?;
    }
    Ok(format!("agreed after {}", seconds(took)))
}
