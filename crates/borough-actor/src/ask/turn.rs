//! Which actor's turn this thread is running, and on whose behalf.
//!
//! An ask looks here to learn whether it is awaited inside a turn: only then does it make its
//! actor deaf until the answer comes, and only then can it close a circle.

use std::cell::Cell;

use super::AskId;
use crate::id::ActorId;

/// A turn under way: the actor, and the ask it is handling, if its message is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The number of the system's ask table: ids mean nothing in another system.
    pub(crate) system: u32,
    pub(crate) actor: ActorId,
    pub(crate) ask: Option<AskId>,
    /// Whether the actor is to stop after the message it is handling.
    pub(crate) is_last: bool,
}

thread_local! {
    static TURN: Cell<Option<Turn>> = const { Cell::new(None) };
}

/// The turn this thread is running.
#[inline]
pub(crate) fn current() -> Option<Turn> {
    TURN.get()
}

/// Marks the thread as running `turn` until it is left; it then shows again what it showed before.
#[inline]
pub(crate) fn enter(turn: Turn) -> Entered {
    Entered { before: TURN.replace(Some(turn)) }
}

/// Whether the turn this thread is running is to be its actor's last.
#[inline]
pub(crate) fn is_last() -> bool {
    TURN.get().is_some_and(|turn| turn.is_last)
}

/// Makes the turn this thread is running its actor's last, if it is a turn of this one.
pub(crate) fn make_last(system: u32, actor: ActorId) {
    if let Some(turn) = TURN.get().filter(|turn| turn.system == system && turn.actor == actor) {
        TURN.set(Some(Turn { is_last: true, ..turn }));
    }
}

/// Says which ask the turn this thread is running handles from here on.
#[inline]
pub(crate) fn handling(ask: Option<AskId>) {
    TURN.with(|turn| match turn.get() {
        Some(current) if current.ask != ask => turn.set(Some(Turn { ask, ..current })),
        Some(_) | None => {}
    });
}

/// A turn that was entered. Between entering and leaving nothing unwinds: see the fence.
#[derive(Debug)]
#[must_use = "a turn that is entered must be left"]
pub(crate) struct Entered {
    before: Option<Turn>,
}

impl Entered {
    /// Leaves the turn; gives the ask it was handling, for when it is entered again.
    #[inline]
    pub(crate) fn leave(self) -> Option<AskId> {
        TURN.replace(self.before).and_then(|turn| turn.ask)
    }
}
