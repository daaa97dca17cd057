//! What a history says of one entity.

use std::collections::HashMap;

use super::line::{Outcome, Page, Sending, Turn};
use super::{Expected, History};

/// All that was sent to one entity, and its turns, by time.
#[derive(Debug, Default)]
pub(super) struct OfId<'a> {
    pub(super) id: u32,
    pub(super) sendings: Vec<&'a Sending>,
    /// With the process each was in. Those that came too late to count are in `late`.
    pub(super) turns: Vec<(usize, &'a Turn)>,
    /// Turns of a process that had stood still and went on: an older epoch's, after a newer one's first.
    pub(super) late: Vec<(usize, &'a Turn)>,
    pub(super) page: Option<&'a Page>,
}

impl<'a> OfId<'a> {
    /// Takes a history apart.
    pub(super) fn all(history: &'a History, expected: &Expected) -> Vec<Self> {
        let mut by_id: HashMap<u32, Self> = HashMap::new();
        for sending in &history.sendings {
            by_id.entry(sending.id).or_default().sendings.push(sending);
        }
        for (process, turn) in &history.turns {
            by_id.entry(turn.id).or_default().turns.push((*process, turn));
        }
        for (id, page) in &history.pages {
            by_id.entry(*id).or_default().page = Some(page);
        }
        let thawed: Vec<Option<u64>> =
            history.processes.iter().map(|process| Some(expected.frozen.get(process)?.at)).collect();
        let mut all: Vec<_> = by_id
            .into_iter()
            .map(|(id, of_id)| {
                let mut of_id = Self { id, ..of_id };
                of_id.sendings.sort_by_key(|sending| sending.sent);
                of_id.turns.sort_by_key(|(_, turn)| turn.signed.at);
                of_id.set_late_apart(&thawed);
                of_id
            })
            .collect();
        all.sort_by_key(|of_id| of_id.id);
        all
    }

    /// What is at work at an older epoch before its process stood still is not late: it overlaps, as anybody's would.
    fn set_late_apart(&mut self, thawed: &[Option<u64>]) {
        let mut highest = 0;
        let (mut turns, mut late) = (Vec::new(), Vec::new());
        for (process, turn) in self.turns.drain(..) {
            let is_thawed = thawed[process].is_some_and(|at| turn.signed.at >= at);
            if turn.signed.epoch < highest && is_thawed {
                late.push((process, turn));
            } else {
                turns.push((process, turn));
            }
            highest = highest.max(turn.signed.epoch);
        }
        (self.turns, self.late) = (turns, late);
    }

    /// Whether a message came while the entity lived in a process whose runtime stood still.
    pub(super) fn is_wedged(&self, sending: &Sending, history: &History, expected: &Expected) -> bool {
        expected.wedged.iter().any(|(process, (from, to))| {
            // Where it had its last turn then is where it lived. One after the message, and before the runtime stood still, ended the wait.
            let since = sending.sent.max(*from);
            let lived = self.turns.iter().rfind(|(_, turn)| turn.signed.at <= since);
            let is_there = |(place, turn): &(usize, &Turn)| {
                history.processes[*place] == *process && turn.signed.at <= sending.sent
            };
            sending.sent < *to && lived.is_some_and(is_there)
        })
    }

    /// Whether it began anew after its first turn.
    pub(super) fn is_renewed(&self) -> bool {
        self.turns.windows(2).any(|pair| pair[0].1.signed.life != pair[1].1.signed.life)
    }

    /// Its turns by the message they handled.
    pub(super) fn by_message(&self) -> HashMap<(u32, u32), Vec<&'a Turn>> {
        let mut by_message: HashMap<_, Vec<_>> = HashMap::new();
        for (_, turn) in self.turns.iter().chain(&self.late) {
            by_message.entry((turn.sender, turn.number)).or_default().push(*turn);
        }
        by_message
    }

    /// Tells that were accepted and never handled.
    pub(super) fn lost(&self) -> Vec<&'a Sending> {
        let handled = self.by_message();
        let is_lost = |sending: &&Sending| {
            sending.outcome == Outcome::Accepted && !handled.contains_key(&(sending.sender, sending.number))
        };
        self.sendings.iter().copied().filter(is_lost).collect()
    }
}
