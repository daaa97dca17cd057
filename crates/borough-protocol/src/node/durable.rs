//! A node with a data directory: what it writes, what waits for that, and how it resumes after a restart.
//!
//! ```text
//! no log on the disk --------> Seeking, as another voter than any before: looks for the cluster of its record alone, or is fresh
//! a log on the disk ---------> Taking part at once, as the voter it was, with a new life that is not admitted yet
//!                                 | knocks at the addresses it knows until it is heard; votes as soon as a quorum of the voters has found each other
//!                                 +--> admitted like any other guest
//! ```
//! If the settings changed meanwhile so that leases last shorter, it stays silent first until every lease is over that its last life counted for (`rests`): it
//! answers others like a node that seeks the cluster of its record. If they last longer, it acks none before its record says so: its next life may have the
//! shorter ones again.
//!
//! The promise: a welcome is used, and a founding decides something, only when the record of that cluster is on the disk; what the log says leaves
//! only when what it depends on is (`log::raft::journal`). A node whose disk fails says nothing more as a voter. The first decision of a
//! founding replaces what was on the disk in one write: a crash before it leaves the voter of the former cluster as it was.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

use super::interface::{Effect, End, GaveUp, Message, Peer};
use super::lost_logs::Told;
use super::participant::{Participant, raft_timing};
use super::{Identity, Node, Phase, speak};
use crate::disk::{Bond, Image, Pledge, Record, StoredLog, Write};
use crate::flaws::Flaw;
use crate::formation::{Awaited, Knock, Memory, Missing, Welcome};
use crate::gossip;
use crate::incarnation::{Address, Uid};
use crate::log::raft::{self, Raft, Unrestorable};
use crate::log::{Carrier, Log};
use crate::machine::Effects;
use crate::random::Random;
use crate::settings::Refusal;
use crate::table::{Ancestors, Change, Cluster, Table};
use crate::time::Timestamp;
use crate::version::Version;
use crate::voters::{VoterId, Voters};

/// The record follows the members' addresses at most that often.
const RECORDED_EVERY: Duration = Duration::from_secs(1);

/// The disk of a node as the machine knows it.
#[derive(Debug)]
pub(super) struct DiskState {
    /// What was there when this life began.
    image: Image,
    /// The number of the newest write.
    number: u64,
    /// Writes that are not on the disk yet, and which of the log's writes each is.
    waiting: VecDeque<(u64, Option<u64>)>,
    /// The newest write of the promises that the node gave, while it is not on the disk.
    pledges: Option<u64>,
    /// A welcome that waits for the record.
    welcome: Option<(u64, Uid, Arc<Welcome>)>,
    /// The record as it was last written, with the table's version then, and when it is looked at again.
    recorded: Option<(Version, Record)>,
    record_at: Timestamp,
    /// This life founds a cluster, and nothing of it is given out to be written yet.
    begins: bool,
    /// What its log has wanted written since.
    held: Vec<raft::Write<Change, Arc<Table>>>,
    /// The disk takes no writes.
    has_failed: bool,
}

/// What a participant with a disk has besides.
#[derive(Debug, Default)]
pub(super) struct Durable {
    /// When it started again as the voter that it was before; `None` if it came as another.
    pub(super) resumed: Option<Timestamp>,
    /// Where members of its cluster listened when its last process ended.
    known: Vec<Address>,
    /// Where the voters of its cluster listened then.
    pub(super) places: Vec<(VoterId, Address)>,
    /// Its disk takes no writes.
    pub(super) disk_failed: bool,
    /// The write by which its record says how long its leases last; `None` once that is on the disk.
    owes_wait: Option<u64>,
    /// Where nodes with other settings listen that asked lately while this one waited for a quorum, when they did, and what differs.
    pub(super) differing: BTreeMap<Address, (Timestamp, Refusal)>,
    /// Voters whose logs came back shorter.
    pub(super) lost_logs: BTreeMap<VoterId, Told>,
}

impl DiskState {
    pub(super) fn new(image: Image) -> Self {
        Self {
            image,
            number: 0,
            waiting: VecDeque::new(),
            pledges: None,
            welcome: None,
            recorded: None,
            record_at: Timestamp::ZERO,
            begins: false,
            held: Vec::new(),
            has_failed: false,
        }
    }

