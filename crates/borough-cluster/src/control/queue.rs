//! What waits to be sent to one peer.
//!
//! Promise: putting in never waits, and no more is held than the bounds of a lane allow: the oldest goes first, because the protocol says
//! everything again that is still true.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use borough_wire::limits::{CONTROL_QUEUE_BYTES, CONTROL_QUEUE_MESSAGES};
use tokio::sync::Notify;

/// A queue with one taker.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    stirred: Notify,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Vec<u8>>,
    bytes: usize,
    is_over: bool,
}

impl Queue {
    /// Puts a message in; says how many older ones had to go for it. Gives it back if the taker is gone.
    pub(super) fn put(&self, message: Vec<u8>) -> Result<usize, Vec<u8>> {
        let mut state = self.lock();
        if state.is_over {
            return Err(message);
        }
        state.bytes += message.len();
        state.waiting.push_back(message);
        let mut dropped = 0;
        while state.waiting.len() > CONTROL_QUEUE_MESSAGES
            || state.bytes > CONTROL_QUEUE_BYTES && state.waiting.len() > 1
        {
            state.forget_oldest();
            dropped += 1;
        }
        drop(state);
        self.stirred.notify_one();
        Ok(dropped)
    }

    /// Waits until there is something to take, or nothing more to come. Cancel safe.
    pub(super) async fn stirred(&self) {
        while self.is_calm() {
            self.stirred.notified().await;
        }
    }

    /// The oldest message, if there is one.
    pub(super) fn take(&self) -> Option<Vec<u8>> {
        let mut state = self.lock();
        let message = state.waiting.pop_front()?;
        state.bytes -= message.len();
        Some(message)
    }

    /// Forgets everything; says how much that was.
    pub(super) fn clear(&self) -> usize {
        let mut state = self.lock();
        let cleared = state.waiting.len();
        state.waiting.clear();
        state.bytes = 0;
        cleared
    }

    /// The taker goes, unless something came in between; says whether it may.
    pub(super) fn end_if_empty(&self) -> bool {
        let mut state = self.lock();
        state.is_over = state.waiting.is_empty();
        state.is_over
    }

    /// Nothing more is put in; what is there may still be taken.
    pub(super) fn finish(&self) {
        self.lock().is_over = true;
        self.stirred.notify_one();
    }

    /// Whether the taker is gone, or about to be.
    pub(super) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    fn is_calm(&self) -> bool {
        let state = self.lock();
        state.waiting.is_empty() && !state.is_over
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn forget_oldest(&mut self) {
        if let Some(oldest) = self.waiting.pop_front() {
            self.bytes -= oldest.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_loses_its_oldest() {
        let queue = Queue::default();
        for number in 0..CONTROL_QUEUE_MESSAGES {
            assert_eq!(queue.put(number.to_le_bytes().to_vec()), Ok(0));
        }
        assert_eq!(queue.put(vec![7]), Ok(1));
        assert_eq!(queue.take(), Some(1_usize.to_le_bytes().to_vec()));
    }

    #[test]
    fn large_messages_fill_a_queue_by_their_bytes() {
        let queue = Queue::default();
        assert_eq!(queue.put(vec![1; CONTROL_QUEUE_BYTES]), Ok(0));
        assert_eq!(queue.put(vec![2; CONTROL_QUEUE_BYTES]), Ok(1));
        assert_eq!(queue.put(vec![3]), Ok(1));
        assert_eq!((queue.take(), queue.take()), (Some(vec![3]), None));
    }

    #[test]
    fn a_queue_whose_taker_went_gives_the_message_back() {
        let queue = Queue::default();
        assert_eq!(queue.put(vec![1]), Ok(0));
        assert!(!queue.end_if_empty(), "something waits");
        assert_eq!(queue.clear(), 1);
        assert!(queue.end_if_empty());
        assert_eq!(queue.put(vec![2]), Err(vec![2]));
    }
}
