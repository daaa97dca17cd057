//! What the books say of each node that was started.

use std::collections::{BTreeMap, BTreeSet};

use borough_actor::remote::ANSWER;
use borough_actor::{DeadLetter, DeadLetterReason, SystemHandle};
use borough_cluster::{Standing, Topology, Uid};

use super::Pages;

/// One started node: a system of actors, which may live several lives in its cluster.
#[derive(Debug)]
pub(super) struct HousePage {
    pub(super) name: String,
    pub(super) topology: Topology,
    pub(super) system: SystemHandle,
    /// Whether it was neither dropped nor shut down.
    pub(super) stands: bool,
    /// The uids of its lives.
    pub(super) lives: BTreeSet<u64>,
    /// How many of the actors that may be stopped were.
    pub(super) stops: u32,
    /// Messages to other nodes that it counted as lost while it stood, by the life they were for.
    pub(super) lost_to: BTreeMap<String, u64>,
    /// How many answers it may have sent, those to lookups included.
    pub(super) answers: u64,
    /// How many answers it counted as lost while it stood.
    pub(super) answers_lost: u64,
}

impl HousePage {
    pub(super) fn count(&self, reason: DeadLetterReason) -> u64 {
        self.system.dead_letters().count(reason)
    }

    /// What it was sent and did not handle, by its own account.
    pub(super) fn unhandled(&self) -> u64 {
        self.system.dead_letters().total() - self.count(DeadLetterReason::NodeLost)
    }

    /// What it sent to that life and gave up, by its own account; one that stands no more said less than it knew.
    pub(super) fn lost_to(&self, life: u64) -> u64 {
        if self.stands {
            let name = Uid::new(life).map_or_else(String::new, |uid| format!("#{uid}"));
            self.lost_to.iter().filter(|(to, _)| to.ends_with(&name)).map(|(_, count)| count).sum()
        } else {
            self.count(DeadLetterReason::NodeLost)
        }
    }

    /// The life it lives now, if it lives.
    pub(super) fn life(&self) -> Option<u64> {
        let snapshot = self.topology.current();
        let is_over = matches!(snapshot.standing, Standing::Returning(_)) || snapshot.standing.is_final();
        (self.stands && !is_over).then(|| snapshot.incarnation.uid.get())
    }

    pub(super) fn has_lived(&self, life: u64) -> bool {
        self.lives.contains(&life) || self.topology.current().incarnation.uid.get() == life
    }
}

impl Pages {
    /// A node was started; gives its number.
    pub(in crate::shells) fn enrol(&mut self, name: &str, topology: Topology, system: SystemHandle) -> usize {
        let lives = BTreeSet::from([topology.current().incarnation.uid.get()]);
        self.tally.lives += 1;
        self.houses.push(HousePage {
            name: name.to_owned(),
            topology,
            system,
            stands: true,
            lives,
            stops: 0,
            lost_to: BTreeMap::new(),
            answers: 0,
            answers_lost: 0,
        });
        self.houses.len() - 1
    }

    /// Another life of that node, or the same.
    pub(in crate::shells) fn lives(&mut self, house: usize, life: u64) {
        if self.houses[house].lives.insert(life) {
            self.tally.lives += 1;
        }
    }

    /// Whether it has lived more than one life.
    pub(in crate::shells) fn has_begun_anew(&self, house: usize) -> bool {
        self.houses[house].lives.len() > 1
    }

    /// The node is no more.
    pub(in crate::shells) fn falls(&mut self, house: usize) {
        self.houses[house].stands = false;
        self.end_watches_of(house, None);
    }

    /// The actor that may be stopped is about to be.
    pub(in crate::shells) fn stops(&mut self, house: usize, actor: u32) {
        self.houses[house].stops += 1;
        self.end_watches_of(house, Some(actor));
    }

    /// How many of those actors were stopped where that life is lived.
    pub(in crate::shells) fn stops_at(&self, life: u64) -> u32 {
        self.house_of(life).map_or(0, |house| house.stops)
    }

    /// An actor is looked up where that life is lived.
    pub(in crate::shells) fn looks_up(&mut self, life: u64) {
        if let Some(house) = self.houses.iter_mut().find(|house| house.has_lived(life)) {
            house.answers += 1;
        }
    }

    /// A message died.
    pub(in crate::shells) fn letter(&mut self, house: usize, letter: DeadLetter) {
        let DeadLetter { recipient, message_type, reason, .. } = &letter;
        self.trace.note(format_args!("h{house} counts {message_type} to {recipient}: {reason:?}"));
        let page = &mut self.houses[house];
        match (letter.reason, letter.message_type == ANSWER) {
            (DeadLetterReason::NodeLost, false) => *page.lost_to.entry(letter.recipient).or_default() += 1,
            (DeadLetterReason::NodeLost, true) => page.answers_lost += 1,
            _ => {}
        }
    }

    pub(super) fn house_of(&self, life: u64) -> Option<&HousePage> {
        self.houses.iter().find(|house| house.has_lived(life))
    }

    /// Whether that life is over.
    pub(super) fn is_over(&self, life: u64) -> bool {
        self.house_of(life).is_none_or(|house| house.life() != Some(life))
    }
}
