//! What a node without a cluster waits for: which addresses keep it from founding, and why.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::{FoundWith, Seeking};
use crate::incarnation::Address;
use crate::settings::Refusal;
use crate::table::Cluster;

/// An address that a node waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// Which.
    pub address: Address,
    /// Why.
    pub why: Missing,
}

/// Why a node waits for an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Nothing was heard from there.
    Silent,
    /// Nothing was heard from there. It is where a voter listened, of a cluster that this node or another one remembers: whether it is a seed does not matter then.
    SilentVoter,
    /// Nothing was heard from there. The node there had a promise of this node or of another one, so it may have founded the cluster.
    MayHaveFounded,
    /// The node there answers, and has another data directory than the one that had a promise of this node or of another one, and may have founded the cluster.
    OtherDirectory,
    /// The node there promised to another.
    PromisedToAnother,
    /// The node there answers and is in no cluster, and this node never founds one: it waits until the node there is in one.
    InNoCluster,
    /// The node there keeps what it has of its cluster, and waits for a quorum of its voters.
    Suspended,
    /// The node there answers and knows nothing of it, but a data directory names its address as that of a voter of a cluster that has not ended.
    VoteLost,
    /// The node there left a cluster in which others may have stayed: it waits for that one, and lets nobody found another.
    Left,
    /// The node there was a voter of the cluster that this node's disk names, and knows of no cluster any more.
    Forgot,
    /// The node there has other settings, so the two cannot be in one cluster. Nobody can say which of them is right while neither is in a cluster.
    OtherSettings(Refusal),
}

/// What keeps a node from founding a cluster, whatever other nodes promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeldBack {
    /// Its settings say that it never founds one.
    NeverFounds,
    /// Members of that cluster greet this node, and nobody answers what the node asks them: the way to them may be cut.
    Greeted(Cluster),
    /// A cluster that works welcomed this node while the node at that address had its promise. This node joins once the promise is given back, or over.
    TakesBackPromise(Address),
}

impl Seeking {
    /// What keeps it from founding besides the addresses that it waits for.
    pub fn held_back(&self) -> Vec<HeldBack> {
        let never = (self.founding.with == FoundWith::Never).then_some(HeldBack::NeverFounds);
        let greeted = self.unclear.iter().map(|cluster| HeldBack::Greeted(*cluster));
        let holder = self.promise.node().filter(|_| self.is_welcome());
        let takes_back = holder.map(|node| HeldBack::TakesBackPromise(node.address.clone()));
        never.into_iter().chain(greeted).chain(takes_back).collect()
    }

    /// The addresses that keep it from founding, in order; none if nothing but time does, or if another is to found. One that belongs to a cluster founds
    /// nothing: for that one, where the voters of its cluster listen.
    pub fn awaited(&self) -> Vec<Awaited> {
        let missing: Vec<&Address> = if self.is_bound() {
            self.awaited_of_record().into_iter().collect()
        } else {
            let is_missing = |address: &&Address| {
                !self.has_promised(address)
                    || self.has_lost_its_vote(address)
                    || self.is_of_other_directory(address)
            };
            self.required().into_iter().filter(is_missing).collect()
        };
        missing
            .into_iter()
            .map(|address| Awaited { why: self.why(address), address: address.clone() })
            .collect()
    }

    /// Where the voters of the cluster listen that its disk names; if it does not say them, wherever a node of that cluster may.
    fn awaited_of_record(&self) -> BTreeSet<&Address> {
        let voters = self.memory.iter().flat_map(|memory| memory.addresses());
        let voters: BTreeSet<_> = voters.filter(|address| **address != self.me.address).collect();
        if voters.is_empty() { self.asked() } else { voters }
    }

    /// Whether a voter of a durable cluster that has not ended listened there.
    fn has_lost_its_vote(&self, address: &Address) -> bool {
        self.durable().any(|memory| memory.addresses().any(|voter| voter == address))
    }

    /// Whether a directory that had a promise, and did not give it back, listened there, and another one does now.
    fn is_of_other_directory(&self, address: &Address) -> bool {
        self.promised_before().any(|pledge| pledge.address == *address && !self.is_answered(pledge))
    }

    fn why(&self, address: &Address) -> Missing {
        if !self.is_bound() && self.has_promised(address) {
            if self.has_lost_its_vote(address) { Missing::VoteLost } else { Missing::OtherDirectory }
        } else if let Some(refusal) = self.differing.get(address) {
            Missing::OtherSettings(refusal.clone())
        } else if self.is_suspended_at(address) {
            Missing::Suspended
        } else if self.left.contains(address) {
            Missing::Left
        } else if self.heard.contains_key(address) && self.is_bound() {
            Missing::Forgot
        } else if self.heard.contains_key(address) && self.founding.with == FoundWith::Never {
            Missing::InNoCluster
        } else if self.heard.contains_key(address) || *address == self.me.address {
            Missing::PromisedToAnother
        } else if self.is_bound() {
            Missing::Silent
        } else if self.voters_remembered().any(|other| other == address) {
            Missing::SilentVoter
        } else if self.seeds.contains(address) {
            Missing::Silent
        } else {
            Missing::MayHaveFounded
        }
    }
}
