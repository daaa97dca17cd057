//! A node of a cluster: every rule of membership in one machine.
//!
//! ```text
//! Seeking --founds, or is welcomed--> Taking part --left, removed, gave up--> Ended
//!    |                                                                          ^
//!    +------------------------------- refused ----------------------------------+
//! ```
//! While it takes part: gossip says who is there, heartbeats who can be heard, the log what is decided, the lease whether the
//! node may run. Each is a module of its own; this one brings their words together.

mod by_store;
mod closing;
mod departure;
mod durable;
mod feed;
mod follow;
mod greeting;
mod hearing;
mod interface;
mod lost_logs;
mod meeting;
mod participant;
mod presence;
mod quiet;
mod recovery;
mod settle;
mod shards;
mod size;
mod standing;
mod voter_lives;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use self::durable::DiskState;
pub use self::feed::{Feed, Placed};
pub use self::interface::{
    Command, Effect, End, Event, GaveUp, Greeting, Input, Life, Message, Peer, QuietReport, Report, Start,
    Word,
};
use self::meeting::yields_while_seeking;
use self::participant::Participant;
pub use self::recovery::{NoRecovery, Remaining, Remains};
use self::shards::ShardWishes;
pub use self::voter_lives::VoterLives;
use crate::disk::Bond;
use crate::flaws::Flaw;
use crate::formation::{Awaited, HeldBack, Memory, Outcome, Say, Seeking, Welcome};
use crate::gossip::Document;
use crate::incarnation::{Address, Facts, Incarnation, Uid};
use crate::machine::{Effects, Machine};
use crate::office::TableLog;
use crate::random::Random;
use crate::settings::{Checked, Strategy};
use crate::store::{Ask, Found, StoreSeeking};
use crate::table::{Ancestors, Cluster, Table};
use crate::time::Timestamp;
use crate::voters::VoterId;

/// One life of a node.
#[derive(Debug)]
pub struct Node {
    identity: Identity,
    random: Random,
    era: u32,
    phase: Phase,
    /// What was said of shards before the node was in a cluster.
    shards: ShardWishes,
    /// What this life remembered when it ended.
    remembered: Option<Arc<Memory>>,
    /// What it knows of its disk; `None` without a data directory.
    disk: Option<DiskState>,
    /// Until then the voter of its disk stays silent.
    rests_until: Option<Timestamp>,
    next: Timestamp,
}

/// What a node knows of itself, whatever it does.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) me: Incarnation,
    pub(crate) facts: Arc<Facts>,
    pub(crate) seeds: Arc<[Address]>,
    /// Where members of its last cluster listened.
    pub(crate) known: Arc<[Address]>,
    pub(crate) settings: Checked,
    /// Its identity as a voter.
    pub(crate) voter: VoterId,
}

impl Identity {
    /// Whether it keeps its vote and its log over restarts. Where the one voter is a store, nothing depends on them.
    pub(crate) fn is_durable(&self) -> bool {
        self.settings.durable && self.settings.strategy != Strategy::LeaseMajority
    }
}

#[derive(Debug)]
enum Phase {
    Seeking(Box<Seeking>),
    /// It looks for its cluster in the store, which is to be its one voter.
    AskingStore(Box<StoreSeeking>),
    TakingPart(Box<Participant>),
    Ended,
}

