//! Bringing the log to the others.
//!
//! A coordinator appends to all at once and hears from each where its log ends. Who lacks something is sent it, but not for
//! every answer: one repair for each peer and interval, see [`Peer::may_repair`](super::peers::Peer::may_repair).

use alloc::boxed::Box;
use alloc::vec::Vec;

use noraft::{LogEntries, LogEntry, LogIndex};

use super::message::{Item, Message, Snapshot};
use super::restore::log_entry;
use super::step::Incoming;
use super::stored::StoredSnapshot;
use super::{Raft, translate};
use crate::log::{Entry, Log, Outbox};
use crate::time::Timestamp;
use crate::version::{Term, Version};
use crate::voters::VoterId;

/// How many entries one message carries at most.
const ENTRIES_PER_APPEND: usize = 1024;

impl<P: Clone, S: Clone> Raft<P, S> {
    /// Sends everybody the newest lists name, and nobody else, what stands behind `prev`. A voter that a list drops must not
    /// see that list before it is committed: it could not stand any more, while others still count on it.
    pub(super) fn append_to_all(&mut self, now: Timestamp, prev: Version, out: &mut Outbox<Message<P, S>>) {
        self.office.append_at = now + self.timing.append_every;
        self.spread = self.commit;
        let lists = self.copy.lists();
        let mut others =
            lists.voters.all().chain(lists.learners.iter().copied()).filter(|&uid| uid != self.me);
        let Some(first) = others.next() else { return };
        let message = self.append_behind(prev);
        out.extend(others.map(|uid| (uid, message.clone())));
        out.push((first, message));
    }

    fn append_behind(&self, prev: Version) -> Message<P, S> {
        let end = self.copy.last().min(prev.index + ENTRIES_PER_APPEND as u64);
        let entries = (prev.index + 1..=end).filter_map(|index| self.item(index)).collect::<Vec<_>>();
        Message::Append { term: self.term(), prev, committed: self.commit, entries }
    }

    /// What stands at a place, as it travels and is stored.
    pub(super) fn item(&self, index: u64) -> Option<Item<P>> {
        if let Entry::Payload(payload) = self.copy.entry(index)? {
            return Some(Item::Payload(payload.clone()));
        }
        match self.node.log().entries().get_entry(LogIndex::new(index))? {
            LogEntry::Term(term) => Some(Item::Term(Term::new(term.get()))),
            LogEntry::ClusterConfig(config) => Some(Item::Lists {
                now: translate::uids(&config.voters),
                next: translate::uids(&config.new_voters),
                learners: translate::uids(&config.non_voters),
            }),
            LogEntry::Command => None,
        }
    }

    /// Takes entries of a coordinator.
    pub(super) fn appended(
        &mut self,
        now: Timestamp,
        from: VoterId,
        (term, prev, committed): (Term, Version, u64),
        items: Vec<Item<P>>,
        out: &mut Outbox<Message<P, S>>,
    ) {
        self.hear(now, from, term);
        let entries = items.iter().map(log_entry);
        let message = noraft::Message::AppendEntriesCall {
            from: translate::id(from),
            term: translate::term(term),
            commit_index: LogIndex::new(committed),
            entries: LogEntries::from_iter(translate::position(prev), entries),
        };
        self.feed(now, &message, Incoming { first: prev.index + 1, items }, out);
        self.confirm(from, term, committed);
    }

    /// Takes an answer: where the log of `from` ends.
    pub(super) fn answered(
        &mut self,
        now: Timestamp,
        from: VoterId,
        (term, last): (Term, Version),
        out: &mut Outbox<Message<P, S>>,
    ) {
        let message = noraft::Message::AppendEntriesReply {
            from: translate::id(from),
            term: translate::term(term),
            last_position: translate::position(last),
        };
        if !self.in_office() || term != self.term() {
            return self.feed(now, &message, Incoming::nothing(), out);
        }
        if !self.copy.lists().names(from) {
            return;
        }
        let end = self.last();
        let has = self.node.log().entries().contains(translate::position(last));
        self.compare(from, term, last);
        let peer = self.office.peers.answered(from, now);
        if peer.is_short(now, last.index, self.timing.suspect_after) && self.journal.is_some() {
            let counted = peer.matched > self.commit;
            peer.lose();
            self.confirmed.lose(from);
            if counted {
                // noraft cannot take back a count. In a later term it counts again.
                return self.leave_office();
            }
        } else if last.index < peer.matched {
            return; // Overtaken by a later answer.
        }
        if has {
            self.office.peers.answered(from, now).matched = last.index;
            self.confirm(from, term, last.index);
        }
        if self.is_outgoing() && last.index >= self.copy.lists().at {
            // Counting this answer could commit the joint list, and noraft would end the phase at once.
            if last == end {
                return self.hand_over_to_next(now, from, out);
            }
        } else {
            self.feed(now, &message, Incoming::nothing(), out);
        }
        if last != end && self.in_office() {
            self.repair(now, from, last, out);
        }
    }

