//! The rules: one file each, with what it says and why. Each is cheap: it looks only at the node that just did something,
//! and only at what changed.

mod agreement;
mod calm;
mod clocks;
mod closing;
mod convergence;
mod fewest_go;
mod first_commit;
mod fresh_answer;
mod joint;
mod kept_out;
mod lease;
mod old_voters;
mod older_wins;
mod one_committer;
mod patience;
mod pledged;
mod prefix;
mod removed;
mod renewal;
mod restarted;
mod resumed;
mod resurrection;
mod rising_eras;
#[cfg(test)]
mod samples;
mod size;
mod status;
mod suspended;
mod taken;
mod written;

use std::collections::{BTreeMap, BTreeSet};

use borough_protocol::disk::Image;
use borough_protocol::gossip::{self, Document};
use borough_protocol::incarnation::Uid;
use borough_protocol::log::Log;
use borough_protocol::machine::Machine;
use borough_protocol::node::{Event, Message, Node, Peer, Word};
use borough_protocol::office::TableLog;
use borough_protocol::settings::Checked;
use borough_protocol::table::{Change, Cluster, Removal, Table};
use borough_protocol::version::{Term, Version};
use borough_protocol::voters::VoterId;

pub(super) use self::agreement::unsettled;
use self::calm::Calm;
pub(super) use self::closing::unclosed;
use self::convergence::Convergence;
use self::fewest_go::FewestGo;
use self::joint::Joint;
use self::lease::Lease;
use self::old_voters::OldVoters;
use self::one_committer::OneCommitter;
use self::prefix::Prefix;
use self::removed::Removed;
use self::rising_eras::RisingEras;
pub(super) use self::taken::Before;
use super::cuts::SlotIndex;
use super::disk::Disk;
use super::life::Life;
use super::meeting::Meeting;
use super::moment::Moment;
use super::plan::{Mode, Plan};
use super::rare::{Met, Rare};
use super::slots::Slots;
use super::violation::Violation;

/// A node examines itself after one input of so many: that takes longer than all rules here together.
const SELF_EXAMINATION: u64 = 32;

/// All rules, with what each remembers of the run.
#[derive(Debug)]
pub(super) struct Rules {
    prefix: Prefix,
    one_committer: OneCommitter,
    rising_eras: RisingEras,
    joint: Joint,
    lease: Lease,
    removed: Removed,
    convergence: Convergence,
    old_voters: OldVoters,
    /// The last round of bad links.
    round: Option<FewestGo>,
    calm: Option<Calm>,
    settings: Checked,
    /// Clusters that an operator had begun anew, and which one before.
    begun_anew: BTreeMap<Cluster, Cluster>,
    last_election: Moment,
    /// The lives that were removed for bad links, and when that was first said.
    cut_off: BTreeMap<Uid, Moment>,
    looks: u64,
}

/// What the rules remember of one life.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// The version of its table, and of its document: while they stay, there is nothing to look at.
    table: Option<(Cluster, Version)>,
    document: Option<(u64, usize)>,
    /// The version of the document that it believed all to have seen.
    converged: Option<u64>,
    elected: first_commit::Elected,
    /// The term it acted in.
    office: Option<(Cluster, Term)>,
    is_suspended: bool,
    is_admitted: bool,
    /// Since when it has had no lease, as it was told.
    without_lease: Option<Moment>,
    asked: fresh_answer::Asked,
    vows: pledged::Vows,
    resumes: Option<restarted::Resumes>,
    removals: renewal::Removals,
    buried: resurrection::Buried,
    clock: clocks::Known,
    status: status::Seen,
}

impl Rules {
    pub(super) fn new(plan: &Plan) -> Self {
        let is_calm = matches!(plan.mode, Mode::Calm | Mode::Closing);
        Self {
            prefix: Prefix::default(),
            one_committer: OneCommitter::default(),
            rising_eras: RisingEras::default(),
            joint: Joint::default(),
            lease: Lease::new(&plan.settings),
            removed: Removed::default(),
            convergence: Convergence::default(),
            old_voters: OldVoters::default(),
            round: None,
            settings: plan.settings.clone(),
            calm: is_calm.then(Calm::default),
            begun_anew: BTreeMap::new(),
            last_election: Moment::START,
            cut_off: BTreeMap::new(),
            looks: 0,
        }
    }

