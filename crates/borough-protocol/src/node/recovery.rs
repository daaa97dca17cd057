//! Recovery of a cluster when too few of its voters are left to decide anything ever again.
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

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::departure::Departure;
use super::durable::DiskState;
use super::interface::{Effect, End, GaveUp};
use super::participant::Participant;
use super::{Node, Phase};
use crate::flaws::Flaw;
use crate::formation::{Memory, Seeking};
use crate::incarnation::{Address, NodeId, Uid};
use crate::lease::Standing;
use crate::log::Log;
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
    /// All other members, the oldest first; then those that the node knows by its list of voters or its data directory alone.
    pub others: Vec<Remaining>,
    /// How many shards have an owner: all of them begin anew.
    pub shards: usize,
}

/// Another member of a cluster that cannot decide any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remaining {
    /// Where it listened.
    pub address: Address,
    /// What people call it; its address, if nothing else is known.
    pub id: NodeId,
    /// Whether it is one of the voters.
    pub votes: bool,
    /// Whether it seems to live: it was heard lately, also as another life with the same data directory, or it does not vote and nobody says that it cannot
    /// be reached.
    pub is_heard: bool,
}

/// Why a node does not recover its cluster. Nothing was changed.
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
    #[error("this node is leaving; run the order on another node")]
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
    /// Whether an operator may order this node to recover its cluster at that moment, and what is left of the cluster; `None` while the node seeks one, its disk names none, and
    /// nobody told it of one: what it founds then succeeds no other cluster.
    pub fn recovery(&self, now: Timestamp) -> Result<Option<Remains>, NoRecovery> {
        match &self.phase {
            Phase::Seeking(_) if self.rests_until.is_some() => Err(NoRecovery::Looking),
            Phase::Seeking(seeking) if seeking.is_welcome() => Err(NoRecovery::Joining),
            Phase::Seeking(seeking) if seeking.looks_in_vain(now) => Ok(remains_of_record(seeking)),
            Phase::Seeking(_) => Err(NoRecovery::Looking),
            Phase::AskingStore(_) => Err(NoRecovery::ByStore),
            Phase::TakingPart(participant) => participant.recovery(now).map(Some),
            Phase::Ended => Err(NoRecovery::Ended),
        }
    }

    /// An operator orders it.
    pub(super) fn recover(&mut self, now: Timestamp, effects: &mut Effects<Effect>) {
        if self.recovery(now).is_ok() {
            let recovered = match &self.phase {
                Phase::Seeking(seeking) => seeking.recovered().cloned(),
                Phase::AskingStore(_) | Phase::TakingPart(_) | Phase::Ended => None,
            };
            self.end(End::GaveUp(GaveUp::Recovers), effects);
            self.remembered = recovered.or(self.remembered.take());
            self.next = Timestamp::NEVER;
        }
    }

    /// From when on the founding of a node that recovers acts: the cluster before may still have leases.
    pub(super) fn recovered_acts_from(&self, now: Timestamp) -> Timestamp {
        let settings = &self.identity.settings;
        let recorded = self.disk.as_ref().and_then(DiskState::record).and_then(|record| record.wait);
        let wait = settings.timing().wait.max(recorded.unwrap_or_default());
        if settings.flaws.has(Flaw::RecoversWithoutWait) { now } else { now + wait }
    }

    /// The foundings that one of this node succeeds: an operator orders it.
    pub(super) fn ancestors(&self) -> Ancestors {
        match &self.phase {
            Phase::Seeking(seeking) => seeking.ancestors(),
            Phase::AskingStore(_) | Phase::TakingPart(_) | Phase::Ended => Ancestors::default(),
        }
    }
}

