//! One step of noraft, and what follows from it for the copy, the commit and the others.

use alloc::vec::Vec;
use core::mem;

use noraft::{Actions, LogEntries, LogEntry, LogIndex};

use super::message::{Item, Message};
use super::{Heard, Raft, translate};
use crate::flaws::Flaw;
use crate::log::{Entry, Log, Outbox};
use crate::time::Timestamp;
use crate::version::{Term, Version};
use crate::voters::VoterId;

/// Entries of a message that is being handled, and the place of the first.
pub(super) struct Incoming<P> {
    pub(super) first: u64,
    pub(super) items: Vec<Item<P>>,
}

impl<P> Incoming<P> {
    pub(super) const fn nothing() -> Self {
        Self { first: 0, items: Vec::new() }
    }
}

impl<P: Clone, S: Clone> Raft<P, S> {
    /// Gives noraft a message that was checked.
    ///
    /// # Panics
    /// If noraft finds its own log contradicted: then the check has a hole, and this copy must not be used any further.
    pub(super) fn feed(
        &mut self,
        now: Timestamp,
        message: &noraft::Message,
        incoming: Incoming<P>,
        out: &mut Outbox<Message<P, S>>,
    ) {
        let handled = self.node.handle_message(message);
        assert!(handled.is_ok(), "the log of {} is contradicted: {handled:?}", self.me);
        self.settle(now, incoming, out);
    }

    /// Follows noraft: the same places in the copy, the commit taken over, what it wants sent is sent.
    pub(super) fn settle(&mut self, now: Timestamp, incoming: Incoming<P>, out: &mut Outbox<Message<P, S>>) {
        let actions = mem::take(self.node.actions_mut());
        self.follow_office(now);
        let newest = self.copy.lists().at;
        if let Some(entries) = &actions.append_log_entries {
            if self.in_office() || incoming.items.is_empty() {
                self.absorb_own(entries);
            } else {
                self.absorb(entries.prev_position().index.get(), incoming);
            }
        }
        // A diverged tail is cut without an action.
        self.copy.cut_above(self.node.log().last_position().index.get());
        if self.copy.lists().at != newest {
            let lists = self.copy.lists();
            self.office.peers.retain(|uid| lists.names(uid));
            self.confirmed.retain(|uid| lists.names(uid));
        }
        self.record();
        self.advance_commit();
        self.send(now, actions, out);
        if self.in_office() && self.spread < self.commit {
            // The others would learn of the commit with the next append, up to a whole interval later.
            self.append_to_all(now, self.last(), out);
        }
    }

    /// Writes what changed: the term and the vote, then the entries, of which none is of a later term.
    fn record(&mut self) {
        let vote = self.vote();
        let Some(journal) = &mut self.journal else { return };
        journal.vote(Term::new(self.node.current_term().get()), vote);
        let (unchanged, last) = (self.copy.take_unchanged(), self.copy.last());
        if !journal.lacks(unchanged, last) {
            return;
        }
        let prev = self.version_at(unchanged).unwrap_or_default();
        let items = (unchanged + 1..=last).filter_map(|index| self.item(index)).collect();
        if let Some(journal) = &mut self.journal {
            journal.entries(prev, items);
        }
    }

    /// Takes over what noraft counts as committed, as far as it is written here.
    ///
    /// noraft counts this node before it has written. In office that may be the only count, so an entry of an older term is
    /// committed only with one of this term that is written too.
    fn advance_commit(&mut self) {
        let mut reached = self.node.commit_index().get();
        if let Some(journal) = &self.journal {
            if !self.flaws.has(Flaw::CommitsBeforeWrite) {
                reached = reached.min(journal.written_index(self.copy.last()));
            }
            if self.in_office() && self.version_at(reached).is_none_or(|here| here.term != self.term()) {
                return;
            }
        }
        self.commit = self.commit.max(reached);
    }

