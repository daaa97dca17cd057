//! A member's side: it asks the voters for its lease, and knows when the lease is over.
//!
//! ```text
//! Guest --admitted--> Suspended --renewal acked by a quorum--> Running
//!                         ^                                       |
//!                         +------------- lease over --------------+
//! ```
//! The lease ends one lease length after the **sending** of the newest renewal that a quorum acked: a voter that removes the
//! node refuses what is sent later, so nothing the node does not know can make its lease longer.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Renew, Renewed, UNANSWERED_MAX, Verdict};
use crate::flaws::{Flaw, Flaws};
use crate::incarnation::Uid;
use crate::settings::Timing;
use crate::time::Timestamp;
use crate::version::Version;
use crate::voters::{VoterId, Voters};

/// How many renewals wait for answers at most: what is older cannot lengthen a lease.
const PENDING_MAX: usize = 8;

/// Whether a node may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is no member.
    Guest,
    /// It is a member without a lease: it runs nothing, and keeps everything.
    Suspended,
    /// It has a lease.
    Running,
}

/// What an answer changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing the node has to act on.
    Noted,
    /// The voters go by another list: ask again, by that one.
    AskAgain,
    /// That voter has not heard the last renewals, though it goes by the same list: it is sent the newest one again.
    SayAgain,
    /// The node is no member any more.
    Removed,
}

/// The lease of one node, and what is needed to keep it.
#[derive(Clone, Debug)]
pub struct Holder {
    me: VoterId,
    flaws: Flaws,
    admission: Option<Version>,
    /// The list by which answers are counted.
    voters: Arc<Voters>,
    /// The newest list known to be committed: no older one can count again.
    committed: Version,
    seq: u64,
    /// The last renewal before it was admitted.
    last_as_guest: u64,
    pending: VecDeque<Pending>,
    lease_end: Timestamp,
    answers: BTreeMap<VoterId, Answer>,
    /// The last renewal before each voter was first asked: what came before it cannot have gone unanswered.
    asked_since: BTreeMap<VoterId, u64>,
    coordinator: Option<Uid>,
    feeder: Option<VoterId>,
    next: Timestamp,
    heard: Timestamp,
}

/// A renewal under way.
#[derive(Clone, Debug)]
struct Pending {
    seq: u64,
    sent: Timestamp,
    voters: Arc<Voters>,
    acked: Vec<VoterId>,
}

/// The last word of a voter.
#[derive(Clone, Debug)]
struct Answer {
    seq: u64,
    at: Timestamp,
    voters: Arc<Voters>,
    coordinator: Option<Uid>,
}

impl Holder {
    /// Of a node that is no member yet and goes by that list.
    pub fn new(now: Timestamp, me: VoterId, voters: Voters, flaws: Flaws) -> Self {
        Self {
            me,
            flaws,
            admission: None,
            committed: voters.id,
            voters: Arc::new(voters),
            seq: 0,
            last_as_guest: 0,
            pending: VecDeque::new(),
            lease_end: Timestamp::ZERO,
            answers: BTreeMap::new(),
            asked_since: BTreeMap::new(),
            coordinator: None,
            feeder: None,
            next: now,
            heard: now,
        }
    }

    /// The node is a member from now on.
    pub fn admit(&mut self, now: Timestamp, admission: Version) {
        if self.admission.is_none() {
            self.admission = Some(admission);
            self.last_as_guest = self.seq;
            self.next = now;
        }
    }

    /// The committed lists changed.
    pub fn follow(&mut self, now: Timestamp, voters: &Voters) {
        self.committed = self.committed.max(voters.id);
        if voters.id > self.voters.id || self.voters.now.is_empty() {
            self.go_by(now, Arc::new(voters.clone()));
        }
    }

    /// It goes by that list, the newest of its own log, which may never have been committed.
    pub fn assume(&mut self, now: Timestamp, voters: Voters) {
        self.go_by(now, Arc::new(voters));
    }

    fn go_by(&mut self, now: Timestamp, voters: Arc<Voters>) {
        self.answers.retain(|uid, _| voters.names(*uid));
        self.asked_since.retain(|uid, _| voters.names(*uid));
        self.voters = voters;
        self.next = now;
    }

    /// It asks at that moment at the latest.
    pub fn renew_at(&mut self, at: Timestamp) {
        self.next = self.next.min(at);
    }

    /// When it asks next.
    pub fn next_deadline(&self) -> Timestamp {
        self.next
    }

