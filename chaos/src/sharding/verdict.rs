//! What came of a scenario: a row of the table, and what may not be.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::history::Findings;

/// The promise for moves that are planned.
const PLANNED_GOAL: Duration = Duration::from_millis(250);
/// Beyond this a planned move has failed, on a machine that is busy with other things too.
const PLANNED_BOUND: Duration = Duration::from_secs(2);
/// The promise for a fail-over.
const FAILOVER_GOAL: Duration = Duration::from_millis(3500);
/// Beyond this a fail-over has failed, on a machine that is busy with other things too.
const FAILOVER_BOUND: Duration = Duration::from_secs(10);

/// What came of a scenario.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) findings: Findings,
    /// How long after the last harm every entity had answered again.
    pub(super) again: Option<Duration>,
    faults: Vec<String>,
    notes: Vec<String>,
}

impl Played {
    pub(super) fn new(findings: Findings, again: Option<Duration>, is_planned: bool) -> Self {
        let (faults, notes) = (findings.faults.lines(), Vec::new());
        let mut played = Self { findings, again, faults, notes };
        if is_planned {
            played.judge("longest silence", played.findings.silence.time, PLANNED_GOAL, PLANNED_BOUND);
        } else {
            played.judge("all answer again", again.unwrap_or_default(), FAILOVER_GOAL, FAILOVER_BOUND);
            let others = played.findings.others_silence.time;
            played.notes.push(format!("silence of the unharmed {}", millis(others)));
            if others > PLANNED_BOUND {
                let id = played.findings.others_silence.id;
                played.fault(format!("{id} was silent for {others:?} though nothing had happened to it"));
            }
        }
        let Findings { renewed, late, .. } = played.findings;
        for (count, what) in [(renewed, "entities began anew"), (late, "late turns")] {
            if count > 0 {
                played.notes.push(format!("{count} {what}"));
            }
        }
        played
    }

    fn judge(&mut self, what: &str, time: Duration, goal: Duration, bound: Duration) {
        if time > bound {
            self.fault(format!("{what}: {time:?}, and at most {bound:?} may be"));
        } else if time > goal {
            self.notes.push(format!("{what} above the goal of {}", millis(goal)));
        }
    }

    pub(super) fn fault(&mut self, fault: String) {
        self.faults.push(fault);
    }

    pub(super) fn note(&mut self, note: String) {
        self.notes.insert(0, note);
    }

    pub(super) fn faults(&self) -> &[String] {
        &self.faults
    }

    pub(super) fn notes(&self) -> String {
        self.notes.join("; ")
    }

    /// No process may panic or log an error.
    pub(super) fn look_at_log(&mut self, log: &Path) -> Result<(), String> {
        let text = fs::read(log).map_err(|error| format!("{}: {error}", log.display()))?;
        let text = String::from_utf8_lossy(&text);
        let bad = text.lines().find(|line| line.contains("panicked at") || line.contains(" ERROR "));
        if let Some(line) = bad {
            self.fault(format!("{}: {line}", log.display()));
        }
        Ok(())
    }
}

/// A time, to be read.
pub(super) fn millis(time: Duration) -> String {
    if time < Duration::from_secs(10) {
        format!("{} ms", time.as_millis())
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}
