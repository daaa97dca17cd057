//! How a node finds its cluster, or founds one.
//!
//! The promise: as long as its seeds can talk to each other, one cluster is founded, whoever starts first, also when all start at
//! once and when two nodes name only each other.
//!
//! ```text
//!            no seeds
//! Seeking ---------------------------------------------> founded
//!   |  asks every seed again and again
//!   |- a majority of its list promised --------------> founded
//!   |- a seed is in a cluster: Welcome -----------------> joined
//!   |- its settings differ: Refused --------------------> refused
//! ```
//! Each seed promises to one node at a time, itself to begin with. A promise to oneself yields to an earlier seed; one to another
//! binds for two seed timeouts, longer than any attempt it could count for.

mod promise;
#[cfg(test)]
mod tests;

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use self::promise::{Promise, Verdict};
use crate::flaws::Flaws;
use crate::gossip::Delta;
use crate::incarnation::{Address, Facts, Incarnation, Uid};
use crate::settings::{Checked, ClusterSettings, Refusal, check};
use crate::table::Table;
use crate::time::Timestamp;

/// "Is there a cluster? If not, may I found it?"
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Knock {
    /// Who asks.
    pub me: Incarnation,
    /// What it says of itself.
    pub facts: Arc<Facts>,
    /// What must be the same on all nodes.
    pub settings: ClusterSettings,
    /// Where it looks for others, itself included, in its order.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::wire::shared"))]
    pub seeds: Arc<[Address]>,
    /// Its attempt to found a cluster; `None` if it has promised not to.
    pub attempt: Option<u32>,
}

/// "I am in no cluster", and whether the one who asked may found one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Vow {
    /// Where the one who answers listens.
    pub seed: Address,
    /// The attempt that is answered.
    pub attempt: u32,
    /// Whether it has the promise.
    pub granted: bool,
}

