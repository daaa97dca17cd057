//! What a host sends on: the messages that came after a shard had moved, barriers among them, and the parts of what moves.
//!
//! Promise: all of it for one node goes in order, at the pace of the way there, and whoever hands it over does not wait. There is a bound;
//! beyond it messages are refused.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use borough_actor::remote::{Carrier, Head};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

/// See the module.
pub(super) struct Forwards {
    runtime: Handle,
    most: usize,
    waiting: Arc<AtomicUsize>,
    queues: Mutex<HashMap<u64, Queue>>,
}

/// What waits for one node.
type Queue = mpsc::UnboundedSender<(Head, Vec<u8>)>;

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

    /// Hands something over for that node.
    pub(super) fn send(&self, carrier: &Arc<dyn Carrier>, head: Head, body: Vec<u8>) {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|_, queue| !queue.is_closed());
        let queue = queues.entry(carrier.uid()).or_insert_with(|| self.open(carrier.clone()));
        self.waiting.fetch_add(1, Ordering::Relaxed);
        if queue.send((head, body)).is_err() {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn open(&self, carrier: Arc<dyn Carrier>) -> Queue {
        let (queue, mut waits) = mpsc::unbounded_channel::<(Head, Vec<u8>)>();
        let waiting = self.waiting.clone();
        self.runtime.spawn(async move {
            while let Some((head, body)) = waits.recv().await {
                // A node that is lost takes nothing any more: asks that went there are failed with it.
                let sent = carrier.clone().send(head, body).await;
                waiting.fetch_sub(1, Ordering::Relaxed);
                if sent.is_err() && carrier.is_lost() {
                    waits.close();
                }
            }
        });
        queue
    }
}
