//! What a host sends on: the messages that came after a shard had moved, barriers among them, and the parts of what moves.
//!
//! Promise: all of it for one node goes in order, at the pace of the way there, and whoever hands it over does not wait. There is a bound;
//! beyond it messages are refused. Shards are not handed over while [much of others](Forwards::is_busy) still waits for the same node: so what comes behind
//! them, and the next shard, waits for a little and not for all that moves.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use borough_actor::remote::{Carrier, Head};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

/// How much may wait for a node while another shard is handed over for it.
const BUSY: usize = 4 * 1024 * 1024;

/// See the module.
pub(super) struct Forwards {
    runtime: Handle,
    most: usize,
    waiting: Arc<AtomicUsize>,
    queues: Mutex<HashMap<u64, Queue>>,
}

/// What waits for one node.
struct Queue {
    entrance: mpsc::UnboundedSender<(Head, Vec<u8>)>,
    bytes: Arc<AtomicUsize>,
}

impl Forwards {
    pub(super) fn new(runtime: Handle, most: usize) -> Self {
        Self { runtime, most, waiting: Arc::default(), queues: Mutex::default() }
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.load(Ordering::Acquire) == 0
    }

    /// Whether one more message may wait.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) < self.most
    }

    /// Whether so much waits for that life of a node that no other shard is to be sent there yet.
    pub(super) fn is_busy(&self, uid: u64) -> bool {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.get(&uid).is_some_and(|queue| queue.bytes.load(Ordering::Relaxed) > BUSY)
    }

    /// Hands something over for that node.
    pub(super) fn send(&self, carrier: &Arc<dyn Carrier>, head: Head, body: Vec<u8>) {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|_, queue| !queue.entrance.is_closed());
        let queue = queues.entry(carrier.uid()).or_insert_with(|| self.open(carrier.clone()));
        let length = body.len();
        self.waiting.fetch_add(1, Ordering::Relaxed);
        queue.bytes.fetch_add(length, Ordering::Relaxed);
        if queue.entrance.send((head, body)).is_err() {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            queue.bytes.fetch_sub(length, Ordering::Relaxed);
        }
    }

    fn open(&self, carrier: Arc<dyn Carrier>) -> Queue {
        let (entrance, mut waits) = mpsc::unbounded_channel::<(Head, Vec<u8>)>();
        let (waiting, bytes) = (self.waiting.clone(), Arc::<AtomicUsize>::default());
        let of_all = bytes.clone();
        self.runtime.spawn(async move {
            while let Some((head, body)) = waits.recv().await {
                let length = body.len();
                // A node that is lost takes nothing any more: asks that went there are failed with it.
                let sent = carrier.clone().send(head, body).await;
                waiting.fetch_sub(1, Ordering::Relaxed);
                of_all.fetch_sub(length, Ordering::Relaxed);
                if sent.is_err() && carrier.is_lost() {
                    waits.close();
                }
            }
        });
        Queue { entrance, bytes }
    }
}
