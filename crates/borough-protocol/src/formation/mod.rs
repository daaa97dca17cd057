//! How a node finds its cluster, or founds one.
//!
//! The promise: as long as a quorum of a cluster's voters lives and can reach a seed on the node's list, or the node itself if that is one of their seeds, the
//! node founds no other cluster; and of nodes with the same list of seeds one founds, in whatever order they start.
//!
//! ```text
//!   asks every address it has to hear, again and again
//! Seeking ----------------------------------------------> joined      a member of a living cluster answers: Welcome
//!    |                                                +--> refused     its settings differ
//!    +--all of them promised--> waits W --still so-------> founded
//! ```
//! It has to hear every address of its seeds, its own included, and where anybody that answers remembers a cluster, every address of that
//! cluster's newest voters. Each of them promises to one node at a time, itself to begin with. A promise to oneself yields to a lesser
//! address; one to another binds for two attempts, longer than any attempt that it could count for. A node that learns that a promise it needs is held
//! by a lesser address stands back for the rest of its attempt: it gives its promises back, or the two would wait for each other.
//!
//! Nobody founds while somebody that answers remembers a cluster on disks that has not ended, even if all its voters answer as fresh nodes: whether their disks are
//! lost for good only an operator knows, who then orders a node that remembers the cluster to recover.
//!
//! A node with a data directory keeps its promises on its disk, over its own crash and the founder's (`pledges`). Those that had one and did not give it back have to
//! be heard, too.
//!
//! A node that is welcomed to a cluster that works promises nothing from then on, and founds nothing before it has heard the voters of that one. While another node has
//! its promise it asks for that back, and joins once it has it or the promise is over: the other one may not hear in time that there is a cluster.
//!
//! One that is suspended promises nothing: it keeps what it has, and says which cluster it remembers. If all others are fresh or have given up, and
//! those that are suspended are no quorum of the voters they remember, or none of them can be elected, then that cluster can never go on: the vote of a volatile voter
//! dies with its life. One that wants to found shows them that (`over`); they give up and promise.

mod answers;
mod awaited;
mod known;
mod memory;
mod messages;
mod over;
mod pledges;
mod promise;
mod required;
mod rule;
#[cfg(test)]
mod tests;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

pub use self::awaited::{Awaited, HeldBack, Missing};
use self::known::{keep_newest, of_itself};
pub use self::memory::Memory;
pub use self::messages::{Knock, LogEnd, Over, Past, Vow, Welcome};
use self::over::{SUSPENDED_MAX, Suspended};
use self::pledges::Pledges;
use self::promise::Promise;
pub use self::rule::{FoundWith, FoundingRule};
use crate::disk::{Bond, Pledge};
use crate::flaws::{Flaw, Flaws};
use crate::incarnation::{Address, Facts, Incarnation, Uid};
use crate::settings::{Checked, ClusterSettings, Refusal};
use crate::table::{Cluster, Table};
use crate::time::Timestamp;
use crate::voters::VoterId;

/// How many clusters of its name a node hears of and takes into account.
const REMEMBERED_MAX: usize = 8;

/// How many promises of one node another takes into account: as many as a node keeps.
const PLEDGED_MAX: usize = pledges::KEPT_MAX;

/// What came of a message or a deadline.
#[derive(Debug)]
pub enum Outcome {
    /// Nothing yet.
    Seeking,
    /// The node founds a cluster.
    Founds,
}

/// What a seeking node says.
#[derive(Debug)]
pub enum Say {
    /// To any node that listens there.
    Knock(Address, Arc<Knock>),
    /// To the one who asked for a promise: whether it has it.
    Promise(Uid, Vow),
    /// To those that promised: it yielded to another.
    Release(Uid, u32),
    /// To its disk: the promises that it gave.
    Keep(Arc<[Pledge]>),
}

/// Where a node looks for its cluster, and when it may found one.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The seeds, in order.
    pub seeds: Vec<Address>,
    /// The discovery has not found a list of seeds yet: until it does, the node joins its cluster and founds none.
    pub is_unlisted: bool,
    /// Where members of its last cluster listened: they are asked too, and do not count for founding.
    pub known: Vec<Address>,
    /// When it may found.
    pub founding: FoundingRule,
    /// The cluster it was in before.
    pub memory: Option<Arc<Memory>>,
    /// How it stands to that cluster, as its disk says; `None` for a node without a data directory.
    pub bond: Option<Bond>,
    /// The promises that the node gave, as its disk says; `None` for a node without a data directory.
    pub pledges: Option<Arc<[Pledge]>>,
    /// The cluster that its last life yielded to: for one attempt it joins no other, or it could go on joining the one that it yields.
    pub prefers: Option<Cluster>,
    /// Until when leases of earlier clusters may last, as its disk says; `None` for a node whose disk names no cluster.
    pub leases_until: Option<Timestamp>,
}

