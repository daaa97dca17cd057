//! Which life of a node speaks for a voter at the moment.
//!
//! A voter without a data directory is its life. A durable one has many lives, one after another: the newest one that is known speaks for it, and no
//! earlier one is heard as a voter again. The number of a life rises with each start of a directory, so two lives of one number are of copies of it.

use alloc::collections::BTreeMap;

use super::participant::Participant;
use crate::incarnation::{Address, Facts, Incarnation, Uid};
use crate::log::Log;
use crate::voters::VoterId;

/// The newest life of each voter that this node knows of. It is kept for as long as it votes, also when it is no member any more: where it listens is asked
/// before its cluster is called over.
#[derive(Clone, Debug, Default)]
pub struct VoterLives {
    is_durable: bool,
    newest: BTreeMap<VoterId, Newest>,
}

#[derive(Clone, Debug)]
struct Newest {
    life: u64,
    incarnation: Incarnation,
}

impl VoterLives {
    /// Of a node in a cluster whose voters are durable, or not.
    pub fn new(is_durable: bool) -> Self {
        Self { is_durable, newest: BTreeMap::new() }
    }

    /// There is such a node. An older life than the one that is known changes nothing.
    pub fn learn(&mut self, incarnation: &Incarnation, facts: &Facts) {
        let (voter, life) = match facts.disk {
            Some(disk) if self.is_durable => (disk.voter, disk.life),
            None if !self.is_durable => (VoterId::of_life(incarnation.uid), 0),
            Some(_) | None => return,
        };
        let is_newer = self
            .newest
            .get(&voter)
            .is_none_or(|newest| (newest.life, newest.incarnation.uid) < (life, incarnation.uid));
        if is_newer {
            self.newest.insert(voter, Newest { life, incarnation: incarnation.clone() });
        }
    }

    /// That node is a member. If the life that spoke for its directory was removed, this one speaks for it, whatever their numbers are: a directory that
    /// was restored from a copy counts some of its lives twice, and the table decides which of them belongs to the cluster.
    pub fn learn_member(
        &mut self,
        incarnation: &Incarnation,
        facts: &Facts,
        is_removed: impl Fn(Uid) -> bool,
    ) {
        if let Some(disk) = facts.disk {
            self.newest.retain(|voter, newest| *voter != disk.voter || !is_removed(newest.incarnation.uid));
        }
        self.learn(incarnation, facts);
    }

    /// Whether a life of that directory is known that is not before this one: this one is of a copy.
    pub fn is_copy(&self, uid: Uid, facts: &Facts) -> bool {
        facts.disk.is_some_and(|disk| {
            let newest = self.newest.get(&disk.voter);
            newest.is_some_and(|newest| newest.life >= disk.life && newest.incarnation.uid != uid)
        })
    }

    /// The life that speaks for that voter; `None` if none is known.
    pub fn uid(&self, voter: VoterId) -> Option<Uid> {
        if voter == VoterId::STORE {
            return Some(Uid::STORE);
        }
        let newest = self.newest.get(&voter).map(|newest| newest.incarnation.uid);
        newest.or_else(|| Uid::new(voter.get()).filter(|_| !self.is_durable))
    }

    /// Whether that life speaks for a durable voter.
    pub fn is_known(&self, uid: Uid) -> bool {
        self.newest.values().any(|newest| newest.incarnation.uid == uid)
    }

    /// The voter that this life speaks for. One that speaks for no durable voter is a voter of its own, which no list names.
    pub fn voter(&self, uid: Uid) -> VoterId {
        if !self.is_durable {
            return VoterId::of_life(uid);
        }
        let newest = self.newest.iter().find(|(_, newest)| newest.incarnation.uid == uid);
        newest.map_or(VoterId::of_life(uid), |(voter, _)| *voter)
    }

    /// Where the newest life of that voter listens.
    pub fn address(&self, voter: VoterId) -> Option<&Address> {
        self.newest.get(&voter).map(|newest| &newest.incarnation.address)
    }

    /// Forgets all but these voters.
    pub fn retain(&mut self, keep: impl Fn(VoterId, Uid) -> bool) {
        self.newest.retain(|voter, newest| keep(*voter, newest.incarnation.uid));
    }
}