    /// Looks at a life that handled something.
    pub(super) fn look(
        &mut self,
        now: Moment,
        life: &mut Life,
        disk: Option<&Disk>,
        met: &mut Met,
    ) -> Result<(), Violation> {
        self.looks += 1;
        if self.looks.is_multiple_of(SELF_EXAMINATION) {
            life.node.assert_invariants(life.local(now));
        }
        let uid = life.uid();
        let Some(table) = life.node.table() else { return Ok(()) };
        let version = (table.cluster(), table.version());
        if life.watch.table != Some(version) {
            self.prefix.moves(uid, life.watch.table, table)?;
            self.joint.moves(table, |office| self.one_committer.holder(office))?;
            self.removed.moves(uid, table)?;
            self.old_voters.moves(now, table);
            disk.map_or(Ok(()), |disk| written::moves(life, disk, table))?;
            life.watch.table = Some(version);
        }
        if let Some(log) = life.node.log() {
            life.watch.removals.look(log);
            self.look_at_office(&mut life.watch, (now, table), (uid, life.node.voter()), log, met)?;
        }
        if let Some(document) = life.node.document() {
            self.look_at_document(&mut life.watch, uid, document)?;
        }
        Ok(())
    }

    fn look_at_office(
        &mut self,
        watch: &mut Watch,
        (now, table): (Moment, &Table),
        (uid, voter): (Uid, VoterId),
        log: &TableLog,
        met: &mut Met,
    ) -> Result<(), Violation> {
        if !log.in_office() {
            return Ok(());
        }
        let (cluster, term) = (table.cluster(), log.term());
        if watch.elected.is_in_office(uid, term, log.last_index(), log.may_act())? {
            self.last_election = now;
            if log.tail().any(|change| matches!(change, Change::Remove(..))) {
                met.count(Rare::TakeOverWithUncommittedRemoval);
            }
        }
        if log.may_act() && watch.office != Some((cluster, term)) {
            watch.office = Some((cluster, term));
            self.one_committer.takes_office((cluster, term), (uid, voter))?;
        }
        Ok(())
    }

    fn look_at_document(
        &mut self,
        watch: &mut Watch,
        uid: Uid,
        document: &Document,
    ) -> Result<(), Violation> {
        let version = (document.version_hash(), document.tombstone_count());
        if watch.document != Some(version) {
            watch.document = Some(version);
            watch.buried.changes(uid, document)?;
            watch.clock.changes(uid, document)?;
            watch.status.changes(uid, document)?;
            size::changes(uid, document)?;
            self.convergence.has(uid, version.0);
        }
        if watch.converged != Some(version.0) && document.is_converged() {
            watch.converged = Some(version.0);
            self.convergence.is_converged(uid, document)?;
        }
        Ok(())
    }

    /// Hears what a life tells its process.
    pub(super) fn hear(
        &mut self,
        now: Moment,
        (speaker, event): (Uid, &Event),
        slots: &Slots,
        met: &mut Met,
    ) -> Result<(), Violation> {
        match event {
            Event::Joined(cluster) => self.rising_eras.joined(now, *cluster, slots, met),
            Event::Removed(uid, why) => {
                met.count(rare_removal(*why));
                if *why == Removal::CutOff && !self.cut_off.contains_key(uid) {
                    self.cut_off.insert(*uid, now);
                    self.is_cut_off(now, speaker, *uid, slots)?;
                }
                if let Some(calm) = &self.calm {
                    calm.removed(*uid, *why, slots.life(*uid))?;
                }
                // Who said goodbye had dropped everything: it is free at once.
                if *why == Removal::Goodbye {
                    self.lease.freed(now, *uid, slots.life(*uid))?;
                }
                Ok(())
            }
            Event::Freed(uid) => {
                let table = slots.life(speaker).and_then(|life| life.node.table());
                if table.is_some_and(|table| is_freed_late(table, *uid)) {
                    met.count(Rare::FreedInALaterTerm);
                }
                self.lease.freed(now, *uid, slots.life(*uid))
            }
            Event::Resumed => self.works(now, speaker, slots),
            Event::Admitted(_)
            | Event::Suspended
            | Event::Topology
            | Event::Table(_)
            | Event::Drain
            | Event::Closing
            | Event::AddressTaken(..)
            | Event::EraIgnored(_)
            | Event::Rests(_) => Ok(()),
            Event::LogLost(_) => {
                met.count(Rare::LogLost);
                Ok(())
            }
        }
    }

