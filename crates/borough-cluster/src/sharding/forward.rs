//! What a host sends on: the messages that came after a shard had moved, barriers among them, and the parts of what moves.
//!
//! Promise: all of it for one node goes in order, at the pace of the way there, and whoever hands it over does not wait. There is a bound;
//! beyond it messages are refused. What is left when the way is lost, because either node's incarnation ended, is reported and not sent by another way. Shards are
//! not handed over while [much of others](Forwards::is_busy) still waits for the same node: so what comes behind them, and the next shard, waits for a little and
//! not for all that moves.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use borough_actor::EntityId;
use borough_actor::remote::{Carrier, Head};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

/// How much may wait for a node while another shard is handed over for it.
const BUSY: usize = 4 * 1024 * 1024;

/// Called for each message that was to be sent on, and whose way is lost.
pub(super) type ReportLost = Arc<dyn Fn(LostForward) + Send + Sync>;

/// A message that was to be sent on to a node, and whose way was lost first.
pub(super) struct LostForward {
    /// To whom.
    pub(super) id: EntityId,
    /// Whether somebody waits for an answer.
    pub(super) is_ask: bool,
}

/// Something that is sent on.
pub(super) struct Forward {
    pub(super) head: Head,
    pub(super) body: Vec<u8>,
    /// To whom, if it is a message. Barriers, parts and words are sent again by whoever needs them.
    pub(super) entity: Option<EntityId>,
}

impl Forward {
    fn lost(self) -> Option<LostForward> {
        let is_ask = self.head.ask.is_some();
        self.entity.map(|id| LostForward { id, is_ask })
    }
}

/// See the module.
pub(super) struct Forwards {
    runtime: Handle,
    most: usize,
    report_lost: ReportLost,
    waiting: Arc<AtomicUsize>,
    queues: Mutex<HashMap<u64, Queue>>,
}

/// What waits for one incarnation of a node.
struct Queue {
    /// Of this node's incarnation that opened it: the next one has another.
    carrier: Arc<dyn Carrier>,
    entrance: mpsc::UnboundedSender<Forward>,
    bytes: Arc<AtomicUsize>,
}

impl Forwards {
    pub(super) fn new(runtime: Handle, most: usize, report_lost: ReportLost) -> Self {
        Self { runtime, most, report_lost, waiting: Arc::default(), queues: Mutex::default() }
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.load(Ordering::Acquire) == 0
    }

    /// Whether one more message may wait.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) < self.most
    }

    /// Whether so much waits for that incarnation of a node that no other shard is to be sent there yet.
    pub(super) fn is_busy(&self, uid: u64) -> bool {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.get(&uid).is_some_and(|queue| queue.bytes.load(Ordering::Relaxed) > BUSY)
    }

    /// Hands something over for that node.
    pub(super) fn send(&self, carrier: &Arc<dyn Carrier>, forward: Forward) {
        let unsent = {
            let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
            // A lost way is never found again. What waits for it is reported by its task.
            queues.retain(|_, queue| !queue.carrier.is_lost());
            let queue = queues.entry(carrier.uid()).or_insert_with(|| self.open(carrier.clone()));
            let length = forward.body.len();
            self.waiting.fetch_add(1, Ordering::Relaxed);
            queue.bytes.fetch_add(length, Ordering::Relaxed);
            let unsent = queue.entrance.send(forward).err();
            if unsent.is_some() {
                self.waiting.fetch_sub(1, Ordering::Relaxed);
            }
            unsent
        };
        // Not under the lock: dead letters are published to code of users.
        if let Some(lost) = unsent.and_then(|unsent| unsent.0.lost()) {
            (self.report_lost)(lost);
        }
    }

    fn open(&self, carrier: Arc<dyn Carrier>) -> Queue {
        let (entrance, mut waits) = mpsc::unbounded_channel::<Forward>();
        let (waiting, bytes) = (self.waiting.clone(), Arc::<AtomicUsize>::default());
        let (of_all, report_lost, by) = (bytes.clone(), self.report_lost.clone(), carrier.clone());
        self.runtime.spawn(async move {
            while let Some(Forward { head, body, entity }) = waits.recv().await {
                let length = body.len();
                let sent = by.clone().send(head, body).await;
                if sent.is_err() {
                    // What is left is taken out, and reported, too.
                    waits.close();
                    let lost = Forward { head, body: Vec::new(), entity }.lost();
                    if let Some(lost) = lost {
                        report_lost(lost);
                    }
                }
                waiting.fetch_sub(1, Ordering::Relaxed);
                of_all.fetch_sub(length, Ordering::Relaxed);
            }
        });
        Queue { carrier, entrance, bytes }
    }
}