/// A node without a cluster.
#[derive(Clone, Debug)]
pub struct Seeking {
    me: Incarnation,
    facts: Arc<Facts>,
    settings: Checked,
    cluster_settings: ClusterSettings,
    /// Its own address included.
    seeds: Arc<[Address]>,
    /// No list of seeds was found yet.
    is_unlisted: bool,
    known: Vec<Address>,
    founding: FoundingRule,
    memory: Option<Arc<Memory>>,
    bond: Option<Bond>,
    prefers: Option<Cluster>,
    leases_until: Option<Timestamp>,
    /// The voter of its disk stays silent until then, and goes on afterwards.
    rests: bool,
    promise: Promise,
    /// It was welcomed to a cluster that works: until then it asks its promise back from another node that has it, and promises nothing.
    withdraws_until: Option<Timestamp>,
    /// The clusters that it was welcomed to. It is not fresh any more, whether it joined or not.
    welcomed_to: BTreeMap<Cluster, Arc<Memory>>,
    /// What it has promised; `None` for a node without a data directory.
    pledges: Option<Pledges>,
    /// Whom others have promised to, as each of them said in this attempt.
    pledged: BTreeMap<Address, Arc<[Pledge]>>,
    /// Whether it has left this attempt to a lesser address.
    stands_back: bool,
    attempt: u32,
    attempt_ends: Timestamp,
    /// Which addresses promised in this attempt, which life of each, for a node that restarts has one voice, and when it said so last.
    granted: BTreeMap<Address, (Uid, Timestamp)>,
    /// Those that answered in this attempt, whatever they said, and the directory of each.
    heard: BTreeMap<Address, VoterId>,
    /// Those that keep what they have, as they said in this attempt.
    suspended: BTreeMap<Uid, Suspended>,
    /// Those that left a cluster in which others may have stayed, as they said in this attempt.
    left: BTreeSet<Address>,
    /// Those that asked in this attempt with other settings.
    differing: BTreeMap<Address, Refusal>,
    /// The clusters that this node and others remember, as they said in this attempt.
    remembered: BTreeMap<Cluster, Arc<Memory>>,
    /// The clusters that others were told of, as they said in this attempt.
    hearsay: BTreeMap<Cluster, Arc<Memory>>,
    /// The newest cluster that it was told of in earlier attempts: an operator who orders it to recover means that one, whenever the order comes.
    told_before: Option<Arc<Memory>>,
    /// Clusters whose members greeted this node in this attempt, and of which nobody has told what there is to remember.
    unclear: BTreeSet<Cluster>,
    /// The clusters that have ended as a whole, as this node and others know.
    ended: BTreeSet<Cluster>,
    /// Since when nothing was missing.
    complete_since: Option<Timestamp>,
    /// Since when the list of seeds is as it is.
    listed_since: Timestamp,
    /// How long it waits once nothing is missing.
    wait: Duration,
    next: Timestamp,
    /// When it began to ask.
    since: Timestamp,
}

impl Seeking {
    /// Begins to look around.
    pub fn new(
        now: Timestamp,
        me: Incarnation,
        facts: Arc<Facts>,
        search: Search,
        settings: Checked,
    ) -> Self {
        let cluster_settings = settings.cluster_settings().clone();
        Self {
            seeds: with_own(&search.seeds, &me.address),
            is_unlisted: search.is_unlisted,
            remembered: of_itself(search.memory.as_ref()),
            known: search.known,
            founding: search.founding,
            memory: search.memory,
            bond: search.bond,
            prefers: search.prefers,
            leases_until: search.leases_until,
            rests: false,
            me,
            facts,
            cluster_settings,
            promise: Promise::ToMyself,
            withdraws_until: None,
            welcomed_to: BTreeMap::new(),
            pledges: search.pledges.map(Pledges::on_disk),
            pledged: BTreeMap::new(),
            stands_back: false,
            attempt: 0,
            attempt_ends: now,
            granted: BTreeMap::new(),
            heard: BTreeMap::new(),
            suspended: BTreeMap::new(),
            left: BTreeSet::new(),
            differing: BTreeMap::new(),
            hearsay: BTreeMap::new(),
            told_before: None,
            unclear: BTreeSet::new(),
            ended: BTreeSet::new(),
            complete_since: None,
            listed_since: now,
            wait: wait(&settings),
            next: now,
            since: now,
            settings,
        }
    }