    /// The record that was there when this life began.
    pub(super) fn record(&self) -> Option<&Record> {
        self.image.record.as_ref()
    }

    /// The promises that were there when this life began.
    pub(super) fn pledges(&self) -> Arc<[Pledge]> {
        self.image.pledges.clone()
    }

    /// Writes the promises that the node gave.
    pub(super) fn keep(&mut self, pledges: Arc<[Pledge]>, effects: &mut Effects<Effect>) {
        self.pledges = Some(self.write(Write::Pledges(pledges), None, effects));
    }

    /// Whether there is anything of a log.
    pub(super) fn has_log(&self) -> bool {
        self.image.log.is_some()
    }

    /// Whether the node goes on with its log.
    pub(super) fn resumes(&self) -> bool {
        self.image.resumes()
    }

    /// This life founds a cluster. What was there stays on the disk until the new cluster is.
    pub(super) fn begin(&mut self) {
        self.begins = true;
        self.image.log = None;
    }

    /// Whether a welcome waits to be used.
    pub(super) fn is_welcomed(&self) -> bool {
        self.welcome.is_some()
    }

    /// The record names leases as long as those of the settings from now on; says which write that is, if the disk does not know it yet.
    fn lengthen_wait(&mut self, wait: Duration, effects: &mut Effects<Effect>) -> Option<u64> {
        let record =
            self.image.record.as_mut().filter(|record| record.wait.is_none_or(|before| before < wait))?;
        record.wait = Some(wait);
        let record = record.clone();
        Some(self.write(Write::Record(record), None, effects))
    }

    fn write(&mut self, write: Write, of_log: Option<u64>, effects: &mut Effects<Effect>) -> u64 {
        self.number += 1;
        self.waiting.push_back((self.number, of_log));
        effects.push(Effect::Write { number: self.number, write });
        self.number
    }

    /// Takes what the log of a cluster that this node founds wants written. Until it decides something nobody knows of that cluster, so nothing is
    /// given out: says up to which write the log may go on as if it were. The first decision gives out everything, as one write.
    fn hold_beginning(
        &mut self,
        now: Timestamp,
        participant: &mut Participant,
        effects: &mut Effects<Effect>,
    ) -> Option<u64> {
        let writes = participant.log.take_writes();
        let number = writes.last().map(|(number, _)| *number)?;
        self.held.extend(writes.into_iter().map(|(_, write)| write));
        if !self.held.iter().any(decides) {
            return Some(number);
        }
        let record = participant.record(Bond::Member);
        (self.recorded, self.record_at) =
            (Some((participant.table.version(), record.clone())), now + RECORDED_EVERY);
        self.begins = false;
        let log = mem::take(&mut self.held);
        let write = Write::Become { voter: participant.voter(), record: Some(record), log };
        self.write(write, Some(number), effects);
        None
    }

    /// What the disk is to say when a node that took part so ends. One that starts again knows less than its record until it is a member again.
    fn record_of_end(&self, participant: &Participant, bond: Bond) -> Record {
        let known = self.image.record.clone().filter(|_| participant.is_resuming());
        known.map_or_else(|| participant.record(bond), |record| Record { bond, ..record })
    }

    /// Everything up to that number is on the disk; says which of the log's writes are.
    fn written(&mut self, up_to: u64) -> Option<u64> {
        let done = self.waiting.partition_point(|(number, _)| *number <= up_to);
        self.waiting.drain(..done).filter_map(|(_, of_log)| of_log).next_back()
    }
}

impl Node {
    /// Until when the voter of this disk stays silent: by the settings that its last process had, it counted for leases that may last longer than those of now. Further
    /// lives of this process wait for no longer than the first one: a life that ends earlier does not make the voter rest without end.
    pub(super) fn rests(&self, now: Timestamp, process_since: Timestamp) -> Option<Timestamp> {
        let disk = self.disk.as_ref().filter(|disk| disk.resumes())?;
        let wait = disk.record().and_then(|record| record.wait)?;
        let until = process_since + wait;
        (wait > self.identity.settings.timing().wait && until > now).then_some(until)
    }

    pub(super) fn rest(&mut self, until: Timestamp) {
        self.rests_until = Some(until);
        if let Phase::Seeking(seeking) = &mut self.phase {
            seeking.rest();
        }
    }

