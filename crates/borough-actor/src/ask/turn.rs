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

/// What this thread is at. In pieces, because the ask changes with every message and the rest does not.
struct Now {
    who: Cell<Option<Who>>,
    ask: Cell<Option<AskId>>,
    is_last: Cell<bool>,
}

#[derive(Clone, Copy, Debug)]
struct Who {
    system: u32,
    actor: ActorId,
}

thread_local! {
    static NOW: Now = const { Now { who: Cell::new(None), ask: Cell::new(None), is_last: Cell::new(false) } };
}

/// The turn this thread is running.
#[inline]
pub(crate) fn current() -> Option<Turn> {
    NOW.with(|now| {
        let Who { system, actor } = now.who.get()?;
        Some(Turn { system, actor, ask: now.ask.get(), is_last: now.is_last.get() })
    })
}

/// Marks the thread as running `turn` until it is left; it then shows again what it showed before.
#[inline]
pub(crate) fn enter(turn: Turn) -> Entered {
    let Turn { system, actor, ask, is_last } = turn;
    NOW.with(|now| Entered {
        who: now.who.replace(Some(Who { system, actor })),
        ask: now.ask.replace(ask),
        is_last: now.is_last.replace(is_last),
    })
}

/// Whether the turn this thread is running is to be its actor's last.
#[inline]
pub(crate) fn is_last() -> bool {
    NOW.with(|now| now.is_last.get())
}

/// Whether this thread is running a turn of that actor.
pub(crate) fn is_of(system: u32, actor: ActorId) -> bool {
    NOW.with(|now| now.who.get().is_some_and(|who| who.system == system && who.actor == actor))
}

/// Makes the turn this thread is running its actor's last, if it is a turn of this one.
pub(crate) fn make_last(system: u32, actor: ActorId) {
    if is_of(system, actor) {
        NOW.with(|now| now.is_last.set(true));
    }
}

/// Which ask the turn that this thread is running handles.
#[inline]
pub(crate) fn handled() -> Option<AskId> {
    NOW.with(|now| now.ask.get())
}

/// Says which ask the turn this thread is running handles from here on. To be called in a turn only.
#[inline]
pub(crate) fn handling(ask: Option<AskId>) {
    NOW.with(|now| now.ask.set(ask));
}

/// A turn that was entered, and what the thread showed before. Between entering and leaving nothing unwinds: see
/// the fence.
#[derive(Debug)]
#[must_use = "a turn that is entered must be left"]
pub(crate) struct Entered {
    who: Option<Who>,
    ask: Option<AskId>,
    is_last: bool,
}

impl Entered {
    /// Leaves the turn; gives the ask it was handling, for when it is entered again.
    #[inline]
    pub(crate) fn leave(self) -> Option<AskId> {
        NOW.with(|now| {
            now.who.set(self.who);
            now.is_last.set(self.is_last);
            now.ask.replace(self.ask)
        })
    }
}
