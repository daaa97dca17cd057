//! Who must answer before a node founds a cluster, and what keeps it from founding.
//!
//! Promise: nobody founds beside a durable cluster that somebody remembers, or before every seed, every voter that is remembered and everybody that had a promise
//! has answered and promised.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;

use super::pledges::Pledges;
use super::promise::Promise;
use super::rule::{DISCOVERED_FOR, FoundWith};
use super::{Memory, Seeking};
use crate::disk::Pledge;
use crate::flaws::Flaw;
use crate::incarnation::Address;
use crate::time::Timestamp;

impl Seeking {
    /// The clusters that somebody remembers, or was told of, and nobody knows to have ended.
    pub(super) fn open(&self) -> impl Iterator<Item = &Arc<Memory>> {
        let told = self.hearsay.values().filter(|memory| !self.remembered.contains_key(&memory.cluster));
        self.remembered.values().chain(told).filter(|memory| !self.has_ended(memory.cluster))
    }

    /// The clusters among them whose voters keep their votes on disks. Nobody founds beside one: it goes on once a majority of these disks is back, and if they are
    /// lost for good only an operator can know it.
    pub(super) fn durable(&self) -> impl Iterator<Item = &Arc<Memory>> {
        self.open().filter(|memory| memory.durable && !self.flaws().has(Flaw::FoundsWithoutFormerVoters))
    }

    /// Everybody that it has to hear before it founds.
    pub(super) fn required(&self) -> BTreeSet<&Address> {
        let promised_before = self.promised_before().map(|pledge| &pledge.address);
        self.seeds.iter().chain(self.voters_remembered()).chain(promised_before).collect()
    }

    /// Where the voters listened of clusters that it or others remember, and that have not ended.
    pub(super) fn voters_remembered(&self) -> impl Iterator<Item = &Address> {
        let voters = self.open().flat_map(|memory| memory.addresses());
        voters.filter(|_| !self.flaws().has(Flaw::FoundsWithoutFormerVoters))
    }

    /// The promises of this node and of others that were not given back: by each of them a cluster may have been founded.
    pub(super) fn promised_before(&self) -> impl Iterator<Item = &Pledge> {
        let own = self.pledges.iter().flat_map(Pledges::iter);
        let all = own.chain(self.pledged.values().flat_map(|pledges| pledges.iter()));
        let me = self.facts.voter(self.me.uid);
        all.filter(move |pledge| {
            !pledge.voter.is_of_directory(me) && !self.flaws().has(Flaw::PledgesForgotten)
        })
    }

    /// Whether the directory that had that promise has promised itself: it has founded nothing. Another directory at its address says nothing of it.
    pub(super) fn is_answered(&self, pledge: &Pledge) -> bool {
        let heard = self.heard.get(&pledge.address);
        self.has_promised(&pledge.address) && heard.is_some_and(|voter| voter.is_of_directory(pledge.voter))
    }

    pub(super) fn has_promised(&self, address: &Address) -> bool {
        if *address == self.me.address {
            return matches!(self.promise, Promise::ToMyself);
        }
        self.granted.contains_key(address)
    }

    /// Whether the node there has promised, and has said so again when it was asked last: members of a cluster may have greeted it since, and its word of that may not
    /// arrive. One question and its answer may be lost, or the node may stand still for as long as a healthy one does.
    fn still_promises(&self, now: Timestamp, address: &Address) -> bool {
        let answers = self.settings.round_trip.max(self.settings.max_pause);
        let lately = self.settings.seed_ask_interval * 2 + answers;
        let is_late = |at: Timestamp| now.since(at) > lately;
        self.has_promised(address) && !self.granted.get(address).is_some_and(|(_, at)| is_late(*at))
    }

    /// Whether nothing but time is missing.
    pub(super) fn is_complete(&self, now: Timestamp) -> bool {
        if !self.asks() || self.durable().next().is_some() {
            return false;
        }
        if self.flaws().has(Flaw::RememberedMembersFound) && self.remembered_members_promise(now) {
            return true;
        }
        let is_seed = |address: &&Address| self.seeds.contains(address);
        let promised = self.seeds.iter().filter(|seed| self.still_promises(now, seed)).count();
        let seeds = match self.founding.with {
            FoundWith::Never => false,
            FoundWith::All => {
                promised == self.seeds.len() || self.flaws().has(Flaw::FoundsWhileASeedIsSilent)
            }
            FoundWith::Majority => {
                2 * promised > self.seeds.len() && now >= self.since + self.settings.round_trip
            }
        };
        let is_discovered = match self.founding.expect {
            _ if self.flaws().has(Flaw::DiscoveredListIsComplete) => true,
            None => true,
            Some(least) => promised >= least && now >= self.listed_since + DISCOVERED_FOR,
        };
        let mut voters = self.required().into_iter().filter(|address| !is_seed(address));
        seeds
            && is_discovered
            && !self.is_unclear()
            && voters.all(|address| self.still_promises(now, address))
            && self.promised_before().all(|pledge| self.is_answered(pledge))
    }

    /// Whether more than half of the addresses that this node remembers of its last cluster, its own included, have promised. It proves nothing: the others may go on.
    fn remembered_members_promise(&self, now: Timestamp) -> bool {
        let known = self.known();
        let promised = known.iter().filter(|address| self.still_promises(now, address)).count();
        self.memory.is_some() && 2 * (promised + 1) > known.len() + 1
    }
}