/// What a node that looks for the cluster of its data directory knows of it; and a fresh node of the one that others told it of.
fn remains_of_record(seeking: &Seeking) -> Option<Remains> {
    let is_own = |memory: &&Arc<Memory>| seeking.memory().is_some_and(|own| own.cluster == memory.cluster);
    // What a process without a data directory was in, it has dropped.
    let memory = seeking.recovered().filter(|memory| seeking.is_bound() || !is_own(memory))?;
    let votes = |address: &Address| memory.addresses().any(|voter| voter == address);
    let known = seeking.known().into_iter().filter(|_| is_own(&memory));
    let others: BTreeSet<&Address> =
        known.chain(memory.addresses()).filter(|address| *address != seeking.address()).collect();
    let others = others.into_iter().map(|address| {
        let (address, id) = (address.clone(), NodeId::new(address.as_str()));
        Remaining { votes: votes(&address), is_heard: seeking.has_heard(&address), address, id }
    });
    Some(Remains { cluster: memory.cluster, votes: false, others: others.collect(), shards: 0 })
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
                if self.holder.voters().quorum(|voter| self.answers(now, voter))
                    && !self.stands_in_vain(now) =>
            {
                Err(NoRecovery::VotersAnswer)
            }
            Standing::Guest | Standing::Suspended => Ok(self.remains(now)),
        }
    }

    /// Whether voters may answer, and elect nobody ever again: the log of this voter lacks what is committed, and nobody who has that has come into office for
    /// long enough, as far as it and the voters that answer it know.
    fn stands_in_vain(&self, now: Timestamp) -> bool {
        let settings = &self.identity.settings;
        self.votes()
            && self.log.lacks_committed()
            && !self.holder.hears_of_coordinator(now, settings.timing())
            && now >= self.led_last() + settings.seed_timeout
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
            .filter(|(uid, member)| **uid != me && member.incarnation.address != self.identity.me.address)
            .map(|(uid, member)| (member.admission, self.remaining(now, *uid, member)))
            .collect();
        others.sort_by_key(|(admission, _)| *admission);
        let mut others: Vec<Remaining> = others.into_iter().map(|(_, other)| other).collect();
        let unknown: Vec<Remaining> = self
            .known_by_address(now)
            .filter(|known| others.iter().all(|other| other.address != known.address))
            .collect();
        others.extend(unknown);
        Remains {
            cluster: self.table.cluster(),
            votes: self.holder.voters().names(self.voter()),
            others,
            shards: self.table.kinds().iter().map(|kind| kind.shards().len()).sum(),
        }
    }

    fn remaining(&self, now: Timestamp, uid: Uid, member: &Member) -> Remaining {
        // A newer life may speak for its directory by now: the table says which voter it is.
        let identity = if self.identity.is_durable() { member.voter() } else { VoterId::of_life(uid) };
        let votes = self.holder.voters().names(identity);
        let address = member.incarnation.address.clone();
        let is_heard = self.seems_alive(now, identity, &address)
            || !votes && !self.gossip.document().is_unreachable(uid);
        Remaining { address, id: member.facts.id.clone(), votes, is_heard }
    }

    /// A node there says what it remembers. If that is this cluster, an operator who has it begun anew is not asked to give that node up.
    pub(super) fn note_rememberer(&mut self, now: Timestamp, address: &Address, memory: Option<&Memory>) {
        let is_member = || self.table.members().values().any(|member| member.incarnation.address == *address);
        let is_known = || {
            let voters = self.memory();
            self.recorded().contains(address) || voters.addresses().any(|known| known == address)
        };
        if memory.is_some_and(|memory| memory.cluster == self.table.cluster()) && (is_member() || is_known())
        {
            self.rememberers.insert(address.clone(), now);
        }
    }

    /// Whether any life of that voter was heard lately: as a voter that answers, as a member, or by what it remembers.
    fn seems_alive(&self, now: Timestamp, voter: VoterId, address: &Address) -> bool {
        self.answers(now, voter)
            || self.heard.keys().any(|uid| self.lives.voter(*uid) == voter)
            || self.rememberers.contains_key(address)
    }

    /// The voters and members that a node which started again knows from its log and its data directory, though no table names them yet.
    fn known_by_address(&self, now: Timestamp) -> impl Iterator<Item = Remaining> {
        let memory = self.memory();
        let voters = memory.places.iter().filter(|(voter, _)| *voter != self.voter());
        let voters =
            voters.map(|(voter, address)| (address.clone(), true, self.seems_alive(now, *voter, address)));
        let mut known: BTreeMap<Address, (bool, bool)> = self
            .recorded()
            .iter()
            .map(|address| {
                let is_heard = self.is_heard(now, address) || self.rememberers.contains_key(address);
                (address.clone(), (false, is_heard))
            })
            .collect();
        known.extend(voters.map(|(address, votes, is_heard)| (address, (votes, is_heard))));
        known.remove(&self.identity.me.address);
        known.into_iter().map(|(address, (votes, is_heard))| {
            let id = NodeId::new(address.as_str());
            Remaining { address, id, votes, is_heard }
        })
    }
}
