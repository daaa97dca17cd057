//! The sending half of a lane.

use std::fmt;
use std::future::Future;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use borough_actor::remote::{Carrier, Message};
use borough_actor::resident::{Asked, Mailbox, Queued, Refusal, Ticket, WhenFull};
use borough_actor::{Tell, TellError, TryTellError};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::inlet::LaneInlet;
use super::order::{Depth, LaneStats, Order};
use super::packet::Spares;
use super::parcel::{Barrier, Item, Parcel, Rare, Stowed};
use super::probe::Probe;
use crate::sharding::crowd::Crowd;
use crate::sharding::hold::Held;

/// How many messages wait in a lane's mailbox; few, so that they stay in cache.
const CAPACITY: NonZeroU32 = NonZeroU32::new(2048).unwrap();

/// Interrupts of a lane's mailbox.
pub(super) const ORDERS: u8 = 1;
pub(super) const READY: u8 = 1 << 1;
const END: u8 = 1 << 2;
const PING: u8 = 1 << 3;

/// How long a lane may take to say what lives in it before what it said last is given.
const STATS_TIME: Duration = Duration::from_secs(1);

/// The way to the entities of some shards of one type. Cheap to clone.
pub(crate) struct Lane<M>(pub(super) Arc<Shared<M>>);

/// What the two halves of a lane share.
pub(super) struct Shared<M> {
    pub(super) mailbox: Mailbox<Item<M>>,
    /// What there is beside messages: the mailbox takes its own note of it, but gives that only to one who waits.
    signals: AtomicU8,
    pub(super) orders: Mutex<Vec<Order>>,
    /// The calls that rang.
    pub(super) ready: Mutex<Vec<u64>>,
    /// Entities of the type that have as many messages waiting as they may, and who waits for them.
    pub(super) crowd: Arc<Crowd<Held<M>>>,
    /// Buffers for what comes from other nodes.
    pub(super) spares: Arc<Spares>,
    pub(super) probe: Arc<Probe>,
    /// What the lane said last of what lives in it.
    last_stats: Mutex<LaneStats>,
}

impl<M> Shared<M> {
    /// Whether there are orders.
    #[inline]
    pub(super) fn has_orders(&self) -> bool {
        self.signals.load(Ordering::Acquire) & ORDERS != 0
            && self.signals.fetch_and(!ORDERS, Ordering::AcqRel) != 0
    }

    /// Whether something rang.
    #[inline]
    pub(super) fn has_ready(&self) -> bool {
        self.signals.load(Ordering::Acquire) & READY != 0
            && self.signals.fetch_and(!READY, Ordering::AcqRel) != 0
    }

    /// Whether the lane is to end.
    pub(super) fn has_ended(&self) -> bool {
        self.signals.load(Ordering::Acquire) & END != 0
    }

    /// Drops the orders that nobody will do any more.
    pub(super) fn drop_orders(&self) {
        let left = std::mem::take(&mut *self.orders.lock().unwrap_or_else(PoisonError::into_inner));
        // No longer under the lock: whoever is woken by it may give the next.
        drop(left);
    }

    /// Says that there is one of these, and wakes the lane.
    pub(super) fn signal(&self, bit: u8) {
        self.signals.fetch_or(bit, Ordering::AcqRel);
        self.mailbox.interrupt(bit);
    }

    pub(super) fn new(crowd: Arc<Crowd<Held<M>>>) -> Self {
        let mailbox = Mailbox::new(CAPACITY, WhenFull::Wait);
        Self {
            mailbox,
            signals: AtomicU8::new(0),
            orders: Mutex::default(),
            ready: Mutex::default(),
            crowd,
            spares: Arc::default(),
            probe: Arc::default(),
            last_stats: Mutex::default(),
        }
    }
}

