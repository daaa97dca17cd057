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
    pub(crate) actor: ActorId,
    pub(crate) ask: Option<AskId>,
}

thread_local! {
    static TURN: Cell<Option<Turn>> = const { Cell::new(None) };
}

/// The turn this thread is running.
#[inline]
pub(crate) fn current() -> Option<Turn> {
    TURN.get()
}

/// Marks the thread as running `turn` until the guard goes; it then shows again what it showed before.
#[inline]
pub(crate) fn enter(turn: Turn) -> Entered {
    Entered { before: TURN.replace(Some(turn)) }
}

/// Says which ask the turn this thread is running handles from here on.
#[inline]
pub(crate) fn handling(ask: Option<AskId>) {
    TURN.with(|turn| match turn.get() {
        Some(current) if current.ask != ask => turn.set(Some(Turn { ask, ..current })),
        Some(_) | None => {}
    });
}

#[derive(Debug)]
pub(crate) struct Entered {
    before: Option<Turn>,
}

impl Entered {
    /// The ask being handled as the turn is left, for when it is entered again.
    #[inline]
    pub(crate) fn ask(&self) -> Option<AskId> {
        TURN.get().and_then(|turn| turn.ask)
    }
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        TURN.set(self.before);
    }
}
