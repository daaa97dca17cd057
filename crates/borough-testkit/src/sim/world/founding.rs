//! The rule of one cluster: while a quorum of one lives, no other of its name acts, and no two ever have members with leases at one moment.
//!
//! One exception is documented: all listed seeds of the founder, or all addresses of a former voters' list, are new processes or have given
//! up, while they cannot reach a part of the cluster that still has its quorum. A founder that no voter there has any reason to greet is found by its seeds
//! alone: if only the founder itself has an open way to that part, nothing is said on it. Whether the exception applies is judged by true time and the true state of all
//! processes and ways when the second cluster is founded. A founding that never acts harms nobody: it is judged when it does.

use std::collections::{BTreeMap, BTreeSet};

use borough_protocol::log::Log;
use borough_protocol::table::Cluster;
use borough_protocol::voters::{VoterId, Voters};

use super::World;
use crate::sim::cuts::SlotIndex;
use crate::sim::life::Life;
use crate::sim::moment::{MILLISECOND, Moment, Nanos, SECOND};
use crate::sim::plan::Mode;
use crate::sim::rare::Rare;
use crate::sim::violation::Violation;

/// How long a way is open, and both its ends run, before it counts as one at a founding: greetings are 200 ms apart, by a clock that may be slow; one may
/// be lost, and the next one has to arrive.
const REACHED: Nanos = 500 * MILLISECOND;
/// And when the founding acts: a greeting may be lost.
const REACHED_BEFORE_ACTING: Nanos = SECOND;
/// How long after its end a process may have answered that it belongs to no cluster.
const ANSWERED: Nanos = 10 * SECOND;

/// What the rule remembers.
#[derive(Debug)]
pub(super) struct Founding {
    slots: usize,
    /// Since when each way is open, by sender and then by receiver; it may be cut again.
    open_since: Vec<Moment>,
    fair_since: Moment,
    known: BTreeSet<Cluster>,
    /// Clusters in which somebody has had a lease.
    acted: BTreeSet<Cluster>,
    /// Second clusters under the documented exception, where each was founded, and beside which.
    excepted: BTreeMap<Cluster, (SlotIndex, Cluster)>,
    /// Those of them that an operator had begun by mistake.
    mistaken: BTreeSet<Cluster>,
    /// Second clusters that must not act while the other lives, and why.
    suspected: BTreeMap<Cluster, (Cluster, String)>,
    /// The slots of every voters' list there ever was.
    lists: BTreeMap<Cluster, BTreeSet<BTreeSet<SlotIndex>>>,
}

impl Founding {
    pub(super) fn new(slots: usize) -> Self {
        Self {
            slots,
            open_since: vec![Moment::START; slots * slots],
            fair_since: Moment::START,
            known: BTreeSet::new(),
            acted: BTreeSet::new(),
            excepted: BTreeMap::new(),
            mistaken: BTreeSet::new(),
            suspected: BTreeMap::new(),
            lists: BTreeMap::new(),
        }
    }

    /// The clusters in which somebody has had a lease.
    pub(super) fn acted(&self) -> impl Iterator<Item = &Cluster> {
        self.acted.iter()
    }

    /// A cut of that way is lifted.
    pub(super) fn open_since(&mut self, now: Moment, from: SlotIndex, to: SlotIndex) {
        self.open_since[from * self.slots + to] = now;
    }

    /// A storm is over.
    pub(super) fn fair_since(&mut self, now: Moment) {
        self.fair_since = now;
    }

    /// Everything is.
    pub(super) fn healed(&mut self, now: Moment) {
        self.open_since.fill(now);
        self.fair_since = now;
    }
}

impl World {
    /// The life in that slot belongs to that cluster now, first of all its founder.
    pub(super) fn joins(&mut self, slot: SlotIndex, cluster: Cluster, is_recovery: bool) {
        // Where voters are on disks there is no exception, whoever is reached: the rule is `acts_alone`.
        if !self.founding.known.insert(cluster) || is_recovery || self.settings.durable {
            return;
        }
        let others: Vec<Cluster> = self.founding.acted.iter().copied().collect();
        for other in others {
            if other.name != cluster.name || other == cluster {
                continue;
            }
            // Voters that could be a quorum again, and leases that one gave a moment ago, count as well: they cannot be reached either.
            match self.reason_against(slot, other) {
                Some(_) if !self.quorum_lives(other) => {}
                None => {
                    self.founding.excepted.entry(cluster).or_insert((slot, other));
                    if self.quorum_lives(other) {
                        self.met.count(Rare::SecondClusterByException);
                    }
                    // What is promised to a cluster that outlives the run is not promised to two.
                    self.mode = if self.mode == Mode::Safe { Mode::Wild } else { self.mode };
                }
                Some(reason) => {
                    self.founding
                        .suspected
                        .insert(cluster, (other, format!("n{slot} founded it, and {reason}")));
                }
            }
        }
    }

