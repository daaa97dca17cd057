//! A table of entities in a task behind a vector under a lock: ids of sixteen bytes and states lie in the table, nothing is boxed, nobody is
//! supervised, nothing moves. What a sharded host of one lane could do at best.

use crate::driver::Breath;
use crate::sharded::{Host, Id, Ids, Resident};
use std::collections::HashMap;
use std::future::poll_fn;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use tokio::sync::oneshot;

/// A sender lets others run while so many wait, so that the queue stays in the cache.
const WAITING: usize = 4096;

type Entities = HashMap<[u8; 16], Resident, BuildHasherDefault<Folding>>;

/// The sending half of the queue.
#[derive(Clone, Default)]
pub(super) struct Table {
    waiting: Arc<Mutex<Waiting>>,
}

#[derive(Default)]
struct Waiting {
    msgs: Vec<Msg>,
    reader: Option<Waker>,
}

enum Msg {
    Tell(Id, u64),
    Ask(Id, u64, oneshot::Sender<u64>),
    Sum(Id, oneshot::Sender<u64>),
}

impl Msg {
    fn apply(self, entities: &mut Entities) {
        // An asker that takes no answer is gone only when the whole run is.
        match self {
            Self::Tell(id, number) => entities.entry(id.bytes()).or_default().accept(number),
            Self::Ask(id, number, reply) => {
                reply.send(entities.entry(id.bytes()).or_default().answer(number)).ok();
            }
            Self::Sum(id, reply) => {
                reply.send(entities.entry(id.bytes()).or_default().sum()).ok();
            }
        }
    }
}

impl Table {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many wait now.
    fn push(&self, msg: Msg) -> usize {
        let (reader, waiting) = {
            let mut waiting = self.lock();
            waiting.msgs.push(msg);
            (waiting.reader.take(), waiting.msgs.len())
        };
        if let Some(reader) = reader {
            reader.wake();
        }
        waiting
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

impl Host for Table {
    async fn start() -> Self {
        let table = Self::default();
        let mailbox = table.clone();
        tokio::spawn(async move {
            let mut entities = Entities::default();
            let mut batch = Vec::new();
            loop {
                mailbox.take(&mut batch).await;
                for msg in batch.drain(..) {
                    msg.apply(&mut entities);
                }
            }
        });
        table
    }

    fn flood(
        &self,
        ids: Ids,
        numbers: Range<u64>,
        _breath: Breath,
    ) -> Option<impl Future<Output = ()> + Send> {
        let table = self.clone();
        Some(async move {
            for number in numbers {
                let mut waiting = table.push(Msg::Tell(ids.of(number), number));
                while waiting >= WAITING {
                    tokio::task::yield_now().await;
                    waiting = table.lock().msgs.len();
                }
            }
        })
    }

    async fn ask(&self, id: Id, number: u64) -> u64 {
        let (reply, answer) = oneshot::channel();
        self.push(Msg::Ask(id, number, reply));
        answer.await.expect("the task answers")
    }

    async fn sum(&self, id: Id) -> u64 {
        let (reply, answer) = oneshot::channel();
        self.push(Msg::Sum(id, reply));
        answer.await.expect("the task answers")
    }
}

/// Folds the words of an id; good enough for ids nobody chose to collide.
#[derive(Default)]
struct Folding(u64);

impl Hasher for Folding {
    fn write(&mut self, bytes: &[u8]) {
        for word in bytes.chunks_exact(8) {
            let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
            self.write_u64(word);
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "both halves are folded into one")]
    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word ^ 0x9E37_79B9_7F4A_7C15) * 0xA076_1D64_78BD_642F;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    /// The length of an array, which is the same for all.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}