    /// It has rested for long enough, and goes on as the voter that it was.
    pub(super) fn ends_rest(&mut self, now: Timestamp, effects: &mut Effects<Effect>) {
        self.rests_until = None;
        match self.resume(now, effects) {
            Some(Ok(participant)) => self.take_part(now, participant, effects),
            Some(Err(wrong)) => self.end(End::Unreadable(wrong), effects),
            None => {}
        }
    }

    /// The participant that goes on where the voter of this disk was; `None` if it has nothing to go on with.
    pub(super) fn resume(
        &mut self,
        now: Timestamp,
        effects: &mut Effects<Effect>,
    ) -> Option<Result<Participant, Unrestorable>> {
        let disk = self.disk.as_mut().filter(|disk| disk.image.resumes())?;
        let (record, log) = (disk.image.record.clone()?, disk.image.log.take()?);
        let resumed = Participant::resume(now, self.identity.clone(), &record, log, &mut self.random);
        Some(resumed.map(|mut participant| {
            let wait = self.identity.settings.timing().wait;
            participant.durable.owes_wait = disk.lengthen_wait(wait, effects);
            participant
        }))
    }

    /// Writes the identity of this life, which has no log or does not go on with the one that is there. All that others are told as this voter waits for
    /// later writes.
    pub(super) fn become_another(&mut self, effects: &mut Effects<Effect>) {
        let voter = self.identity.facts.voter(self.identity.me.uid);
        if let Some(disk) = &mut self.disk {
            disk.image.log = None;
            disk.write(Write::Become { voter, record: None, log: Vec::new() }, None, effects);
        }
    }

    /// Whether a node with a disk has to write first that it was welcomed; then it does, and is woken when that is written.
    pub(super) fn holds_back(
        &mut self,
        from: Uid,
        welcome: &Arc<Welcome>,
        effects: &mut Effects<Effect>,
    ) -> bool {
        let flaws = self.identity.settings.flaws;
        let Some(disk) = self.disk.as_mut().filter(|_| !flaws.has(Flaw::OnlyVotersRecord)) else {
            return false;
        };
        if disk.welcome.is_none() {
            let memory = Memory::of_table(&welcome.table, self.identity.is_durable());
            let (memory, members) = (Arc::new(memory), addresses(&welcome.table));
            let wait = Some(self.identity.settings.timing().wait);
            let record = Record { bond: Bond::Member, memory, members, wait };
            let number = disk.write(Write::Record(record), None, effects);
            disk.welcome = Some((number, from, welcome.clone()));
        }
        !flaws.has(Flaw::WelcomeBeforeRecord)
    }

    /// Everything up to that number is on the disk.
    pub(super) fn written(&mut self, now: Timestamp, up_to: u64, effects: &mut Effects<Effect>) {
        let Some(disk) = &mut self.disk else { return };
        let of_log = disk.written(up_to);
        if let Some((_, from, welcome)) = disk.welcome.take_if(|(number, ..)| *number <= up_to) {
            return self.join(now, from, &welcome, effects);
        }
        if disk.pledges.take_if(|number| *number <= up_to).is_some()
            && let Phase::Seeking(seeking) = &mut self.phase
        {
            let mut say = Vec::new();
            seeking.pledges_written(&mut say);
            for said in say {
                speak(said, Some(disk), effects);
            }
        }
        let Phase::TakingPart(participant) = &mut self.phase else { return };
        participant.durable.owes_wait.take_if(|number| *number <= up_to);
        if let Some(up_to) = of_log {
            participant.log.written(now, up_to, &mut participant.outbox.log);
            if let Some(end) = participant.settle(now, effects) {
                self.end(end, effects);
            }
        }
    }

