//! The log carried by noraft.
//!
//! noraft decides: votes, terms, which entry stands where, what is committed. It knows neither payloads nor time, and it
//! believes its peers. This module is what it needs around it: payloads and snapshots beside its places (`copy`), wire types
//! (`message`), a look at every message before noraft sees it (`check`), pre-vote, stickiness, stepping down and handing
//! over (`office`), sending and repairing (`spread`). `docs/adr/0001-the-log.md` says why it is noraft, and which rules hold
//! around it so that a change of voters cannot block for ever. Three of the four are kept here:
//!
//! - only a member of `next` ends a joint phase;
//! - one change of the lists at a time, learners included, each committed before the next;
//! - no entries to a node that the newest list does not name.
//!
//! The fourth is the caller's: a voter that was dropped goes on answering until no voter's newest list names it.
//!
//! A log is volatile or durable. A volatile one is memory: a restarted process is another node. A durable one gives out what has
//! to be on the disk (`stored`) and lets nothing leave before it is (`journal`); a restarted process is the same voter (`restore`).
//! A voter whose disk came back with less than it had confirmed is noticed as far as it can be (`lost`).

mod check;
mod copy;
mod journal;
mod lost;
mod message;
mod office;
mod peers;
mod restore;
mod spread;
mod step;
mod stored;
mod translate;

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::time::Duration;

use noraft::{LogIndex, Node};

pub use self::message::{Item, Message, Snapshot};
pub use self::restore::Unrestorable;
pub use self::stored::{Stored, StoredSnapshot, Write};

use self::copy::{Lists, LogCopy};
use self::journal::Journal;
use self::lost::Confirmed;
use self::office::{Office, Standing};
use self::step::Incoming;
use super::{Committed, Log, Malformed, NotTaken, Outbox, VotersChange};
use crate::flaws::{Flaw, Flaws};
use crate::time::Timestamp;
use crate::version::{Term, Version};
use crate::voters::{VoterId, Voters};

/// How often, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaftTiming {
    /// A coordinator appends at least that often, if only nothing.
    pub append_every: Duration,
    /// Without a quorum's answers for so long a coordinator leaves office; without a coordinator's appends for so long a
    /// voter votes for another.
    pub suspect_after: Duration,
    /// What a node lacks is sent to it at most that often.
    pub repair_every: Duration,
}

/// Somebody in office, as this node heard it.
#[derive(Clone, Copy, Debug)]
struct Heard {
    uid: VoterId,
    term: Term,
    at: Timestamp,
}

/// One node's log, carried by noraft.
#[derive(Debug)]
pub struct Raft<P, S> {
    me: VoterId,
    timing: RaftTiming,
    flaws: Flaws,
    node: Node,
    copy: LogCopy<P>,
    /// What stands for the entries before the copy.
    state: Option<S>,
    /// The state came from elsewhere, and the caller was not told yet.
    installed: bool,
    /// A payload on its way through noraft.
    staged: Option<P>,
    /// The newest place known to be committed. noraft forgets it when it leaves office; we do not.
    commit: u64,
    /// The newest place the caller was told of.
    told: u64,
    /// The newest commit the others were told of, while in office.
    spread: u64,
    /// The newest moment this node has seen.
    latest: Timestamp,
    coordinator: Option<Heard>,
    standing: Option<Standing>,
    /// The term that begins was asked for by the coordinator.
    forced: bool,
    /// It was in office after the step before.
    led: bool,
    office: Office,
    /// Of a durable log; a volatile one has none.
    journal: Option<Journal<P, S>>,
    confirmed: Confirmed,
    /// It neither votes nor stands while it does not know of a commit up to here.
    votes_from: u64,
    /// The newest entry that is committed as others have told; only a durable log asks for it.
    decided: Version,
}

