//! A node that belongs to a cluster: its parts, and what it is told to do.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::Identity;
use super::departure::Departure;
use super::durable::Durable;
use super::feed::Feeder;
use super::interface::{Command, Effect, End, Input, Message, Peer, Report, Word};
use super::meeting::Nonces;
use super::presence::Presence;
use super::shards::ShardWishes;
use super::voter_lives::VoterLives;
use crate::flaws::Flaw;
use crate::formation::Welcome;
use crate::gossip::{self, Gossip};
use crate::heartbeat::Heartbeats;
use crate::incarnation::{Address, Uid};
use crate::lease::{Grants, Holder, Renew, Standing};
use crate::log::raft::{Raft, RaftTiming};
use crate::log::{Carrier, Log};
use crate::machine::Effects;
use crate::office::{GuestWatch, Office, Probation, Request, TableLog, TableLogMessage, VoterHistory};
use crate::random::Random;
use crate::table::{Ancestors, Cluster, State, Table};
use crate::time::Timestamp;
use crate::version::{Term, Version};
use crate::voters::VoterId;

/// A node in a cluster.
#[derive(Debug)]
pub(super) struct Participant {
    pub(super) identity: Identity,
    /// Of its cluster.
    pub(super) tag: u64,
    pub(super) table: Table,
    pub(super) gossip: Gossip,
    pub(super) lives: VoterLives,
    pub(super) voter_history: VoterHistory,
    pub(super) heartbeats: Heartbeats,
    /// A node of its cluster with other settings, which it asked what differs.
    pub(super) asked_why: Option<Uid>,
    pub(super) log: TableLog,
    pub(super) holder: Holder,
    pub(super) grants: Grants,
    pub(super) feeder: Feeder,
    /// The term it is in office for, and what it does there.
    pub(super) office: Option<(Term, Office)>,
    /// Since when it has seen the guests: should it take office, it need not watch them from the beginning.
    pub(super) guests: GuestWatch,
    /// Who was removed for bad links, as the table showed it in this life.
    pub(super) probation: Probation,
    /// A founder waits this long before it acts: an earlier cluster of this name may still hold leases.
    pub(super) acts_from: Timestamp,
    /// Up to where the log itself has said what is committed.
    pub(super) log_version: Version,
    /// The table at some place of the log, up to which it may be compacted.
    pub(super) mark: Option<(Version, Arc<Table>)>,
    pub(super) departure: Departure,
    /// What the coordinator is told again and again until the table shows it.
    pub(super) reports: BTreeSet<Report>,
    /// What the region of this node wants.
    pub(super) shards: ShardWishes,
    /// What was last published of the lease.
    pub(super) published: Standing,
    pub(super) suspended_since: Timestamp,
    pub(super) was_voter: bool,
    /// Whether it heard no quorum of the voters when it last looked.
    pub(super) was_cut_off: bool,
    pub(super) term: Term,
    /// Removed nodes whose links stay open as long as the log needs them.
    pub(super) to_close: BTreeSet<Uid>,
    /// Those who are silent for too long, and when a look first found them so.
    pub(super) looked_at: BTreeMap<Uid, Timestamp>,
    /// The quiet members as last reported.
    pub(super) quiet: Arc<[Uid]>,
    pub(super) reports_sent: u64,
    /// Who has the last of them: a new coordinator is to have one at once.
    pub(super) reported_to: Option<Uid>,
    /// From which nodes of this cluster something came lately, and when.
    pub(super) heard: BTreeMap<Uid, Timestamp>,
    pub(super) presence: Presence,
    /// Where nodes listen that remembered this cluster when they asked for it, or were asked, and when.
    pub(super) rememberers: BTreeMap<Address, Timestamp>,
    pub(super) nonces: Nonces,
    pub(super) durable: Durable,
    pub(super) times: Times,
    pub(super) random: Random,
    /// Whether something changed on which the coordinator may have to act.
    pub(super) stirred: bool,
    pub(super) outbox: Pending,
}

/// When the parts that have no clock of their own are looked at next.
#[derive(Debug)]
pub(super) struct Times {
    pub(super) quiet: Timestamp,
    pub(super) office: Timestamp,
    pub(super) stood: Timestamp,
    /// How much longer it waits before it stands again; nothing once there is a coordinator.
    pub(super) drawn: Duration,
    /// When it last heard of a coordinator or of a new term, or began to vote.
    pub(super) led: Timestamp,
    /// When it was last called.
    pub(super) awake: Timestamp,
    pub(super) hello: Timestamp,
    pub(super) report: Timestamp,
    /// When a member that had said goodbye was removed last.
    pub(super) goodbye: Timestamp,
}