    /// Gives out what is to be written: first the record, so that no decision is on the disk without it.
    pub(super) fn write(&mut self, now: Timestamp, effects: &mut Effects<Effect>) {
        let (Some(disk), Phase::TakingPart(participant)) = (&mut self.disk, &mut self.phase) else { return };
        participant.durable.disk_failed = disk.has_failed;
        while disk.begins {
            let Some(up_to) = disk.hold_beginning(now, participant, effects) else { return };
            participant.log.written(now, up_to, &mut participant.outbox.log);
            if let Some(end) = participant.settle(now, effects) {
                return self.end(end, effects);
            }
        }
        let version = participant.table.version();
        let is_old = disk.recorded.as_ref().is_none_or(|(recorded, _)| *recorded != version);
        // One that starts again knows less than its record until it is a member again.
        let is_kept = participant.votes() || !self.identity.settings.flaws.has(Flaw::OnlyVotersRecord);
        if is_old && is_kept && !participant.is_resuming() && disk.record_at <= now {
            disk.record_at = now + RECORDED_EVERY;
            let record = participant.record(Bond::Member);
            if disk.recorded.as_ref().is_none_or(|(_, before)| *before != record) {
                disk.write(Write::Record(record.clone()), None, effects);
            }
            disk.recorded = Some((version, record));
        }
        for (number, write) in participant.log.take_writes() {
            disk.write(Write::Log(write), Some(number), effects);
        }
    }

    /// What an end means for the disk.
    pub(super) fn write_end(&mut self, end: &End, effects: &mut Effects<Effect>) {
        let Some(disk) = &mut self.disk else { return };
        let participant = match &self.phase {
            Phase::TakingPart(participant) => Some(participant),
            Phase::Seeking(_) | Phase::AskingStore(_) | Phase::Ended => None,
        };
        let is_last = participant
            .is_some_and(|participant| participant.is_last() && participant.decides_alone())
            || self.identity.settings.flaws.has(Flaw::LeavingEndsTheCluster);
        let of = |bond| participant.map(|participant| disk.record_of_end(participant, bond));
        let record = match end {
            End::Left if is_last => of(Bond::Ended),
            // Nobody has voted it out: its vote and its log may be needed, so the disk stays that of a voter. The next life goes on with them.
            End::Left if participant.is_some_and(|participant| participant.may_be_needed()) => return,
            End::Left => of(Bond::Left),
            End::Closed | End::GaveUp(GaveUp::Over) => of(Bond::Ended),
            // Nothing of its founding is on the disk: what it was before is still true, also the voter of a cluster that an operator wanted to recover.
            End::GaveUp(GaveUp::Overtaken(_)) if disk.begins => return,
            // It belongs to the winner from now on, also if it crashes before it is welcome there: the cluster that it yields may never be found again.
            End::GaveUp(GaveUp::Overtaken(cluster)) => {
                participant.map(|participant| participant.record_of_winner(*cluster))
            }
            // The next life comes as another.
            End::GaveUp(GaveUp::Copy) => None,
            // The next life of one that recovers founds a cluster in place of this one. Until that is written a crash leaves the voter as it was, and the order can
            // be given again.
            End::GaveUp(
                GaveUp::Removed | GaveUp::Suspended | GaveUp::Forsaken | GaveUp::DownAll | GaveUp::Recovers,
            )
            | End::Refused(_)
            | End::Unreadable(_) => return,
        };
        // It was in no cluster: what its disk says of an earlier one stays true.
        if record.is_none() && *end != End::GaveUp(GaveUp::Copy) {
            return;
        }
        let voter = self.identity.voter.renewed(self.random.next_u64());
        disk.write(Write::Become { voter, record, log: Vec::new() }, None, effects);
    }

    /// It learned, while it looked for its cluster, that this has ended.
    pub(super) fn write_ended(&mut self, effects: &mut Effects<Effect>) {
        let Some(disk) = &mut self.disk else { return };
        let ended = disk.image.record.as_ref().map(|record| record.memory.cluster);
        // Another cluster has welcomed this node, and the record of that is on its way to the disk: this one must not follow it.
        if disk.welcome.as_ref().is_some_and(|(_, _, welcome)| Some(welcome.table.cluster()) != ended) {
            return;
        }
        if let Some(record) = disk.image.record.as_mut().filter(|record| record.bond != Bond::Ended) {
            record.bond = Bond::Ended;
            let record = record.clone();
            // A guest that had not heard it yet may have welcomed this node.
            disk.welcome.take_if(|(_, _, welcome)| welcome.table.cluster() == record.memory.cluster);
            disk.write(Write::Record(record), None, effects);
        }
    }

    /// Whether the voters of its cluster keep their votes on their disks.
    pub fn is_durable(&self) -> bool {
        self.identity.is_durable()
    }

