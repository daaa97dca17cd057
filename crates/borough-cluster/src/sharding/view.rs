//! What this node knows of its cluster, where lanes can see it.
//!
//! Promise: the life that [`Outlook::life`] names is over, or is that of the newest view. It lies apart because a lane looks at it before every
//! few turns, and at nothing else then.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::{ArcSwap, Guard};
use borough_protocol::incarnation::Uid;
use borough_protocol::sharding::KindId;
use borough_protocol::table::Table;

/// What this node knows of its cluster at one moment.
#[derive(Debug, Default)]
pub(super) struct View {
    pub(super) life: Option<Uid>,
    pub(super) id: Option<KindId>,
    pub(super) table: Option<Arc<Table>>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Outlook {
    newest: ArcSwap<View>,
    /// Of the newest view; 0, which is nobody's, if that has none.
    life: AtomicU64,
}

impl Outlook {
    #[inline]
    pub(super) fn load(&self) -> Guard<Arc<View>> {
        self.newest.load()
    }

    pub(super) fn load_full(&self) -> Arc<View> {
        self.newest.load_full()
    }

    /// By one at a time.
    pub(super) fn store(&self, view: View) {
        let life = view.life.map_or(0, Uid::get);
        if self.life.load(Ordering::Relaxed) != life {
            // The life before is over as soon as its view is.
            self.life.store(0, Ordering::Release);
        }
        self.newest.store(Arc::new(view));
        self.life.store(life, Ordering::Release);
    }

    /// Which life of the node this is.
    #[inline]
    pub(super) fn life(&self) -> Option<Uid> {
        Uid::new(self.life.load(Ordering::Acquire))
    }
}