/// "Yes, this one": what a node needs to take part.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Welcome {
    /// The table of the one who welcomes.
    pub table: Arc<Table>,
    /// All of its gossip.
    pub gossip: Arc<Delta>,
}

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
    /// To whoever listens there.
    Knock(Address, Arc<Knock>),
    /// To the one who asked for a promise: whether it has it.
    Promise(Uid, Vow),
    /// To those that promised: it yielded to another.
    Release(Uid, u32),
    /// To one whose settings differ.
    Refused(Uid, Refusal),
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
    promise: Promise,
    attempt: u32,
    attempt_ends: Timestamp,
    /// Which seeds promised in this attempt, and which life of each: a seed that restarts has one voice.
    granted: BTreeMap<Address, Uid>,
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
        seeds: &[Address],
        settings: Checked,
    ) -> Self {
        let mut all: Vec<Address> = Vec::new();
        for seed in seeds.iter().chain([&me.address]) {
            if !all.contains(seed) {
                all.push(seed.clone());
            }
        }
        let cluster_settings = settings.cluster_settings().clone();
        Self {
            me,
            facts,
            cluster_settings,
            seeds: all.into(),
            promise: Promise::ToMyself,
            attempt: 0,
            attempt_ends: now,
            granted: BTreeMap::new(),
            next: now,
            since: now,
            settings,
        }
    }

    /// Where one listens that promised in this attempt.
    pub fn address_of(&self, uid: Uid) -> Option<&Address> {
        self.granted.iter().find(|(_, promised)| **promised == uid).map(|(address, _)| address)
    }

    /// Whether it has asked in vain for as long as one attempt lasts.
    pub fn looks_in_vain(&self, now: Timestamp) -> bool {
        now >= self.since + self.settings.seed_timeout
    }

    /// When it asks next.
    pub fn next_deadline(&self) -> Timestamp {
        self.next
    }

    /// Asks around, if it is time.
    pub fn on_deadline(&mut self, now: Timestamp, say: &mut Vec<Say>) -> Outcome {
        if now < self.next {
            return Outcome::Seeking;
        }
        self.next = now + self.settings.seed_ask_interval;
        self.promise.expire(now);
        if now >= self.attempt_ends {
            self.begin_attempt(now);
        }
        if self.is_majority(now) {
            return Outcome::Founds;
        }
        let knock = self.knock();
        for seed in self.seeds.iter().filter(|seed| **seed != self.me.address) {
            say.push(Say::Knock(seed.clone(), knock.clone()));
        }
        Outcome::Seeking
    }

    /// What it asks everybody.
    pub fn knock(&self) -> Arc<Knock> {
        Arc::new(Knock {
            me: self.me.clone(),
            facts: self.facts.clone(),
            settings: self.cluster_settings.clone(),
            seeds: self.seeds.clone(),
            attempt: matches!(self.promise, Promise::ToMyself).then_some(self.attempt),
        })
    }

    fn begin_attempt(&mut self, now: Timestamp) {
        self.attempt += 1;
        self.attempt_ends = now + self.settings.seed_timeout;
        self.granted.clear();
    }

    /// Whether a majority of its list promised. Its own promise counts, as long as it has not given it to another.
    ///
    /// Unless all have answered it waits for a round trip from its first knock on: a seed that is in a living cluster may be about
    /// to say so.
    fn is_majority(&self, now: Timestamp) -> bool {
        let promised = self.granted.len() + 1;
        let have_answered = promised == self.seeds.len() || now >= self.since + self.settings.round_trip;
        matches!(self.promise, Promise::ToMyself) && have_answered && 2 * promised > self.seeds.len()
    }

    /// Another node asks, and this one knows of no cluster either.
    pub fn knocked(&mut self, now: Timestamp, knock: &Knock, say: &mut Vec<Say>) {
        let them = knock.me.uid;
        if let Err(refusal) = check(&self.cluster_settings, &knock.settings) {
            return say.push(Say::Refused(them, refusal));
        }
        let Some(attempt) = knock.attempt else { return };
        let earlier = promise::is_earlier(&knock.me, &knock.seeds, &self.me, &self.seeds);
        let until = now + 2 * self.settings.seed_timeout;
        match self.promise.asked(now, (them, attempt), earlier, until, self.flaws()) {
            Verdict::Granted => say.push(Say::Promise(them, self.vow(attempt, true))),
            Verdict::Yielded => {
                say.extend(self.granted.values().map(|uid| Say::Release(*uid, self.attempt)));
                self.begin_attempt(now);
                say.push(Say::Promise(them, self.vow(attempt, true)));
            }
            Verdict::Denied => say.push(Say::Promise(them, self.vow(attempt, false))),
        }
    }

    /// A seed answers that it is in no cluster, and whether it promises.
    ///
    /// A promise that comes after this node yielded binds its giver for nothing: it is released, or seeds that all start at once
    /// would wait for each other's promises to expire.
    pub fn promised(&mut self, now: Timestamp, from: Uid, vow: Vow, say: &mut Vec<Say>) -> Outcome {
        if vow.granted && vow.attempt < self.attempt && !matches!(self.promise, Promise::ToMyself) {
            say.push(Say::Release(from, vow.attempt));
            return Outcome::Seeking;
        }
        let current = vow.attempt == self.attempt && now < self.attempt_ends;
        let counts = vow.granted && current && self.seeds.contains(&vow.seed);
        if counts && matches!(self.promise, Promise::ToMyself) {
            self.granted.insert(vow.seed, from);
            if self.is_majority(now) {
                return Outcome::Founds;
            }
        }
        Outcome::Seeking
    }

    fn vow(&self, attempt: u32, granted: bool) -> Vow {
        Vow { seed: self.me.address.clone(), attempt, granted }
    }

    /// The one this node promised to has yielded to another, and gives that attempt up.
    pub fn released(&mut self, from: Uid, attempt: u32) {
        self.promise.release(from, attempt);
    }

    fn flaws(&self) -> Flaws {
        self.settings.flaws
    }
}
