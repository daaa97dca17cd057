//! What no correct peer says: found before noraft sees it, because noraft asserts on the shape of what it is given.
//!
//! Two kinds. A message may be impossible in itself: falling terms, an empty voters' list, places beyond any log. Or it may
//! contradict what this node knows: another log where entries are committed, a second coordinator of one term. Neither
//! changes anything here. A lie that is possible is believed: the log trusts its peers to be correct, not to be well.

use alloc::collections::BTreeSet;

use noraft::LogIndex;

use super::message::{Item, Message, Snapshot};
use super::{Raft, translate};
use crate::log::{Log, Malformed};
use crate::version::{Term, Version};
use crate::voters::{VoterId, Voters};

/// No log gets that far: far below the overflow of a place or term, so that sums of them are safe.
pub(super) const END: u64 = 1 << 62;

pub(super) type Verdict = Result<(), &'static str>;

impl<P: Clone, S: Clone> Raft<P, S> {
    /// Whether a correct peer can have said this to this node, as it is now.
    pub(super) fn check(&self, from: VoterId, message: &Message<P, S>) -> Result<(), Malformed> {
        self.verdict(from, message).map_err(|what| Malformed { from, what })
    }

    fn verdict(&self, from: VoterId, message: &Message<P, S>) -> Verdict {
        ensure(from != self.me, "it comes from this node itself")?;
        let term = message.term();
        ensure(term > Term::ZERO && term.get() < END, "there is no such term")?;
        match message {
            Message::PreVote { last, .. } | Message::Vote { last, .. } => {
                place(*last)?;
                ensure(last.index > 0, "a node with an empty log stands")?;
                ensure(last.term < term, "the log of who stands is not older than the term")
            }
            Message::PreVoteReply { .. } => Ok(()),
            Message::VoteReply { granted, .. } => {
                ensure(!granted || term <= self.term(), "a vote in a term this node never stood in")
            }
            Message::Append { prev, committed, entries, .. } => {
                ensure(*committed < END, "there is no such place")?;
                self.coordinator_of(term, from)?;
                self.check_entries(term, *prev, entries)
            }
            Message::AppendReply { last, .. } => self.check_reply(term, *last),
            Message::StandNow { .. } => {
                ensure(term <= self.term(), "asked to stand by a coordinator this node never heard")?;
                self.coordinator_of(term, from)
            }
            Message::Snapshot(snapshot) => {
                self.coordinator_of(term, from)?;
                self.check_snapshot(snapshot)
            }
        }
    }

    /// Whether `from` may be in office in that term.
    fn coordinator_of(&self, term: Term, from: VoterId) -> Verdict {
        ensure(
            self.coordinator.is_none_or(|known| known.term != term || known.uid == from),
            "the term has another coordinator",
        )
    }

    fn check_entries(&self, term: Term, prev: Version, entries: &[Item<P>]) -> Verdict {
        place(prev)?;
        ensure(prev.index + (entries.len() as u64) < END, "there is no such place")?;
        let mut here = prev;
        self.agrees(term, here)?;
        for item in entries {
            here.index += 1;
            self::item(&mut here, item)?;
            self.agrees(term, here)?;
        }
        ensure(here.term <= term, "an entry of a later term")
    }

    /// Whether the place is as it is here, if it is committed here. A coordinator of an older term need not agree.
    fn agrees(&self, term: Term, version: Version) -> Verdict {
        // While writes are under way noraft may know of a later commit than this copy goes by.
        let commit = self.commit.max(self.node.commit_index().get());
        if version.index > commit || term < self.term() {
            return Ok(());
        }
        let ours = self.node.log().entries().get_term(LogIndex::new(version.index));
        ensure(
            ours.is_none_or(|ours| ours == translate::term(version.term)),
            "it contradicts what is committed",
        )
    }

    fn check_reply(&self, term: Term, last: Version) -> Verdict {
        place(last)?;
        ensure(last.term <= term, "an entry of a later term")?;
        let own = self.in_office() && term == self.term() && last.term == term;
        let entries = self.node.log().entries();
        ensure(
            !own || last.index < self.copy.base() || entries.contains(translate::position(last)),
            "an entry of this node's term that it never made",
        )
    }

    fn check_snapshot(&self, snapshot: &Snapshot<S>) -> Verdict {
        let Snapshot { term, version, voters, learners, .. } = snapshot;
        self::snapshot(*term, *version, voters, learners)?;
        self.agrees(*term, *version)
    }
}

/// Whether a state can stand for the entries up to `version`, in a term that is not over.
pub(super) fn snapshot(
    term: Term,
    version: Version,
    voters: &Voters,
    learners: &BTreeSet<VoterId>,
) -> Verdict {
    place(version)?;
    ensure(version.index > 0 && version.term <= term, "there is no such place")?;
    lists(&voters.now, &voters.next, learners)?;
    ensure(
        voters.id.index <= version.index && voters.id.term <= version.term,
        "its lists are newer than itself",
    )
}

/// Whether the entry can stand at `here`, whose term is that of the entry before until an entry begins another.
pub(super) fn item<P>(here: &mut Version, item: &Item<P>) -> Verdict {
    match item {
        Item::Term(begun) => {
            ensure(*begun > here.term, "terms do not rise")?;
            here.term = *begun;
            Ok(())
        }
        Item::Lists { now, next, learners } => lists(now, next, learners),
        Item::Payload(_) => Ok(()),
    }
}

pub(super) fn ensure(holds: bool, what: &'static str) -> Verdict {
    if holds { Ok(()) } else { Err(what) }
}

/// The founder's first entry stands in term 0, and nothing else does.
pub(super) fn place(version: Version) -> Verdict {
    let possible = match version.index {
        0 => version.term == Term::ZERO,
        1 => true,
        _ => version.term > Term::ZERO,
    };
    ensure(possible && version.index < END, "there is no such place")
}

fn lists(now: &BTreeSet<VoterId>, next: &BTreeSet<VoterId>, learners: &BTreeSet<VoterId>) -> Verdict {
    ensure(!now.is_empty(), "nobody votes")?;
    ensure(learners.is_disjoint(now) && learners.is_disjoint(next), "a voter catches up")
}
