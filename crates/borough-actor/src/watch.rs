//! Watching an actor: being told, once, that it is gone.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::oneshot;

use crate::id::ActorId;
use crate::remote::Away;
use crate::system::Core;

/// Why an actor stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// It, or somebody with its ref, asked it to.
    Requested,
    /// Its parent stopped or restarted.
    ParentStopped,
    /// It failed, and its supervision did not keep it.
    Fault,
    /// It was killed: its turn was ended at an await.
    Killed,
    /// The system shuts down, was dropped, or its runtime is gone.
    SystemStopped,
    /// It lived on another node, and that node is lost.
    NodeLost,
    /// An entity: it was idle, or there were too many. The next message starts it anew.
    Passivated,
    /// An entity: its shard moves to another node, or is no longer this node's.
    Moved,
}

/// Says that an actor is gone. What it sent before it stopped has arrived before; answers from another node may come later, and what was on its
/// way from a node that is lost may never come.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Terminated {
    /// Who, within its node.
    pub id: ActorId,
    /// Where it was.
    pub path: String,
    /// Why; `None` if it was gone before it was watched.
    pub reason: Option<StopReason>,
}

/// Names one watch, for ending it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WatchId(pub(crate) u64);

/// Tells one watcher. It is called once, and never under a lock.
pub(crate) type Watcher = Box<dyn FnOnce(Terminated) + Send>;

/// What watching an actor needs, whatever its messages are.
#[derive(Clone)]
pub(crate) enum Watchable {
    Here {
        id: ActorId,
        path: String,
        core: Arc<Core>,
    },
    Away(Away),
    /// One that is never gone for good.
    Lasting {
        id: ActorId,
        path: String,
        system: u32,
    },
}

impl Watchable {
    pub(crate) fn next_watch_id() -> WatchId {
        Core::next_watch_id()
    }

    /// Has `watcher` told once the actor is gone; at once if it is. `by` is the actor that watches, if it is one.
    pub(crate) fn watch(&self, watch: WatchId, by: Option<ActorId>, watcher: Watcher) {
        match self {
            Self::Here { id, core, .. } => {
                if let Some(watcher) = core.registry.watch(*id, watch, watcher) {
                    watcher(self.gone_before());
                }
            }
            Self::Away(away) => away.watch(watch, by, watcher),
            Self::Lasting { .. } => {}
        }
    }

    pub(crate) fn unwatch(&self, watch: WatchId) {
        match self {
            Self::Here { id, core, .. } => core.registry.unwatch(*id, watch),
            Self::Away(away) => away.unwatch(watch),
            Self::Lasting { .. } => {}
        }
    }

    /// Tells it from every other, of this system or another.
    pub(crate) fn key(&self) -> TargetKey {
        match self {
            Self::Here { id, core, .. } => TargetKey::Here { system: core.asks.number, id: *id },
            Self::Away(away) => away.key(),
            Self::Lasting { id, system, .. } => TargetKey::Here { system: *system, id: *id },
        }
    }

    pub(crate) fn gone_before(&self) -> Terminated {
        match self {
            Self::Here { id, path, .. } | Self::Lasting { id, path, .. } => {
                Terminated { id: *id, path: path.clone(), reason: None }
            }
            Self::Away(away) => away.gone(None),
        }
    }
}

/// Tells one watched actor from every other, of whatever system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TargetKey {
    Here { system: u32, id: ActorId },
    Away { carrier: u32, id: ActorId },
}

/// The future of [`ActorRef::stopped`](crate::ActorRef::stopped): ready once the actor is gone.
///
/// Cancel safe: dropping it ends the watch and nothing else.
#[must_use = "waits for nothing until it is awaited"]
pub struct Stopped {
    news: oneshot::Receiver<Terminated>,
    watched: Watchable,
    watch: WatchId,
}

impl Stopped {
    pub(crate) fn new(watched: Watchable) -> Self {
        let (tell, news) = oneshot::channel();
        let watch = Watchable::next_watch_id();
        watched.watch(watch, None, Box::new(|terminated| drop(tell.send(terminated))));
        Self { news, watched, watch }
    }
}

impl Future for Stopped {
    type Output = Terminated;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Terminated> {
        Pin::new(&mut self.news).poll(cx).map(|news| news.unwrap_or_else(|_| self.watched.gone_before()))
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        self.watched.unwatch(self.watch);
    }
}

impl fmt::Debug for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stopped").field("watch", &self.watch).finish_non_exhaustive()
    }
}
