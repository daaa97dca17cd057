//! Checks a history against what was to be expected of it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::History;
use super::late::{self, Thaw};
use super::line::{Outcome, Sending};
use super::of_id::OfId;
use super::rules;
use super::silence::{self, Silence};

/// How many examples of what is wrong are kept of each rule.
const EXAMPLES: usize = 3;

/// What may have happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expected {
    /// Which entities may have begun anew.
    pub(crate) lives: Lives,
    /// Processes that stood still for longer than a fail-over, and when they went on: turns that they were in the middle of may be late.
    pub(crate) frozen: BTreeMap<String, Thaw>,
    /// Senders that were cut off from the entities, and until when: what they sent before may be lost, wait for as long as it likes, and end by timeout.
    pub(crate) apart: BTreeMap<u32, u64>,
    /// Senders that were killed: what they had just sent nobody wrote down.
    pub(crate) cut_short: BTreeSet<u32>,
    /// Processes whose runtime stood still, and between which moments: what lived there was silent, and asks to it may end by timeout.
    pub(crate) wedged: BTreeMap<String, (u64, u64)>,
}

impl Expected {
    /// Whether its sender was cut off.
    pub(super) fn is_apart(&self, sending: &Sending) -> bool {
        self.apart.get(&sending.sender).is_some_and(|until| sending.sent < *until)
    }
}

/// Which entities may have begun anew.
#[derive(Clone, Debug, Default)]
pub(crate) enum Lives {
    /// None: every move was planned. Then everything that was sent is handled.
    #[default]
    Last,
    /// Those that lived in one of these processes. Then everything that was sent to others is handled.
    EndIn(BTreeSet<String>),
    /// Any.
    EndAnywhere,
}

/// What a history says.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) sent: usize,
    pub(crate) handled: usize,
    /// Messages that came back with a reason.
    pub(crate) refused: usize,
    /// Tells that were accepted and never handled.
    pub(crate) lost: usize,
    /// Asks without an answer.
    pub(crate) unanswered: usize,
    /// Messages handled after a later one of their sender.
    pub(crate) reordered: usize,
    /// Turns that processes which had stood still were in the middle of.
    pub(crate) late: usize,
    /// Entities that began anew.
    pub(crate) renewed: usize,
    /// The longest that anybody waited for an entity.
    pub(crate) silence: Silence,
    /// The same, of entities that did not begin anew.
    pub(crate) others_silence: Silence,
    /// What may not be: how often, and the first examples.
    pub(crate) faults: Faults,
}

/// What may not be, by rule.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<(&'static str, usize, Vec<String>)>);

impl Faults {
    pub(super) fn note(&mut self, rule: &'static str, example: impl FnOnce() -> String) {
        let place = self.0.iter().position(|(noted, ..)| *noted == rule).unwrap_or_else(|| {
            self.0.push((rule, 0, Vec::new()));
            self.0.len() - 1
        });
        let (_, times, examples) = &mut self.0[place];
        *times += 1;
        if examples.len() < EXAMPLES {
            examples.push(example());
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How often a rule was broken.
    fn times(&self, rule: &str) -> usize {
        self.0.iter().find(|(noted, ..)| *noted == rule).map_or(0, |(_, times, _)| *times)
    }

    #[cfg(test)]
    pub(super) fn rules(&self) -> Vec<&'static str> {
        self.0.iter().map(|(rule, ..)| *rule).collect()
    }

    /// One line for each rule.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |(rule, times, examples): &(_, _, Vec<String>)| {
            format!("{times} times: {rule}; {}", examples.join("; "))
        };
        self.0.iter().map(line).collect()
    }
}

/// Checks all of it. `ids` entities were to be read in the end.
pub(crate) fn check(history: &History, expected: &Expected, ids: u32) -> Findings {
    let mut findings = Findings { sent: history.sendings.len(), ..Findings::default() };
    let is_refused = |outcome: &Outcome| matches!(outcome, Outcome::Refused(_) | Outcome::Open(_));
    findings.refused = history.sendings.iter().filter(|sending| is_refused(&sending.outcome)).count();
    let is_unanswered =
        |sending: &&Sending| sending.is_ask && !matches!(sending.outcome, Outcome::Answered(_));
    findings.unanswered = history.sendings.iter().filter(is_unanswered).count();
    let all = OfId::all(history, expected);
    late::check(&all, history, expected, &mut findings.faults);
    for of_id in &all {
        findings.handled += of_id.turns.len();
        findings.late += of_id.late.len();
        findings.lost += of_id.lost().len();
        findings.renewed += usize::from(of_id.is_renewed());
        rules::run(of_id, history, expected, &mut findings.faults);
        let longest = silence::longest(of_id, history, expected, &mut findings.faults);
        if !of_id.is_renewed() {
            findings.others_silence = findings.others_silence.max(longest);
        }
        findings.silence = findings.silence.max(longest);
    }
    findings.reordered = findings.faults.times(rules::OUT_OF_ORDER);
    let read: BTreeSet<u32> = history.pages.iter().map(|(id, _)| *id).collect();
    for id in (0..ids).filter(|id| !read.contains(id)) {
        findings.faults.note("an entity cannot be read in the end", || format!("{id}"));
    }
    findings
}

/// A moment after another.
pub(super) fn after(later: u64, earlier: u64) -> Duration {
    Duration::from_nanos(later.saturating_sub(earlier))
}
