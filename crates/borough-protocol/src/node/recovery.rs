//! Beginning a cluster anew when too few of its voters are left to decide anything ever again.
//!
//! ```text
//! suspended, no quorum answers --+
//!                                +--an operator vouches that the others are dead--> this life ends --> the next founds, and acts after W
//! seeks in vain -----------------+
//! ```
//! Nobody but a person can know that the others are dead: a minority that is cut off looks just the same. What the machine sees to is that
//! nothing lives twice even so. Leases are given by a quorum; if it is dead, every lease is over when the new founding begins to act, one wait
//! later. Nothing of the cluster before is taken over but its era: a minority's copy of the table may lack what the others had decided, so no
//! resident can be shown to have been its shard's last one. Those that are left meet the successor of their cluster, drop what they hold and join it.
//! If the others live after all and can be reached, the new founding meets them before it acts, and yields.

use alloc::vec::Vec;

use super::departure::Departure;
use super::interface::{Effect, End, GaveUp};
use super::participant::Participant;
use super::{Node, Phase};
use crate::flaws::Flaw;
use crate::incarnation::{Incarnation, NodeId, Uid};
use crate::lease::Standing;
use crate::machine::Effects;
use crate::table::Ancestors;
use crate::table::{Cluster, Member};
use crate::time::Timestamp;
use crate::version::Version;
use crate::voters::VoterId;

/// What is left of a cluster that cannot decide any more, as one of its members sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remains {
    /// Which founding.
    pub cluster: Cluster,
    /// Whether this node was one of the voters.
    pub votes: bool,
    /// All other members, the oldest first.
    pub others: Vec<Remaining>,
    /// How many shards have an owner: all of them begin anew.
    pub shards: usize,
}

/// Another member of a cluster that cannot decide any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remaining {
    /// Which life of which address.
    pub incarnation: Incarnation,
    /// What people call it.
    pub id: NodeId,
    /// Whether it is one of the voters.
    pub votes: bool,
    /// Whether it seems to live: as a voter it answers, otherwise nobody says that it cannot be reached.
    pub is_heard: bool,
}

/// Why a node does not begin its cluster anew. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoRecovery {
    /// It has a lease.
    #[error("it is not suspended: a majority of the voters hears it, so there is nothing to recover")]
    Runs,
    /// It has none at the moment, and could have.
    #[error(
        "a majority of the voters answers it: it goes on by itself in a moment, so there is nothing to recover"
    )]
    VotersAnswer,
    /// It is no member.
    #[error(
        "it is not admitted to its cluster, and has nothing to recover; order it on a member that is suspended, or wait until this node seeks again"
    )]
    Joining,
    /// It leaves, was removed, or the whole cluster is shut down.
    #[error("it is about to go; order it on a node that stays")]
    Going,
    /// It has not looked long enough.
    #[error("it has only begun to look for its cluster; ask again in some seconds")]
    Looking,
    /// A shared store is the one voter.
    #[error("its one voter is the shared store: bring the store back, and the cluster goes on by itself")]
    ByStore,
    /// Its life is over.
    #[error("it has ended")]
    Ended,
}

impl Node {
    /// Whether an operator may have this node begin its cluster anew at that moment, and what is left of that; `None` while it seeks one, for
    /// then it knows of none.
    pub fn recovery(&self, now: Timestamp) -> Result<Option<Remains>, NoRecovery> {
        match &self.phase {
            Phase::Seeking(seeking) if seeking.looks_in_vain(now) => Ok(None),
            Phase::Seeking(_) => Err(NoRecovery::Looking),
            Phase::AskingStore(_) => Err(NoRecovery::ByStore),
            Phase::TakingPart(participant) => participant.recovery(now).map(Some),
            Phase::Ended => Err(NoRecovery::Ended),
        }
    }

    /// An operator orders it.
    pub(super) fn recover(&mut self, now: Timestamp, effects: &mut Effects<Effect>) {
        if self.recovery(now).is_ok() {
            self.end(End::GaveUp(GaveUp::Recovers), effects);
            self.next = Timestamp::NEVER;
        }
    }

    /// From when on the founding of a node that recovers acts: the cluster before may still have leases.
    pub(super) fn recovered_acts_from(&self, now: Timestamp) -> Timestamp {
        let settings = &self.identity.settings;
        if settings.flaws.has(Flaw::RecoversWithoutWait) { now } else { now + settings.timing().wait }
    }

    /// The foundings that one of this node succeeds: an operator orders it.
    pub(super) fn ancestors(&self) -> Ancestors {
        match &self.phase {
            Phase::Seeking(seeking) => seeking.ancestors(),
            Phase::AskingStore(_) | Phase::TakingPart(_) | Phase::Ended => Ancestors::default(),
        }
    }
}

impl Participant {
    fn recovery(&self, now: Timestamp) -> Result<Remains, NoRecovery> {
        if self.log.store().is_some() {
            return Err(NoRecovery::ByStore);
        }
        if !matches!(self.departure, Departure::Staying) || self.table.is_closing() {
            return Err(NoRecovery::Going);
        }
        match self.holder.standing(now) {
            Standing::Running => Err(NoRecovery::Runs),
            Standing::Guest if !self.is_resuming() => Err(NoRecovery::Joining),
            Standing::Guest
                if self.durable.resumed.is_some_and(|at| now < at + self.identity.settings.seed_timeout) =>
            {
                Err(NoRecovery::Looking)
            }
            Standing::Guest | Standing::Suspended
                if self.holder.voters().quorum(|voter| self.answers(now, voter)) =>
            {
                Err(NoRecovery::VotersAnswer)
            }
            Standing::Guest | Standing::Suspended => Ok(self.remains(now)),
        }
    }

    fn answers(&self, now: Timestamp, voter: VoterId) -> bool {
        self.holder.hears(now, self.identity.settings.timing(), voter)
    }

    fn remains(&self, now: Timestamp) -> Remains {
        let me = self.uid();
        let mut others: Vec<(Version, Remaining)> = self
            .table
            .members()
            .iter()
            .filter(|(uid, _)| **uid != me)
            .map(|(uid, member)| (member.admission, self.remaining(now, *uid, member)))
            .collect();
        others.sort_by_key(|(admission, _)| *admission);
        Remains {
            cluster: self.table.cluster(),
            votes: self.holder.voters().names(self.voter()),
            others: others.into_iter().map(|(_, other)| other).collect(),
            shards: self.table.kinds().iter().map(|kind| kind.shards().len()).sum(),
        }
    }

    fn remaining(&self, now: Timestamp, uid: Uid, member: &Member) -> Remaining {
        let identity = self.lives.voter(uid);
        let votes = self.holder.voters().names(identity);
        let is_heard =
            if votes { self.answers(now, identity) } else { !self.gossip.document().is_unreachable(uid) };
        Remaining { incarnation: member.incarnation.clone(), id: member.facts.id.clone(), votes, is_heard }
    }
}
