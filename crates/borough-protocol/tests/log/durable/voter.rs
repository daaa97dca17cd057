//! One durable log with its disk: what is written survives, what is queued may not.

use std::collections::VecDeque;

use borough_protocol::flaws::Flaws;
use borough_protocol::log::raft::{Message, Raft, Stored, Write};
use borough_protocol::log::{Committed, Log, Outbox};
use borough_protocol::time::Timestamp;
use borough_protocol::voters::VoterId;

use crate::carrier::{State, TIMING, uid};

pub(super) type Said = Outbox<Message<u64, State>>;
pub(super) type Copy = Stored<u64, State>;

pub(super) struct Voter {
    pub(super) log: Raft<u64, State>,
    pub(super) disk: Copy,
    pub(super) queue: VecDeque<(u64, Write<u64, State>)>,
    me: VoterId,
    flaws: Flaws,
}

impl Voter {
    /// Nothing on the disk.
    pub(super) fn fresh(number: u64, flaws: Flaws) -> Self {
        Self::of(number, flaws, Copy::default())
    }

    pub(super) fn of(number: u64, flaws: Flaws, disk: Copy) -> Self {
        let me = uid(number);
        let log = Raft::restore(me, TIMING, flaws, disk.clone()).expect("what it wrote");
        Self { log, disk, queue: VecDeque::new(), me, flaws }
    }

    pub(super) fn founder(number: u64, flaws: Flaws, now: Timestamp) -> Self {
        let mut voter = Self::fresh(number, flaws);
        voter.log = Raft::found_durable(voter.me, TIMING, flaws, now);
        voter.queue_writes();
        voter
    }

    /// Takes what the log wants written.
    pub(super) fn queue_writes(&mut self) {
        self.queue.extend(self.log.take_writes());
    }

    /// So many of the queued writes are on the disk, and nobody was told yet; the number of the last.
    pub(super) fn write(&mut self, count: usize) -> Option<u64> {
        let count = count.min(self.queue.len());
        self.queue.drain(..count).map(|(number, write)| (number, self.disk.apply(write)).0).last()
    }

    /// So many of the queued writes are on the disk, and the log is told.
    pub(super) fn write_and_report(&mut self, now: Timestamp, count: usize) -> Said {
        let mut out = Vec::new();
        if let Some(number) = self.write(count) {
            self.log.written(now, number, &mut out);
        }
        self.queue_writes();
        self.log.assert_invariants();
        out
    }

    pub(super) fn write_all(&mut self, now: Timestamp) -> Said {
        self.write_and_report(now, usize::MAX)
    }

    /// The process ends and starts again: what was queued is lost.
    pub(super) fn restart(&mut self) {
        self.queue.clear();
        self.log = Raft::restore(self.me, TIMING, self.flaws, self.disk.clone()).expect("what it wrote");
        self.log.assert_invariants();
    }

    pub(super) fn told(&mut self) -> Vec<Committed<u64, State>> {
        self.log.take_committed()
    }

    /// Handles a message; what leaves at once.
    pub(super) fn hear(&mut self, now: Timestamp, from: u64, message: Message<u64, State>) -> Said {
        let mut out = Vec::new();
        self.log.handle(now, uid(from), message, &mut out).expect("a message of a correct peer");
        self.queue_writes();
        self.log.assert_invariants();
        out
    }
}
