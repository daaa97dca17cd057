//! Whether an operator may have this node recover its cluster, where anybody can read it.
//!
//! It is for the dry run alone: the machine judges again when the order comes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use borough_protocol::formation::{Awaited, Missing};
use borough_protocol::incarnation::Address;
use borough_protocol::node::{NoRecovery, Node, Remaining, Remains};
use borough_protocol::settings::Checked;
use borough_protocol::time::Timestamp;

use crate::clock::Clock;
use crate::node::{RecoveryMember, RecoveryPlan};
use crate::topology::TopologySnapshot;

/// What the machine thought when it was last looked at.
#[derive(Debug)]
pub(crate) struct Outlook {
    clock: Clock,
    settings: Checked,
    seen: Mutex<Seen>,
}

#[derive(Debug)]
struct Seen {
    verdict: Result<(), NoRecovery>,
    /// What was left of the last cluster when it could not decide any more, or when this node fell out of it: who seeks knows of none.
    remains: Option<Remains>,
    /// Addresses that do not answer, while it is in no cluster.
    silent: Vec<Address>,
}

impl Outlook {
    /// Of a node that has not begun to look for its cluster.
    pub(super) fn new(clock: Clock, settings: Checked) -> Self {
        let seen = Seen { verdict: Err(NoRecovery::Looking), remains: None, silent: Vec::new() };
        Self { clock, settings, seen: Mutex::new(seen) }
    }

    /// Looks at the machine.
    pub(super) fn look(&self, machine: &Node, now: Timestamp) {
        let found = machine.recovery(now);
        let mut seen = self.lock();
        match found {
            Ok(remains) => {
                seen.verdict = Ok(());
                seen.silent = silent(machine, now);
                if remains.is_some() {
                    seen.remains = remains;
                }
            }
            Err(why) => {
                seen.verdict = Err(why);
                // Its cluster lives: what an earlier one had is nothing to it any more.
                if why == NoRecovery::Runs {
                    seen.remains = None;
                }
            }
        }
    }

    /// A life is over, in which that was seen last, with so many shards that had an owner. Whom it has not heard since may live.
    pub(super) fn end(&self, last: &TopologySnapshot, shards: usize) {
        let mut seen = self.lock();
        seen.verdict = Err(NoRecovery::Ended);
        let known = seen.remains.as_ref().map(|remains| remains.cluster);
        if let Some(cluster) = last.cluster.filter(|cluster| known != Some(*cluster)) {
            let me = last.incarnation.uid;
            let others = last.members.iter().filter(|member| member.uid() != me);
            let others = others.map(|member| Remaining {
                address: member.address().clone(),
                id: member.node_id().clone(),
                votes: last.voters.names(member.voter()),
                is_heard: false,
            });
            let (votes, others) = (last.votes(me), others.collect());
            seen.remains = Some(Remains { cluster, votes, others, shards });
        }
    }

    /// Another life begins.
    pub(super) fn begin(&self) {
        self.lock().verdict = Err(NoRecovery::Looking);
    }

    /// What would be done, for a node that sees its cluster so.
    pub(crate) fn plan(&self, now: &TopologySnapshot) -> Result<RecoveryPlan, NoRecovery> {
        let seen = self.lock();
        seen.verdict?;
        let mut plan = RecoveryPlan {
            node_id: now.node_id.clone(),
            incarnation: now.incarnation.clone(),
            standing: now.standing.clone(),
            cluster: None,
            era: self.clock.era(),
            kept: Vec::new(),
            given_up: Vec::new(),
            voters: 0,
            voters_lost: 0,
            durable: self.settings.durable,
            silent: seen.silent.clone(),
            shards: 0,
            wait: self.settings.timing().wait,
            minimum_members: self.settings.minimum_members,
        };
        if let Some(remains) = &seen.remains {
            plan.cluster = Some(remains.cluster);
            plan.era = plan.era.max(remains.cluster.era.saturating_add(1));
            plan.voters = usize::from(remains.votes) + count(&remains.others, |other| other.votes);
            plan.voters_lost = count(&remains.others, |other| other.votes && !other.is_heard);
            plan.shards = remains.shards;
            let (kept, given_up) = remains.others.iter().partition(|other| other.is_heard);
            plan.kept = named(kept);
            plan.given_up = named(given_up);
        }
        Ok(plan)
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who does not answer a node that is in no cluster.
fn silent(machine: &Node, now: Timestamp) -> Vec<Address> {
    let awaited = machine.awaited(now).filter(|_| machine.cluster().is_none()).unwrap_or_default();
    let is_silent = |awaited: &Awaited| {
        matches!(awaited.why, Missing::Silent | Missing::SilentVoter | Missing::MayHaveFounded)
    };
    awaited.into_iter().filter(is_silent).map(|awaited| awaited.address).collect()
}

fn count(others: &[Remaining], wanted: impl Fn(&Remaining) -> bool) -> usize {
    others.iter().filter(|other| wanted(other)).count()
}

fn named(members: Vec<&Remaining>) -> Vec<RecoveryMember> {
    let named = |member: &Remaining| RecoveryMember {
        node_id: member.id.clone(),
        address: member.address.clone(),
        is_voter: member.votes,
    };
    members.into_iter().map(named).collect()
}