impl<M: Message> Lane<M> {
    /// Sends a message to an entity; stands in line if there is no room in the lane. How many its entity has waiting is seen to before.
    #[inline]
    pub(crate) fn send(&self, parcel: Parcel<M>, ask: Option<Asked>) -> Tell<M> {
        let stowed = Stowed::new(parcel, ask.map(|ask| ask.id));
        match self.0.mailbox.push(Item::Message(stowed)) {
            Ok(()) => Tell::accepted(),
            Err(refusal) => self.not_at_once(refusal),
        }
    }

    /// Sends a message if there is room.
    pub(crate) fn try_send(&self, parcel: Parcel<M>) -> Result<(), TryTellError<M>> {
        match self.0.mailbox.push(Item::Message(Stowed::new(parcel, None))) {
            Ok(()) => Ok(()),
            Err(Refusal::Closed(item)) => Err(give_back(item).map_or_else(lost, TryTellError::Stopped)),
            Err(refusal) => Err(give_back(item_of(refusal)).map_or_else(lost, TryTellError::Full)),
        }
    }

    /// Gives an order; it is never refused. A lane that is gone drops it.
    pub(crate) fn order(&self, order: Order) {
        self.0.orders.lock().unwrap_or_else(PoisonError::into_inner).push(order);
        // Looked at only now: what is pushed after a look may come after the lane has dropped the last, and whoever awaits an answer would wait for ever.
        if self.0.mailbox.is_closed() {
            return self.0.drop_orders();
        }
        self.0.signal(ORDERS);
    }

    /// Ends the lane: what waits is refused, and nothing is let in any more.
    pub(crate) fn end(&self) {
        self.0.signal(END);
    }

    /// Puts a barrier in line, behind everything sent before.
    pub(crate) async fn barrier(&self, barrier: Barrier) {
        self.put(Rare::Barrier(barrier)).await;
    }

    /// Waits until everything that was sent before was attended to, or the lane is gone.
    pub(crate) async fn flushed(&self) {
        let (say, said) = oneshot::channel();
        self.put(Rare::Flush(say)).await;
        // Dropped unsaid if the lane is gone.
        let _ = said.await;
    }

    async fn put(&self, rare: Rare) {
        let item = Item::Rare(Box::new(rare));
        let line = Line { lane: self.0.clone(), place: Place::Outside(Some(item)) };
        // Refused only if the lane is gone, and then nobody waits for it.
        let _ = line.await;
    }

    /// A way in for what comes from one other node.
    pub(crate) fn inlet(&self, carrier: Arc<dyn Carrier>) -> LaneInlet<M> {
        LaneInlet::new(self.0.clone(), carrier)
    }

    /// What lives in the lane; what it said last, if a handler holds it up; nothing, if it is gone.
    pub(crate) async fn stats(&self, depth: Depth) -> LaneStats {
        let last = || self.0.last_stats.lock().unwrap_or_else(PoisonError::into_inner);
        if self.0.probe.missed() > 1 {
            return last().clone();
        }
        let Ok(said) = timeout(STATS_TIME, self.stats_now(depth)).await else { return last().clone() };
        let stats = said.unwrap_or_default();
        last().clone_from(&stats);
        stats
    }

    /// What lives in the lane now: waits for as long as a handler holds it up. `None` if it is gone.
    pub(crate) async fn stats_now(&self, depth: Depth) -> Option<LaneStats> {
        let (say, said) = oneshot::channel();
        self.order(Order::Stats(depth, say));
        said.await.ok()
    }

    /// Asks the lane for a sign that it runs; how many of those in a row it has not given. `None` if it has ended.
    pub(crate) fn ping(&self, starts_over: bool) -> Option<u32> {
        if self.0.mailbox.is_closed() {
            return None;
        }
        let (missed, is_new) = self.0.probe.ping(starts_over);
        if is_new {
            self.0.mailbox.interrupt(PING);
        }
        Some(missed)
    }

    /// What the lane shows of itself.
    pub(crate) fn probe(&self) -> &Probe {
        &self.0.probe
    }

