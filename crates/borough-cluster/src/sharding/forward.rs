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
    /// The entity it was for.
    pub(super) id: EntityId,
    /// Whether somebody waits for an answer.
    pub(super) is_ask: bool,
}

/// A message, a barrier or a part of a transfer that is to be sent to another node.
pub(super) struct Forward {
    pub(super) head: Head,
    pub(super) body: Vec<u8>,
    /// The entity it is for, if it is a message of a user. Barriers and parts of transfers are repeated by the nodes that need them.
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

    /// How much waits to be sent, for all nodes.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Acquire)
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
                    // A way that is lost takes nothing any more: what is left is taken out, and reported, too. One that was out of reach for long does.
                    if by.is_lost() {
                        waits.close();
                    }
                    if let Some(lost) = (Forward { head, body: Vec::new(), entity }).lost() {
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

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::atomic::AtomicBool;
    use std::task::{Context, Poll};

    use borough_actor::ActorId;
    use borough_actor::remote::{Home, Interruption, Lost, Sending, Unsent, WatchAway};
    use borough_wire::codec::CodecId;

    use super::*;

    /// A link that fails what it is told to, and keeps the rest.
    #[derive(Default)]
    struct Recorder {
        fails_next: AtomicBool,
        is_lost: AtomicBool,
        sent: Mutex<Vec<Vec<u8>>>,
    }

    struct Sent(Result<(), Unsent>);

    impl Future for Sent {
        type Output = Result<(), Unsent>;

        fn poll(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<Self::Output> {
            Poll::Ready(self.0)
        }
    }

    impl Sending for Sent {
        fn withdraw(self: Pin<Box<Self>>) -> bool {
            false
        }
    }

    impl Carrier for Recorder {
        fn number(&self) -> u32 {
            1
        }

        fn home(&self) -> &Arc<dyn Home> {
            unreachable!("nothing is decoded here")
        }

        fn uid(&self) -> u64 {
            7
        }

        fn address(&self) -> &'static str {
            "recorder:1"
        }

        fn codec(&self) -> CodecId {
            CodecId::Postcard
        }

        fn reads(&self, _codec: CodecId) -> bool {
            true
        }

        fn is_lost(&self) -> bool {
            self.is_lost.load(Ordering::Relaxed)
        }

        fn try_send(&self, _head: Head, body: &[u8]) -> Result<(), Unsent> {
            if self.is_lost() || self.fails_next.swap(false, Ordering::Relaxed) {
                return Err(Unsent::Lost);
            }
            self.sent.lock().unwrap().push(body.to_vec());
            Ok(())
        }

        fn send(self: Arc<Self>, head: Head, body: Vec<u8>) -> Pin<Box<dyn Sending>> {
            Box::pin(Sent(self.try_send(head, &body)))
        }

        fn answer(&self, _ask: u64, _codec: CodecId, _body: &[u8]) -> Result<(), Unsent> {
            Ok(())
        }

        fn lose(&self, _ask: u64, _why: Lost) {}

        fn interrupt(&self, _target: u64, _what: Interruption) {}

        fn watch(&self, _target: u64, _watch: u64, _by: Option<ActorId>, _watcher: WatchAway) {}

        fn unwatch(&self, _target: u64, _watch: u64) {}
    }

    /// The queues, and the entities whose messages they lost.
    fn forwards() -> (Forwards, Arc<Mutex<Vec<EntityId>>>) {
        let lost = Arc::<Mutex<Vec<EntityId>>>::default();
        let report: ReportLost = {
            let lost = lost.clone();
            Arc::new(move |forward: LostForward| lost.lock().unwrap().push(forward.id))
        };
        (Forwards::new(Handle::current(), 100, report), lost)
    }

    fn message(id: u64) -> Forward {
        let head = Head { target: 1, codec: CodecId::Postcard, ask: None };
        Forward { head, body: vec![u8::try_from(id).unwrap()], entity: Some(EntityId::from(id)) }
    }

    async fn until_idle(forwards: &Forwards) {
        while forwards.waiting() > 0 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn what_a_link_could_not_take_is_reported_and_what_follows_is_sent() {
        let (forwards, lost) = forwards();
        let link = Arc::new(Recorder::default());
        let carrier: Arc<dyn Carrier> = link.clone();
        // The node was out of reach for long; it is no other incarnation.
        link.fails_next.store(true, Ordering::Relaxed);
        for id in [1, 2] {
            forwards.send(&carrier, message(id));
        }
        until_idle(&forwards).await;
        forwards.send(&carrier, message(3));
        until_idle(&forwards).await;
        assert_eq!(*lost.lock().unwrap(), [EntityId::from(1)]);
        assert_eq!(*link.sent.lock().unwrap(), [[2], [3]]);
    }

    #[tokio::test]
    async fn all_that_waits_for_a_lost_link_is_reported_and_the_next_link_is_used() {
        let (forwards, lost) = forwards();
        let link = Arc::new(Recorder::default());
        let carrier: Arc<dyn Carrier> = link.clone();
        for id in [1, 2] {
            forwards.send(&carrier, message(id));
        }
        link.is_lost.store(true, Ordering::Relaxed);
        until_idle(&forwards).await;
        // The same node, as a later incarnation of this one speaks to it.
        let next = Arc::new(Recorder::default());
        let carrier: Arc<dyn Carrier> = next.clone();
        forwards.send(&carrier, message(3));
        until_idle(&forwards).await;
        assert_eq!(*lost.lock().unwrap(), [EntityId::from(1), EntityId::from(2)]);
        assert_eq!((link.sent.lock().unwrap().len(), next.sent.lock().unwrap().len()), (0, 1));
    }
}
