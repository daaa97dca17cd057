//! Coming into office and leaving it.
//!
//! ```text
//!              stand: a quorum would vote        a quorum votes
//!   follows ----------------------------> stands ---------------> in office
//!      ^   \____ stand now (hand over) ____/  |                      |
//!      |                                      | hears a coordinator  | no quorum answers for suspect_after,
//!      +--------------------------------------+----------------------+ or a later term is heard of
//! ```

use alloc::collections::BTreeSet;

use noraft::Node;

use super::message::Message;
use super::peers::Peers;
use super::step::Incoming;
use super::{Raft, RaftTiming, translate};
use crate::flaws::Flaw;
use crate::log::{Log, Outbox};
use crate::time::Timestamp;
use crate::version::{Term, Version};
use crate::voters::VoterId;

/// Who was asked whether it would vote for this node, and said yes.
#[derive(Debug)]
pub(super) struct Standing {
    term: Term,
    granted: BTreeSet<VoterId>,
}

/// What a node keeps while it is in office.
#[derive(Debug, Default)]
pub(super) struct Office {
    /// When it began.
    pub(super) since: Timestamp,
    /// When the others are to hear of it again.
    pub(super) append_at: Timestamp,
    /// When a quorum's last answers may be too old.
    pub(super) doubt_at: Timestamp,
    /// Whom it asked to take over, and when.
    asked: Option<(VoterId, Timestamp)>,
    /// What it knows of the others.
    pub(super) peers: Peers,
}

impl Office {
    pub(super) fn begin(&mut self, now: Timestamp, timing: RaftTiming) {
        self.since = now;
        self.append_at = now + timing.append_every;
        self.doubt_at = now + timing.suspect_after;
        self.asked = None;
        self.peers.clear();
    }
}

impl<P: Clone, S: Clone> Raft<P, S> {
    pub(super) fn ask_around(&mut self, now: Timestamp, out: &mut Outbox<Message<P, S>>) {
        let voters = &self.copy.lists().voters;
        // noraft would not let a node stand that its own newest list does not name.
        if self.in_office() || !voters.names(self.me) || !self.may_vote() || self.lacks_committed() {
            return;
        }
        if voters.quorum(|uid| uid == self.me) {
            return self.begin_term(now, false, out);
        }
        let (term, last) = (Term::new(self.node.current_term().get() + 1), self.last());
        let others = voters.all().filter(|&uid| uid != self.me);
        out.extend(others.map(|uid| (uid, Message::PreVote { term, last })));
        self.standing = Some(Standing { term, granted: BTreeSet::from([self.me]) });
    }

    pub(super) fn answer_pre_vote(
        &mut self,
        now: Timestamp,
        from: VoterId,
        (term, last): (Term, Version),
        out: &mut Outbox<Message<P, S>>,
    ) {
        self.compare(from, Term::new(term.get().saturating_sub(1)), last);
        if self.hears_coordinator(now) || !self.may_vote() {
            return;
        }
        let own = self.term();
        if term <= own {
            // It would ask for this term for ever: tell it where the others are.
            out.push((from, Message::VoteReply { term: own, granted: false }));
        } else if last >= self.last() && self.may_elect(last) {
            out.push((from, Message::PreVoteReply { term }));
        }
    }

    pub(super) fn count_pre_vote(
        &mut self,
        now: Timestamp,
        from: VoterId,
        term: Term,
        out: &mut Outbox<Message<P, S>>,
    ) {
        let next = self.node.current_term().get() + 1;
        let Some(standing) = self.standing.as_mut().filter(|standing| standing.term == term) else { return };
        if term.get() != next {
            return;
        }
        standing.granted.insert(from);
        let granted = &standing.granted;
        if self.copy.lists().voters.quorum(|uid| granted.contains(&uid)) {
            self.begin_term(now, false, out);
        }
    }

    /// Asked by the coordinator to take over. An old request, or one to a node that may not stand, is void.
    pub(super) fn take_over(&mut self, now: Timestamp, term: Term, out: &mut Outbox<Message<P, S>>) {
        let current = term == self.term() && self.may_vote() && !self.lacks_committed();
        if current && !self.in_office() && self.copy.lists().voters.names(self.me) {
            self.begin_term(now, true, out);
        }
    }

    fn begin_term(&mut self, now: Timestamp, forced: bool, out: &mut Outbox<Message<P, S>>) {
        self.standing = None;
        self.forced = forced;
        self.node.handle_election_timeout();
        self.settle(now, Incoming::nothing(), out);
        self.forced = false;
    }