/// Buffers used again for every input.
#[derive(Debug, Default)]
pub(super) struct Pending {
    pub(super) log: Vec<(VoterId, TableLogMessage)>,
    pub(super) gossip: Vec<(Uid, gossip::Message)>,
    pub(super) heartbeat: Vec<(Uid, crate::heartbeat::Message)>,
    pub(super) renew: Vec<(VoterId, Renew)>,
}

impl Participant {
    /// It founds the cluster, as its one voter.
    pub(super) fn found(
        now: Timestamp,
        identity: Identity,
        (cluster, ancestors): (Cluster, Ancestors),
        acts_from: Timestamp,
        random: &mut Random,
    ) -> Self {
        let (voter, timing, flaws) = (identity.voter, raft_timing(&identity), identity.settings.flaws);
        let log = if identity.is_durable() {
            Raft::found_durable(voter, timing, flaws, now)
        } else {
            Raft::found(voter, timing, flaws, now)
        };
        let log = Carrier::Voters(log.into());
        let table = Table::new(cluster).with_ancestors(ancestors);
        Self::new(now, identity, table, log, acts_from, random)
    }

    /// It was welcomed.
    pub(super) fn join(
        now: Timestamp,
        identity: Identity,
        (from, welcome): (Uid, &Welcome),
        random: &mut Random,
    ) -> Self {
        let (voter, timing, flaws) = (identity.voter, raft_timing(&identity), identity.settings.flaws);
        let log = if identity.is_durable() {
            Raft::new_durable(voter, timing, flaws)
        } else {
            Raft::new(voter, timing, flaws)
        };
        let log = Carrier::Voters(log.into());
        let table = (*welcome.table).clone();
        let mut participant = Self::new(now, identity, table, log, now, random);
        let gossip = gossip::Message::Delta(welcome.gossip.clone());
        participant.gossip.handle(now, from, gossip, &mut participant.outbox.gossip);
        participant.learn_lives();
        participant
    }

    pub(super) fn new(
        now: Timestamp,
        identity: Identity,
        table: Table,
        log: TableLog,
        acts_from: Timestamp,
        random: &mut Random,
    ) -> Self {
        let settings = &identity.settings;
        let table = table.with_flaws(settings.flaws);
        let uid = identity.me.uid;
        let pace = gossip::Settings {
            interval: settings.gossip_interval,
            interval_spreading: settings.gossip_interval / 5,
            tombstone_life: settings.tombstone_life,
            ..gossip::Settings::default()
        };
        let (me, facts) = (identity.me.clone(), identity.facts.clone());
        let mut lives = VoterLives::new(identity.is_durable());
        lives.learn(&me, &facts);
        let tag = table.cluster().tag() ^ settings.tag();
        let mut voter_history = VoterHistory::default();
        voter_history.begin(now, &table, identity.is_durable());
        Self {
            lives,
            voter_history,
            gossip: Gossip::new(now, me, facts, pace, random.fork(), settings.flaws),
            heartbeats: Heartbeats::new(now, uid, settings.clone(), random),
            random: random.fork(),
            holder: Holder::new(now, identity.voter, table.voters().clone(), settings.flaws),
            asked_why: None,
            grants: Grants::new(settings.flaws),
            feeder: Feeder::default(),
            office: None,
            guests: GuestWatch::default(),
            probation: Probation::default(),
            acts_from,
            log_version: Version::ZERO,
            mark: None,
            departure: Departure::Staying,
            reports: BTreeSet::new(),
            shards: ShardWishes::default(),
            was_voter: false,
            was_cut_off: false,
            term: Term::ZERO,
            published: Standing::Guest,
            suspended_since: now,
            to_close: BTreeSet::new(),
            looked_at: BTreeMap::new(),
            quiet: Arc::from([]),
            reports_sent: 0,
            reported_to: None,
            heard: BTreeMap::new(),
            presence: Presence::default(),
            rememberers: BTreeMap::new(),
            nonces: Nonces::default(),
            durable: Durable::default(),
            times: Times {
                quiet: now,
                office: Timestamp::NEVER,
                stood: now,
                drawn: Duration::ZERO,
                led: now,
                awake: now,
                hello: now,
                report: Timestamp::NEVER,
                goodbye: Timestamp::ZERO,
            },
            stirred: true,
            outbox: Pending::default(),
            identity,
            tag,
            table,
            log,
        }
    }

