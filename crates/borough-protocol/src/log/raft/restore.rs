//! The same voter again, from what it has on its disk.

use noraft::{ClusterConfig, LogEntries, LogEntry, Node};

use super::copy::Lists;
use super::journal::Journal;
use super::message::Item;
use super::stored::{Stored, StoredSnapshot};
use super::{Raft, RaftTiming, check, translate};
use crate::flaws::{Flaw, Flaws};
use crate::log::Entry;
use crate::version::{Term, Version};
use crate::voters::VoterId;

/// Why what is on the disk cannot be the log of a voter: it was not written by this log, or not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored log cannot be resumed: {what} at place {index}")]
pub struct Unrestorable {
    /// What is wrong.
    pub what: &'static str,
    /// The place in the log where it was found; 0 for term and vote.
    pub index: u64,
}

impl<P: Clone, S: Clone> Raft<P, S> {
    /// A durable voter with the term, vote and log that it has written; with [`Stored::default`], a durable node that is nobody
    /// yet.
    ///
    /// Nothing but the snapshot is known to be committed. The rest is learned from a coordinator, or by being elected, which
    /// the only voter is as soon as it stands.
    pub fn restore(
        me: VoterId,
        timing: RaftTiming,
        flaws: Flaws,
        stored: Stored<P, S>,
    ) -> Result<Self, Unrestorable> {
        inspect(&stored)?;
        let Stored { term, vote, snapshot, entries } = stored;
        let vote = vote.filter(|_| !flaws.has(Flaw::VoteForgotten));
        let mut log = Self::new(me, timing, flaws);
        let mut config = ClusterConfig::new();
        let mut here = Version::ZERO;
        if let Some(StoredSnapshot { version, voters, learners, state }) = snapshot {
            config = translate::config(&voters.now, &voters.next, &learners);
            here = version;
            log.copy.begin_behind(version.index, Lists { at: version.index, voters, learners });
            log.state = Some(state);
            log.installed = true;
            (log.commit, log.told) = (version.index, version.index);
        }
        let mut places = LogEntries::new(translate::position(here));
        for item in entries {
            here.index += 1;
            places.push(log_entry(&item));
            match item {
                Item::Term(begun) => {
                    here.term = begun;
                    log.copy.push(Entry::Nothing);
                }
                Item::Lists { now, next, learners } => log.copy.push_lists(here, now, next, learners),
                Item::Payload(payload) => log.copy.push(Entry::Payload(payload)),
            }
        }
        log.copy.take_unchanged();
        let places = noraft::Log::new(config, places);
        log.node = Node::restart(translate::id(me), translate::term(term), vote.map(translate::id), places);
        log.node.actions_mut().for_each(drop);
        log.journal = Some(Journal::new((term, vote), here.index));
        Ok(log)
    }
}

/// The entry as noraft knows it.
pub(super) fn log_entry<P>(item: &Item<P>) -> LogEntry {
    match item {
        Item::Term(term) => LogEntry::Term(translate::term(*term)),
        Item::Lists { now, next, learners } => {
            LogEntry::ClusterConfig(translate::config(now, next, learners))
        }
        Item::Payload(_) => LogEntry::Command,
    }
}

/// Whether a voter can have written this. noraft would assert on some of it, and go wrong on the rest.
fn inspect<P, S>(stored: &Stored<P, S>) -> Result<(), Unrestorable> {
    let mut here = stored.base();
    let at = |index| move |what| Unrestorable { what, index };
    if let Some(snapshot) = &stored.snapshot {
        check::snapshot(stored.term, snapshot.version, &snapshot.voters, &snapshot.learners)
            .map_err(at(here.index))?;
    }
    for item in &stored.entries {
        here.index += 1;
        check::item(&mut here, item).and_then(|()| check::place(here)).map_err(at(here.index))?;
    }
    check::ensure(here.term <= stored.term, "an entry of a later term").map_err(at(here.index))?;
    let voted = stored.term == Term::ZERO && stored.vote.is_some();
    check::ensure(!voted && stored.term.get() < check::END, "there is no such term").map_err(at(0))
}
