//! To or from which node this thread is encoding or decoding: an `ActorRef` or a `Reply` inside a message asks here.

use std::cell::{Cell, RefCell};
use std::mem;
use std::ptr;
use std::sync::Arc;

use borough_wire::codec::CodecId;

use super::carrier::Carrier;

/// What this thread is at.
struct Passage {
    /// The last carrier it used. It is kept when the passage is over: the next one is most often by the same, and then costs no count.
    carrier: RefCell<Option<Arc<dyn Carrier>>>,
    is_open: Cell<bool>,
    /// How what it decodes was encoded.
    codec: Cell<CodecId>,
}

thread_local! {
    static PASSAGE: Passage = const {
        Passage { carrier: RefCell::new(None), is_open: Cell::new(false), codec: Cell::new(CodecId::Postcard) }
    };
    /// Asks for whose answers slots were taken while a message was encoded: replies that are no ask's own.
    static TAKEN: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    static ANY_TAKEN: Cell<bool> = const { Cell::new(false) };
    /// A buffer to encode into.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A buffer larger than this is not kept.
const SCRATCH_KEPT: usize = 64 * 1024;

/// Runs `act` with this thread knowing that it encodes for, or decodes from, the node at the other end of `carrier`.
#[inline]
pub fn within<R>(carrier: &Arc<dyn Carrier>, act: impl FnOnce() -> R) -> R {
    let _before = Before::enter(carrier);
    act()
}

/// What the thread was at before a passage; it is again when this is dropped, also if what ran meanwhile panics.
struct Before {
    was_open: bool,
    other: Option<Arc<dyn Carrier>>,
}

impl Before {
    #[inline]
    fn enter(carrier: &Arc<dyn Carrier>) -> Self {
        PASSAGE.with(|now| {
            let is_same = now
                .carrier
                .borrow()
                .as_ref()
                .is_some_and(|kept| ptr::addr_eq(Arc::as_ptr(kept), Arc::as_ptr(carrier)));
            let was_open = now.is_open.replace(true);
            let other = if is_same { None } else { now.carrier.replace(Some(carrier.clone())) };
            Self { was_open, other: other.filter(|_| was_open) }
        })
    }
}

impl Drop for Before {
    #[inline]
    fn drop(&mut self) {
        PASSAGE.with(|now| {
            now.is_open.set(self.was_open);
            if let Some(other) = self.other.take() {
                now.carrier.replace(Some(other));
            }
        });
    }
}

/// Gives `look` the carrier of the passage this thread is in; `None` if it is in none.
pub fn current<R>(look: impl FnOnce(&Arc<dyn Carrier>) -> R) -> Option<R> {
    // A thread that ends is in none.
    PASSAGE.try_with(|now| now.is_open.get().then(|| now.carrier.borrow().as_ref().map(look))?).ok()?
}

/// Says in which codec that is which this thread decodes next: replies in it are answered in the same.
#[inline]
pub fn decode_as(codec: CodecId) {
    PASSAGE.with(|now| now.codec.set(codec));
}

/// How what this thread decodes was encoded.
pub(super) fn codec() -> CodecId {
    PASSAGE.with(|now| now.codec.get())
}

/// Gives `act` an empty buffer to encode into.
#[inline]
pub fn with_scratch<R>(act: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    SCRATCH.with(|scratch| {
        // Somebody encodes while he encodes.
        let Ok(mut scratch) = scratch.try_borrow_mut() else { return act(&mut Vec::new()) };
        scratch.clear();
        let result = act(&mut scratch);
        if scratch.capacity() > SCRATCH_KEPT {
            *scratch = Vec::new();
        }
        result
    })
}

/// A slot was taken for a reply in the message that is being encoded.
pub(crate) fn note_taken(ask: u64) {
    ANY_TAKEN.set(true);
    TAKEN.with_borrow_mut(|taken| taken.push(ask));
}

/// The asks noted since the last call.
#[inline]
pub fn taken() -> Vec<u64> {
    if ANY_TAKEN.replace(false) { TAKEN.with_borrow_mut(mem::take) } else { Vec::new() }
}