impl<P: Clone, S: Clone> Raft<P, S> {
    /// A node that is nobody yet: others may let it catch up, and later vote.
    pub fn new(me: VoterId, timing: RaftTiming, flaws: Flaws) -> Self {
        Self {
            me,
            timing,
            flaws,
            node: Node::start(translate::id(me)),
            copy: LogCopy::new(),
            state: None,
            installed: false,
            staged: None,
            commit: 0,
            told: 0,
            spread: 0,
            latest: Timestamp::ZERO,
            coordinator: None,
            standing: None,
            forced: false,
            led: false,
            office: Office::default(),
            journal: None,
            confirmed: Confirmed::default(),
            votes_from: 0,
            decided: Version::ZERO,
        }
    }

    /// The founder of a new cluster: its only voter, in office at once.
    pub fn found(me: VoterId, timing: RaftTiming, flaws: Flaws, now: Timestamp) -> Self {
        Self::new(me, timing, flaws).founded(now)
    }

    /// The same with a durable log: it is in office at once, and may act when that is written.
    pub fn found_durable(me: VoterId, timing: RaftTiming, flaws: Flaws, now: Timestamp) -> Self {
        Self::new_durable(me, timing, flaws).founded(now)
    }

    /// Of a durable node that is nobody yet, and has written nothing.
    pub fn new_durable(me: VoterId, timing: RaftTiming, flaws: Flaws) -> Self {
        let mut log = Self::new(me, timing, flaws);
        log.journal = Some(Journal::new((Term::ZERO, None), 0));
        log
    }

    fn founded(mut self, now: Timestamp) -> Self {
        self.latest = now;
        self.node.create_cluster(&[translate::id(self.me)]);
        self.settle(now, Incoming::nothing(), &mut Vec::new());
        self
    }

    /// Checks what must hold between two calls: that this copy and noraft's places are one log.
    ///
    /// # Panics
    /// If it does not hold.
    pub fn assert_invariants(&self) {
        let log = self.node.log();
        assert_eq!(self.copy.base(), log.snapshot_position().index.get(), "the copy begins elsewhere");
        assert_eq!(self.copy.last(), log.last_position().index.get(), "the copy ends elsewhere");
        assert!(self.copy.base() <= self.told && self.told <= self.commit && self.commit <= self.copy.last());
        let durable = self.journal.is_some();
        assert!(durable || self.node.commit_index().get() <= self.commit, "a commit was missed");
        let lists = self.copy.lists();
        let config = translate::config(&lists.voters.now, &lists.voters.next, &lists.learners);
        assert_eq!(&config, self.node.config(), "the lists differ");
        assert!(self.staged.is_none(), "a payload was lost");
        assert!(self.node.actions().is_empty(), "an action was missed");
    }

    /// Makes a step. Of a durable log, what it sends waits until what it wrote is on the disk.
    fn step<R>(
        &mut self,
        out: &mut Outbox<Message<P, S>>,
        step: impl FnOnce(&mut Self, &mut Outbox<Message<P, S>>) -> R,
    ) -> R {
        let before = out.len();
        let result = step(self, out);
        if let Some(journal) = &mut self.journal
            && !self.flaws.has(Flaw::AnswersBeforeWrite)
        {
            journal.hold_back(out, before);
        }
        result
    }

    fn take(
        &mut self,
        now: Timestamp,
        from: VoterId,
        message: Message<P, S>,
        out: &mut Outbox<Message<P, S>>,
    ) {
        match message {
            Message::PreVote { term, last } => self.answer_pre_vote(now, from, (term, last), out),
            Message::PreVoteReply { term } => self.count_pre_vote(now, from, term, out),
            Message::Vote { term, last, forced } => self.answer_vote(now, from, (term, last, forced), out),
            Message::VoteReply { term, granted } => {
                let (from, term) = (translate::id(from), translate::term(term));
                let message = noraft::Message::RequestVoteReply { from, term, vote_granted: granted };
                self.feed(now, &message, Incoming::nothing(), out);
            }
            Message::Append { term, prev, committed, entries } => {
                self.appended(now, from, (term, prev, committed), entries, out);
            }
            Message::AppendReply { term, last } => self.answered(now, from, (term, last), out),
            Message::StandNow { term } => self.take_over(now, term, out),
            Message::Snapshot(snapshot) => self.install(now, from, *snapshot, out),
        }
    }

