//! A log of our own, small and slow, only to be broken: each [`Flaw`] here is a rule of consensus itself, which noraft keeps
//! and cannot be asked to break. Without a flaw it is a correct log: terms, votes, one line an append, joint lists.

use std::collections::{BTreeMap, BTreeSet};

use borough_protocol::flaws::Flaw;
use borough_protocol::log::{Committed, Entry, Log, Malformed, NotTaken, Outbox, VotersChange};
use borough_protocol::time::Timestamp;
use borough_protocol::version::{Term, Version};
use borough_protocol::voters::{VoterId, Voters};

use crate::carrier::{Carrier, State, TIMING};

#[derive(Clone, Debug)]
pub(crate) struct Line {
    term: Term,
    entry: Entry<u64>,
    /// The lists from here on.
    voters: Voters,
    learners: BTreeSet<VoterId>,
}

#[derive(Clone, Debug)]
pub(crate) enum ToyMessage {
    Vote { term: Term, last: Version },
    Granted { term: Term },
    Append { term: Term, prev: Version, line: Option<Line>, commit: u64 },
    Appended { term: Term, index: u64 },
    StandNow { term: Term },
}

#[derive(Debug, PartialEq, Eq)]
enum Role {
    Follows,
    Stands,
    InOffice,
}

pub(crate) struct Toy {
    me: VoterId,
    broken: Option<Flaw>,
    term: Term,
    vote: Option<VoterId>,
    role: Role,
    votes: BTreeSet<VoterId>,
    /// The first is before any entry.
    lines: Vec<Line>,
    commit: u64,
    told: u64,
    matched: BTreeMap<VoterId, u64>,
    /// New voters of the change under way that have not answered yet.
    fresh: BTreeSet<VoterId>,
    coordinator: Option<(VoterId, Timestamp)>,
    append_at: Timestamp,
}

impl Carrier for Toy {
    type Breaks = Option<Flaw>;

    fn make(me: VoterId, broken: Option<Flaw>) -> Self {
        let nothing = Line {
            term: Term::ZERO,
            entry: Entry::Nothing,
            voters: Voters::default(),
            learners: BTreeSet::new(),
        };
        Self {
            me,
            broken,
            term: Term::ZERO,
            vote: None,
            role: Role::Follows,
            votes: BTreeSet::new(),
            lines: vec![nothing],
            commit: 0,
            told: 0,
            matched: BTreeMap::new(),
            fresh: BTreeSet::new(),
            coordinator: None,
            append_at: Timestamp::NEVER,
        }
    }

    fn found(me: VoterId, broken: Option<Flaw>, now: Timestamp) -> Self {
        let mut toy = Self::make(me, broken);
        toy.push_lists(BTreeSet::from([me]), BTreeSet::new(), BTreeSet::new());
        toy.stand(now, &mut Vec::new());
        toy
    }

    fn assert_sound(&self) {}
}

impl Toy {
    fn is_broken(&self, flaw: Flaw) -> bool {
        self.broken == Some(flaw)
    }

    fn newest(&self) -> &Line {
        &self.lines[self.lines.len() - 1]
    }

    fn last(&self) -> Version {
        Version { term: self.newest().term, index: self.last_index() }
    }

    fn push(&mut self, entry: Entry<u64>) {
        let Line { voters, learners, .. } = self.newest().clone();
        self.lines.push(Line { term: self.term, entry, voters, learners });
    }

    fn push_lists(&mut self, now: BTreeSet<VoterId>, next: BTreeSet<VoterId>, learners: BTreeSet<VoterId>) {
        let id = Version { term: self.term, index: self.last_index() + 1 };
        let entry = Entry::Voters { now: now.clone(), next: next.clone() };
        self.lines.push(Line { term: self.term, entry, voters: Voters { id, now, next }, learners });
    }

    fn quorum(&self, have: impl Fn(VoterId) -> bool) -> bool {
        let voters = &self.newest().voters;
        if self.is_broken(Flaw::VotersChangedByNewMajorityAlone) && voters.is_joint() {
            return Voters { now: voters.next.clone(), ..Voters::default() }.quorum(have);
        }
        voters.quorum(have)
    }

    fn append_to(&self, to: VoterId) -> (VoterId, ToyMessage) {
        let index = self.matched.get(&to).copied().unwrap_or(0);
        let at = usize::try_from(index).expect("small");
        let prev = Version { term: self.lines[at].term, index };
        let line = self.lines.get(at + 1).cloned();
        (to, ToyMessage::Append { term: self.term, prev, line, commit: self.commit })
    }

