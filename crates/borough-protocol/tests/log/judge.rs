//! What must hold, whatever carries the log: committed entries are prefixes of one another, one node commits in a term,
//! voters change only jointly, and a state handed over is the state of the entries it stands for.

use std::collections::BTreeMap;
use std::mem;

use borough_protocol::log::{Committed, Entry};
use borough_protocol::version::{Term, Version};
use borough_protocol::voters::{VoterId, Voters};

use crate::carrier::State;

/// Hears what every node was told is committed.
#[derive(Debug)]
pub(crate) struct Judge {
    /// By place; the first is before any entry.
    log: Vec<Settled>,
    committers: BTreeMap<Term, VoterId>,
    violation: Option<String>,
    pub(crate) joints: u64,
    pub(crate) snapshots: u64,
}

#[derive(Clone, Debug)]
struct Settled {
    entry: Entry<u64>,
    state: State,
    voters: Voters,
}

impl Default for Judge {
    fn default() -> Self {
        let before = Settled { entry: Entry::Nothing, state: State::default(), voters: Voters::default() };
        Self { log: vec![before], committers: BTreeMap::new(), violation: None, joints: 0, snapshots: 0 }
    }
}

impl Judge {
    /// The newest place anybody knows to be committed.
    pub(crate) fn last(&self) -> u64 {
        self.log.len() as u64 - 1
    }

    /// The lists in force at the newest committed place.
    pub(crate) fn voters(&self) -> &Voters {
        &self.log[self.log.len() - 1].voters
    }

    /// In how many terms somebody in office was told of a commit.
    pub(crate) fn offices(&self) -> u64 {
        self.committers.len() as u64
    }

    /// What was broken first, if anything.
    pub(crate) fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }

    pub(crate) fn assert_clean(&self) {
        assert_eq!(self.violation(), None);
    }

    pub(crate) fn accuse(&mut self, what: String) {
        self.violation.get_or_insert(what);
    }

    /// What a node was told, which had applied `state` before; `office` is its term if it is in office.
    pub(crate) fn hear(
        &mut self,
        who: VoterId,
        office: Option<Term>,
        state: &mut State,
        told: Vec<Committed<u64, State>>,
    ) {
        if let Some(term) = office.filter(|_| !told.is_empty()) {
            let first = *self.committers.entry(term).or_insert(who);
            if first != who {
                self.accuse(format!("{first:?} and {who:?} both commit in {term:?}"));
            }
        }
        for committed in told {
            match committed {
                Committed::Entry(version, entry) => self.entry(who, version, entry, state),
                Committed::Snapshot { version, voters, state: given } => {
                    self.snapshots += 1;
                    let known = self.log.get(place(version));
                    if known.is_none_or(|known| (known.state, &known.voters) != (given, &voters)) {
                        self.accuse(format!("{who:?} took a state at {version:?} that is not the log's"));
                    }
                    *state = given;
                }
            }
        }
    }

    fn entry(&mut self, who: VoterId, version: Version, entry: Entry<u64>, state: &mut State) {
        if version.index != state.version.index + 1 {
            self.accuse(format!("{who:?} was told of {version:?} after {:?}", state.version));
            return;
        }
        *state = State { version, hash: mix(state.hash, version, &entry) };
        match self.log.get(place(version)) {
            Some(known) if known.state == *state && known.entry == entry => {}
            Some(known) => {
                let there = (known.state.version, &known.entry);
                self.violation
                    .get_or_insert(format!("{who:?} was told {entry:?} at {version:?}, others {there:?}"));
            }
            None => self.first(who, *state, entry),
        }
    }

    fn first(&mut self, who: VoterId, state: State, entry: Entry<u64>) {
        let mut voters = self.voters().clone();
        if let Entry::Voters { now, next } = &entry {
            let before =
                mem::replace(&mut voters, Voters { id: state.version, now: now.clone(), next: next.clone() });
            let begins = !before.is_joint() && before.now == *now && !next.is_empty();
            let ends = before.is_joint() && before.next == *now && next.is_empty();
            let founds = before.now.is_empty() && now.len() == 1;
            if !begins && !ends && !founds {
                self.accuse(format!("{who:?}: voters went from {before:?} to {voters:?}"));
            }
            self.joints += u64::from(begins);
        }
        self.log.push(Settled { entry, state, voters });
    }
}

fn place(version: Version) -> usize {
    usize::try_from(version.index).expect("small")
}

fn mix(hash: u64, version: Version, entry: &Entry<u64>) -> u64 {
    let turn = |hash: u64, number: u64| (hash ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    let hash = turn(turn(hash, version.index), version.term.get());
    match entry {
        Entry::Nothing => hash,
        Entry::Payload(number) => turn(hash, *number),
        Entry::Voters { now, next } => now.iter().chain(next).fold(hash, |hash, uid| turn(hash, !uid.get())),
    }
}