    pub(super) fn uid(&self) -> Uid {
        self.identity.me.uid
    }

    /// Its identity as a voter.
    pub(super) fn voter(&self) -> VoterId {
        self.identity.voter
    }

    /// The node in office, as far as the log knows.
    pub(super) fn coordinator(&self) -> Option<Uid> {
        self.log.coordinator().and_then(|(voter, _)| self.lives.uid(voter))
    }

    /// Whether its voice counts: its own log says so, and no newer committed list says otherwise.
    ///
    /// Who was voted out is sent no more entries, so its log stays at a list that still names it.
    pub(super) fn votes(&self) -> bool {
        let (me, committed, own) = (self.voter(), self.table.voters(), self.log.voters());
        own.names(me) && (committed.id <= own.id || committed.names(me))
    }

    pub(super) fn may_run(&self, now: Timestamp) -> bool {
        self.departure.may_run() && self.holder.standing(now) == Standing::Running
    }

    /// Until when it may run; in the past, or 0, if it may not.
    pub(super) fn runs_until(&self) -> Timestamp {
        let admitted = self.holder.admission().is_some();
        if admitted && self.departure.may_run() { self.holder.lease_end() } else { Timestamp::ZERO }
    }

    /// Handles an input; says so if this was the end.
    pub(super) fn handle(
        &mut self,
        now: Timestamp,
        input: Input,
        effects: &mut Effects<Effect>,
    ) -> Option<End> {
        let end = match input {
            Input::Message { from, message } => self.hear(now, from, message, effects),
            Input::Command(command) => self.command(now, &command),
            Input::Deadline => self.on_deadline(now, effects),
            // The node hears it before its parts do.
            Input::Written(_) | Input::DiskWorks(_) => None,
        };
        end.or_else(|| self.settle(now, effects))
    }

    /// A word to another node of this cluster.
    pub(super) fn word(&self, to: Uid, word: Word) -> Effect {
        Effect::Send { to: Peer::Node(to), message: Message::Word { cluster: self.tag, word } }
    }

    fn command(&mut self, now: Timestamp, command: &Command) -> Option<End> {
        match command {
            Command::Leave => return self.leave(now),
            Command::Drained => self.drained(now),
            Command::Down(uid) => self.ask(Request::Down(*uid), Report::Down(*uid)),
            Command::CloseCluster => self.ask(Request::Close, Report::Close),
            Command::Shards(report) => self.shards.report(report.clone()),
            Command::Allocate(custom) => {
                self.shards.strategies.insert(custom);
                self.stirred = true;
            }
            Command::Seeds(seeds) => {
                self.identity.seeds = seeds.clone();
                self.times.hello = now;
            }
            // The node hears it before its parts do.
            Command::Recover => {}
            // The store judges who renews, and a connection between two members is nothing to it.
            Command::Refused(_) if self.log.store().is_some() => {}
            Command::Refused(uid) => {
                self.grants.suspect(now, self.identity.settings.timing(), *uid);
                self.times.quiet = now;
                if self.identity.settings.flaws.has(Flaw::RefusedConnectionIsDeath) {
                    self.ask(Request::Goodbye(*uid), Report::Goodbye);
                }
            }
        }
        None
    }

    /// Asks the coordinator, which may be this node itself.
    pub(super) fn ask(&mut self, request: Request, report: Report) {
        if let Some((_, office)) = &mut self.office {
            office.ask(request);
            self.stirred = true;
        } else {
            self.reports.insert(report);
            self.times.report = Timestamp::ZERO;
        }
    }

    /// Whether the table has this node as a member that does not leave.
    pub(super) fn state(&self) -> Option<State> {
        self.table.member(self.uid()).map(|member| member.state)
    }

    pub(super) fn assert_invariants(&self, now: Timestamp) {
        if !self.gossip.document().is_buried(self.uid()) {
            self.gossip.assert_invariants();
        }
        let admitted = self.holder.admission().is_some();
        assert!(!self.may_run(now) || admitted, "a node that is no member runs");
        assert!(self.office.is_none() || self.log.in_office(), "a coordinator out of office acts");
    }
}

pub(super) fn raft_timing(identity: &Identity) -> RaftTiming {
    let timing = identity.settings.timing();
    RaftTiming {
        append_every: timing.renew,
        suspect_after: timing.suspect_after,
        repair_every: identity.settings.round_trip * 2 / 5,
    }
}