    /// Asks every voter, if it is time; the node itself may be one of them.
    ///
    /// `has_log`: the table comes from the node's own log, and nobody need feed it.
    pub fn on_deadline(
        &mut self,
        now: Timestamp,
        timing: &Timing,
        version: Version,
        has_log: bool,
        out: &mut Vec<(VoterId, Renew)>,
    ) {
        if now < self.next {
            return;
        }
        self.next = now + timing.renew;
        self.seq += 1;
        self.choose_feeder(now, timing);
        if self.pending.len() == PENDING_MAX {
            self.pending.pop_front();
        }
        self.pending.push_back(Pending {
            seq: self.seq,
            sent: now,
            voters: self.voters.clone(),
            acked: Vec::new(),
        });
        for voter in self.voters.all() {
            self.asked_since.entry(voter).or_insert(self.seq - 1);
            out.push((voter, self.newest(voter, version, has_log)));
        }
    }

    /// The newest renewal, as that voter is sent it: the first time, or once more. It is the same renewal then, and makes no lease longer than the first
    /// one did.
    pub fn newest(&self, voter: VoterId, version: Version, has_log: bool) -> Renew {
        let since = self.asked_since.get(&voter).copied().unwrap_or(0);
        Renew {
            admission: self.admission,
            voters: self.voters.id,
            seq: self.seq,
            answered: self.answers.get(&voter).map_or(0, |answer| answer.seq).max(since),
            version,
            feed: !has_log && self.feeder == Some(voter),
        }
    }

    /// A voter that answers, each member another one: the feeding is shared among them. What a voter tells unasked is no answer: it may feed nobody.
    fn choose_feeder(&mut self, now: Timestamp, timing: &Timing) {
        let is_recent = |answer: &Answer| answer.seq.saturating_add(UNANSWERED_MAX) >= self.seq;
        let answers = |voter: VoterId| {
            self.hears(now, timing, voter) && self.answers.get(&voter).is_some_and(is_recent)
        };
        if self.feeder.is_some_and(|voter| self.voters.names(voter) && answers(voter)) {
            return;
        }
        let rank = |voter: &VoterId| {
            (!answers(*voter), (voter.get() ^ self.me.get()).wrapping_mul(0x9E37_79B9_7F4A_7C15))
        };
        self.feeder = self.voters.all().filter(|voter| *voter != self.me).min_by_key(rank);
    }

    /// A voter answers. What comes from others, or answers nothing that was asked, changes nothing.
    pub fn answered(&mut self, now: Timestamp, timing: &Timing, from: VoterId, answer: &Renewed) -> Outcome {
        if answer.seq > self.seq {
            return Outcome::Noted;
        }
        let counts = match &answer.verdict {
            // Told unasked by one of a list that this node does not know yet.
            Verdict::NewVoters(voters) => voters.names(from) || self.voters.names(from),
            // That the guest would never be admitted may have been said by one that gossip had told so; the admission is stronger.
            Verdict::NotAdmitted if answer.seq <= self.last_as_guest => false,
            Verdict::Acked | Verdict::NotYet | Verdict::NotAdmitted => {
                answer.seq > 0 && (self.voters.names(from) || self.was_asked(from, answer.seq))
            }
        };
        if !counts {
            return Outcome::Noted;
        }
        self.coordinator = answer.coordinator;
        let outcome = match &answer.verdict {
            Verdict::Acked => {
                self.ack(now, timing, from, answer.seq);
                Outcome::Noted
            }
            Verdict::NotYet => {
                self.note(now, from, answer.seq, self.voters.clone());
                Outcome::Noted
            }
            Verdict::NewVoters(voters) => {
                self.note(now, from, answer.seq, voters.clone());
                let outcome = self.weigh_lists(now, timing);
                let missed_it = answer.seq == 0 && self.is_asked(from, voters);
                if outcome == Outcome::Noted && missed_it { Outcome::SayAgain } else { outcome }
            }
            Verdict::NotAdmitted => Outcome::Removed,
        };
        // One voter left of a dead cluster answers for ever; only a quorum of them can ever admit anybody.
        if self.voters.quorum(|voter| self.hears(now, timing, voter)) {
            self.heard = now;
        }
        outcome
    }

    /// Whether that voter has answered not longer ago than it takes to be suspected.
    pub fn hears(&self, now: Timestamp, timing: &Timing, voter: VoterId) -> bool {
        self.answers.get(&voter).is_some_and(|answer| now.since(answer.at) < timing.suspect_after)
    }