    /// A life was removed for bad links, as another one is the first to say.
    fn is_cut_off(&mut self, now: Moment, speaker: Uid, uid: Uid, slots: &Slots) -> Result<(), Violation> {
        if let Some((round, slot)) = self.round.as_mut().zip(slots.slot_of(uid)) {
            round.removed(uid, slot)?;
        }
        let cluster = slots.life(speaker).and_then(|life| life.node.cluster());
        match cluster.zip(slots.voter_of(uid)) {
            Some((cluster, voter)) => self.old_voters.removed(now, cluster, (uid, voter)),
            None => Ok(()),
        }
    }

    /// The links between these slots, of so many, become bad at one moment.
    pub(super) fn links_break(&mut self, pairs: BTreeSet<(SlotIndex, SlotIndex)>, slots: usize) {
        self.round = Some(FewestGo::begins(pairs, slots));
    }

    /// A life is admitted to members in these slots, from the oldest to the youngest. `is_bad` tells which links are bad.
    pub(super) fn admitted(
        &mut self,
        life: (Uid, SlotIndex),
        members: Vec<SlotIndex>,
        is_bad: impl Fn(&(SlotIndex, SlotIndex)) -> bool,
    ) -> Result<(), Violation> {
        let Some(round) = &mut self.round else { return Ok(()) };
        round.admitted(life.1, &members, &is_bad);
        kept_out::admitted(round, life, members, is_bad)
    }

    /// A cluster is begun anew, because all who could decide in the one before are dead.
    pub(super) fn begun_anew(&mut self, cluster: Cluster, before: Cluster) {
        self.begun_anew.insert(cluster, before);
    }

    /// Whether an operator had that cluster begun anew.
    pub(super) fn is_begun_anew(&self, cluster: Cluster) -> bool {
        self.begun_anew.contains_key(&cluster)
    }

    /// A life may run. If its cluster was begun anew, what those of the one before own may have new owners from then on.
    fn works(&mut self, now: Moment, uid: Uid, slots: &Slots) -> Result<(), Violation> {
        let cluster = slots.life(uid).and_then(|life| life.node.cluster());
        let before = cluster.and_then(|cluster| self.begun_anew.get(&cluster)).copied();
        let Some(before) = before else { return Ok(()) };
        let lives = slots.running().map(|(_, life)| life);
        for life in lives.filter(|life| life.node.cluster() == Some(before)) {
            self.lease.freed(now, life.uid(), Some(life))?;
        }
        Ok(())
    }

    /// A life begins a turn.
    pub(super) fn turn_begins(&self, now: Moment, life: &Life, met: &mut Met) -> Result<(), Violation> {
        suspended::turn_begins(life)?;
        self.lease.turn_begins(life, now, met)
    }

    /// A wall clock was set: eras may go back with it.
    pub(super) fn let_go_of_eras(&mut self) {
        self.rising_eras.let_go();
    }

    /// Listens to what a life says to another.
    pub(super) fn listen(
        &mut self,
        now: Moment,
        life: &Life,
        to: &Peer,
        message: &Message,
    ) -> Result<(), Violation> {
        restarted::says(now, life, life.watch.resumes, &self.settings, message)?;
        if let Message::Word { word: Word::Gossip(word), .. } = message {
            // It may have had a version for the time of one input only.
            let had = match word {
                gossip::Message::Seen { version, .. } => Some(*version),
                gossip::Message::Delta(delta) => Some(delta.version()),
                gossip::Message::Digest { .. } | gossip::Message::Pull { .. } => None,
            };
            if let Some(version) = had {
                self.convergence.has(life.uid(), version);
            }
        }
        match to {
            Peer::Node(uid) => renewal::says(life, &life.watch.removals, *uid, message),
            Peer::Address(_) => Ok(()),
        }
    }

