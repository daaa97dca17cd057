//! Whoever waits for answers that have come: they are woken together.
//!
//! One that is woken asks again most often, and all that is asked meanwhile leaves in one piece. Woken one by one, each would call a worker that
//! sleeps to take it over; that one finds nothing but it, sends its next ask by itself, and sleeps again.
//!
//! Promise: everybody is woken. Together means by the worker that read the answers, once it has nothing else to do or has done a few dozen other
//! things; if it does not come to that within [`PATIENCE`], by whoever looks after them.

use std::collections::VecDeque;
use std::future::Future;
use std::mem;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::Instant;

/// So few are woken one by one: they lose nothing by it.
const FEW: usize = 8;
/// A worker that takes longer than this is held up by something.
pub(super) const PATIENCE: Duration = Duration::from_millis(10);

/// See the module.
#[derive(Default)]
pub(super) struct Askers {
    answered: VecDeque<Waker>,
    /// Those that a worker is to wake, and since when.
    left: Vec<(Instant, Arc<Together>)>,
}

/// They are woken when this is.
struct Together(Mutex<VecDeque<Waker>>);

impl Together {
    fn take(&self) -> VecDeque<Waker> {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_over(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

impl Wake for Together {
    fn wake(self: Arc<Self>) {
        self.take().into_iter().for_each(Waker::wake);
    }
}

impl Askers {
    /// Remembers whoever has an answer, until it is woken with the others.
    #[inline]
    pub(super) fn answered(&mut self, asker: Option<Waker>) {
        self.answered.extend(asker);
    }

    /// Wakes them, or has them woken: those are to be [looked after](Self::look_after).
    pub(super) fn wake(&mut self) {
        if self.answered.len() <= FEW {
            // One by one, so that a waker that panics takes no other with it.
            while let Some(asker) = self.answered.pop_front() {
                asker.wake();
            }
            return;
        }
        let together = Arc::new(Together(Mutex::new(mem::take(&mut self.answered))));
        // As if they had yielded: the runtime wakes those when their worker is about to look for other work, and calls nobody for each.
        let _ = pin!(yield_now()).poll(&mut Context::from_waker(&together.clone().into()));
        self.left.push((Instant::now(), together));
    }

    /// Wakes those that should have been woken by now. Whether some are left to be looked after.
    pub(super) fn look_after(&mut self) -> bool {
        if self.left.is_empty() {
            return false;
        }
        let now = Instant::now();
        self.left.retain(|(since, together)| {
            if now.duration_since(*since) >= PATIENCE {
                together.clone().wake();
            }
            !together.is_over()
        });
        !self.left.is_empty()
    }
}

/// Nobody looks after them any more.
impl Drop for Askers {
    fn drop(&mut self) {
        let left = self.left.drain(..).flat_map(|(_, together)| together.take());
        self.answered.drain(..).chain(left).for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Woken = Arc<Mutex<Vec<usize>>>;

    struct Asker(usize, Woken);

    impl Wake for Asker {
        fn wake(self: Arc<Self>) {
            self.1.lock().unwrap().push(self.0);
        }
    }

    /// So many that have an answer, and who was woken of them.
    fn answered(count: usize) -> (Askers, Woken) {
        let woken = Woken::default();
        let mut askers = Askers::default();
        for number in 0..count {
            askers.answered(Some(Waker::from(Arc::new(Asker(number, woken.clone())))));
        }
        assert!(woken.lock().unwrap().is_empty());
        (askers, woken)
    }

    fn all(count: usize) -> Vec<usize> {
        (0..count).collect()
    }

    #[tokio::test]
    async fn a_few_are_woken_at_once() {
        for count in [0, 1, FEW] {
            let (mut askers, woken) = answered(count);
            askers.wake();
            assert!(!askers.look_after());
            assert_eq!(*woken.lock().unwrap(), all(count));
        }
    }

    async fn many_are_woken_together() {
        let (mut askers, woken) = answered(1000);
        askers.wake();
        assert!(askers.look_after());
        assert!(woken.lock().unwrap().is_empty());
        yield_now().await;
        assert_eq!(*woken.lock().unwrap(), all(1000));
        assert!(!askers.look_after());
    }

    #[tokio::test]
    async fn many_are_woken_together_in_the_order_of_their_answers() {
        many_are_woken_together().await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn and_by_a_worker_of_several() {
        tokio::spawn(many_are_woken_together()).await.unwrap();
    }

    #[test]
    fn whom_a_worker_holds_up_is_woken_by_the_one_who_looks_after_them() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        let (mut askers, woken) = answered(FEW + 1);
        let (give, given) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        runtime.spawn(async move {
            askers.wake();
            give.send(askers).unwrap();
            let _ = ended.recv();
        });
        let mut askers = given.recv().unwrap();
        assert!(askers.look_after(), "their worker is given time");
        assert!(woken.lock().unwrap().is_empty(), "their worker is held up");
        askers.left[0].0 -= PATIENCE;
        assert!(!askers.look_after());
        assert_eq!(*woken.lock().unwrap(), all(FEW + 1));
        drop(end);
    }

    #[test]
    fn one_that_panics_takes_no_other_with_it() {
        struct Panics;
        impl Wake for Panics {
            fn wake(self: Arc<Self>) {
                panic!("as this test wants it");
            }
        }
        let (mut askers, woken) = answered(1);
        askers.answered.push_front(Waker::from(Arc::new(Panics)));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| askers.wake())).is_err());
        askers.wake();
        assert_eq!(*woken.lock().unwrap(), all(1));
    }

    #[test]
    fn outside_of_a_runtime_they_are_woken_at_once() {
        let (mut askers, woken) = answered(FEW + 1);
        askers.wake();
        assert_eq!(*woken.lock().unwrap(), all(FEW + 1));
    }

    #[tokio::test]
    async fn they_are_woken_though_nobody_looks_after_them_any_more() {
        let (askers, woken) = answered(FEW + 1);
        drop(askers);
        assert_eq!(woken.lock().unwrap().len(), FEW + 1);
        let (mut askers, woken) = answered(FEW + 1);
        askers.wake();
        drop(askers);
        assert_eq!(woken.lock().unwrap().len(), FEW + 1);
    }
}
