//! Who votes, and what a quorum is. There is no other majority anywhere.

#[cfg(feature = "serde")]
mod wire;

use alloc::collections::BTreeSet;

use crate::incarnation::Uid;
use crate::version::Version;

/// The voters' list, and while it changes also the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "wire::Claim"))]
pub struct Voters {
    /// The version of the entry that last changed one of the lists: a renewal is good under this list alone.
    pub id: Version,
    /// Those who vote.
    pub now: BTreeSet<Uid>,
    /// Those who are to vote; empty while no change is under way.
    pub next: BTreeSet<Uid>,
}

impl Voters {
    /// Whether those for whom `have` is true are a quorum: more than half of each list in force.
    pub fn quorum(&self, have: impl Fn(Uid) -> bool) -> bool {
        majority(&self.now, &have) && (self.next.is_empty() || majority(&self.next, &have))
    }

    /// Whether it is on one of the lists.
    pub fn names(&self, uid: Uid) -> bool {
        self.now.contains(&uid) || self.next.contains(&uid)
    }

    /// Everyone on one of the lists, each once, in the order of uids.
    pub fn all(&self) -> impl Iterator<Item = Uid> + '_ {
        self.now.union(&self.next).copied()
    }

    /// Whether a change is under way.
    pub fn is_joint(&self) -> bool {
        !self.next.is_empty()
    }
}

fn majority(list: &BTreeSet<Uid>, have: &impl Fn(Uid) -> bool) -> bool {
    2 * list.iter().filter(|uid| have(**uid)).count() > list.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uids(numbers: &[u64]) -> BTreeSet<Uid> {
        numbers.iter().filter_map(|&number| Uid::new(number)).collect()
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
