//! What was written to a peer and not acknowledged: kept, so that a broken connection loses nothing.
//!
//! Positions count the bytes of a session. Promise: what is at or after the last acknowledged position can be had again, in
//! order; what is before it is let go, and its buffer used again.

use std::collections::VecDeque;

use super::queue::Batch;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Unacked {
    batches: VecDeque<Batch>,
    /// How much of the first batch has arrived.
    arrived: usize,
    /// The position of the first byte that has not arrived.
    start: u64,
    /// How many have not arrived.
    bytes: usize,
    /// Empty buffers to be used again: a new one of their size is made of fresh pages, which costs more than all the rest.
    spare: Vec<Vec<u8>>,
}

/// A buffer larger than this is not used again.
const SPARE_MAX: usize = 1024 * 1024;
/// How many buffers are kept.
const SPARES: usize = 8;

/// A peer acknowledged, or wants to resume at, what was never sent or is kept no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutOfRange;

impl Unacked {
    /// Keeps a batch that is about to be written, after all before it.
    pub(super) fn keep(&mut self, batch: Batch) {
        self.bytes += batch.bytes.len();
        self.batches.push_back(batch);
    }

    /// The batch that was kept last.
    pub(super) fn last(&self) -> &[u8] {
        self.batches.back().map_or(&[], |batch| &batch.bytes)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The position after the last byte that was kept.
    pub(super) fn end(&self) -> u64 {
        self.start + self.bytes as u64
    }

    /// Everything before `position` has arrived. It counts as let go to the byte, so that a writer goes on as soon as its window allows; buffers are let go
    /// as whole batches.
    pub(super) fn acknowledge(&mut self, position: u64) -> Result<(), OutOfRange> {
        if position < self.start {
            return Ok(());
        }
        let newly = self.place_of(position)?;
        self.start = position;
        self.bytes -= newly;
        self.arrived += newly;
        while let Some(first) = self.batches.front()
            && first.bytes.len() <= self.arrived
        {
            self.arrived -= first.bytes.len();
            if let Some(mut done) = self.batches.pop_front().map(|batch| batch.bytes)
                && done.capacity() <= SPARE_MAX
                && self.spare.len() < SPARES
            {
                done.clear();
                self.spare.push(done);
            }
        }
        Ok(())
    }

    /// What is to be sent again to a peer that has everything before `position`.
    pub(super) fn from(&self, position: u64) -> Result<Vec<u8>, OutOfRange> {
        let mut skip = self.arrived + self.place_of(position)?;
        let mut again = Vec::with_capacity(self.bytes);
        for batch in &self.batches {
            let (_, rest) = batch.bytes.split_at(skip.min(batch.bytes.len()));
            skip -= batch.bytes.len() - rest.len();
            again.extend_from_slice(rest);
        }
        Ok(again)
    }

    /// How many bytes that have not arrived are before `position`.
    fn place_of(&self, position: u64) -> Result<usize, OutOfRange> {
        let before = position.checked_sub(self.start).ok_or(OutOfRange)?;
        usize::try_from(before).ok().filter(|before| *before <= self.bytes).ok_or(OutOfRange)
    }

    /// An empty batch, with a buffer that has served before if there is one.
    pub(super) fn empty(&mut self) -> Batch {
        Batch { bytes: self.spare.pop().unwrap_or_default(), messages: 0 }
    }

    /// Nothing is under way: the buffers are given back.
    pub(super) fn rest(&mut self) {
        self.spare = Vec::new();
    }

    /// Lets everything go; a new session begins. Gives how many messages that were, those of the first batch that have arrived among them.
    pub(super) fn clear(&mut self) -> usize {
        let lost = self.batches.iter().map(|batch| batch.messages).sum();
        *self = Self::default();
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(bytes: &[u8]) -> Batch {
        Batch { bytes: bytes.to_vec(), messages: 1 }
    }

    #[test]
    fn what_is_not_acknowledged_can_be_had_again_from_any_position() {
        let mut unacked = Unacked::default();
        unacked.keep(batch(b"abc"));
        unacked.keep(batch(b"defg"));
        assert_eq!(unacked.from(0).as_deref(), Ok(&b"abcdefg"[..]));
        assert_eq!(unacked.from(4).as_deref(), Ok(&b"efg"[..]));
        assert_eq!(unacked.from(7).as_deref(), Ok(&b""[..]));
        assert_eq!(unacked.from(8), Err(OutOfRange));
    }

    #[test]
    fn what_is_acknowledged_is_let_go_though_it_is_part_of_a_batch() {
        let mut unacked = Unacked::default();
        unacked.keep(batch(b"abc"));
        unacked.keep(batch(b"defg"));
        assert_eq!(unacked.acknowledge(5), Ok(()));
        assert_eq!((unacked.bytes(), unacked.end()), (2, 7));
        assert_eq!((unacked.from(4), unacked.from(5).as_deref()), (Err(OutOfRange), Ok(&b"fg"[..])));
        unacked.keep(batch(b"hi"));
        assert_eq!(unacked.acknowledge(4), Ok(()), "an older one says nothing new");
        assert_eq!(unacked.acknowledge(6), Ok(()));
        assert_eq!((unacked.bytes(), unacked.from(6).as_deref()), (3, Ok(&b"ghi"[..])));
        assert_eq!(unacked.acknowledge(8), Ok(()));
        assert_eq!((unacked.bytes(), unacked.from(8).as_deref()), (1, Ok(&b"i"[..])));
        assert_eq!(unacked.acknowledge(9), Ok(()));
        assert_eq!((unacked.bytes(), unacked.clear()), (0, 0));
    }

    #[test]
    fn an_acknowledgement_of_what_was_never_sent_is_refused() {
        let mut unacked = Unacked::default();
        unacked.keep(batch(b"abc"));
        assert_eq!(unacked.acknowledge(4), Err(OutOfRange));
        assert_eq!(unacked.bytes(), 3);
    }
}
