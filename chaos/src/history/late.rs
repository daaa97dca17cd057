//! What a process may still do that stood still for longer than a fail-over.
//!
//! A lane looks at its lease before each chunk of turns. One that had looked when its process was stopped goes on with that chunk when the process does, though others
//! have what lived there by then: no library can keep it from that. Promise: whatever it does beyond that chunk, or later than the longest pause that a healthy
//! process may show, is found.

use std::collections::BTreeMap;
use std::time::Duration;

use super::History;
use super::check::{Expected, Faults, after};
use super::line::Turn;
use super::of_id::OfId;
use crate::words::WORKERS;

/// How many turns a lane has at most before it looks at its lease again.
const CHUNK: usize = 64;
/// How many late turns a process may have. Only lanes that a worker was busy with had looked and not yet gone on: one for each.
pub(super) const TURNS_MAX: usize = CHUNK * WORKERS;

/// How it is told that a process had more of them.
pub(super) const TOO_MANY: &str =
    "a process that had stood still went on with more than it was in the middle of";
/// How it is told that a process had them for too long.
pub(super) const TOO_LATE: &str = "a process that had stood still worked at an older epoch for too long";

/// When a process that had stood still went on, and for how long it may go on with what it was in the middle of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thaw {
    /// Before it was told to go on.
    pub(super) at: u64,
    until: u64,
    turns_max: usize,
}

impl Thaw {
    /// It was told to go on between two moments, and `pause` is the longest that a healthy process may stand still.
    pub(crate) fn new(before: u64, after: u64, pause: Duration) -> Self {
        let pause = u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX);
        Self { at: before, until: after.saturating_add(pause), turns_max: TURNS_MAX }
    }

    /// Its threads were all in the middle of a turn, and its lease was over: each ends that turn, and begins no other.
    pub(crate) fn of_blocked_turns(self) -> Self {
        Self { turns_max: WORKERS, ..self }
    }
}

/// Holds the late turns of all entities against what may be.
pub(super) fn check(all: &[OfId<'_>], history: &History, expected: &Expected, faults: &mut Faults) {
    let mut of_process: BTreeMap<usize, Vec<&Turn>> = BTreeMap::new();
    for (process, turn) in all.iter().flat_map(|of_id| &of_id.late) {
        of_process.entry(*process).or_default().push(turn);
    }
    for (process, mut turns) in of_process {
        let name = &history.processes[process];
        let Some(thaw) = expected.frozen.get(name) else { continue };
        turns.sort_by_key(|turn| turn.signed.at);
        let example = |turn: &Turn| {
            let late = after(turn.signed.at, thaw.at);
            format!(
                "{} in {name} at epoch {}, {late:?} after it was told to go on",
                turn.id, turn.signed.epoch
            )
        };
        for turn in turns.iter().skip(thaw.turns_max) {
            faults.note(TOO_MANY, || example(turn));
        }
        for turn in turns.iter().filter(|turn| turn.signed.at > thaw.until) {
            faults.note(TOO_LATE, || example(turn));
        }
    }
}
