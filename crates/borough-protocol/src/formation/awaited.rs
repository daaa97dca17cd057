//! What a node without a cluster waits for: which addresses keep it from founding, and why.

use alloc::vec::Vec;

use super::Seeking;
use crate::incarnation::Address;
use crate::settings::Refusal;

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
    /// Nothing was heard from there. The node there had a promise of this node or of another one, so it may have founded the cluster.
    MayHaveFounded,
    /// The node there promised to another.
    PromisedToAnother,
    /// The node there keeps what it has of its cluster, and waits for a quorum of its voters.
    Suspended,
    /// The node there answers and knows nothing of it, but a data directory names its address as that of a voter of a cluster that has not ended.
    VoteLost,
    /// The node there has other settings, so the two cannot be in one cluster. Nobody can say which of them is right while neither is in a cluster.
    OtherSettings(Refusal),
}

impl Seeking {
    /// The addresses that keep it from founding, in order; none if nothing but time does, or if another is to found.
    pub fn awaited(&self) -> Vec<Awaited> {
        let votes =
            |address: &Address| self.durable().any(|memory| memory.addresses().any(|other| other == address));
        let is_missing = |address: &&Address| !self.has_promised(address) || votes(address);
        let missing = self.required().into_iter().filter(is_missing);
        let why = |address: &Address| {
            if self.has_promised(address) {
                Missing::VoteLost
            } else if let Some(refusal) = self.differing.get(address) {
                Missing::OtherSettings(refusal.clone())
            } else if self.suspended.values().any(|other| other == address) {
                Missing::Suspended
            } else if self.heard.contains(address) || *address == self.me.address {
                Missing::PromisedToAnother
            } else if !self.seeds.contains(address) && self.promised_before().any(|other| other == address) {
                Missing::MayHaveFounded
            } else {
                Missing::Silent
            }
        };
        missing.map(|address| Awaited { why: why(address), address: address.clone() }).collect()
    }
}
