//! Handshakes take turns, so that a crowd at the door does not hold up the thread that they share with heartbeats and leases.
//!
//! Promise: between any two turns of another task there are few steps of handshakes. A step of TLS computes for some tenths of a
//! millisecond; a thousand strangers who all speak at once would otherwise stand in line before the node's own lease.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::sync::Notify;

/// How many steps are made before everybody else has a turn.
pub(super) const AT_ONCE: usize = 8;

/// The line in which handshakes stand for their next step. Clones are the same line.
#[derive(Clone, Default)]
pub(super) struct Turns {
    line: Arc<Mutex<Line>>,
    asked: Arc<Notify>,
}

/// Tickets are numbered; those below `given` may go.
#[derive(Default)]
struct Line {
    given: u64,
    /// One for each ticket from `given` on; none where the handshake is gone.
    waiting: VecDeque<Option<Waker>>,
}

impl Line {
    fn draw(&mut self, waker: &Waker) -> u64 {
        self.waiting.push_back(Some(waker.clone()));
        self.given + self.waiting.len() as u64 - 1
    }

    /// Whether that ticket may go; its waker is kept if not.
    fn may_go(&mut self, ticket: u64, waker: &Waker) -> bool {
        if ticket < self.given {
            return true;
        }
        self.set(ticket, Some(waker.clone()));
        false
    }

    /// The handshake of that ticket is gone: it takes no turn from others.
    fn leave(&mut self, ticket: u64) {
        self.set(ticket, None);
    }

    fn set(&mut self, ticket: u64, waker: Option<Waker>) {
        let place = ticket.checked_sub(self.given).and_then(|place| usize::try_from(place).ok());
        if let Some(kept) = place.and_then(|place| self.waiting.get_mut(place)) {
            *kept = waker;
        }
    }

    /// The next that may go.
    fn give(&mut self) -> Vec<Waker> {
        let mut next = Vec::with_capacity(AT_ONCE);
        while next.len() < AT_ONCE
            && let Some(first) = self.waiting.pop_front()
        {
            self.given += 1;
            next.extend(first);
        }
        next
    }
}

impl Turns {
    /// Gives turns for ever. It must be a task of its own: each of its own turns is what the others' are counted by.
    pub(super) async fn give(self) {
        loop {
            while self.line().waiting.is_empty() {
                self.asked.notified().await;
            }
            let next = self.line().give();
            next.into_iter().for_each(Waker::wake);
            tokio::task::yield_now().await;
        }
    }

    /// The same future, whose every step waits for its turn.
    pub(super) fn pace<F: Future>(&self, future: F) -> Paced<F> {
        Paced { turns: self.clone(), ticket: None, future: Box::pin(future) }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A future that makes a step only when it is its turn.
pub(super) struct Paced<F> {
    turns: Turns,
    ticket: Option<u64>,
    future: Pin<Box<F>>,
}

impl<F> Drop for Paced<F> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.turns.line().leave(ticket);
        }
    }
}

impl<F: Future> Future for Paced<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Some(ticket) = self.ticket else {
            let ticket = self.turns.line().draw(cx.waker());
            self.ticket = Some(ticket);
            self.turns.asked.notify_one();
            return Poll::Pending;
        };
        let may_go = self.turns.line().may_go(ticket, cx.waker());
        if !may_go {
            return Poll::Pending;
        }
        self.ticket = None;
        self.future.as_mut().poll(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::task::JoinSet;

    use super::*;

    /// Makes that many steps, and counts them.
    async fn work(steps: usize, counter: Arc<AtomicUsize>) {
        for _ in 0..steps {
            counter.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn few_steps_are_made_between_two_turns_of_another_task() {
        let turns = Turns::default();
        let mut tasks = JoinSet::new();
        let steps = Arc::new(AtomicUsize::new(0));
        tasks.spawn(turns.clone().give());
        for _ in 0..1000 {
            tasks.spawn(turns.pace(work(3, steps.clone())));
        }
        let (mut before, mut most) = (0, 0);
        while before < 3000 {
            tokio::task::yield_now().await;
            let now = steps.load(Ordering::Relaxed);
            most = most.max(now - before);
            before = now;
        }
        assert!((1..=2 * AT_ONCE).contains(&most), "{most}");
    }

    #[tokio::test]
    async fn one_that_is_dropped_in_line_holds_up_nobody() {
        let turns = Turns::default();
        let mut tasks = JoinSet::new();
        let steps = Arc::new(AtomicUsize::new(0));
        let stand_in_line = || {
            let mut paced = turns.pace(work(1, steps.clone()));
            assert!(Pin::new(&mut paced).poll(&mut Context::from_waker(Waker::noop())).is_pending());
            paced
        };
        for _ in 0..100 {
            drop(stand_in_line());
        }
        let stays = stand_in_line();
        assert_eq!(turns.line().give().len(), 1, "those that are gone take no turn");
        drop(stand_in_line());
        // From here on somebody gives turns.
        tasks.spawn(turns.clone().give());
        stays.await;
        turns.pace(work(1, steps.clone())).await;
        assert_eq!(steps.load(Ordering::Relaxed), 2);
    }
}