    /// Whether a voter that answers knows of a coordinator.
    pub fn hears_of_coordinator(&self, now: Timestamp, timing: &Timing) -> bool {
        let fresh = |answer: &&Answer| now.since(answer.at) < timing.suspect_after;
        self.answers.values().filter(fresh).any(|answer| answer.coordinator.is_some())
    }

    /// Whether that voter, which goes by that list, should have heard the newest renewal. A store tells nothing unasked.
    fn is_asked(&self, voter: VoterId, list: &Voters) -> bool {
        list.id == self.voters.id && self.asked_since.contains_key(&voter) && voter != VoterId::STORE
    }

    /// Whether that renewal went to that node, though it is on the list no more.
    fn was_asked(&self, from: VoterId, seq: u64) -> bool {
        self.pending.iter().any(|pending| pending.seq == seq && pending.voters.names(from))
    }

    fn note(&mut self, now: Timestamp, from: VoterId, seq: u64, voters: Arc<Voters>) {
        let seq = self.answers.get(&from).map_or(seq, |before| before.seq.max(seq));
        self.answers.insert(from, Answer { seq, at: now, voters, coordinator: self.coordinator });
    }

    /// Goes by the newest list that a quorum of its own voters goes by; without one, by the newest.
    fn weigh_lists(&mut self, now: Timestamp, timing: &Timing) -> Outcome {
        let fresh = |answer: &&Answer| now.since(answer.at) < timing.suspect_after;
        let goes_by = |voter: VoterId, list: &Voters| {
            self.answers.get(&voter).filter(fresh).is_some_and(|answer| answer.voters.id == list.id)
        };
        let lists = || {
            let fresh = self.answers.values().filter(fresh).map(|answer| &answer.voters);
            fresh.filter(|list| list.id >= self.committed)
        };
        // Two lists can have theirs at once for a moment: the last word of one who votes no more is still fresh.
        let agreed =
            lists().filter(|list| list.quorum(|voter| goes_by(voter, list))).max_by_key(|list| list.id);
        let Some(best) = agreed.or_else(|| lists().max_by_key(|list| list.id)) else { return Outcome::Noted };
        let better = if agreed.is_some() { best.id != self.voters.id } else { best.id > self.voters.id };
        if !better {
            return Outcome::Noted;
        }
        let best = best.clone();
        self.go_by(now, best);
        Outcome::AskAgain
    }

    fn ack(&mut self, now: Timestamp, timing: &Timing, from: VoterId, seq: u64) {
        let Some(pending) = self.pending.iter_mut().find(|pending| pending.seq == seq) else {
            return self.note(now, from, seq, self.voters.clone());
        };
        if !pending.acked.contains(&from) {
            pending.acked.push(from);
        }
        let won = pending.voters.quorum(|voter| pending.acked.contains(&voter));
        let (sent, voters) = (pending.sent, pending.voters.clone());
        self.note(now, from, seq, voters);
        if won && self.admission.is_some() {
            let start = if self.flaws.has(Flaw::LeaseFromTheAnswer) { now } else { sent };
            self.lease_end = self.lease_end.max(start + timing.lease);
            // What was sent before cannot lengthen it any more.
            self.pending.retain(|other| other.seq > seq);
        }
    }

    /// Whether the node may run at that moment.
    pub fn standing(&self, now: Timestamp) -> Standing {
        match self.admission {
            None => Standing::Guest,
            Some(_) if now < self.lease_end => Standing::Running,
            Some(_) => Standing::Suspended,
        }
    }

    /// When the lease is over.
    pub fn lease_end(&self) -> Timestamp {
        self.lease_end
    }

    /// When a quorum of the voters last answered, each not long before.
    pub fn heard(&self) -> Timestamp {
        self.heard
    }

    /// The version of the node's admission.
    pub fn admission(&self) -> Option<Version> {
        self.admission
    }

    /// Who is in office, as the voters say.
    pub fn coordinator(&self) -> Option<Uid> {
        self.coordinator
    }

    /// The list it goes by.
    pub fn voters(&self) -> &Voters {
        &self.voters
    }

    /// Whether every voter now on the list was heard to go by that list, or a newer one.
    pub fn all_go_by(&self, id: Version) -> bool {
        let goes = |voter: &VoterId| self.answers.get(voter).is_some_and(|answer| answer.voters.id >= id);
        self.voters.now.iter().filter(|voter| **voter != self.me).all(goes)
    }
}
