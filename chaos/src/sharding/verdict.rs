//! What came of a scenario: a row of the table, and what may not be.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::fleet::is_bad;
use crate::history::{Findings, Meanwhile};

/// The promise for moves that are planned.
const PLANNED_GOAL: Duration = Duration::from_millis(250);
/// Beyond this a planned move has failed, on a machine that is busy with other things too.
const PLANNED_BOUND: Duration = Duration::from_secs(2);
/// The promise for a fail-over.
const FAILOVER_GOAL: Duration = Duration::from_millis(3500);
/// Beyond this a fail-over has failed, on a machine that is busy with other things too.
const FAILOVER_BOUND: Duration = Duration::from_secs(10);

/// While there is no coordinator, an entity that nothing happened to is silent for one part in so many of that time at most.
const GAP_PARTS: u32 = 3;
/// So many answers in that time show that there are any: about one in ten of the asks of 2000 messages a second.
const GAP_ANSWERS: usize = 50;

/// How long silences may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bounds {
    /// On a machine that is busy with other things.
    #[default]
    Lenient,
    /// As promised, on a machine that has nothing else to do.
    Strict,
}

impl Bounds {
    fn planned(self) -> Duration {
        match self {
            Self::Lenient => PLANNED_BOUND,
            Self::Strict => PLANNED_GOAL,
        }
    }

    fn failover(self) -> Duration {
        match self {
            Self::Lenient => FAILOVER_BOUND,
            Self::Strict => FAILOVER_GOAL,
        }
    }
}

/// The time without a coordinator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    pub(super) time: Duration,
    /// What entities did in it that nothing had happened to.
    pub(super) meanwhile: Meanwhile,
}

/// What came of a scenario.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) findings: Findings,
    /// How long after the last harm every entity had answered again; none if all moves were planned.
    pub(super) again: Option<Duration>,
    /// If it is looked at.
    pub(super) gap: Option<Gap>,
    faults: Vec<String>,
    notes: Vec<String>,
}

impl Played {
    pub(super) fn new(findings: Findings, again: Option<Duration>) -> Self {
        let (faults, mut notes) = (findings.faults.lines(), Vec::new());
        for (count, what) in [(findings.renewed, "entities began anew"), (findings.late, "late turns")] {
            if count > 0 {
                notes.push(format!("{count} {what}"));
            }
        }
        Self { findings, again, gap: None, faults, notes }
    }

    /// Holds the silences against what may be.
    pub(super) fn judge(&mut self, bounds: Bounds) {
        match self.again {
            None => {
                let silence = self.findings.silence.time;
                self.hold("longest silence", silence, PLANNED_GOAL, bounds.planned());
            }
            Some(again) => {
                self.hold("all answer again", again, FAILOVER_GOAL, bounds.failover());
                let others = self.findings.others_silence;
                self.notes.push(format!("silence of the unharmed {}", millis(others.time)));
                // Of those nothing is promised in milliseconds while others fail over: they share the machine.
                if others.time > PLANNED_BOUND {
                    let (id, time) = (others.id, others.time);
                    self.fault(format!("{id} was silent for {time:?} though nothing had happened to it"));
                }
            }
        }
        if let Some(gap) = self.gap {
            self.judge_gap(gap);
        }
    }

    fn judge_gap(&mut self, gap: Gap) {
        let Gap { time, meanwhile: Meanwhile { answered, silence } } = gap;
        let measured = format!("{answered} asks answered in {} without a coordinator", millis(time));
        if answered < GAP_ANSWERS {
            self.fault(format!("only {measured}, of entities that nothing had happened to"));
        }
        let bound = time / GAP_PARTS;
        if silence.time > bound {
            self.fault(format!(
                "{} was silent for {:?} of {time:?} without a coordinator, and at most {bound:?} may be",
                silence.id, silence.time
            ));
        }
        self.notes.push(measured);
    }

    fn hold(&mut self, what: &str, time: Duration, goal: Duration, bound: Duration) {
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

    /// No process may panic or log an error that is not expected.
    pub(super) fn look_at_log(&mut self, log: &Path, expected: &[&str]) -> Result<(), String> {
        let text = fs::read(log).map_err(|error| format!("{}: {error}", log.display()))?;
        let text = String::from_utf8_lossy(&text);
        let bad = text.lines().find(|line| is_bad(line, expected));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Silence;

    fn verdict(silence: u64, again: Option<u64>, bounds: Bounds) -> usize {
        let silence = Silence { time: Duration::from_millis(silence), ..Silence::default() };
        let findings = Findings { silence, ..Findings::default() };
        let mut played = Played::new(findings, again.map(Duration::from_millis));
        played.judge(bounds);
        played.faults().len()
    }

    #[test]
    fn a_planned_move_is_held_against_the_promise_only_if_that_is_wanted() {
        assert_eq!(verdict(251, None, Bounds::Lenient), 0);
        assert_eq!(verdict(251, None, Bounds::Strict), 1);
        assert_eq!(verdict(250, None, Bounds::Strict), 0);
        assert_eq!(verdict(2001, None, Bounds::Lenient), 1);
    }

    /// With so many answers in 1200 ms without a coordinator, and that silence.
    fn verdict_of_gap(answered: usize, silence: u64) -> usize {
        let silence = Silence { time: Duration::from_millis(silence), ..Silence::default() };
        let mut played = Played::new(Findings::default(), Some(Duration::ZERO));
        let time = Duration::from_millis(1200);
        played.gap = Some(Gap { time, meanwhile: Meanwhile { answered, silence } });
        played.judge(Bounds::Lenient);
        played.faults().len()
    }

    #[test]
    fn entities_of_living_nodes_that_are_silent_for_much_of_the_time_without_a_coordinator_are_found() {
        assert_eq!(verdict_of_gap(GAP_ANSWERS, 400), 0);
        assert_eq!(verdict_of_gap(GAP_ANSWERS, 401), 1);
    }

    #[test]
    fn too_few_answers_in_the_time_without_a_coordinator_are_found() {
        assert_eq!(verdict_of_gap(GAP_ANSWERS - 1, 0), 1);
    }

    #[test]
    fn a_fail_over_is_held_against_the_promise_only_if_that_is_wanted() {
        assert_eq!(verdict(3600, Some(3501), Bounds::Lenient), 0);
        assert_eq!(verdict(3600, Some(3501), Bounds::Strict), 1);
        assert_eq!(verdict(3600, Some(3500), Bounds::Strict), 0);
        assert_eq!(verdict(3600, Some(10_001), Bounds::Lenient), 1);
    }
}