    fn may_change(&self) -> Result<(), NotTaken> {
        if !self.in_office() {
            return Err(NotTaken::NotInOffice);
        }
        if self.is_outgoing() { Err(NotTaken::HandingOver) } else { Ok(()) }
    }
}

impl<P: Clone, S: Clone> Raft<P, S> {
    /// The last entry, if the log is memory only.
    pub fn last_if_volatile(&self) -> Option<Version> {
        self.journal.is_none().then(|| self.last())
    }

    /// Whom this voter has voted for in its term.
    pub fn vote(&self) -> Option<VoterId> {
        self.node.voted_for().and_then(|id| VoterId::new(id.get()))
    }
}

impl<P: Clone, S: Clone> Log<P, S> for Raft<P, S> {
    type Message = Message<P, S>;

    fn handle(
        &mut self,
        now: Timestamp,
        from: VoterId,
        message: Self::Message,
        out: &mut Outbox<Self::Message>,
    ) -> Result<(), Malformed> {
        self.check(from, &message)?;
        self.latest = now;
        self.step(out, |log, out| log.take(now, from, message, out));
        Ok(())
    }

    fn on_deadline(&mut self, now: Timestamp, out: &mut Outbox<Self::Message>) {
        self.latest = now;
        if !self.in_office() {
            return;
        }
        if now >= self.office.doubt_at {
            self.doubt(now);
        }
        if self.in_office() && now >= self.office.append_at {
            self.step(out, |log, out| log.append_to_all(now, log.last(), out));
        }
    }

    fn next_deadline(&self) -> Timestamp {
        if self.in_office() { self.office.append_at.min(self.office.doubt_at) } else { Timestamp::NEVER }
    }

    fn stand(&mut self, now: Timestamp, out: &mut Outbox<Self::Message>) {
        self.latest = now;
        self.step(out, |log, out| log.ask_around(now, out));
    }

    fn propose(
        &mut self,
        now: Timestamp,
        payload: P,
        out: &mut Outbox<Self::Message>,
    ) -> Result<Version, NotTaken> {
        self.latest = now;
        self.may_change()?;
        self.staged = Some(payload);
        let position = self.node.propose_command();
        self.step(out, |log, out| log.settle(now, Incoming::nothing(), out));
        Ok(translate::version(position))
    }

    fn change_voters(
        &mut self,
        now: Timestamp,
        change: VotersChange,
        out: &mut Outbox<Self::Message>,
    ) -> Result<(), NotTaken> {
        self.latest = now;
        self.may_change()?;
        let lists = self.copy.lists();
        if lists.voters.is_joint() || lists.at > self.node.commit_index().get().min(self.commit) {
            return Err(NotTaken::ChangeUnderWay);
        }
        let mut config = self.node.config().clone();
        match change {
            VotersChange::AddLearner(uid) if lists.names(uid) => return Ok(()),
            VotersChange::AddLearner(uid) => drop(config.non_voters.insert(translate::id(uid))),
            VotersChange::DropLearner(uid) if !lists.learners.contains(&uid) => return Ok(()),
            VotersChange::DropLearner(uid) => drop(config.non_voters.remove(&translate::id(uid))),
            VotersChange::Begin(next) if next.is_empty() || next == lists.voters.now => return Ok(()),
            VotersChange::Begin(next) => {
                config.new_voters = translate::ids(&next);
                config.non_voters.retain(|id| !config.new_voters.contains(id));
            }
        }
        self.node.propose_config(config);
        self.step(out, |log, out| log.settle(now, Incoming::nothing(), out));
        Ok(())
    }

    fn hand_over(&mut self, now: Timestamp, to: VoterId, out: &mut Outbox<Self::Message>) -> bool {
        self.latest = now;
        self.step(out, |log, out| log.ask_to_stand(now, to, out))
    }

