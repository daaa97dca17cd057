//! At most a minority of the voters' list of five minutes ago, and of every list since, is removed for bad links, however many rounds there are.
//!
//! While a list only grows nobody is lost: it counts as what it grew to.

use std::collections::{BTreeMap, BTreeSet};

use borough_protocol::incarnation::Uid;
use borough_protocol::table::{Cluster, Table};
use borough_protocol::version::Version;
use borough_protocol::voters::VoterId;

use crate::sim::moment::{Moment, Nanos, SECOND};
use crate::sim::violation::Violation;

/// Lists that were replaced longer ago do not count. A clock may be off by a tenth.
const AGE: Nanos = 5 * 60 * SECOND * 9 / 10;

/// Lists that were replaced so long ago may still count by a slow clock, or where that was learned late.
const AGE_MAX: Nanos = 5 * 60 * SECOND * 6 / 5;

/// The lists of all clusters.
#[derive(Debug, Default)]
pub(super) struct OldVoters {
    clusters: BTreeMap<Cluster, Lists>,
}

#[derive(Debug, Default)]
struct Lists {
    newest: Version,
    /// Each with the moment at which another one replaced it.
    replaced: Vec<(Moment, BTreeSet<VoterId>)>,
    present: BTreeSet<VoterId>,
    /// Those that were removed for bad links and have not come back.
    gone: BTreeSet<VoterId>,
}

impl OldVoters {
    /// Somebody has another table.
    pub(super) fn moves(&mut self, now: Moment, table: &Table) {
        let lists = self.clusters.entry(table.cluster()).or_default();
        if table.version() <= lists.newest {
            return;
        }
        lists.newest = table.version();
        lists.gone.retain(|voter| table.member_of(*voter).is_none());
        let voters = &table.voters().now;
        if lists.present == *voters {
            return;
        }
        let before = std::mem::replace(&mut lists.present, voters.clone());
        if !before.is_subset(voters) {
            lists.replaced.push((now, before));
        }
    }

    /// Whether a member must stay though it has bad links, because too many voters of a list with it are gone. A coordinator that came `lately`, after the member, does
    /// not know the lists before: it removes none of those that were there if anybody was.
    pub(super) fn must_stay(&self, now: Moment, cluster: Cluster, voter: VoterId, lately: bool) -> bool {
        let Some(lists) = self.clusters.get(&cluster) else { return false };
        let young = lists.replaced.iter().filter(|(until, _)| now.since(*until) < AGE_MAX);
        let mut naming =
            young.map(|(_, list)| list).chain([&lists.present]).filter(|list| list.contains(&voter));
        let is_last =
            |list: &BTreeSet<VoterId>| 2 * (list.intersection(&lists.gone).count() + 1) >= list.len();
        lately && !lists.gone.is_empty() || naming.any(is_last)
    }

    /// A member of that cluster was removed for bad links.
    pub(super) fn removed(
        &mut self,
        now: Moment,
        cluster: Cluster,
        (uid, voter): (Uid, VoterId),
    ) -> Result<(), Violation> {
        let lists = self.clusters.entry(cluster).or_default();
        lists.gone.insert(voter);
        let lately = lists.replaced.iter().filter(|(until, _)| now.since(*until) < AGE).map(|(_, list)| list);
        for list in lately.chain([&lists.present]).filter(|list| list.contains(&voter)) {
            let gone = list.intersection(&lists.gone).count();
            if 2 * gone >= list.len() {
                let text = format!(
                    "{uid:?} is removed for bad links, the {gone}. of {} voters of the last minutes: {list:?}",
                    list.len()
                );
                return Err(Violation::Safety("old_voters", text));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::invariants::samples::{CLUSTER, uid, voter};

    #[test]
    fn of_three_voters_one_may_go() {
        let present = [1, 2, 3].map(voter).into();
        let mut rule = OldVoters::default();
        rule.clusters.insert(CLUSTER, Lists { present, ..Lists::default() });
        let mut removed = |at: u64, number: u64| {
            rule.removed(Moment::at(at * SECOND), CLUSTER, (uid(number), voter(number)))
        };
        assert!(removed(1, 4).is_ok(), "it does not vote");
        assert!(removed(1, 3).is_ok());
        assert!(matches!(removed(2, 2), Err(Violation::Safety("old_voters", _))));
    }

    #[test]
    fn of_three_voters_two_must_stay_once_one_is_gone() {
        let present = [1, 2, 3].map(voter).into();
        let mut rule = OldVoters::default();
        rule.clusters.insert(CLUSTER, Lists { present, ..Lists::default() });
        let now = Moment::at(SECOND);
        assert!(
            !rule.must_stay(now, CLUSTER, voter(2), false) && !rule.must_stay(now, CLUSTER, voter(2), true)
        );
        assert!(rule.removed(now, CLUSTER, (uid(3), voter(3))).is_ok());
        assert!(rule.must_stay(now, CLUSTER, voter(2), false));
        assert!(!rule.must_stay(now, CLUSTER, voter(4), false), "it does not vote");
        assert!(rule.must_stay(now, CLUSTER, voter(4), true), "it may have, as far as the coordinator knows");
    }
}