    /// Listens to what a life with a disk says to that voter.
    pub(super) fn listen_to_voter(
        life: &Life,
        disk: &Disk,
        to: VoterId,
        message: &Message,
    ) -> Result<(), Violation> {
        written::says(life, disk, to, message)
    }

    /// The node of a voter with that disk has just started.
    pub(super) fn starts(node: &Node, image: &Image, is_listed: bool) -> Result<(), Violation> {
        resumed::starts(node, image, is_listed)
    }

    /// When somebody last took office.
    pub(super) fn last_election(&self) -> Moment {
        self.last_election
    }

    /// When somebody was last removed for bad links.
    pub(super) fn last_cut_off(&self) -> Option<Moment> {
        self.cut_off.values().max().copied()
    }

    /// Whether that member must stay though it has bad links. Its coordinator may have come `lately`, after it.
    pub(super) fn must_stay(&self, now: Moment, cluster: Cluster, voter: VoterId, lately: bool) -> bool {
        self.old_voters.must_stay(now, cluster, voter, lately)
    }

    /// Whether that life was removed from its cluster, as far as anybody knows.
    pub(super) fn is_removed(&self, uid: Uid) -> bool {
        self.removed.contains(uid)
    }
}

impl Watch {
    /// Whether it was told that it is a member, and not that it was removed.
    pub(super) fn is_admitted(&self) -> bool {
        self.is_admitted
    }

    /// Whether it was told that its lease is over, and not yet that it has one again.
    pub(super) fn is_suspended(&self) -> bool {
        self.is_suspended
    }

    /// Takes note of what the life says to others.
    pub(super) fn says(&mut self, now: Moment, message: &Message) {
        self.asked.says(now, message);
        self.vows.says(message);
    }

    /// Takes note of what the life hears from others.
    pub(super) fn hears(&mut self, message: &Message) {
        self.vows.hears(message);
    }

    /// Its disk says that it goes on as a voter of that cluster.
    pub(super) fn resumes(&mut self, cluster: Cluster, voter: VoterId) {
        self.resumes = Some((cluster, voter));
    }

    /// The life founds a cluster, with that disk.
    pub(super) fn founds(&self, life: Uid, image: &Image) -> Result<(), Violation> {
        self.vows.founds(life, image)
    }

    /// The life yields to another cluster.
    pub(super) fn yields(&self, now: Moment, meeting: &Meeting, settings: &Checked) -> Result<(), Violation> {
        older_wins::yields(meeting)?;
        if self.is_admitted {
            patience::yields((now, self.without_lease), meeting, settings)?;
        }
        self.asked.yields(now, meeting, settings)
    }

    /// Takes note of what the life tells its process.
    pub(super) fn hear(&mut self, now: Moment, (me, event): (Uid, &Event), met: &mut Met) {
        self.without_lease = match event {
            Event::Admitted(_) | Event::Suspended => Some(now),
            Event::Resumed => None,
            _ => self.without_lease,
        };
        if *event == Event::Resumed && self.is_suspended {
            met.count(Rare::LeaseLapsedAndResumed);
        }
        self.is_admitted = match event {
            Event::Admitted(_) => true,
            Event::Removed(removed, _) => self.is_admitted && *removed != me,
            _ => self.is_admitted,
        };
        self.is_suspended = match event {
            Event::Suspended => true,
            Event::Resumed => false,
            _ => self.is_suspended,
        };
    }
}

/// Whether a later coordinator freed it than the one that removed it.
fn is_freed_late(table: &Table, uid: Uid) -> bool {
    table.removed().get(&uid).is_some_and(|removed| removed.version.term < table.version().term)
}

fn rare_removal(why: Removal) -> Rare {
    match why {
        Removal::Quiet => Rare::RemovedQuiet,
        Removal::Goodbye => Rare::RemovedGoodbye,
        Removal::Replaced => Rare::RemovedReplaced,
        Removal::Operator => Rare::RemovedOperator,
        Removal::CutOff => Rare::RemovedCutOff,
    }
}