impl Node {
    /// A node begins its life.
    pub fn new(now: Timestamp, start: Start, effects: &mut Effects<Effect>) -> Self {
        let Start { me, mut facts, mut search, settings, era, seed, recovers, disk, process_since } = start;
        let mut random = Random::seeded(seed);
        let disk = disk.filter(|_| settings.durable).map(DiskState::new);
        let is_durable = settings.durable && settings.strategy != Strategy::LeaseMajority;
        let renews = is_durable && !settings.flaws.has(Flaw::VoterWithoutLogStays);
        let becomes_another = disk.as_ref().is_some_and(|disk| {
            let goes_on = is_durable && !recovers && disk.resumes();
            !goes_on && (renews || disk.has_log())
        });
        if becomes_another && let Some(disk) = &mut facts.disk {
            // Lists may name the voter that this node was, also if it has no log: the directory may be a copy of the time before it had one.
            disk.voter = disk.voter.renewed(random.next_u64());
        }
        if let Some(record) = disk.as_ref().and_then(DiskState::record) {
            // A fresh node that recovers succeeds a cluster that others told it of.
            let told = search.memory.take().filter(|_| recovers && record.bond == Bond::Ended);
            search.memory = told.or_else(|| Some(record.memory.clone()));
            search.bond = Some(record.bond);
            search.known.extend(record.members.iter().cloned());
            let wait = settings.timing().wait;
            // Only an earlier process had settings with a longer time.
            search.leases_until = Some((now + wait).max(process_since + record.wait.unwrap_or(wait)));
        }
        search.pledges = disk.as_ref().map(DiskState::pledges);
        let remembered = search.memory.iter().flat_map(|memory| memory.addresses());
        let known = search.known.iter().chain(remembered).cloned().collect();
        let seeds = search.seeds.clone().into();
        let voter = if is_durable { facts.voter(me.uid) } else { VoterId::of_life(me.uid) };
        let identity = Identity { me, facts: Arc::new(facts), seeds, known, settings, voter };
        let seeking =
            Seeking::new(now, identity.me.clone(), identity.facts.clone(), search, identity.settings.clone());
        let mut node = Self {
            era: if identity.settings.flaws.has(Flaw::EraRestartsAtOne) { 1 } else { era },
            identity,
            random,
            phase: Phase::Seeking(Box::new(seeking)),
            shards: ShardWishes::default(),
            remembered: None,
            disk,
            rests_until: None,
            next: now,
        };
        if node.identity.settings.strategy == Strategy::LeaseMajority {
            let seeking = StoreSeeking::new(now, node.own_cluster(), node.identity.settings.clone());
            node.phase = Phase::AskingStore(Box::new(seeking));
        } else if !recovers && let Some(until) = node.rests(now, process_since) {
            node.rest(until);
            effects.push(Effect::Publish(Event::Rests(until.since(now))));
            node.handle(now, Input::Deadline, effects);
            return node;
        } else if !recovers && let Some(resumed) = node.resume(now, effects) {
            match resumed {
                Ok(participant) => node.take_part(now, participant, effects),
                Err(wrong) => node.end(End::Unreadable(wrong), effects),
            }
            return node;
        }
        if recovers && node.identity.settings.strategy != Strategy::LeaseMajority {
            let ancestors = node.ancestors();
            let acts_from = node.recovered_acts_from(now);
            node.found(now, ancestors, acts_from, effects);
            return node;
        }
        if becomes_another {
            node.become_another(effects);
        }
        node.handle(now, Input::Deadline, effects);
        node
    }

    /// Which life it is.
    pub fn uid(&self) -> Uid {
        self.identity.me.uid
    }

    /// Its identity as a voter.
    pub fn voter(&self) -> VoterId {
        self.identity.voter
    }

    /// Which cluster it belongs to; `None` while it seeks one.
    pub fn cluster(&self) -> Option<Cluster> {
        self.table().map(Table::cluster)
    }

    /// What every word inside its cluster carries; `None` while it takes part in none.
    pub fn tag(&self) -> Option<u64> {
        self.participant().map(|participant| participant.tag)
    }

    /// The table, as far as it knows it.
    pub fn table(&self) -> Option<&Table> {
        self.participant().map(|participant| &participant.table)
    }

    /// What gossip says.
    pub fn document(&self) -> Option<&Document> {
        self.participant().map(|participant| participant.gossip.document())
    }

    /// Its part of the replicated log.
    pub fn log(&self) -> Option<&TableLog> {
        self.participant().map(|participant| &participant.log)
    }

    /// The node in office, as far as its log knows.
    pub fn coordinator(&self) -> Option<Uid> {
        self.participant().and_then(Participant::coordinator)
    }

    /// Where that node listens: what a shell needs to reach a [`Peer::Node`] it has no link to.
    ///
    /// Itself, whoever gossip or the table knows, and while it seeks whoever promised. `None` for all others, even if the node has words for
    /// them: they spoke first, and can only be answered on the link they came by.
    pub fn address_of(&self, uid: Uid) -> Option<&Address> {
        if uid == self.uid() {
            return Some(&self.identity.me.address);
        }
        match &self.phase {
            Phase::Seeking(seeking) => seeking.address_of(uid),
            Phase::TakingPart(participant) => participant.address_of(uid),
            Phase::AskingStore(_) | Phase::Ended => None,
        }
    }

