//! What many actors never use, as residents of somebody else's task have it too.

use std::collections::VecDeque;

use super::Extras;
use super::watch::Wanted;
use crate::ask::AskId;
use crate::fault::Fault;
use crate::item::Item;
use crate::watch::{Terminated, WatchId};

impl<M: Send + 'static> Extras<M> {
    /// Ends the timers and watches. Their messages are the user's, and what they do as they are dropped must not
    /// end the actor's end.
    pub(crate) fn end_arrangements(&mut self, path: impl FnOnce() -> String) {
        let timers = std::mem::take(&mut self.timers);
        let mut watches = std::mem::take(&mut self.watches);
        watches.unwatch_all();
        if let Err(fault) = Fault::catch(|| drop((timers, watches))) {
            tracing::error!(actor = %path(), %fault, "a timer's or watch's message panicked as it was dropped");
        }
    }

    /// A watched actor is gone: gives the message the watch asked for, or who it is, for a call of `terminated`.
    pub(crate) fn watch_ended(&mut self, watch: WatchId, who: Terminated) -> Option<Result<M, Terminated>> {
        Some(match self.watches.take(watch)? {
            Wanted::Message(message) => Ok(message),
            Wanted::Call => Err(who),
        })
    }

    /// Whether it holds nothing worth keeping.
    pub(super) fn is_empty(&self) -> bool {
        self.timers.next_deadline().is_none()
            && self.stash.len() == 0
            && self.watches.is_empty()
            && self.restarts.is_empty()
            && self.followed.is_none()
            && self.annex.is_none()
    }

    /// What is stashed, in order.
    pub(crate) fn stashed(&self) -> impl Iterator<Item = (&M, Option<AskId>)> {
        self.stash.iter().filter_map(|item| match item {
            Item::Tell(message) => Some((message, None)),
            Item::Ask(message, ask) => Some((message, Some(ask.unstow()))),
            Item::Rare(_) => None,
        })
    }

    /// Takes what was stashed, in order.
    pub(crate) fn take_stash(&mut self) -> VecDeque<(M, Option<AskId>)> {
        self.stash.drain().filter_map(into_asked).collect()
    }

    /// Puts a message aside, whatever the bound.
    pub(crate) fn restash(&mut self, message: M, ask: Option<AskId>) {
        self.stash.put_back(Item::new(message, ask));
    }
}

/// A message made by [`Item::new`], and the ask it carries.
pub(super) fn into_asked<M>(item: Item<M>) -> Option<(M, Option<AskId>)> {
    match item {
        Item::Tell(message) => Some((message, None)),
        Item::Ask(message, ask) => Some((message, Some(ask.unstow()))),
        Item::Rare(_) => None,
    }
}