    /// Whether there is a coordinator as far as this node can tell; then it answers no vote, so that a node that comes back
    /// from a cut, or cannot hear, does not end a term that works.
    pub(super) fn hears_coordinator(&self, now: Timestamp) -> bool {
        if self.in_office() {
            return now < self.answered_since(now) + self.timing.suspect_after;
        }
        self.coordinator.is_some_and(|known| {
            known.uid != self.me && known.term == self.term() && now < known.at + self.timing.suspect_after
        })
    }

    /// The newest moment since which a quorum has answered.
    fn answered_since(&self, now: Timestamp) -> Timestamp {
        let voters = &self.copy.lists().voters;
        let peers = &self.office.peers;
        let answered = |uid| match peers.get(uid) {
            _ if uid == self.me => now,
            Some(peer) => peer.answered,
            None => Timestamp::ZERO,
        };
        let moments = voters.all().map(answered);
        let newest = moments.filter(|&moment| voters.quorum(|uid| answered(uid) >= moment)).max();
        newest.unwrap_or(Timestamp::ZERO).max(self.office.since)
    }

    /// Leaves office unless a quorum answered lately.
    pub(super) fn doubt(&mut self, now: Timestamp) {
        self.office.doubt_at = self.answered_since(now) + self.timing.suspect_after;
        if now < self.office.doubt_at {
            return;
        }
        self.leave_office();
    }

    /// noraft never leaves office by itself.
    pub(super) fn leave_office(&mut self) {
        self.restart_node();
        self.led = false;
        self.coordinator = None;
    }

    /// The same term, vote and log make the same node, without the office and without a commit.
    pub(super) fn restart_node(&mut self) {
        let node = &self.node;
        self.node = Node::restart(node.id(), node.current_term(), node.voted_for(), node.log().clone());
        self.node.actions_mut().for_each(drop);
    }

    /// Whether it may vote and stand: not while it lacks what it had confirmed once.
    fn may_vote(&self) -> bool {
        self.commit >= self.votes_from
    }

    /// Whether a candidate whose log ends at `last` may be elected, as far as this node knows what is committed. A quorum of the logs has every committed
    /// entry, so the log of an elected candidate ends no earlier, unless disks came back with less. The table of this node may be newer than its own log:
    /// another node sent it.
    pub(super) fn may_elect(&self, last: Version) -> bool {
        last >= self.decided && last.index >= self.decided.index
    }

    /// Whether this node leads a joint phase at whose end it is no voter. It must not end it: in office with a list that
    /// nobody else has and that does not name it, it could lose office, never stand again, and refuse everybody else.
    pub(super) fn is_outgoing(&self) -> bool {
        let voters = &self.copy.lists().voters;
        voters.is_joint()
            && !voters.next.contains(&self.me)
            && self.in_office()
            && !self.flaws.has(Flaw::OutgoingEndsJointPhase)
    }

    /// Asks a voter that has everything to stand at once.
    pub(super) fn ask_to_stand(
        &mut self,
        now: Timestamp,
        to: VoterId,
        out: &mut Outbox<Message<P, S>>,
    ) -> bool {
        let voters = &self.copy.lists().voters;
        let may_end = if voters.is_joint() { voters.next.contains(&to) } else { voters.names(to) };
        let has_all = self.office.peers.get(to).is_some_and(|peer| peer.matched == self.copy.last());
        if !self.in_office() || to == self.me || !may_end || !has_all {
            return false;
        }
        self.office.asked = Some((to, now));
        out.push((to, Message::StandNow { term: self.term() }));
        true
    }

    /// Hands over to somebody of the next list, one at a time: two who stand at once would take each other's votes.
    pub(super) fn hand_over_to_next(&mut self, now: Timestamp, to: VoterId, out: &mut Outbox<Message<P, S>>) {
        let patience = self.timing.append_every;
        if self.office.asked.is_none_or(|(asked, at)| asked == to || now >= at + patience) {
            self.ask_to_stand(now, to, out);
        }
    }

    /// Hears of the coordinator of a term that is not over.
    pub(super) fn hear(&mut self, now: Timestamp, from: VoterId, term: Term) {
        if term >= self.term() {
            self.coordinator = Some(super::Heard { uid: from, term, at: now });
            self.standing = None;
        }
    }

    pub(super) fn answer_vote(
        &mut self,
        now: Timestamp,
        from: VoterId,
        (term, last, forced): (Term, Version, bool),
        out: &mut Outbox<Message<P, S>>,
    ) {
        self.compare(from, term, last);
        if !self.may_vote()
            || !self.may_elect(last)
            || (term > self.term() && !forced && self.hears_coordinator(now))
        {
            return;
        }
        let message = noraft::Message::RequestVoteCall {
            from: translate::id(from),
            term: translate::term(term),
            last_position: translate::position(last),
        };
        self.feed(now, &message, Incoming::nothing(), out);
    }
}
