//! Whether a cluster can never go on: those that are suspended in it are shown so, and give up.
//!
//! Promise: while a life that may still act for a cluster, or be elected in it, is not known to be gone, nobody is told that the cluster is over.
//!
//! It has to be volatile, and every address that is asked for must have answered. Then it is over in two cases. Those that are suspended are no quorum of the newest list. Or
//! none of them can be elected: each counts votes by the newest list in its own log, and only of those whose logs do not go further than its own. The second one matters where
//! a coordinator wrote a list that nobody else has, and ended: a node that remembers this list makes it the newest, and those that wait may well be a quorum of it.
//! If that list had been committed, a majority of it would have it in their logs. So of those that wait, who are a quorum of it, one has it or a newer one, and whichever goes
//! furthest could be elected. If it was not, the list before it was, by a majority of both; one of those that wait says where its voters listen, and these have
//! answered, too.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::messages::{LogEnd, Over};
use super::{Memory, Seeking};
use crate::flaws::Flaw;
use crate::incarnation::{Address, Uid};
use crate::table::Cluster;
use crate::voters::VoterId;

/// How many that are suspended are taken into account. If there are more, nobody is told that a cluster is over.
pub(super) const SUSPENDED_MAX: usize = 1024;

/// How many addresses of voters are asked that those that are suspended name.
const ASKED_MAX: usize = 256;

/// One that waits for a quorum of its cluster's voters, as it said last.
#[derive(Clone, Debug)]
pub(super) struct Suspended {
    /// Where it listens.
    pub(super) address: Address,
    /// Where it waits.
    pub(super) cluster: Cluster,
    /// How its log ends, if it is a voter's that is lost with its life.
    pub(super) log: Option<Arc<LogEnd>>,
}

impl Seeking {
    /// What it shows to those that are suspended: the clusters that can never go on.
    pub(super) fn over(&self) -> Arc<[Over]> {
        if self.suspended.is_empty()
            || self.suspended.len() == SUSPENDED_MAX
            || !self.asks()
            || !self.required().into_iter().all(|it| self.answers(it))
        {
            return [].into();
        }
        let over = self.remembered.values().filter(|memory| !self.can_go_on(memory));
        over.map(|memory| Over { cluster: memory.cluster, voters: memory.voters.id }).collect()
    }

    /// Where the voters listened by the logs of those that are suspended: they are asked whether they still live.
    pub(super) fn voters_of_the_suspended(&self) -> impl Iterator<Item = &Address> {
        let logs = self.suspended.values().filter_map(|it| it.log.as_ref());
        logs.flat_map(|log| log.places.iter().map(|(_, address)| address)).take(ASKED_MAX)
    }

    fn can_go_on(&self, memory: &Memory) -> bool {
        memory.can_go_on(|uid| self.suspended.contains_key(&uid))
            && (memory.durable || self.somebody_may_be_elected(memory.cluster))
            && !self.flaws().has(Flaw::SuspendedQuorumGivesUp)
    }

    /// Whether one of those that are suspended there could be elected by the others; also if it is not known of all of them, or of all that vote by their logs.
    fn somebody_may_be_elected(&self, cluster: Cluster) -> bool {
        let waiting = self.suspended.iter().filter(|(_, it)| it.cluster == cluster);
        let logs = waiting.map(|(uid, it)| Some((*uid, &**it.log.as_ref()?)));
        let Some(logs) = logs.collect::<Option<Vec<(Uid, &LogEnd)>>>() else { return true };
        let end_of = |voter: VoterId| {
            logs.iter().find(|(uid, _)| VoterId::of_life(*uid) == voter).map(|(_, log)| *log)
        };
        let is_clear = |log: &LogEnd, voter: VoterId| {
            let mut places = log.places.iter().filter(|(placed, _)| *placed == voter);
            end_of(voter).is_some() || places.any(|(_, address)| self.answers(address))
        };
        let is_electable = |(uid, log): &(Uid, &LogEnd)| {
            let votes = |voter| end_of(voter).is_some_and(|other| other.last <= log.last);
            log.voters.names(VoterId::of_life(*uid)) && log.voters.quorum(votes)
        };
        logs.iter().any(|(_, log)| log.voters.all().any(|voter| !is_clear(log, voter)))
            || logs.iter().any(is_electable)
    }

    /// Whether no former life can be there any more that has not said what it is.
    fn answers(&self, address: &Address) -> bool {
        self.has_promised(address) || self.is_suspended_at(address)
    }

    pub(super) fn is_suspended_at(&self, address: &Address) -> bool {
        self.suspended.values().any(|other| other.address == *address)
    }
}
