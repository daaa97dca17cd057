//! Those who are at the door and not yet in.
//!
//! Promise: there are never more of them than the limit, and a new one always gets its turn: the oldest has to go. An
//! honest handshake takes milliseconds, so whoever is oldest among many is one that says nothing.

use std::collections::VecDeque;
use std::future::Future;

use tokio::task::{AbortHandle, JoinError, JoinSet};

/// Handshakes under way. Dropping it ends them.
pub(super) struct Waiting {
    most: usize,
    tasks: JoinSet<()>,
    /// Those that were told to end, and have not yet.
    ending: usize,
    /// Each with where it came from, the oldest first; those that are done are taken out when they are in the way.
    by_age: VecDeque<(AbortHandle, String)>,
}

impl Waiting {
    pub(super) fn new(most: usize) -> Self {
        Self { most: most.max(1), tasks: JoinSet::new(), ending: 0, by_age: VecDeque::new() }
    }

    /// Runs one more. If another had to go for it: where that one came from.
    pub(super) fn add(
        &mut self,
        from: String,
        handshake: impl Future<Output = ()> + Send + 'static,
    ) -> Option<String> {
        while let Some(ended) = self.tasks.try_join_next() {
            self.note(&ended);
        }
        let is_full = self.tasks.len().saturating_sub(self.ending) >= self.most;
        let crowded_out = if is_full { self.end_oldest() } else { None };
        self.by_age.push_back((self.tasks.spawn(handshake), from));
        if self.by_age.len() > self.most.saturating_mul(2) {
            self.by_age.retain(|(task, _)| !task.is_finished());
        }
        crowded_out
    }

    /// Waits for one to be done; for ever if there is none. Cancel safe.
    pub(super) async fn done(&mut self) {
        match self.tasks.join_next().await {
            Some(ended) => self.note(&ended),
            None => std::future::pending().await,
        }
    }

    fn note(&mut self, ended: &Result<(), JoinError>) {
        if ended.as_ref().is_err_and(JoinError::is_cancelled) {
            self.ending = self.ending.saturating_sub(1);
        }
        if self.tasks.is_empty() {
            // One that was told to end may have been done by itself.
            self.ending = 0;
        }
    }

    /// Ends the oldest, if there is one: where it came from.
    pub(super) fn end_oldest(&mut self) -> Option<String> {
        while let Some((oldest, from)) = self.by_age.pop_front() {
            if !oldest.is_finished() {
                oldest.abort();
                self.ending += 1;
                return Some(from);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn the_oldest_goes_when_there_is_no_room() {
        let mut waiting = Waiting::new(2);
        assert_eq!(waiting.add("a".to_owned(), std::future::pending()), None);
        assert_eq!(waiting.add("b".to_owned(), std::future::pending()), None);
        // Without a chance to run in between, as in a burst.
        assert_eq!(waiting.add("c".to_owned(), std::future::pending()), Some("a".to_owned()));
        assert_eq!(waiting.add("d".to_owned(), std::future::pending()), Some("b".to_owned()));
        waiting.done().await;
        waiting.done().await;
        assert_eq!(waiting.add("e".to_owned(), std::future::pending()), Some("c".to_owned()));
    }

    #[tokio::test]
    async fn those_who_are_done_take_no_room() {
        let mut waiting = Waiting::new(2);
        let done = Arc::new(AtomicUsize::new(0));
        assert_eq!(waiting.add("silent".to_owned(), std::future::pending()), None);
        for _ in 0..100 {
            let counter = done.clone();
            let handshake = async move {
                counter.fetch_add(1, Ordering::Relaxed);
            };
            assert_eq!(waiting.add("quick".to_owned(), handshake), None);
            waiting.done().await;
        }
        assert_eq!(done.load(Ordering::Relaxed), 100);
        assert!(waiting.by_age.len() <= 5, "what is done is forgotten");
    }
}
