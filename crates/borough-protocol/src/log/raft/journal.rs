//! The order between a durable voter's writes and its messages.
//!
//! ```text
//!   a step of the log --> writes, numbered -- take_writes --> the caller's disk
//!          |                                                       |
//!          +--> messages, held back <------- written(up_to) -------+
//!                      |
//!                      +--> leave, in order, once everything written before them is on the disk
//! ```
//! The promise: a message leaves only when every write of its own step and of all steps before it is on the disk, so no crash
//! takes back what another node was told. A compaction is the exception: it changes the form of the log, not the log, and no
//! message waits for it.
//!
//! A coordinator's appends wait too, although Raft would let them leave as long as the coordinator does not count itself.
//! noraft counts itself at once, and would end a joint phase on it. Holding the appends back makes its count true: an answer
//! shows that the entry was sent, so it was written here. The cost is one more write in a row for each commit.
//!
//! A write that fails is never reported as written: then this voter falls silent, and nothing else needs to be done. A
//! coordinator leaves office after `suspect_after`, because nobody answers what was never sent. So does a coordinator whose
//! disk takes longer than that for a write: the others count heartbeats only once they have left. One that has nothing to write
//! learns of a broken disk from its caller alone, who has it resign.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem;

use super::message::{Item, Message};
use super::stored::{StoredSnapshot, Write};
use crate::log::Outbox;
use crate::version::{Term, Version};
use crate::voters::VoterId;

/// How many messages are held back at most: a disk that is stuck must not fill the memory. What is above that is lost, as on
/// any network, and repaired later.
const HELD_MAX: usize = 4096;

/// What a durable voter has still to write, and what waits for it.
#[derive(Debug)]
pub(super) struct Journal<P, S> {
    writes: Vec<(u64, Write<P, S>)>,
    /// The number of the newest write.
    number: u64,
    /// The number of the newest write that was given out.
    taken: u64,
    /// The number of the newest write that is on the disk.
    written: u64,
    /// The newest write that messages wait for.
    gate: u64,
    /// Term and vote as the newest write says.
    vote: (Term, Option<VoterId>),
    /// The end of the log as the newest write says.
    end: u64,
    /// Writes of entries and states that are not on the disk: number, and the last place they leave as it was.
    unwritten: VecDeque<(u64, u64)>,
    held: VecDeque<(u64, VoterId, Message<P, S>)>,
}

impl<P, S> Journal<P, S> {
    /// Of a voter whose disk holds this term and vote, and a log that ends there.
    pub(super) fn new(vote: (Term, Option<VoterId>), end: u64) -> Self {
        Self {
            writes: Vec::new(),
            number: 0,
            taken: 0,
            written: 0,
            gate: 0,
            vote,
            end,
            unwritten: VecDeque::new(),
            held: VecDeque::new(),
        }
    }

    /// Writes term and vote, if they changed.
    pub(super) fn vote(&mut self, term: Term, vote: Option<VoterId>) {
        if self.vote != (term, vote) {
            self.vote = (term, vote);
            self.push(Write::Vote { term, vote });
            self.gate = self.number;
        }
    }

    /// Whether a log that is as before up to `unchanged` and ends at `last` has to be written.
    pub(super) fn lacks(&self, unchanged: u64, last: u64) -> bool {
        unchanged < self.end.max(last)
    }

    /// Writes that these entries stand behind `prev`, and nothing else.
    pub(super) fn entries(&mut self, prev: Version, items: Vec<Item<P>>) {
        self.end = prev.index + items.len() as u64;
        self.push(Write::Entries { prev, items });
        self.gate = self.number;
        self.unwritten.push_back((self.number, prev.index));
    }

    /// Writes a state that came from elsewhere; the log ends at `end` then.
    pub(super) fn install(&mut self, snapshot: StoredSnapshot<S>, end: u64) {
        let keeps_tail = end > snapshot.version.index;
        self.end = end;
        self.push(Write::Snapshot { snapshot, keeps_tail });
        self.gate = self.number;
        self.unwritten.push_back((self.number, 0));
    }

    /// Writes a state in place of entries that are written already.
    pub(super) fn compact(&mut self, snapshot: StoredSnapshot<S>) {
        self.push(Write::Snapshot { snapshot, keeps_tail: true });
    }

    fn push(&mut self, write: Write<P, S>) {
        self.number += 1;
        self.writes.push((self.number, write));
    }

    pub(super) fn take(&mut self) -> Vec<(u64, Write<P, S>)> {
        self.taken = self.number;
        mem::take(&mut self.writes)
    }

    /// Everything up to that number is on the disk; what waited for it leaves.
    pub(super) fn written(&mut self, up_to: u64, out: &mut Outbox<Message<P, S>>) {
        self.written = self.written.max(up_to.min(self.taken));
        while self.unwritten.front().is_some_and(|(number, _)| *number <= self.written) {
            self.unwritten.pop_front();
        }
        let leave = self.held.partition_point(|(gate, ..)| *gate <= self.written);
        out.extend(self.held.drain(..leave).map(|(_, to, message)| (to, message)));
    }

    /// Whether the state that was installed last, and everything else before now but compactions, is on the disk.
    pub(super) fn is_level(&self) -> bool {
        self.written >= self.gate
    }

    /// The last place up to which the log, which ends at `last`, is on the disk as it is here.
    pub(super) fn written_index(&self, last: u64) -> u64 {
        self.unwritten.iter().map(|(_, kept)| *kept).min().unwrap_or(last).min(last)
    }

    /// Holds back what a step appended to `out` behind the first `before` messages.
    pub(super) fn hold_back(&mut self, out: &mut Outbox<Message<P, S>>, before: usize) {
        if self.is_level() {
            return;
        }
        let room = HELD_MAX.saturating_sub(self.held.len());
        let gate = self.gate;
        self.held.extend(out.drain(before..).take(room).map(|(to, message)| (gate, to, message)));
    }

    /// Whether a state that came from elsewhere waits to be written.
    pub(super) fn installs(&self) -> bool {
        self.unwritten.iter().any(|(_, kept)| *kept == 0)
    }
}