    /// What the process remembers of the cluster it is, or was, in: for the search of its next life. `None` if it is fresh.
    pub fn memory(&self) -> Option<Arc<Memory>> {
        match &self.phase {
            Phase::Seeking(seeking) => seeking.memory().cloned(),
            Phase::TakingPart(participant) => Some(Arc::new(participant.memory())),
            Phase::AskingStore(_) => None,
            Phase::Ended => self.remembered.clone(),
        }
    }

    /// The addresses that keep it from founding a cluster, while it seeks one; those of voters that it does not hear, while it has no quorum.
    pub fn awaited(&self, now: Timestamp) -> Option<Vec<Awaited>> {
        match &self.phase {
            Phase::Seeking(seeking) => Some(seeking.awaited()),
            Phase::TakingPart(participant) => participant.awaited(now),
            Phase::AskingStore(_) | Phase::Ended => None,
        }
    }

    /// What keeps a node that is in no cluster from founding one, besides the addresses that it waits for.
    pub fn held_back(&self) -> Vec<HeldBack> {
        match &self.phase {
            Phase::Seeking(seeking) => seeking.held_back(),
            Phase::TakingPart(_) | Phase::AskingStore(_) | Phase::Ended => Vec::new(),
        }
    }

    /// How suspicious the silence of each node it watches is at that moment, for display; nobody is watched before it takes part.
    pub fn suspicions(&self, now: Timestamp) -> impl Iterator<Item = (Uid, f64)> + '_ {
        self.participant().into_iter().flat_map(move |participant| participant.heartbeats.suspicions(now))
    }

    /// Whether work may run here at that moment: it is a member, and its lease is not over.
    pub fn may_run(&self, now: Timestamp) -> bool {
        self.participant().is_some_and(|participant| participant.may_run(now))
    }

    /// Until when work may run here, on this node's clock, if nothing more is heard; [`Timestamp::ZERO`] if none may.
    ///
    /// It is what [`may_run`](Self::may_run) goes by: for shells that share the end of the lease with those who do the work.
    pub fn runs_until(&self) -> Timestamp {
        self.participant().map_or(Timestamp::ZERO, Participant::runs_until)
    }

    /// Whether this life is over.
    pub fn is_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended)
    }

    fn participant(&self) -> Option<&Participant> {
        match &self.phase {
            Phase::TakingPart(participant) => Some(participant),
            Phase::Seeking(_) | Phase::AskingStore(_) | Phase::Ended => None,
        }
    }

    fn seek(&mut self, now: Timestamp, input: Input, effects: &mut Effects<Effect>) {
        let Phase::Seeking(seeking) = &mut self.phase else { return };
        let mut say = Vec::new();
        let outcome = match input {
            Input::Deadline => seeking.on_deadline(now, &mut say),
            Input::Command(Command::Leave | Command::CloseCluster) => return self.end(End::Left, effects),
            Input::Command(Command::Seeds(seeds)) => {
                seeking.set_seeds(now, &seeds);
                self.identity.seeds = seeds;
                Outcome::Seeking
            }
            Input::Command(
                Command::Drained
                | Command::Down(_)
                | Command::Refused(_)
                | Command::Shards(_)
                | Command::Allocate(_)
                | Command::Recover,
            )
            | Input::Written(_)
            | Input::DiskWorks(_) => Outcome::Seeking,
            Input::Message { from, message } => match message {
                Message::Knock(knock) => {
                    seeking.knocked(now, &knock, &mut say);
                    Outcome::Seeking
                }
                Message::Promise(vow) => seeking.promised(now, from, vow, &mut say),
                Message::Release { attempt } => {
                    seeking.released(from, attempt, &mut say);
                    Outcome::Seeking
                }
                Message::Hello(greeting)
                    if greeting.cluster.name == name_hash(&self.identity.settings.cluster) =>
                {
                    // A node of a cluster greets: it can welcome this one, or say which cluster it remembers.
                    seeking.greeted(greeting.cluster);
                    let knock = Message::Knock(seeking.knock());
                    effects.push(Effect::Send { to: Peer::Node(from), message: knock });
                    Outcome::Seeking
                }
                Message::Welcome(welcome) => {
                    let table = &welcome.table;
                    seeking.welcomed(now, table);
                    let joins = seeking.joins(now, table) || yields_while_seeking(now, seeking, table);
                    if joins && self.rests_until.is_none() && seeking.is_free_to_join(now, from, table) {
                        return self.welcomed(now, from, &welcome, effects);
                    }
                    Outcome::Seeking
                }
                Message::Copy if self.disk.is_some() => return self.end(End::GaveUp(GaveUp::Copy), effects),
                Message::Refused(refusal) => return self.end(End::Refused(refusal), effects),
                Message::Gone => return self.end(End::GaveUp(GaveUp::Removed), effects),
                Message::Hello(_)
                | Message::Copy
                | Message::Word { .. }
                | Message::ToStore(_)
                | Message::FromStore(_) => Outcome::Seeking,
            },
        };
        for said in say {
            speak(said, self.disk.as_mut(), effects);
        }
        if seeking.has_learned_the_end() {
            seeking.is_free_again();
        }
        let is_free = !seeking.is_bound();
        if is_free && self.rests_until.is_some() {
            // Its log is not needed any more. The next life clears it.
            self.write_ended(effects);
            return self.end(End::GaveUp(GaveUp::Over), effects);
        }
        match outcome {
            Outcome::Founds if self.disk.as_ref().is_some_and(DiskState::is_welcomed) => {}
            Outcome::Seeking => {
                if is_free {
                    self.write_ended(effects);
                }
            }
            Outcome::Founds => {
                let ancestors = seeking.ancestors();
                self.found(now, ancestors, now, effects);
            }
        }
    }

    fn ask_store(&mut self, now: Timestamp, input: Input, effects: &mut Effects<Effect>) {
        let Phase::AskingStore(seeking) = &mut self.phase else { return };
        let found = match input {
            Input::Deadline => seeking.on_deadline(now).map(Found::Nothing),
            Input::Command(Command::Leave | Command::CloseCluster) => return self.end(End::Left, effects),
            Input::Message { from: Uid::STORE, message: Message::FromStore(answer) } => {
                seeking.answered(answer)
            }
            // Others have nothing to say to it that the store does not know better.
            Input::Message { .. } | Input::Command(_) | Input::Written(_) | Input::DiskWorks(_) => None,
        };
        match found {
            None => {}
            Some(Found::Nothing(ask)) => effects.push(to_store(ask)),
            Some(Found::Refused(refusal)) => self.end(End::Refused(refusal), effects),
            Some(Found::Cluster { cluster, waits }) => {
                let identity = self.identity.clone();
                let participant = Participant::by_store(now, identity, cluster, waits, &mut self.random);
                self.take_part(now, participant, effects);
            }
        }
    }

    /// The cluster it would found.
    fn own_cluster(&self) -> Cluster {
        let name = name_hash(&self.identity.settings.cluster);
        Cluster { name, era: self.era, founder: self.uid() }
    }

    /// It is welcome: it joins, once the record of that is on its disk.
    fn welcomed(&mut self, now: Timestamp, from: Uid, welcome: &Arc<Welcome>, effects: &mut Effects<Effect>) {
        let is_ours = welcome.table.cluster().name == name_hash(&self.identity.settings.cluster);
        if is_ours && !self.holds_back(from, welcome, effects) {
            self.join(now, from, welcome, effects);
        }
    }

    fn found(
        &mut self,
        now: Timestamp,
        ancestors: Ancestors,
        acts_from: Timestamp,
        effects: &mut Effects<Effect>,
    ) {
        for cluster in ancestors.far_ahead(self.era) {
            effects.push(Effect::Publish(Event::EraIgnored(cluster)));
        }
        self.era = ancestors.era_above(self.era);
        if let Some(disk) = &mut self.disk {
            disk.begin();
        }
        let cluster = (self.own_cluster(), ancestors);
        let participant =
            Participant::found(now, self.identity.clone(), cluster, acts_from, &mut self.random);
        self.take_part(now, participant, effects);
    }

    fn join(&mut self, now: Timestamp, from: Uid, welcome: &Welcome, effects: &mut Effects<Effect>) {
        if let Phase::Seeking(seeking) = &mut self.phase {
            let mut say = Vec::new();
            seeking.gives_up(&mut say);
            for said in say {
                speak(said, self.disk.as_mut(), effects);
            }
        }
        let identity = self.identity.clone();
        let participant = Participant::join(now, identity, (from, welcome), &mut self.random);
        self.take_part(now, participant, effects);
    }

    /// Nothing is lost of what is said before there is anybody to say it to.
    fn keep(&mut self, input: &Input) {
        match input {
            Input::Command(Command::Shards(report)) => self.shards.report(report.clone()),
            Input::Command(Command::Allocate(custom)) => self.shards.strategies.insert(custom),
            Input::Command(_)
            | Input::Message { .. }
            | Input::Deadline
            | Input::Written(_)
            | Input::DiskWorks(_) => {}
        }
    }

    fn take_part(&mut self, now: Timestamp, mut participant: Participant, effects: &mut Effects<Effect>) {
        participant.shards = core::mem::take(&mut self.shards);
        effects.push(Effect::Publish(Event::Joined(participant.table.cluster())));
        self.phase = Phase::TakingPart(Box::new(participant));
        self.handle(now, Input::Deadline, effects);
    }

    fn end(&mut self, end: End, effects: &mut Effects<Effect>) {
        self.remembered = self.memory();
        self.write_end(&end, effects);
        effects.push(Effect::End(end));
        self.phase = Phase::Ended;
        self.rests_until = None;
    }
}

