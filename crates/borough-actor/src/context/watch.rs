//! The watches an actor keeps on others.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::cell::ActorCell;
use crate::item::{Item, Rare};
use crate::watch::{TargetKey, WatchId, Watchable};

pub(crate) struct Watches<M> {
    /// In the order they began.
    kept: BTreeMap<WatchId, Watch<M>>,
    by_target: HashMap<TargetKey, WatchId>,
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
        Self { kept: BTreeMap::new(), by_target: HashMap::new() }
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
        self.by_target.insert(target.key(), watch);
        self.kept.insert(watch, Watch { target: target.clone(), message });
        let by = watcher.id;
        let tell = move |terminated| {
            // Refused means: the watcher is gone, or on its way.
            let _ = watcher.mailbox.push_beyond_bound(Item::rare(Rare::Terminated(watch, terminated)));
        };
        target.watch(watch, Some(by), Box::new(tell));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    pub(super) fn end(&mut self, target: &Watchable) {
        if let Some(watch) = self.by_target.remove(&target.key()) {
            self.kept.remove(&watch);
            target.unwatch(watch);
        }
    }

    /// Ends all watches; their messages are kept, for whoever drops them.
    pub(super) fn unwatch_all(&mut self) {
        self.by_target.clear();
        for (watch, kept) in &self.kept {
            kept.target.unwatch(*watch);
        }
    }

    /// The watch has done its work; gives what it asked for, `None` if it was ended before.
    pub(super) fn take(&mut self, watch: WatchId) -> Option<Wanted<M>> {
        let kept = self.kept.remove(&watch)?;
        self.by_target.remove(&kept.target.key());
        Some(kept.message.map_or(Wanted::Call, Wanted::Message))
    }
}