    fn append_to_all(&mut self, now: Timestamp, out: &mut Outbox<ToyMessage>) {
        self.append_at = now + TIMING.append_every;
        let Line { voters, learners, .. } = self.newest();
        let others = voters.all().chain(learners.iter().copied()).filter(|&uid| uid != self.me);
        out.extend(others.map(|uid| self.append_to(uid)));
    }

    /// Counts who has what; ends a joint phase that is committed.
    fn advance(&mut self, now: Timestamp, out: &mut Outbox<ToyMessage>) {
        let before = self.commit;
        for index in (self.commit + 1..=self.last_index()).rev() {
            let own = self.lines[usize::try_from(index).expect("small")].term == self.term;
            let has = |uid: VoterId| {
                uid == self.me
                    || self.matched.get(&uid).is_some_and(|&matched| matched >= index)
                    || (self.fresh.contains(&uid) && self.is_broken(Flaw::VoterCountedBeforeItHasTheCopy))
            };
            if (own || self.is_broken(Flaw::CommitCountedOverOlderTerms)) && self.quorum(has) {
                self.commit = index;
                break;
            }
        }
        let Line { voters, learners, .. } = self.newest().clone();
        if voters.is_joint() && voters.id.index <= self.commit {
            self.push_lists(voters.next, BTreeSet::new(), learners);
            self.append_to_all(now, out);
            self.advance(now, out);
        } else if before < self.commit {
            self.append_to_all(now, out);
        }
        if !self.newest().voters.names(self.me) && self.newest().voters.id.index <= self.commit {
            self.role = Role::Follows;
        }
    }

    fn take_office_if_elected(&mut self, now: Timestamp, out: &mut Outbox<ToyMessage>) {
        if self.role == Role::Stands && self.quorum(|uid| self.votes.contains(&uid)) {
            self.role = Role::InOffice;
            self.matched.clear();
            self.fresh.clear();
            self.push(Entry::Nothing);
            self.append_to_all(now, out);
            self.advance(now, out);
        }
    }

    fn begin_term(&mut self, now: Timestamp, out: &mut Outbox<ToyMessage>) {
        self.term = Term::new(self.term.get() + 1);
        (self.vote, self.role, self.votes) = (Some(self.me), Role::Stands, BTreeSet::from([self.me]));
        let (term, last) = (self.term, self.last());
        let others = self.newest().voters.all().filter(|&uid| uid != self.me);
        out.extend(others.map(|uid| (uid, ToyMessage::Vote { term, last })));
        self.take_office_if_elected(now, out);
    }

    fn append(&mut self, prev: Version, line: Option<Line>, commit: u64) -> Option<u64> {
        let at = usize::try_from(prev.index).expect("small");
        if self.lines.get(at).is_none_or(|line| line.term != prev.term) {
            return None;
        }
        let end = at + usize::from(line.is_some());
        if let Some(line) = line.filter(|line| self.lines.get(end).is_none_or(|own| own.term != line.term)) {
            self.lines.truncate(end);
            self.lines.push(line);
        }
        self.commit = self.commit.max(commit.min(end as u64));
        Some(end as u64)
    }
}

impl Log<u64, State> for Toy {
    type Message = ToyMessage;

    fn handle(
        &mut self,
        now: Timestamp,
        from: VoterId,
        message: ToyMessage,
        out: &mut Outbox<ToyMessage>,
    ) -> Result<(), Malformed> {
        let (ToyMessage::Vote { term, .. }
        | ToyMessage::Granted { term }
        | ToyMessage::Append { term, .. }
        | ToyMessage::Appended { term, .. }
        | ToyMessage::StandNow { term }) = message;
        if term > self.term {
            (self.term, self.vote, self.role, self.coordinator) = (term, None, Role::Follows, None);
        }
        let current = term == self.term;
        match message {
            ToyMessage::Vote { last, .. } => {
                let free =
                    self.vote.is_none_or(|vote| vote == from) || self.is_broken(Flaw::EqualTermsAccepted);
                if current && free && (last >= self.last() || self.is_broken(Flaw::OfficeWithOwnCopy)) {
                    self.vote = Some(from);
                    out.push((from, ToyMessage::Granted { term }));
                }
            }
            ToyMessage::Granted { .. } if current => {
                self.votes.insert(from);
                self.take_office_if_elected(now, out);
            }
            ToyMessage::Append { prev, line, commit, .. } if current && self.role != Role::InOffice => {
                self.role = Role::Follows;
                self.coordinator = Some((from, now));
                if let Some(index) = self.append(prev, line, commit) {
                    out.push((from, ToyMessage::Appended { term, index }));
                }
            }
            ToyMessage::Append { .. } => {
                out.push((from, ToyMessage::Appended { term: self.term, index: 0 }));
            }
            ToyMessage::Appended { index, .. } if current && self.role == Role::InOffice => {
                self.fresh.remove(&from);
                let matched = self.matched.entry(from).or_insert(0);
                let progress = *matched < index;
                *matched = index.max(*matched);
                self.advance(now, out);
                if progress && self.matched.get(&from) < Some(&self.last_index()) {
                    out.push(self.append_to(from));
                }
            }
            ToyMessage::StandNow { .. } if current => self.begin_term(now, out),
            ToyMessage::Granted { .. } | ToyMessage::Appended { .. } | ToyMessage::StandNow { .. } => {}
        }
        Ok(())
    }