    /// The life in that slot begins that cluster in place of one that works, by a mistake of an operator.
    pub(super) fn is_begun_by_mistake(&mut self, slot: SlotIndex, cluster: Cluster, before: Cluster) {
        self.founding.known.insert(cluster);
        self.founding.mistaken.insert(cluster);
        self.founding.excepted.insert(cluster, (slot, before));
    }

    /// Somebody of that cluster has a lease.
    pub(super) fn acts(&mut self, cluster: Cluster) -> Result<(), Violation> {
        if !self.founding.acted.insert(cluster) {
            return Ok(());
        }
        self.acts_alone(cluster)?;
        let suspected = self.founding.suspected.remove(&cluster);
        let against = suspected.or_else(|| {
            // Those that could not be reached when it was founded may have been since.
            let (founder, other) = *self.founding.excepted.get(&cluster)?;
            // One that is begun by mistake asks no seeds.
            let is_mistaken = self.founding.mistaken.contains(&cluster);
            let group = if is_mistaken { BTreeSet::from([founder]) } else { self.named(founder) };
            let (slot, voter) = self.reached_from((&group, founder), other, REACHED_BEFORE_ACTING)?;
            Some((other, format!("n{slot} and the voter at n{voter} have reached each other before it acts")))
        });
        match against {
            Some((other, reason)) if self.quorum_lives(other) => {
                let text = format!("{cluster:?} acts while a quorum of {other:?} lives: {reason}");
                Err(Violation::Safety("one_cluster", text))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The life in that slot is about to run something: nobody of another cluster has a lease.
    pub(super) fn runs_alone(&self, slot: SlotIndex) -> Result<(), Violation> {
        let Some(cluster) = self.slots[slot].life.as_ref().and_then(|life| life.node.cluster()) else {
            return Ok(());
        };
        for (other_slot, life) in self.others(cluster) {
            if life.node.may_run(life.local(self.now)) {
                let text = format!(
                    "n{slot} of {cluster:?} and n{other_slot} of {:?} both have a lease",
                    life.node.cluster()
                );
                return Err(Violation::Safety("one_cluster", text));
            }
        }
        Ok(())
    }

    /// Those that belong to another cluster, if neither is a documented exception.
    pub(super) fn others(&self, cluster: Cluster) -> impl Iterator<Item = (SlotIndex, &Life)> {
        let is_judged = !self.founding.excepted.contains_key(&cluster);
        let is_other = move |life: &Life| {
            let other = life.node.cluster().filter(|other| *other != cluster);
            other.is_some_and(|other| !self.founding.excepted.contains_key(&other))
        };
        self.slots.running().filter(move |(_, life)| is_judged && is_other(life))
    }

    /// The voters' lists that the life in that slot goes by may be new.
    pub(super) fn note_lists(&mut self, slot: SlotIndex) {
        let Some(life) = &self.slots[slot].life else { return };
        let Some((cluster, voters)) = life.node.cluster().zip(life.node.log().map(Log::voters)) else {
            return;
        };
        let slots_of = |voters: &BTreeSet<VoterId>| {
            voters.iter().filter_map(|voter| self.slots.slot_of_voter(*voter)).collect()
        };
        let lists: [BTreeSet<SlotIndex>; 2] = [slots_of(&voters.now), slots_of(&voters.next)];
        let known = self.founding.lists.entry(cluster).or_default();
        known.extend(lists.into_iter().filter(|list| !list.is_empty()));
    }

    /// Whether a quorum of the newest voters of that cluster lives, wherever it is and whatever it hears.
    fn quorum_lives(&self, cluster: Cluster) -> bool {
        self.newest_voters(cluster).is_some_and(|voters| voters.quorum(|voter| self.is_of(voter, cluster)))
    }

    pub(super) fn is_of(&self, voter: VoterId, cluster: Cluster) -> bool {
        let life = self.slots.life_of_voter(voter).filter(|life| life.node.cluster() == Some(cluster));
        life.is_some_and(|life| !self.rules.is_removed(life.uid()))
    }

    /// The newest list that anybody alive goes by.
    pub(super) fn newest_voters(&self, cluster: Cluster) -> Option<Voters> {
        self.lists_of(cluster).into_iter().max_by_key(|voters| voters.id)
    }

    /// Why the founding in that slot is not the documented exception; none if it is.
    fn reason_against(&self, founder: SlotIndex, other: Cluster) -> Option<String> {
        let former = self.founding.lists.get(&other).into_iter().flatten().cloned();
        let mut reasons = Vec::new();
        for group in [self.named(founder)].into_iter().chain(former) {
            let reason = match group.iter().chain([&founder]).find(|slot| !self.is_fresh(**slot, other)) {
                Some(slot) => format!("n{slot} is neither a new process nor has it given up"),
                None => match self.reached_from((&group, founder), other, REACHED) {
                    Some((slot, voter)) => format!("n{slot} and the voter at n{voter} reach each other"),
                    None => return None,
                },
            };
            reasons.push(reason);
        }
        reasons.into_iter().next()
    }

    /// The slots that the founder lists as seeds, and its own.
    pub(super) fn listed(&self, founder: SlotIndex) -> BTreeSet<SlotIndex> {
        let seeds = self.seeds_of(founder).iter().filter_map(|address| self.slots.slot_at(address));
        seeds.chain([founder]).collect()
    }

    /// The slots on the founder's list; its own, if the list is empty.
    fn named(&self, founder: SlotIndex) -> BTreeSet<SlotIndex> {
        let seeds = self.seeds_of(founder).iter().filter_map(|address| self.slots.slot_at(address));
        let named: BTreeSet<SlotIndex> = seeds.collect();
        if named.is_empty() { BTreeSet::from([founder]) } else { named }
    }

    /// Whether the process in that slot has no part in that cluster, or had none when it ended a moment ago.
    fn is_fresh(&self, slot: SlotIndex, other: Cluster) -> bool {
        match &self.slots[slot].life {
            Some(life) => life.node.cluster() != Some(other),
            None => self.slots[slot]
                .emptied
                .is_some_and(|(last, at)| last != Some(other) && self.now <= at.after(ANSWERED)),
        }
    }

    /// Whether a node in that slot and the voter find each other as soon as the network lets them: one of them lists the other as a seed, the voter has no lease and greets
    /// it as a member, or the process in that slot was in a cluster before and has the addresses of others from there.
    fn find_each_other(&self, slot: SlotIndex, voter: SlotIndex) -> bool {
        let address = &self.slots[slot].address;
        let is_member = || {
            self.slots[voter].life.as_ref().is_some_and(|life| {
                let mut members = life.node.table().into_iter().flat_map(|table| table.members().values());
                let is_suspended = !life.node.may_run(life.local(self.now));
                is_suspended && members.any(|member| member.incarnation.address == *address)
            })
        };
        let is_listed = self.named(voter).contains(&slot) || self.named(slot).contains(&voter);
        is_listed || self.slots[slot].is_same_process || is_member()
    }

    /// One of these slots, or the founder, and a voter of that cluster, if they find each other and have reached each other for so long. A founder that was told of that
    /// cluster asks its voters.
    fn reached_from(
        &self,
        (group, founder): (&BTreeSet<SlotIndex>, SlotIndex),
        other: Cluster,
        span: Nanos,
    ) -> Option<(SlotIndex, SlotIndex)> {
        let voters = self.newest_voters(other)?;
        let living = voters.all().filter(|voter| self.is_of(*voter, other));
        let table = self.slots[founder].life.as_ref().and_then(|life| life.node.table());
        let is_told = table.is_some_and(|table| table.ancestors().has(other));
        let finds = |slot: SlotIndex, voter: SlotIndex| {
            slot != voter && (slot == founder && is_told || self.find_each_other(slot, voter))
        };
        let mut slots = living.filter_map(|voter| self.slots.slot_of_voter(voter));
        slots.find_map(|voter| {
            let mut all = group.iter().copied().chain([founder]);
            let from = all.find(|slot| finds(*slot, voter) && self.reach_each_other(*slot, voter, span))?;
            Some((from, voter))
        })
    }

    fn reach_each_other(&self, one: SlotIndex, other: SlotIndex, span: Nanos) -> bool {
        let is_past = |since: Moment| since == Moment::START || self.now >= since.after(span);
        let is_open = |from: SlotIndex, to: SlotIndex| {
            !self.network.cuts.is_cut(from, to)
                && is_past(self.founding.open_since[from * self.founding.slots + to])
        };
        let is_awake = |slot: SlotIndex| {
            self.slots[slot].life.as_ref().is_some_and(|life| life.pause.is_none())
                && is_past(self.slots[slot].awake_since)
        };
        let is_fair = self.network.is_fair() && is_past(self.founding.fair_since);
        is_fair && is_open(one, other) && is_open(other, one) && is_awake(one) && is_awake(other)
    }
}