    fn take_committed(&mut self) -> Vec<Committed<P, S>> {
        let mut committed = Vec::new();
        let waits = self.journal.as_ref().is_some_and(Journal::installs);
        if self.installed && waits && !self.flaws.has(Flaw::CommitsBeforeWrite) {
            return committed;
        }
        if self.installed {
            self.installed = false;
            let voters = self.copy.lists_at(self.copy.base()).voters.clone();
            if let (Some(version), Some(state)) = (self.version_at(self.copy.base()), &self.state) {
                committed.push(Committed::Snapshot { version, voters, state: state.clone() });
            }
        }
        for index in self.told + 1..=self.commit {
            if let (Some(version), Some(entry)) = (self.version_at(index), self.copy.entry(index)) {
                committed.push(Committed::Entry(version, entry.clone()));
            }
        }
        self.told = self.commit;
        committed
    }

    fn compact(&mut self, version: Version, state: S) {
        let at = LogIndex::new(version.index);
        let told = self.copy.base() < version.index && version.index <= self.told && !self.installed;
        let Some((position, config)) = self.node.log().get_position_and_config(at) else { return };
        if !told || translate::version(position) != version {
            return;
        }
        let config = config.clone();
        // A coordinator new in office may not know yet, by its own count, that this is committed: another time.
        if self.node.handle_snapshot_installed(position, config) {
            self.copy.forget_up_to(version.index);
            if let Some(journal) = &mut self.journal {
                let Lists { voters, learners, .. } = self.copy.lists_at(version.index).clone();
                journal.compact(StoredSnapshot { version, voters, learners, state: state.clone() });
            }
            self.state = Some(state);
        }
    }

    fn kept(&self) -> usize {
        self.copy.len()
    }

    fn tail<'a>(&'a self) -> impl Iterator<Item = &'a P>
    where
        P: 'a,
    {
        self.copy.payloads_above(self.told)
    }

    fn voters(&self) -> &Voters {
        &self.copy.lists().voters
    }

    fn learners(&self) -> &BTreeSet<VoterId> {
        &self.copy.lists().learners
    }

    fn term(&self) -> Term {
        Term::new(self.node.current_term().get())
    }

    fn in_office(&self) -> bool {
        self.node.role().is_leader()
    }

    fn may_act(&self) -> bool {
        let committed = self.node.log().entries().get_term(LogIndex::new(self.commit));
        self.in_office() && committed == Some(self.node.current_term())
    }

    fn coordinator(&self) -> Option<(VoterId, Timestamp)> {
        if self.in_office() {
            return Some((self.me, self.latest));
        }
        let term = self.term();
        self.coordinator.filter(|known| known.term == term).map(|known| (known.uid, known.at))
    }

    fn matched(&self, uid: VoterId) -> u64 {
        match self.office.peers.get(uid) {
            _ if !self.in_office() => 0,
            _ if uid == self.me => self.copy.last(),
            Some(peer) => peer.matched,
            None => 0,
        }
    }

    fn last_index(&self) -> u64 {
        self.copy.last()
    }

    fn take_writes(&mut self) -> Vec<(u64, Write<P, S>)> {
        self.journal.as_mut().map(Journal::take).unwrap_or_default()
    }

    fn written(&mut self, now: Timestamp, up_to: u64, out: &mut Outbox<Self::Message>) {
        let Some(journal) = &mut self.journal else { return };
        self.latest = now;
        journal.written(up_to, out);
        self.step(out, |log, out| log.settle(now, Incoming::nothing(), out));
    }

    fn lost(&self) -> Vec<VoterId> {
        self.confirmed.lost()
    }

    fn stop_voting(&mut self, until: u64) {
        self.votes_from = self.votes_from.max(until);
        if self.in_office() && self.commit < self.votes_from {
            self.leave_office();
        }
    }

    fn note_committed(&mut self, version: Version) {
        if self.journal.is_some() {
            self.decided = self.decided.max(version);
        }
    }

    fn lacks_committed(&self) -> bool {
        let has_another = |version: Version| version != self.decided;
        !self.may_elect(self.last()) || self.version_at(self.decided.index).is_some_and(has_another)
    }

    fn resign(&mut self) {
        if self.in_office() {
            self.leave_office();
        }
    }
}