    /// Where one listens that answered in this attempt.
    pub fn address_of(&self, uid: Uid) -> Option<&Address> {
        let promised = self.granted.iter().find(|(_, (promised, _))| *promised == uid);
        promised.map(|(address, _)| address).or_else(|| Some(&self.suspended.get(&uid)?.address))
    }

    /// Whether it has asked in vain for as long as one attempt lasts.
    pub fn looks_in_vain(&self, now: Timestamp) -> bool {
        now >= self.since + self.settings.seed_timeout
    }

    /// Where voters and members of its last cluster listened, other than itself.
    pub fn known(&self) -> BTreeSet<&Address> {
        let remembered = self.memory.iter().flat_map(|memory| memory.addresses());
        self.known.iter().chain(remembered).filter(|address| **address != self.me.address).collect()
    }

    /// Where it listens itself.
    pub fn address(&self) -> &Address {
        &self.me.address
    }

    /// Whether a node there answered in this attempt.
    pub fn has_heard(&self, address: &Address) -> bool {
        self.heard.contains_key(address)
    }

    /// For how long a lease of an earlier cluster may last.
    pub fn wait(&self) -> Duration {
        self.wait
    }

    /// For how long it has looked for its cluster.
    pub fn sought_for(&self, now: Timestamp) -> Duration {
        now.since(self.since)
    }

    /// Whether it joins the cluster of that table if it is welcome there. One that belongs to a cluster joins no other but its successors, and the one that
    /// its last life yielded to.
    pub fn joins(&self, now: Timestamp, table: &Table) -> bool {
        let cluster = table.cluster();
        if self.has_ended(cluster) {
            // Guests that have not heard it yet welcome others for a moment.
            return false;
        }
        let is_preferred = self.prefers == Some(cluster);
        let goes_on = |memory: &Memory| memory.cluster == cluster || table.ancestors().has(memory.cluster);
        if self.is_bound() && !is_preferred {
            return self.memory.as_ref().is_none_or(|memory| goes_on(memory));
        }
        is_preferred || self.prefers.is_none() || self.looks_in_vain(now)
    }

    /// Whether nobody founds a cluster by a promise of this node once it joined the cluster of that table. If another node has its promise, that node may not hear in
    /// time that this one has joined: the promise is to be back first. `from` welcomes.
    pub fn is_free_to_join(&mut self, now: Timestamp, from: Uid, table: &Table) -> bool {
        self.promise.expire(now);
        self.promise.node().is_none_or(|holder| {
            let has_joined = table.cluster().founder == holder.uid || table.member(holder.uid).is_some();
            // The very life that had it welcomes, so it seeks no more; or a later one does.
            has_joined
                || holder.uid == from
                || table.member(from).is_some_and(|member| member.incarnation.address == holder.address)
        })
    }

    /// It joins a cluster: those that promised to it get their promises back.
    pub fn gives_up(&mut self, say: &mut Vec<Say>) {
        self.release_all(say);
    }

    /// Whether its disk says that it belongs to a cluster, or left one in which others may have stayed: it never founds.
    pub fn is_bound(&self) -> bool {
        matches!(self.bond, Some(Bond::Member | Bond::Left)) && !self.flaws().has(Flaw::NodeWithRecordFounds)
    }

    /// Whether its disk said so, and it has learned since that the cluster has ended.
    pub fn has_learned_the_end(&self) -> bool {
        let has_ended = |memory: &Arc<Memory>| self.ended.contains(&memory.cluster);
        self.is_bound() && self.memory.as_ref().is_some_and(has_ended)
    }

    /// The voter of its disk stays silent until its life as a seeking node ends.
    pub fn rest(&mut self) {
        self.rests = true;
    }

    /// From now on it counts as fresh.
    pub fn is_free_again(&mut self) {
        self.bond = Some(Bond::Ended);
    }

    /// The cluster it was in before.
    pub fn memory(&self) -> Option<&Arc<Memory>> {
        self.memory.as_ref()
    }

    /// The rule by which it may found.
    pub fn founding(&self) -> FoundingRule {
        self.founding
    }

    /// Its list, its own address included.
    pub fn seeds(&self) -> &[Address] {
        &self.seeds
    }

    /// When it asks next.
    pub fn next_deadline(&self) -> Timestamp {
        self.founds_at().map_or(self.next, |at| at.min(self.next))
    }