impl Participant {
    /// Learns from gossip and the table which lives there are, and forgets those that are neither members nor voters.
    pub(super) fn learn_lives(&mut self) {
        let Self { lives, gossip, table, log, holder, .. } = self;
        for member in gossip.document().members() {
            lives.learn(&member.incarnation, &member.facts);
        }
        for member in table.members().values() {
            lives.learn_member(&member.incarnation, &member.facts, |uid| table.is_removed(uid));
        }
        let lists = [table.voters(), log.voters(), holder.voters()];
        let votes = |voter| lists.iter().any(|list| list.names(voter)) || log.learners().contains(&voter);
        let is_member = |uid| gossip.document().is_member(uid) || table.member(uid).is_some();
        lives.retain(|voter, uid| votes(voter) || is_member(uid));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incarnation::{Disk, NodeId};

    fn uid(number: u64) -> Uid {
        Uid::new(number).expect("not 0")
    }

    fn voter(number: u64) -> VoterId {
        VoterId::new(number).expect("not 0")
    }

    fn node(number: u64, life: u64) -> (Incarnation, Facts) {
        let facts = Facts {
            id: NodeId::new("node"),
            roles: [].into(),
            app_version: "".into(),
            zone: "".into(),
            disk: Some(Disk { voter: voter(7), life }),
        };
        (Incarnation { address: Address::new("node:1"), uid: uid(number) }, facts)
    }

    #[test]
    fn the_newest_life_speaks_for_a_durable_voter() {
        let mut lives = VoterLives::new(true);
        assert_eq!((lives.uid(voter(7)), lives.voter(uid(1))), (None, voter(1)));
        for (number, life, speaks) in [(1, 4, 1), (2, 5, 2), (3, 4, 2), (2, 5, 2)] {
            let (incarnation, facts) = node(number, life);
            lives.learn(&incarnation, &facts);
            assert_eq!(lives.uid(voter(7)), Some(uid(speaks)));
        }
        assert_eq!((lives.voter(uid(2)), lives.voter(uid(1))), (voter(7), voter(1)));
    }

    #[test]
    fn a_member_speaks_for_its_directory_once_the_life_before_it_was_removed() {
        let mut lives = VoterLives::new(true);
        let (before, facts) = node(9, 4);
        lives.learn(&before, &facts);
        // Of a copy: its number is not greater.
        let (member, facts) = node(2, 4);
        lives.learn_member(&member, &facts, |_| false);
        assert_eq!(lives.uid(voter(7)), Some(uid(9)));
        lives.learn_member(&member, &facts, |removed| removed == uid(9));
        assert_eq!(lives.uid(voter(7)), Some(uid(2)));
        lives.learn(&before, &node(9, 4).1);
        lives.learn_member(&member, &facts, |removed| removed == uid(9));
        assert_eq!(lives.uid(voter(7)), Some(uid(2)));
    }

    #[test]
    fn a_life_that_is_not_after_the_known_one_is_of_a_copy() {
        let mut lives = VoterLives::new(true);
        let (incarnation, facts) = node(1, 5);
        lives.learn(&incarnation, &facts);
        for (number, life, is_copy) in [(1, 5, false), (2, 5, true), (2, 4, true), (2, 6, false)] {
            assert_eq!(lives.is_copy(uid(number), &node(number, life).1), is_copy, "{number} {life}");
        }
    }

    #[test]
    fn a_voter_without_a_directory_is_its_life() {
        let mut lives = VoterLives::new(false);
        let (incarnation, facts) = node(1, 5);
        lives.learn(&incarnation, &facts);
        assert_eq!((lives.uid(voter(1)), lives.voter(uid(1))), (Some(uid(1)), voter(1)));
    }

    #[test]
    fn where_a_voter_without_a_directory_listens_is_known_while_it_votes() {
        let mut lives = VoterLives::new(false);
        let (incarnation, facts) = node(1, 5);
        lives.learn(&incarnation, &Facts { disk: None, ..facts });
        lives.retain(|id, _| id == voter(1));
        assert_eq!(lives.address(voter(1)), Some(&Address::new("node:1")));
        lives.retain(|_, _| false);
        assert_eq!(lives.address(voter(1)), None);
    }
}