    /// Sends what a node lacks whose log ends at `last`.
    fn repair(&mut self, now: Timestamp, to: VoterId, last: Version, out: &mut Outbox<Message<P, S>>) {
        if last.index > self.copy.last() {
            return; // The next append tells it to cut.
        }
        let every = self.timing.repair_every;
        let base = self.copy.base();
        let here = self.version_at(last.index);
        let diverged = here.is_some_and(|here| here != last).then(|| self.divergence(last));
        let end = last.index + ENTRIES_PER_APPEND as u64;
        let more_behind = (here.is_some() && end < self.copy.last()).then_some(end);
        let Some(peer) = self.office.peers.get_mut(to) else { return };
        let due = match diverged {
            Some(_) => peer.may_cut(now, every, last),
            None => peer.may_repair(now, every, last.index),
        };
        if !due {
            return;
        }
        if let Some(prev) = diverged {
            let (term, committed) = (self.term(), self.commit);
            out.push((to, Message::Append { term, prev, committed, entries: Vec::new() }));
            return;
        }
        peer.repaired(now, more_behind);
        if last.index >= base {
            out.push((to, self.append_behind(last)));
        } else if let Some(snapshot) = self.snapshot() {
            out.push((to, Message::Snapshot(Box::new(snapshot))));
        }
    }

    /// A place where a log that ends at `last`, unlike this one, differs from it: as far down as can be told from here.
    ///
    /// Such a log has no term above `last.term` anywhere. noraft finds the place one entry and one answer at a time.
    fn divergence(&self, last: Version) -> Version {
        let term_at = |index| self.version_at(index).map_or(Term::ZERO, |version| version.term);
        let (mut low, mut high) = (self.copy.base(), last.index);
        while low < high {
            let middle = low + (high - low) / 2;
            if term_at(middle) > last.term {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Version { term: term_at(low), index: low }
    }

    fn snapshot(&self) -> Option<Snapshot<S>> {
        let lists = self.copy.lists_at(self.copy.base());
        let version = self.version_at(self.copy.base())?;
        Some(Snapshot {
            term: self.term(),
            version,
            voters: lists.voters.clone(),
            learners: lists.learners.clone(),
            state: self.state.clone()?,
        })
    }

    /// Takes a state in place of entries.
    pub(super) fn install(
        &mut self,
        now: Timestamp,
        from: VoterId,
        snapshot: Snapshot<S>,
        out: &mut Outbox<Message<P, S>>,
    ) {
        let Snapshot { term, version, voters, learners, state } = snapshot;
        self.hear(now, from, term);
        let position = translate::position(version);
        let message = noraft::Message::AppendEntriesCall {
            from: translate::id(from),
            term: translate::term(term),
            commit_index: LogIndex::ZERO,
            entries: LogEntries::new(position),
        };
        if term >= self.term() && version.index > self.commit {
            // First the term, which noraft wants to know before it takes the state; this answer is not the one to send.
            let mut unsent = Vec::new();
            self.feed(now, &message, Incoming::nothing(), &mut unsent);
            let config = translate::config(&voters.now, &voters.next, &learners);
            let taken = self.node.handle_snapshot_installed(position, config);
            assert!(taken, "{} did not take a state at {version:?}", self.me);
            if self.node.log().last_position() == position {
                self.copy.cut_above(self.copy.base());
            }
            if let Some(journal) = &mut self.journal {
                let (voters, learners, state) = (voters.clone(), learners.clone(), state.clone());
                let end = self.node.log().last_position().index.get();
                journal.install(StoredSnapshot { version, voters, learners, state }, end);
            }
            self.copy.begin_behind(version.index, super::copy::Lists { at: version.index, voters, learners });
            self.state = Some(state);
            self.installed = true;
            (self.commit, self.told) = (version.index, version.index);
        }
        self.feed(now, &message, Incoming::nothing(), out);
    }
}
