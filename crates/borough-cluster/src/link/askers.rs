//! Whoever waits for answers that have come: they are woken together.
//!
//! One that is woken asks again most often, and all that is asked meanwhile leaves in one piece. Woken one by one, each would call a worker that
//! sleeps to take it over; that one finds nothing but it, sends its next ask by itself, and sleeps again.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use tokio::task::yield_now;

/// Nobody waits for more answers than these before it is woken.
const MANY: usize = 256;
/// So few are woken one by one: they lose nothing, and need not wait until the worker has run what it has to.
const FEW: usize = 8;

/// See the module.
#[derive(Default)]
pub(super) struct Askers(Vec<Waker>);

impl Askers {
    /// Remembers whoever has an answer, until it is woken with the others.
    #[inline]
    pub(super) fn answered(&mut self, asker: Option<Waker>) {
        self.0.extend(asker);
        if self.0.len() >= MANY {
            self.wake();
        }
    }

    pub(super) fn wake(&mut self) {
        if self.0.len() <= FEW {
            return self.0.drain(..).for_each(Waker::wake);
        }
        // As if each had yielded: the runtime wakes those all at once, once its worker has nothing else to do or has done a
        // few dozen other things, and the last first.
        for asker in self.0.drain(..).rev() {
            let _ = pin!(yield_now()).poll(&mut Context::from_waker(&asker));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::task::Wake;

    use super::*;

    struct Asker(usize, Arc<Mutex<Vec<usize>>>);

    impl Wake for Asker {
        fn wake(self: Arc<Self>) {
            self.1.lock().unwrap().push(self.0);
        }
    }

    /// Answers so many, and gives who was woken by then, after they were to be woken, and once others have run.
    async fn answer(count: usize) -> [Vec<usize>; 3] {
        let woken = Arc::new(Mutex::new(Vec::new()));
        let mut askers = Askers::default();
        for number in 0..count {
            askers.answered(Some(Waker::from(Arc::new(Asker(number, woken.clone())))));
        }
        let before = woken.lock().unwrap().clone();
        askers.wake();
        let now = woken.lock().unwrap().clone();
        yield_now().await;
        let later = woken.lock().unwrap().clone();
        [before, now, later]
    }

    #[tokio::test]
    async fn a_few_are_woken_at_once() {
        for count in [1, FEW] {
            let all: Vec<_> = (0..count).collect();
            assert_eq!(answer(count).await, [vec![], all.clone(), all]);
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn several_are_woken_together_in_the_order_of_their_answers() {
        let answered = tokio::spawn(answer(FEW + 1)).await.unwrap();
        assert_eq!(answered, [vec![], vec![], (0..=FEW).collect()]);
    }

    #[tokio::test]
    async fn nobody_waits_for_more_than_a_few_hundred_others() {
        let [_, _, later] = answer(3 * MANY).await;
        assert_eq!(later.len(), 3 * MANY);
        let mut askers = Askers::default();
        for _ in 0..MANY {
            askers.answered(Some(Waker::noop().clone()));
        }
        assert!(askers.0.is_empty());
    }

    #[test]
    fn outside_of_a_runtime_they_are_woken_at_once() {
        let woken = Arc::new(Mutex::new(Vec::new()));
        let mut askers = Askers::default();
        for number in 0..=FEW {
            askers.answered(Some(Waker::from(Arc::new(Asker(number, woken.clone())))));
        }
        askers.wake();
        assert_eq!(woken.lock().unwrap().len(), FEW + 1);
    }
}