    /// The cluster that its disk names, while it looks for that one and for no other.
    pub fn sought(&self) -> Option<Cluster> {
        match &self.phase {
            Phase::Seeking(seeking) if seeking.is_bound() => seeking.memory().map(|memory| memory.cluster),
            Phase::Seeking(_) | Phase::AskingStore(_) | Phase::TakingPart(_) | Phase::Ended => None,
        }
    }

    /// Nothing that a disk which does not work should have written is reported, so the log falls silent by itself; renewals are not answered either.
    /// A coordinator with nothing to write would notice nothing of that and stay in office, deaf to renewals: it leaves, and another voter is elected.
    pub(super) fn disk_works(&mut self, now: Timestamp, works: bool, effects: &mut Effects<Effect>) {
        let Some(disk) = &mut self.disk else { return };
        disk.has_failed = !works;
        if let Phase::TakingPart(participant) = &mut self.phase {
            participant.durable.disk_failed = !works;
            if !works {
                participant.log.resign();
            }
            if let Some(end) = participant.settle(now, effects) {
                self.end(end, effects);
            }
        }
    }
}

impl Participant {
    /// The voter of that log goes on. It does not remember whose leases it counted for: it decides nothing that depends on them for as long as one
    /// of them may last.
    fn resume(
        now: Timestamp,
        identity: Identity,
        record: &Record,
        log: StoredLog,
        random: &mut Random,
    ) -> Result<Self, Unrestorable> {
        let log = Raft::restore(identity.voter, raft_timing(&identity), identity.settings.flaws, log)?;
        let speaks = identity.settings.flaws.has(Flaw::RestartedVoterSpeaksOfLeases);
        let acts_from = if speaks { now } else { now + identity.settings.timing().wait };
        let table = Table::new(record.memory.cluster).with_ancestors(record.memory.ancestors.clone());
        let log = Carrier::Voters(log.into());
        let mut participant = Self::new(now, identity, table, log, acts_from, random);
        participant.durable.resumed = Some(now);
        let places = record.memory.addresses().chain(record.members.iter());
        participant.durable.known = places.cloned().collect();
        participant.durable.places = record.memory.places.to_vec();
        let voters = participant.log.voters().clone();
        participant.holder.assume(now, voters);
        // The lives that its log tells of, decided or not, have been: an older copy of their directories must not pass for them.
        for change in participant.log.tail() {
            if let Change::Admit(admission) = change {
                participant.lives.learn(&admission.incarnation, &admission.facts);
            }
        }
        Ok(participant)
    }

    /// Whether its disk bears what it says of leases: it takes writes, and its record names leases as long as those of the settings.
    pub(super) fn may_judge(&self) -> bool {
        !self.durable.disk_failed && self.durable.owes_wait.is_none()
    }

    /// Where members of its cluster listened when its last process ended.
    pub(super) fn recorded(&self) -> &[Address] {
        &self.durable.known
    }

    /// Whether it has started again as a voter, and is not admitted yet.
    pub(super) fn is_resuming(&self) -> bool {
        self.durable.resumed.is_some() && self.holder.admission().is_none()
    }

    /// Whether no list names another voter. A voter that crashed stays on the list and may come back: its cluster has not ended.
    fn decides_alone(&self) -> bool {
        let lists = [self.table.voters(), self.log.voters()];
        lists.iter().all(|voters| voters.all().all(|voter| voter == self.voter()))
    }

    /// Whether its log may be needed after it left: it votes; or nobody has removed it, and it learns, or has a log of an earlier life, so the coordinator may have made a
    /// voter of it and have crashed before it could say so.
    fn may_be_needed(&self) -> bool {
        let learns = self.log.learners().contains(&self.voter());
        let is_guest_with_log = self.holder.admission().is_none() && self.log.last_index() > 0;
        self.votes() || (learns || is_guest_with_log) && !self.table.is_removed(self.uid())
    }

    /// What its disk is to say of the cluster.
    pub(super) fn record(&self, bond: Bond) -> Record {
        let (memory, members) = (Arc::new(self.memory()), addresses(&self.table));
        Record { bond, memory, members, wait: Some(self.identity.settings.timing().wait) }
    }

    /// What its disk is to say when it yields to that cluster, of which it knows no voters yet.
    fn record_of_winner(&self, cluster: Cluster) -> Record {
        let memory = Memory {
            cluster,
            ancestors: Ancestors::default(),
            voters: Voters::default(),
            places: [].into(),
            durable: true,
        };
        Record { memory: Arc::new(memory), ..self.record(Bond::Member) }
    }

