//! How long entities were silent: from the sending of a message to the next turn of the one it was for.

use std::collections::BTreeSet;
use std::time::Duration;

use super::History;
use super::check::{Expected, Faults, after};
use super::line::{Outcome, Sending};
use super::of_id::OfId;

/// Who waits for longer than this had to wait for something.
const NOTICEABLE: Duration = Duration::from_millis(200);

/// The longest silence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Silence {
    pub(crate) time: Duration,
    /// When it began.
    pub(crate) since: u64,
    pub(crate) id: u32,
}

/// When an entity did something: its turns, and when it was read.
fn signs_of_life(of_id: &OfId<'_>) -> Vec<u64> {
    let turns = of_id.turns.iter().map(|(_, turn)| turn.signed.at);
    turns.chain(of_id.page.map(|page| page.at)).collect()
}

/// Each message that counts, with when the entity next did something: those that were lost show nothing.
fn waits<'a>(of_id: &OfId<'a>, expected: &Expected) -> Vec<(&'a Sending, Option<u64>)> {
    let signs = signs_of_life(of_id);
    let lost: BTreeSet<_> = of_id.lost().iter().map(|lost| (lost.sender, lost.number)).collect();
    let counts = |sending: &&&Sending| {
        !expected.is_apart(sending)
            && !lost.contains(&(sending.sender, sending.number))
            && !matches!((&sending.outcome, sending.is_ask), (Outcome::Refused(_), false))
    };
    let next = |sent| signs.get(signs.partition_point(|at| *at < sent)).copied();
    of_id.sendings.iter().filter(counts).map(|sending| (*sending, next(sending.sent))).collect()
}

/// The longest wait for one entity, while its process could work.
pub(super) fn longest(
    of_id: &OfId<'_>,
    history: &History,
    expected: &Expected,
    faults: &mut Faults,
) -> Silence {
    let mut longest = Silence { id: of_id.id, ..Silence::default() };
    for (sending, next) in waits(of_id, expected) {
        let Some(next) = next else {
            faults.note("an entity is silent in the end", || {
                format!("{} since {} ({:?})", of_id.id, sending.sent, sending.outcome)
            });
            continue;
        };
        let time = after(next, sending.sent);
        if time > longest.time && !of_id.is_wedged(sending, history, expected) {
            longest = Silence { time, since: sending.sent, id: of_id.id };
        }
    }
    longest
}

/// The longest that anybody waited for an entity, of waits that ended after one moment and began before another.
pub(crate) fn longest_between(history: &History, expected: &Expected, from: u64, until: u64) -> Silence {
    let all = OfId::all(history, expected);
    all.iter().map(|of_id| between(of_id, expected, from, until)).max().unwrap_or_default()
}

/// The same of one entity.
fn between(of_id: &OfId<'_>, expected: &Expected, from: u64, until: u64) -> Silence {
    let mut longest = Silence::default();
    for (sending, next) in waits(of_id, expected) {
        if let Some(next) = next
            && next >= from
            && sending.sent < until
        {
            let time = after(next, sending.sent);
            longest = longest.max(Silence { time, since: sending.sent, id: of_id.id });
        }
    }
    longest
}

/// What entities did between two moments, of those that did not begin anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Meanwhile {
    /// How many asks were sent to them, and answered, in that time.
    pub(crate) answered: usize,
    /// The longest that anybody waited for one of them.
    pub(crate) silence: Silence,
}

/// What entities that did not begin anew did between two moments.
pub(crate) fn meanwhile(history: &History, expected: &Expected, from: u64, until: u64) -> Meanwhile {
    let mut meanwhile = Meanwhile::default();
    let is_answered = |sending: &&&Sending| {
        let is_within = sending.sent >= from && sending.done < until;
        is_within && matches!(sending.outcome, Outcome::Answered(_))
    };
    for of_id in OfId::all(history, expected).iter().filter(|of_id| !of_id.is_renewed()) {
        meanwhile.answered += of_id.sendings.iter().filter(is_answered).count();
        meanwhile.silence = meanwhile.silence.max(between(of_id, expected, from, until));
    }
    meanwhile
}

/// How long after a moment the last entity answered that had been silent for a noticeable time; of messages sent before `until`.
pub(crate) fn again(history: &History, expected: &Expected, harmed: u64, until: u64) -> Duration {
    let mut last = harmed;
    for of_id in OfId::all(history, expected) {
        for (sending, next) in waits(&of_id, expected) {
            if let Some(next) = next
                && sending.sent < until
                && next > harmed
                && after(next, sending.sent) > NOTICEABLE
            {
                last = last.max(next);
            }
        }
    }
    after(last, harmed)
}
