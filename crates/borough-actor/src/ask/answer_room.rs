//! Room for answers on the ways to other nodes. Where there is none, the next ask of such a node waits for its turn: who asks for more than its way
//! carries is slowed down, and nobody else.
//!
//! ```text
//! open --so many bytes of answers wait for the node--> shut --they left, or are lost with it--> open
//! ```
//! Promise: an ask whose turn has not begun waits while the way is shut, but no longer than its asker does. What waits holds up its actor alone. The way opens
//! again whatever the actors here do, because the asker's node reads answers whatever its actors do.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use tokio::sync::Notify;
use tokio::time::timeout;

use super::AskId;
use super::id::PLACES;
use crate::cell::ActorCell;
use crate::dead_letters::DeadLetterReason;
use crate::item::Item;
use crate::system::{Core, SystemHandle};

/// How many ways of this process are shut: most often none, and then nothing else is looked at.
static SHUT: AtomicUsize = AtomicUsize::new(0);

/// For each place of nodes how many ways are shut.
pub(crate) struct AnswerRoom {
    shut: Box<[AtomicU32]>,
    opened: Notify,
}

impl Default for AnswerRoom {
    fn default() -> Self {
        Self { shut: (0..PLACES).map(|_| AtomicU32::new(0)).collect(), opened: Notify::new() }
    }
}

impl AnswerRoom {
    fn is_shut(&self, ask: AskId) -> bool {
        let place = ask.place_abroad().and_then(|place| self.shut.get(place as usize));
        place.is_some_and(|place| place.load(Ordering::Acquire) > 0)
    }
}

/// Says whether the answers to one node have room. Shut or open as often as it likes; open once it is dropped.
pub struct AnswerGate {
    core: Arc<Core>,
    place: u32,
    is_shut: AtomicBool,
}

impl AnswerGate {
    /// That of the way to the incarnation of that number.
    pub fn new(system: &SystemHandle, uid: u64) -> Self {
        Self { core: system.core().clone(), place: AskId::place_of(uid), is_shut: AtomicBool::new(false) }
    }

    fn count(&self) -> Option<&AtomicU32> {
        self.core.asks.answer_room.shut.get(self.place as usize)
    }

    /// There is no room. Not to be called at the same time as [`open`](Self::open).
    pub fn shut(&self) {
        if !self.is_shut.load(Ordering::Relaxed) && !self.is_shut.swap(true, Ordering::AcqRel) {
            self.count().into_iter().for_each(|count| _ = count.fetch_add(1, Ordering::AcqRel));
            SHUT.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// There is room.
    pub fn open(&self) {
        if self.is_shut.load(Ordering::Relaxed) && self.is_shut.swap(false, Ordering::AcqRel) {
            self.count().into_iter().for_each(|count| _ = count.fetch_sub(1, Ordering::AcqRel));
            SHUT.fetch_sub(1, Ordering::AcqRel);
            self.core.asks.answer_room.opened.notify_waiters();
        }
    }
}

impl Drop for AnswerGate {
    fn drop(&mut self) {
        self.open();
    }
}

impl fmt::Debug for AnswerGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerGate").field("is_shut", &self.is_shut).finish_non_exhaustive()
    }
}

/// A message that waits until its answer has room. It ends without it if its asker waits no more.
pub(crate) type Waiting<M> = Pin<Box<dyn Future<Output = Option<M>> + Send>>;

/// Whether that ask has to wait for its turn.
#[inline]
pub(crate) fn has_to_wait(core: &Core, ask: Option<AskId>) -> bool {
    SHUT.load(Ordering::Relaxed) > 0 && ask.is_some_and(|ask| core.asks.answer_room.is_shut(ask))
}

/// Whether anything has to wait: if not there is no need to know the ask.
#[inline]
pub(crate) fn is_any_shut() -> bool {
    SHUT.load(Ordering::Relaxed) > 0
}

/// A message whose turn has not begun: if it is dropped no handler saw it.
struct Kept<M: Send + 'static> {
    cell: Arc<ActorCell<M>>,
    message: Option<M>,
    ask: AskId,
    reason: DeadLetterReason,
}

impl<M: Send + 'static> Drop for Kept<M> {
    fn drop(&mut self) {
        if let Some(message) = self.message.take() {
            self.cell.bury(Item::new(message, Some(self.ask)), self.reason);
        }
    }
}

/// Keeps a message until its answer has room.
#[cold]
pub(crate) fn wait<M: Send + 'static>(cell: Arc<ActorCell<M>>, ask: AskId, message: M) -> Waiting<M> {
    let kept = Kept { cell: cell.clone(), message: Some(message), ask, reason: DeadLetterReason::Stopped };
    Box::pin(async move {
        // All of it, so that it is dropped as one.
        let mut kept = kept;
        loop {
            let asks = &cell.core.asks;
            let opened = asks.answer_room.opened.notified();
            if asks.is_given_up(ask) {
                kept.reason = DeadLetterReason::AskerGone;
                return None;
            }
            if !asks.answer_room.is_shut(ask) {
                return kept.message.take();
            }
            let left = ask.deadline_abroad().map(|deadline| asks.until(deadline)).unwrap_or_default();
            // Over or not: it is looked at again.
            let _ = timeout(left, opened).await;
        }
    })
}