    /// Notes whether the node came into office, left it, or entered a term nobody is known to lead.
    fn follow_office(&mut self, now: Timestamp) {
        let term = self.term();
        if self.led && !self.in_office() && self.journal.is_some() {
            // What noraft counted in office without a write must not become the commit of a node that follows.
            self.restart_node();
        }
        self.led = self.in_office();
        let led = self.coordinator.is_some_and(|known| known.uid == self.me && known.term == term);
        if self.in_office() && !led {
            self.coordinator = Some(Heard { uid: self.me, term, at: now });
            self.office.begin(now, self.timing);
            self.standing = None;
            self.spread = 0;
        }
    }

    /// Takes over what this node appended itself.
    fn absorb_own(&mut self, entries: &LogEntries) {
        self.copy.cut_above(entries.prev_position().index.get());
        for (position, entry) in entries.iter_with_positions() {
            match entry {
                LogEntry::Term(_) => self.copy.push(Entry::Nothing),
                LogEntry::ClusterConfig(config) => self.copy.push_lists(
                    translate::version(position),
                    translate::uids(&config.voters),
                    translate::uids(&config.new_voters),
                    translate::uids(&config.non_voters),
                ),
                LogEntry::Command => {
                    let payload = self.staged.take();
                    self.copy.push(payload.map_or(Entry::Nothing, Entry::Payload));
                }
            }
        }
    }

    /// Takes over what a coordinator sent, behind the place `prev`. What is committed stays as it is: noraft may append a
    /// piece again that was there already.
    fn absorb(&mut self, prev: u64, incoming: Incoming<P>) {
        let from = prev.max(self.commit.min(self.copy.last()));
        self.copy.cut_above(from);
        let known = usize::try_from((from + 1).saturating_sub(incoming.first)).unwrap_or(usize::MAX);
        for (index, item) in (from + 1..).zip(incoming.items.into_iter().skip(known)) {
            match item {
                Item::Term(_) => self.copy.push(Entry::Nothing),
                Item::Lists { now, next, learners } => {
                    let version = self.version_at(index).unwrap_or_default();
                    self.copy.push_lists(version, now, next, learners);
                }
                Item::Payload(payload) => self.copy.push(Entry::Payload(payload)),
            }
        }
    }

    /// The version of what stands at a place, from the last compaction on.
    pub(super) fn version_at(&self, index: u64) -> Option<Version> {
        let term = self.node.log().entries().get_term(LogIndex::new(index))?;
        Some(Version { term: Term::new(term.get()), index })
    }

    /// The version of the last entry.
    pub(super) fn last(&self) -> Version {
        translate::version(self.node.log().last_position())
    }

    /// Sends what noraft wants sent. What others lack is sent by `answered`, which knows when not to.
    fn send(&mut self, now: Timestamp, actions: Actions, out: &mut Outbox<Message<P, S>>) {
        match actions.broadcast_message {
            Some(noraft::Message::AppendEntriesCall { entries, .. }) => {
                self.append_to_all(now, translate::version(entries.prev_position()), out);
            }
            Some(noraft::Message::RequestVoteCall { last_position, .. }) => {
                let (term, last, forced) = (self.term(), translate::version(last_position), self.forced);
                let others = self.copy.lists().voters.all().filter(|&uid| uid != self.me);
                out.extend(others.map(|uid| (uid, Message::Vote { term, last, forced })));
            }
            Some(noraft::Message::RequestVoteReply { .. } | noraft::Message::AppendEntriesReply { .. })
            | None => {}
        }
        for (to, message) in actions.send_messages {
            let Some(to) = VoterId::new(to.get()) else { continue };
            match message {
                noraft::Message::RequestVoteReply { term, vote_granted, .. } => {
                    let term = Term::new(term.get());
                    out.push((to, Message::VoteReply { term, granted: vote_granted }));
                }
                noraft::Message::AppendEntriesReply { term, last_position, .. } => {
                    let (term, last) = (Term::new(term.get()), translate::version(last_position));
                    out.push((to, Message::AppendReply { term, last }));
                }
                noraft::Message::AppendEntriesCall { .. } | noraft::Message::RequestVoteCall { .. } => {}
            }
        }
    }
}