impl Machine for Node {
    type Input = Input;
    type Effect = Effect;

    fn handle(&mut self, now: Timestamp, input: Input, effects: &mut Effects<Effect>) {
        if matches!(input, Input::Command(Command::Recover)) {
            return self.recover(now, effects);
        }
        if let Phase::Seeking(_) | Phase::AskingStore(_) = &self.phase {
            self.keep(&input);
        }
        if self.rests_until.is_some_and(|until| until <= now) {
            self.ends_rest(now, effects);
        }
        match input {
            Input::Written(up_to) => self.written(now, up_to, effects),
            Input::DiskWorks(works) => self.disk_works(now, works, effects),
            Input::Message { .. } | Input::Command(_) | Input::Deadline => self.take(now, input, effects),
        }
        self.write(now, effects);
        self.next = match &self.phase {
            Phase::Seeking(seeking) => {
                self.rests_until.map_or(seeking.next_deadline(), |until| until.min(seeking.next_deadline()))
            }
            Phase::AskingStore(seeking) => seeking.next_deadline(),
            Phase::TakingPart(participant) => participant.next_deadline(now),
            Phase::Ended => Timestamp::NEVER,
        };
    }

    fn next_deadline(&self) -> Timestamp {
        self.next
    }

    fn assert_invariants(&self, now: Timestamp) {
        if let Phase::TakingPart(participant) = &self.phase {
            participant.assert_invariants(now);
        }
    }
}

