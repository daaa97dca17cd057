//! The senders that wait for room, in order of arrival, each with the one item it wants to send.
//!
//! Keeping the item here, not in the sender's future, lets the reader move it into the queue
//! itself: room is given in order, nobody is woken in vain, and nobody overtakes.

use std::collections::VecDeque;
use std::task::Waker;

/// Names one waiting sender.
pub type Ticket = u64;

#[derive(Debug)]
pub(crate) struct Waiting<T> {
    next_ticket: Ticket,
    senders: VecDeque<Sender<T>>,
}

#[derive(Debug)]
struct Sender<T> {
    ticket: Ticket,
    item: T,
    rank: i64,
    waker: Waker,
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Self { next_ticket: 0, senders: VecDeque::new() }
    }
}

impl<T> Waiting<T> {
    pub(crate) fn len(&self) -> usize {
        self.senders.len()
    }

    pub(crate) fn join(&mut self, item: T, rank: i64, waker: Waker) -> Ticket {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.senders.push_back(Sender { ticket, item, rank, waker });
        ticket
    }

    /// The sender that waited longest.
    pub(crate) fn admit(&mut self) -> Option<(T, i64, Waker)> {
        self.senders.pop_front().map(|sender| (sender.item, sender.rank, sender.waker))
    }

    /// Takes a sender out of the line, with its item; `None` if it was admitted before.
    pub(crate) fn withdraw(&mut self, ticket: Ticket) -> Option<T> {
        let at = self.position(ticket)?;
        self.senders.remove(at).map(|sender| sender.item)
    }

    /// Keeps a sender's newest waker; `false` if it was admitted before.
    pub(crate) fn keep_waiting(&mut self, ticket: Ticket, waker: &Waker) -> bool {
        let Some(at) = self.position(ticket) else { return false };
        self.senders[at].waker.clone_from(waker);
        true
    }

    pub(crate) fn wakers(&self) -> Vec<Waker> {
        self.senders.iter().map(|sender| sender.waker.clone()).collect()
    }

    pub(crate) fn contains(&self, ticket: Ticket) -> bool {
        self.position(ticket).is_some()
    }

    fn position(&self, ticket: Ticket) -> Option<usize> {
        self.senders.binary_search_by_key(&ticket, |sender| sender.ticket).ok()
    }
}