    /// Knocks wherever a node of its cluster may listen that it does not hear.
    pub(super) fn knock_to_resume(&self, now: Timestamp, effects: &mut Effects<Effect>) {
        let knock = self.knock_of_voter();
        for address in self.places(now) {
            let message = Message::Knock(knock.clone());
            effects.push(Effect::Send { to: Peer::Address(address.clone()), message });
        }
    }

    /// The cluster works while this voter has only started again: it asks to be taken in before it stands for office. An older copy of a directory learns
    /// here that it is one, before a list that is long over makes it decide alone.
    pub(super) fn goes_on_without_me(&mut self, now: Timestamp, from: Uid, effects: &mut Effects<Effect>) {
        self.times.led = now;
        effects.push(Effect::Send { to: Peer::Node(from), message: Message::Knock(self.knock_of_voter()) });
    }

    fn knock_of_voter(&self) -> Arc<Knock> {
        Arc::new(Knock { memory: Some(Arc::new(self.memory())), ..Knock::of_guest(&self.identity) })
    }

    /// Where nodes of its cluster may listen that it does not hear.
    fn places(&self, now: Timestamp) -> BTreeSet<&Address> {
        let mut places = self.to_greet(now);
        places.extend(self.durable.known.iter());
        places.retain(|address| **address != self.identity.me.address && !self.is_heard(now, address));
        places
    }

    /// Another voter of this cluster has started again, too: the two have to know each other before anybody can be elected.
    pub(super) fn welcome_voter(
        &mut self,
        now: Timestamp,
        knock: &Knock,
        effects: &mut Effects<Effect>,
    ) -> bool {
        let voter = knock.facts.voter(knock.me.uid);
        let is_of_this = knock.memory.as_ref().is_some_and(|memory| memory.cluster == self.table.cluster());
        // A member that does not vote has no log, and may know more than the voters do.
        let is_listed = self.log.voters().names(voter) || self.table.voters().names(voter);
        if !(self.identity.is_durable() && is_of_this && is_listed) {
            return false;
        }
        self.welcome(now, knock, effects);
        true
    }

    /// A node of this cluster tells a voter that has started again what it knows.
    pub(super) fn welcomed(
        &mut self,
        now: Timestamp,
        from: Uid,
        welcome: &Welcome,
        effects: &mut Effects<Effect>,
    ) {
        if self.is_resuming() {
            self.adopt(now, &welcome.table, effects);
            let gossip = gossip::Message::Delta(welcome.gossip.clone());
            self.gossip.handle(now, from, gossip, &mut self.outbox.gossip);
            self.learn_lives();
        }
    }

    /// The addresses of voters that it waits for, because they are silent or have other settings; `None` while it has a quorum.
    pub(super) fn awaited(&self, now: Timestamp) -> Option<Vec<Awaited>> {
        if self.is_alive(now) || self.log.store().is_some() {
            return None;
        }
        let memory = self.memory();
        let me = self.voter();
        let differing = |address: &Address| self.durable.differing.get(address).map(|(_, refusal)| refusal);
        let missing = memory.places.iter().filter(|(voter, address)| {
            let uid = self.lives.uid(*voter);
            let is_silent = !uid.is_some_and(|uid| self.heard.contains_key(&uid));
            // A voter of an earlier directory may have listened where this node does.
            let is_me = *voter == me || *address == self.identity.me.address;
            !is_me && (is_silent || differing(address).is_some())
        });
        let why =
            |address: &Address| differing(address).cloned().map_or(Missing::Silent, Missing::OtherSettings);
        let awaited = |(_, address): &(_, Address)| Awaited { address: address.clone(), why: why(address) };
        Some(missing.map(awaited).collect())
    }
}

/// Whether that write holds a decision.
fn decides(write: &raft::Write<Change, Arc<Table>>) -> bool {
    let is_decision = |item: &raft::Item<Change>| matches!(item, raft::Item::Payload(_));
    matches!(write, raft::Write::Entries { items, .. } if items.iter().any(is_decision))
}

/// Where the members listen.
fn addresses(table: &Table) -> Arc<[Address]> {
    table.members().values().map(|member| member.incarnation.address.clone()).collect()
}