    /// The list of seeds is that from now on.
    pub fn set_seeds(&mut self, now: Timestamp, seeds: &[Address]) {
        let seeds = with_own(seeds, &self.me.address);
        if *self.seeds != *seeds || self.is_unlisted {
            self.is_unlisted = false;
            self.seeds = seeds;
            self.listed_since = now;
            self.complete_since = None;
            self.next = now;
        }
    }

    /// Asks around, if it is time.
    pub fn on_deadline(&mut self, now: Timestamp, say: &mut Vec<Say>) -> Outcome {
        let stood_still = self.stood_still(now);
        if !stood_still && self.founds(now) {
            return Outcome::Founds;
        }
        // One that stood still asks at once, or the end of its wait would stay in the past.
        if now < self.next && !stood_still {
            // The wait was over, and something is missing after all.
            self.look_at_answers(now, say);
            return Outcome::Seeking;
        }
        self.next = now + self.settings.seed_ask_interval;
        self.promise.expire(now);
        self.withdraws_until = self.withdraws_until.filter(|until| now < *until);
        if stood_still || now >= self.attempt_ends {
            self.begin_attempt(now);
        }
        self.look_at_answers(now, say);
        if self.founds(now) {
            return Outcome::Founds;
        }
        let knock = self.knock();
        for address in self.asked() {
            say.push(Say::Knock(address.clone(), knock.clone()));
        }
        Outcome::Seeking
    }

    /// Whether it missed its deadline. Whatever came meanwhile is not handled yet: a member of a cluster may have greeted it, and promises of this attempt may be over.
    fn stood_still(&self, now: Timestamp) -> bool {
        now.since(self.next_deadline()) > self.settings.max_pause
    }

    /// What it asks everybody.
    pub fn knock(&self) -> Arc<Knock> {
        Arc::new(Knock {
            me: self.me.clone(),
            facts: self.facts.clone(),
            settings: self.cluster_settings.clone(),
            seeds: self.seeds.clone(),
            attempt: self.asks().then_some(self.attempt),
            memory: self.memory.clone(),
            over: self.over(),
            ended: self.ended().collect(),
            rests: self.rests,
        })
    }

    fn begin_attempt(&mut self, now: Timestamp) {
        self.attempt += 1;
        self.stands_back = false;
        self.attempt_ends = now + self.attempt_length();
        self.granted.clear();
        self.pledged.clear();
        self.heard.clear();
        self.suspended.clear();
        self.left.clear();
        self.differing.clear();
        self.told_before = self.newest_told().cloned();
        self.remembered = of_itself(self.memory.as_ref());
        for memory in self.welcomed_to.values() {
            keep_newest(&mut self.remembered, memory);
        }
        self.hearsay.clear();
        self.unclear.clear();
        self.complete_since = None;
    }

    fn attempt_length(&self) -> Duration {
        self.settings.seed_timeout + self.wait
    }