    #[cold]
    fn not_at_once(&self, refusal: Refusal<Item<M>>) -> Tell<M> {
        match refusal {
            Refusal::Closed(item) => match give_back(item) {
                Some(message) => Tell::refused(TellError::Stopped(message)),
                None => Tell::accepted(),
            },
            refusal => self.wait(item_of(refusal)),
        }
    }

    fn wait(&self, item: Item<M>) -> Tell<M> {
        let place = Place::Outside(Some(item));
        let mut line = Box::pin(Line { lane: self.0.clone(), place });
        // It has its place from now on, not from when it is first awaited: by then the way may be another.
        match line.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => Tell::waiting(line),
            Poll::Ready(Ok(())) => Tell::accepted(),
            Poll::Ready(Err(refused)) => Tell::refused(refused),
        }
    }
}

fn item_of<M>(refusal: Refusal<Item<M>>) -> Item<M> {
    match refusal {
        Refusal::Full(item)
        | Refusal::Refused(item)
        | Refusal::Closed(item)
        | Refusal::Displaced(item)
        | Refusal::Dropped(item) => item,
    }
}

fn give_back<M>(item: Item<M>) -> Option<M> {
    match item {
        Item::Message(stowed) => Some(stowed.message),
        Item::Rare(_) => None,
    }
}

/// A message is given back as it was sent.
fn lost<M>() -> TryTellError<M> {
    unreachable!("only a message was sent")
}

/// A sender that stands in line for room.
struct Line<M> {
    lane: Arc<Shared<M>>,
    place: Place<M>,
}

enum Place<M> {
    /// Not polled yet.
    Outside(Option<Item<M>>),
    /// Waits until the lane has room.
    InLine(Ticket),
    Left,
}

impl<M> Line<M> {
    fn poll_item(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Item<M>>> {
        match &mut self.place {
            Place::Outside(item) => {
                let Some(item) = item.take() else { return Poll::Ready(Ok(())) };
                match self.lane.mailbox.push_or_wait(item, cx.waker()) {
                    Ok(Some(ticket)) => {
                        self.place = Place::InLine(ticket);
                        Poll::Pending
                    }
                    Ok(None) => {
                        self.place = Place::Left;
                        Poll::Ready(Ok(()))
                    }
                    Err(refusal) => {
                        self.place = Place::Left;
                        Poll::Ready(Err(item_of(refusal)))
                    }
                }
            }
            Place::InLine(ticket) => {
                let polled = self.lane.mailbox.poll_waiting(*ticket, cx.waker());
                if polled.is_ready() {
                    self.place = Place::Left;
                }
                polled
            }
            Place::Left => Poll::Ready(Ok(())),
        }
    }

    /// Takes the item back; `None` if it was let in.
    fn leave(&mut self) -> Option<Item<M>> {
        match std::mem::replace(&mut self.place, Place::Left) {
            Place::Outside(item) => item,
            Place::InLine(ticket) => self.lane.mailbox.withdraw(ticket),
            Place::Left => None,
        }
    }
}

impl<M> Future for Line<M> {
    type Output = Result<(), TellError<M>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.get_mut().poll_item(cx).map(|outcome| match outcome {
            Ok(()) => Ok(()),
            Err(item) => give_back(item).map_or(Ok(()), |message| Err(TellError::Stopped(message))),
        })
    }
}

impl<M: Send> Queued<M> for Line<M> {
    fn withdraw(mut self: Pin<Box<Self>>) -> Option<M> {
        self.leave().and_then(give_back)
    }
}

/// The item is boxed with its future, and never pinned itself.
impl<M> Unpin for Line<M> {}

impl<M> Drop for Line<M> {
    fn drop(&mut self) {
        drop(self.leave());
    }
}

impl<M> Clone for Lane<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M> fmt::Debug for Lane<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lane")
    }
}
