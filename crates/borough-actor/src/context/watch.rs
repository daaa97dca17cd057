//! The watches an actor keeps on others.

use std::collections::HashMap;
use std::sync::Arc;

use crate::actor_ref::Watchable;
use crate::cell::ActorCell;
use crate::item::{Item, Rare};
use crate::watch::WatchId;

pub(crate) struct Watches<M> {
    kept: HashMap<WatchId, Watch<M>>,
}

/// What is to happen when a watched actor is gone.
pub(super) enum Wanted<M> {
    /// This message is handled.
    Message(M),
    /// `terminated` is called.
    Call,
}

struct Watch<M> {
    target: Watchable,
    /// What to send when it is gone; none: call `terminated`.
    message: Option<M>,
}

impl<M> Default for Watches<M> {
    fn default() -> Self {
        Self { kept: HashMap::new() }
    }
}

impl<M> Watches<M> {
    /// Begins a watch; one on the same actor that was there before ends.
    pub(super) fn begin(&mut self, watcher: Arc<ActorCell<M>>, target: &Watchable, message: Option<M>)
    where
        M: Send + 'static,
    {
        self.end(target);
        let watch = Watchable::next_watch_id();
        self.kept.insert(watch, Watch { target: target.clone(), message });
        let tell = move |terminated| {
            // Refused means: the watcher is gone, or on its way.
            let _ = watcher.mailbox.push_beyond_bound(Item::rare(Rare::Terminated(watch, terminated)));
        };
        target.watch(watch, Box::new(tell));
    }

    pub(super) fn end(&mut self, target: &Watchable) {
        self.kept.retain(|watch, kept| {
            let ends = kept.target.is_same(target);
            if ends {
                kept.target.unwatch(*watch);
            }
            !ends
        });
    }

    pub(super) fn end_all(&mut self) {
        for (watch, kept) in self.kept.drain() {
            kept.target.unwatch(watch);
        }
    }

    /// The watch has done its work; gives what it asked for, `None` if it was ended before.
    pub(super) fn take(&mut self, watch: WatchId) -> Option<Wanted<M>> {
        self.kept.remove(&watch).map(|kept| kept.message.map_or(Wanted::Call, Wanted::Message))
    }
}