    /// The clusters that have ended, as far as it knows.
    fn ended(&self) -> impl Iterator<Item = Cluster> + '_ {
        let own = self.memory.iter().filter(|_| self.bond == Some(Bond::Ended));
        // What it succeeded had ended before it, or was given up by an operator.
        own.flat_map(|memory| memory.lineage()).chain(self.ended.iter().copied())
    }

    fn has_ended(&self, cluster: Cluster) -> bool {
        self.ended().any(|ended| ended == cluster)
    }

    fn learn_ended(&mut self, cluster: Cluster) {
        let is_ours = cluster.name == crate::node::name_hash(&self.settings.cluster);
        if is_ours && (self.ended.len() < REMEMBERED_MAX || self.remembered.contains_key(&cluster)) {
            self.ended.insert(cluster);
        }
    }

    /// Whether it wants to found.
    fn asks(&self) -> bool {
        matches!(self.promise, Promise::ToMyself)
            && !self.is_bound()
            && self.founding.with != FoundWith::Never
            && !self.is_unlisted
            && self.withdraws_until.is_none()
            && !self.stands_back
    }

    /// Everybody that it asks.
    fn asked(&self) -> BTreeSet<&Address> {
        let mut asked = self.required();
        asked.extend(&self.known);
        asked.extend(self.suspended.values().map(|it| &it.address));
        asked.extend(self.voters_of_the_suspended());
        asked.remove(&self.me.address);
        asked
    }

    /// When it founds, if nothing changes until then.
    fn founds_at(&self) -> Option<Timestamp> {
        let since = self.complete_since?;
        let is_alone = self.founding.unknown_to_others && self.seeds.len() == 1;
        let waited = if is_alone { since } else { since + self.wait };
        Some(self.leases_until.map_or(waited, |until| until.max(waited)))
    }

    fn founds(&self, now: Timestamp) -> bool {
        self.founds_at().is_some_and(|at| at <= now) && self.is_complete(now)
    }

    /// Takes account of what was said; gives promises back that it has no use for.
    fn look_at_answers(&mut self, now: Timestamp, say: &mut Vec<Say>) {
        if !self.asks() && !self.granted.is_empty() {
            self.release_all(say);
        }
        if self.is_complete(now) {
            self.complete_since.get_or_insert(now);
        } else {
            self.complete_since = None;
        }
    }

    fn release_all(&mut self, say: &mut Vec<Say>) {
        say.extend(self.granted.values().map(|(uid, _)| Say::Release(*uid, self.attempt)));
        self.granted.clear();
    }

    /// A node answers that it is in no cluster that works, and whether it promises.
    ///
    /// A promise that comes after this node yielded binds its giver for nothing: it is released, or seeds that all start at once
    /// would wait for each other's promises to expire.
    pub fn promised(&mut self, now: Timestamp, from: Uid, vow: Vow, say: &mut Vec<Say>) -> Outcome {
        let stood_still = self.stood_still(now);
        if let Some(memory) = vow.past.memory() {
            self.remember(memory);
        }
        if let Past::Ended(memory) = &vow.past {
            for cluster in memory.lineage() {
                self.learn_ended(cluster);
            }
        }
        for memory in vow.heard_of.iter() {
            self.hear_of(memory);
        }
        if self.asked().contains(&vow.seed) {
            self.heard.insert(vow.seed.clone(), vow.voter);
            if let Past::Left(_) = vow.past {
                self.left.insert(vow.seed.clone());
            } else {
                self.left.remove(&vow.seed);
            }
            self.note_pledged(&vow);
        }
        if let Past::Suspended(memory, log) = vow.past {
            self.granted.remove(&vow.seed);
            if self.suspended.len() < SUSPENDED_MAX || self.suspended.contains_key(&from) {
                self.suspended.insert(from, Suspended { address: vow.seed, cluster: memory.cluster, log });
            }
            self.look_at_answers(now, say);
            return Outcome::Seeking;
        }
        self.suspended.retain(|_, other| other.address != vow.seed);
        if vow.withdrawn {
            // What it said before may still be on its way: nothing counts any more in this attempt.
            self.granted.remove(&vow.seed);
            self.stands_back = true;
            // All of its attempts so far are over for the one that asks. The vow may not name the attempt of the promise: it answers a node that stands back.
            say.push(Say::Release(from, self.attempt));
            self.look_at_answers(now, say);
            return Outcome::Seeking;
        }
        if vow.granted && (vow.attempt < self.attempt || !self.asks()) {
            say.push(Say::Release(from, vow.attempt));
            return Outcome::Seeking;
        }
        let current = vow.attempt == self.attempt && now < self.attempt_ends;
        let is_required = self.required().contains(&vow.seed);
        if current && vow.granted {
            // One that is not needed any more is kept too: it has to be given back with the others.
            if is_required || self.granted.len() < PLEDGED_MAX {
                // It may have been asked for a reason that is gone: what it says counts as its promise does.
                self.note_pledged(&vow);
                self.granted.insert(vow.seed, (from, now));
            }
        } else if current && is_required {
            // Another life may listen there by now.
            if self.granted.get(&vow.seed).is_none_or(|(uid, _)| *uid != from) {
                self.granted.remove(&vow.seed);
            }
            self.stands_back |= vow.holder < self.me.address;
        }
        self.look_at_answers(now, say);
        if !stood_still && self.founds(now) { Outcome::Founds } else { Outcome::Seeking }
    }

    fn note_pledged(&mut self, vow: &Vow) {
        if self.pledges.is_some() {
            let kept = vow.pledged.iter().take(PLEDGED_MAX);
            self.pledged.insert(vow.seed.clone(), kept.cloned().collect());
        }
    }

    fn flaws(&self) -> Flaws {
        self.settings.flaws
    }
}

/// How long a node waits once nothing is missing: until every lease of an earlier cluster is over, and the members of one that lives had time to
/// greet it.
fn wait(settings: &Checked) -> Duration {
    settings.timing().wait.max(settings.seed_ask_interval * 5 + settings.round_trip)
}

/// The list, each once, with the node's own address.
fn with_own(seeds: &[Address], own: &Address) -> Arc<[Address]> {
    let mut all: Vec<Address> = Vec::new();
    for seed in seeds.iter().chain([own]) {
        if !all.contains(seed) {
            all.push(seed.clone());
        }
    }
    all.into()
}