impl Node {
    fn take(&mut self, now: Timestamp, input: Input, effects: &mut Effects<Effect>) {
        match &mut self.phase {
            Phase::Seeking(_) => self.seek(now, input, effects),
            Phase::AskingStore(_) => self.ask_store(now, input, effects),
            Phase::TakingPart(participant) => {
                participant.notice_absence(now, self.next);
                if let Some(end) = participant.handle(now, input, effects) {
                    self.end(end, effects);
                }
            }
            Phase::Ended => {}
        }
    }
}

fn to_store(ask: Ask) -> Effect {
    Effect::Send { to: Peer::Node(Uid::STORE), message: Message::ToStore(ask) }
}

/// Gives out what a seeking node says, to others or to its disk.
fn speak(say: Say, disk: Option<&mut DiskState>, effects: &mut Effects<Effect>) {
    let (to, message) = match say {
        Say::Knock(address, knock) => (Peer::Address(address), Message::Knock(knock)),
        Say::Promise(uid, vow) => (Peer::Node(uid), Message::Promise(vow)),
        Say::Release(uid, attempt) => (Peer::Node(uid), Message::Release { attempt }),
        Say::Keep(pledges) => {
            if let Some(disk) = disk {
                disk.keep(pledges, effects);
            }
            return;
        }
    };
    effects.push(Effect::Send { to, message });
}

/// The cluster's name as a number (FNV-1a): the same on every node and in every version.
pub(crate) fn name_hash(name: &str) -> u64 {
    name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}