    fn on_deadline(&mut self, now: Timestamp, out: &mut Outbox<ToyMessage>) {
        if self.in_office() {
            self.append_to_all(now, out);
        }
    }

    fn next_deadline(&self) -> Timestamp {
        if self.in_office() { self.append_at } else { Timestamp::NEVER }
    }

    fn stand(&mut self, now: Timestamp, out: &mut Outbox<ToyMessage>) {
        if !self.in_office() && self.newest().voters.names(self.me) {
            self.begin_term(now, out);
        }
    }

    fn propose(
        &mut self,
        now: Timestamp,
        payload: u64,
        out: &mut Outbox<ToyMessage>,
    ) -> Result<Version, NotTaken> {
        if !self.in_office() {
            return Err(NotTaken::NotInOffice);
        }
        self.push(Entry::Payload(payload));
        let version = self.last();
        self.append_to_all(now, out);
        self.advance(now, out);
        Ok(version)
    }

    fn change_voters(
        &mut self,
        now: Timestamp,
        change: VotersChange,
        out: &mut Outbox<ToyMessage>,
    ) -> Result<(), NotTaken> {
        if !self.in_office() {
            return Err(NotTaken::NotInOffice);
        }
        let Line { voters, mut learners, .. } = self.newest().clone();
        if voters.is_joint() || voters.id.index > self.commit {
            return Err(NotTaken::ChangeUnderWay);
        }
        match change {
            VotersChange::Begin(next) => {
                self.fresh = next.difference(&voters.now).copied().collect();
                learners.retain(|uid| !next.contains(uid));
                self.push_lists(voters.now, next, learners);
            }
            VotersChange::AddLearner(uid) => {
                self.push(Entry::Nothing);
                self.lines.last_mut().expect("just pushed").learners.insert(uid);
            }
            VotersChange::DropLearner(uid) => {
                self.push(Entry::Nothing);
                self.lines.last_mut().expect("just pushed").learners.remove(&uid);
            }
        }
        self.append_to_all(now, out);
        self.advance(now, out);
        Ok(())
    }

    fn hand_over(&mut self, _: Timestamp, to: VoterId, out: &mut Outbox<ToyMessage>) -> bool {
        let has_all = self.in_office() && self.matched(to) == self.last_index();
        if has_all {
            out.push((to, ToyMessage::StandNow { term: self.term }));
        }
        has_all
    }

    fn take_committed(&mut self) -> Vec<Committed<u64, State>> {
        let end = self.commit.min(self.last_index());
        let told = (self.told + 1..=end).map(|index| {
            let line = &self.lines[usize::try_from(index).expect("small")];
            Committed::Entry(Version { term: line.term, index }, line.entry.clone())
        });
        let told = told.collect();
        self.told = self.told.max(end);
        told
    }

    fn compact(&mut self, _: Version, _: State) {}

    fn kept(&self) -> usize {
        self.lines.len() - 1
    }

    fn tail<'a>(&'a self) -> impl Iterator<Item = &'a u64>
    where
        u64: 'a,
    {
        let told = usize::try_from(self.told).expect("small");
        self.lines.iter().skip(told + 1).filter_map(|line| match &line.entry {
            Entry::Payload(payload) => Some(payload),
            Entry::Nothing | Entry::Voters { .. } => None,
        })
    }

    fn voters(&self) -> &Voters {
        &self.newest().voters
    }

    fn learners(&self) -> &BTreeSet<VoterId> {
        &self.newest().learners
    }

    fn term(&self) -> Term {
        self.term
    }

    fn in_office(&self) -> bool {
        self.role == Role::InOffice
    }

    fn may_act(&self) -> bool {
        self.in_office() && self.lines[usize::try_from(self.commit).expect("small")].term == self.term
    }

    fn coordinator(&self) -> Option<(VoterId, Timestamp)> {
        self.coordinator
    }

    fn matched(&self, uid: VoterId) -> u64 {
        self.matched.get(&uid).copied().unwrap_or(0)
    }

    fn last_index(&self) -> u64 {
        self.lines.len() as u64 - 1
    }
}
