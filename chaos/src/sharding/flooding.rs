//! A flood to shards that nobody owns, while there is nobody who could give them to somebody.

use std::time::Duration;

use super::stage::{CLIENT, Stage};
use crate::scenarios::Outcome;
use crate::words::{Answer, UNKNOWN};

const MESSAGES: u64 = 1_000_000;
/// By how much the client may grow, in KiB: the messages that wait, and what an allocator keeps.
const GROWTH_MAX_KIB: u64 = 200 * 1024;
const FLOOD_BOUND: Duration = Duration::from_secs(60);

pub(super) fn unknown_shards(stage: &mut Stage<'_>) -> Outcome {
    let coordinator = stage.coordinator()?;
    let before = stage.fleet.status(CLIENT)?.rss_kib;
    stage.kill(coordinator)?;
    let told = stage.fleet.ask(CLIENT, &format!("flood {MESSAGES}"), FLOOD_BOUND)?;
    let Answer::Told { accepted, failed, millis } = told else {
        return Err(format!("{told:?} to flood"));
    };
    let grown = stage.fleet.status(CLIENT)?.rss_kib.saturating_sub(before);
    stage.balanced()?;
    let (received, misplaced) = stage.received(UNKNOWN)?;
    let nodes = stage.shards(UNKNOWN)?;
    let refused: usize = nodes.iter().filter(|node| !node.hosts).map(|node| node.refused).sum();
    stage.every_entity_has_had_a_turn()?;
    let measured = format!(
        "{MESSAGES} within {millis} ms: {accepted} accepted, {received} handled, {refused} counted as refused ({}), client grown by {} MiB",
        failed.unwrap_or_default(),
        grown / 1024
    );
    if received != accepted || misplaced > 0 {
        return Err(format!(
            "not all that was accepted was handled in order: {measured}; {misplaced} misplaced"
        ));
    }
    if accepted == MESSAGES {
        return Err(format!("the flood came when there was a coordinator again: {measured}"));
    }
    if refused as u64 != MESSAGES - accepted {
        return Err(format!("not every refusal is counted: {measured}"));
    }
    if grown > GROWTH_MAX_KIB {
        return Err(format!("memory is not bounded: {measured}"));
    }
    Ok(measured)
}
