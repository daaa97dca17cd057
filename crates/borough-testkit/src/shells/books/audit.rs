//! The last look: every message is accounted for.

use std::collections::BTreeMap;

use borough_actor::DeadLetterReason;

use super::Pages;
use super::houses::HousePage;
use super::streams::Told;
use crate::sim::Violation;

/// Messages from one node to one life.
#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    /// All that may have gone on the way.
    sent: u64,
    /// Accepted and not handled.
    missing: u64,
    /// Of these, those for actors that were never stopped.
    missing_to_immortals: u64,
}

impl Pages {
    /// What is not accounted for: a message that was accepted and neither handled nor counted, or a watch that has not fired. There is
    /// nothing once nothing is on its way any more.
    pub(in crate::shells) fn audit(&mut self) -> Option<Violation> {
        let mut traffic: BTreeMap<(usize, u64), Traffic> = BTreeMap::new();
        for stream in &self.streams {
            let between = traffic.entry((stream.sender, stream.life)).or_default();
            for fate in &stream.messages {
                between.sent += u64::from(fate.told != Told::GivenBack || fate.is_handled);
                let is_missing = u64::from(fate.told == Told::Accepted && !fate.is_handled);
                between.missing += is_missing;
                between.missing_to_immortals += if stream.to_mortal { 0 } else { is_missing };
            }
        }
        self.tally.lost = traffic.values().map(|between| between.missing).sum();
        let broken = traffic.iter().find_map(|(&(sender, life), between)| {
            self.audit_pair(sender, life, between).or_else(|| self.audit_counts(sender, life, between))
        });
        broken
            .or_else(|| self.audit_answers())
            .or_else(|| self.audit_receivers(&traffic))
            .or_else(|| Some(Violation::Liveness("watch_fires", self.overdue()?)))
    }

    /// Between two lives that last, nothing is lost but what the sender's node gave up, and counted.
    fn audit_pair(&self, sender: usize, life: u64, between: &Traffic) -> Option<Violation> {
        let (from, to) = (&self.houses[sender], self.house_of(life)?);
        if !from.stands || self.is_over(life) {
            return None;
        }
        let excused = from.lost_to(life)
            + to.count(DeadLetterReason::AskerGone)
            + to.count(DeadLetterReason::Unreadable);
        (between.missing_to_immortals > excused).then(|| {
            let text = format!(
                "{} messages from {} to {} ({life:x}) were lost, {excused} are accounted for",
                between.missing_to_immortals, from.name, to.name
            );
            Violation::Safety("lost", text)
        })
    }

    /// No more messages are counted as lost than were sent.
    fn audit_counts(&self, sender: usize, life: u64, between: &Traffic) -> Option<Violation> {
        let from = &self.houses[sender];
        let lost = from.lost_to(life);
        (from.stands && lost > between.sent).then(|| {
            let text = format!("{} counts {lost} lost to {life:x} and sent {}", from.name, between.sent);
            Violation::Safety("counted_too_often", text)
        })
    }

    /// No more answers are counted as lost than there may have been: to what was handled, discarded or looked up.
    fn audit_answers(&self) -> Option<Violation> {
        let houses = self.houses.iter().filter(|house| house.stands);
        houses.map(|house| (house, house.answers + house.unhandled())).find_map(|(house, most)| {
            let HousePage { name, answers_lost, .. } = house;
            (*answers_lost > most).then(|| {
                let text = format!("{name} counts {answers_lost} answers lost and had {most} at most");
                Violation::Safety("answers_too_often", text)
            })
        })
    }

    /// Whatever became of a node, what was for it and was not handled is counted by it or by its senders.
    fn audit_receivers(&self, traffic: &BTreeMap<(usize, u64), Traffic>) -> Option<Violation> {
        self.houses.iter().enumerate().find_map(|(number, house)| {
            let (mut missing, mut counted) = (0, house.unhandled());
            for (&(sender, life), between) in traffic.iter().filter(|((_, life), _)| house.has_lived(*life)) {
                missing += between.missing;
                counted += self.houses[sender].lost_to(life);
            }
            (missing > counted).then(|| {
                let text = format!(
                    "{missing} messages for node {number} ({}) were lost, {counted} were counted",
                    house.name
                );
                Violation::Safety("uncounted", text)
            })
        })
    }
}
