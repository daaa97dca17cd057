//! A task behind a vector under a lock, which it takes whole: the fastest way known here to hand messages to a task.

use super::Msg;
use crate::driver::{self, Breath, Subject};
use std::future::poll_fn;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use tokio::sync::oneshot;

/// A task behind a vector under a lock, which it takes whole.
#[derive(Debug)]
pub(super) struct Batch;

/// The shared end of a [`Batch`] task's queue.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    msgs: Vec<Msg>,
    reader: Option<Waker>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, msg: Msg) {
        let reader = {
            let mut waiting = self.lock();
            waiting.msgs.push(msg);
            waiting.reader.take()
        };
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    /// Swaps `empty` for what is waiting, once something is.
    async fn take(&self, empty: &mut Vec<Msg>) {
        poll_fn(|cx| {
            let mut waiting = self.lock();
            if waiting.msgs.is_empty() {
                waiting.reader = Some(cx.waker().clone());
                return Poll::Pending;
            }
            std::mem::swap(&mut waiting.msgs, empty);
            Poll::Ready(())
        })
        .await;
    }
}

impl Subject for Batch {
    type Ref = Arc<Queue>;

    async fn spawn(&self, mut sum: u64) -> Self::Ref {
        let queue = Arc::new(Queue::default());
        let mailbox = queue.clone();
        tokio::spawn(async move {
            driver::started();
            let mut batch = Vec::new();
            loop {
                mailbox.take(&mut batch).await;
                for msg in batch.drain(..) {
                    msg.apply(&mut sum);
                }
            }
        });
        queue
    }

    async fn flood(actors: &[Self::Ref], numbers: Range<u64>, breath: Breath) {
        for (number, actor) in numbers.zip(actors.iter().cycle()) {
            actor.push(Msg::Add(number));
            breath.after(number).await;
        }
    }

    fn flood_from_thread(actor: &Self::Ref, numbers: Range<u64>) {
        for number in numbers {
            actor.push(Msg::Add(number));
        }
    }

    async fn ask(actor: &Self::Ref) -> u64 {
        let (reply, answer) = oneshot::channel();
        actor.push(Msg::Sum(reply));
        answer.await.expect("the task answers")
    }
}
