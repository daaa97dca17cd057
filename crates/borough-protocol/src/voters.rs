//! Who votes, and what a quorum is. There is no other majority anywhere.

#[cfg(feature = "serde")]
mod wire;

use alloc::collections::BTreeSet;
use core::fmt;

use crate::incarnation::Uid;
use crate::version::Version;

/// The identity of a voter: what lists of voters name, what votes, and what a log belongs to.
///
/// A node with a data directory keeps it over restarts for as long as its log is there: it is the number of the directory, and each life of the node has another
/// [`Uid`]. A life that begins without a log is another voter. The vote of a node without a directory ends with its life: there it is the number of the uid.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct VoterId(#[cfg_attr(feature = "serde", serde(with = "crate::wire::uid"))] u64);

/// The bits that a directory keeps whenever it gets another identity.
const OF_DIRECTORY: u64 = (1 << 24) - 1;

impl VoterId {
    /// The shared store, where it is the one voter.
    pub const STORE: Self = Self(Uid::STORE.get());

    /// The identity of that number; `None` for 0, which stands for nobody.
    pub const fn new(number: u64) -> Option<Self> {
        if number == 0 { None } else { Some(Self(number)) }
    }

    /// The identity of a node without a data directory in that life.
    pub const fn of_life(uid: Uid) -> Self {
        Self(uid.get())
    }

    /// Another identity for the same directory, while it has no log: lists may name this one, also where it never had a log by what it holds now (it may be a
    /// copy of that time), and a voter without its log must not vote again.
    #[must_use]
    pub const fn renewed(self, random: u64) -> Self {
        let number = 1 << 63 | random & !OF_DIRECTORY | self.0 & OF_DIRECTORY;
        Self(if number == self.0 { number ^ 1 << 62 } else { number })
    }

    /// Whether both are identities of one directory, one after the other; of two other directories that is so in one of 16 million cases.
    pub const fn is_of_directory(self, other: Self) -> bool {
        self.0 & OF_DIRECTORY == other.0 & OF_DIRECTORY
    }

    /// Its number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for VoterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

impl fmt::Debug for VoterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{:x}", self.0)
    }
}

/// The voters' list, and while it changes also the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "wire::Claim"))]
pub struct Voters {
    /// The version of the entry that last changed one of the lists: a renewal is good under this list alone.
    pub id: Version,
    /// Those who vote.
    pub now: BTreeSet<VoterId>,
    /// Those who are to vote; empty while no change is under way.
    pub next: BTreeSet<VoterId>,
}

impl Voters {
    /// Whether those for whom `have` is true are a quorum: more than half of each list in force.
    pub fn quorum(&self, have: impl Fn(VoterId) -> bool) -> bool {
        majority(&self.now, &have) && (self.next.is_empty() || majority(&self.next, &have))
    }

    /// Whether it is on one of the lists.
    pub fn names(&self, voter: VoterId) -> bool {
        self.now.contains(&voter) || self.next.contains(&voter)
    }

    /// Everyone on one of the lists, each once, in the order of their numbers.
    pub fn all(&self) -> impl Iterator<Item = VoterId> + '_ {
        self.now.union(&self.next).copied()
    }

    /// Whether a change is under way.
    pub fn is_joint(&self) -> bool {
        !self.next.is_empty()
    }
}

fn majority(list: &BTreeSet<VoterId>, have: &impl Fn(VoterId) -> bool) -> bool {
    2 * list.iter().filter(|uid| have(**uid)).count() > list.len()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_directory_is_known_by_its_next_identity() {
        for number in [1, 7 << 40 | 5, u64::MAX] {
            let voter = VoterId::new(number).expect("not 0");
            for random in [0, number, u64::MAX] {
                let next = voter.renewed(random);
                assert!(next != voter && next.is_of_directory(voter), "{voter:?} {next:?}");
            }
            assert!(!voter.is_of_directory(VoterId::new(number ^ 2).expect("not 0")));
        }
    }

    use super::*;

    fn uids(numbers: &[u64]) -> BTreeSet<VoterId> {
        numbers.iter().filter_map(|&number| VoterId::new(number)).collect()
    }

    #[test]
    fn a_quorum_is_more_than_half_of_each_list_in_force() {
        type Case = (&'static [u64], &'static [u64], &'static [u64], bool);
        let cases: &[Case] = &[
            (&[1], &[], &[1], true),
            (&[1], &[], &[2, 3], false),
            (&[], &[], &[1], false),
            (&[1, 2], &[], &[1], false),
            (&[1, 2, 3], &[], &[1, 3], true),
            (&[1, 2, 3, 4], &[], &[1, 3], false),
            (&[1, 2, 3], &[3, 4, 5], &[1, 2], false),
            (&[1, 2, 3], &[3, 4, 5], &[4, 5], false),
            (&[1, 2, 3], &[3, 4, 5], &[1, 3, 4], true),
            (&[1, 2, 3], &[4], &[1, 2], false),
            (&[1, 2, 3], &[4], &[1, 2, 4], true),
        ];
        for (now, next, have, expected) in cases {
            let voters = Voters { id: Version::ZERO, now: uids(now), next: uids(next) };
            let have = uids(have);
            assert_eq!(voters.quorum(|uid| have.contains(&uid)), *expected, "{now:?} {next:?} {have:?}");
        }
    }
}
