//! Which life this node lives at the moment.

use std::sync::{Arc, PoisonError, RwLock};

use borough_protocol::incarnation::{Incarnation, Uid};

/// Who this node is now. A node that its cluster gave up comes back under another uid; every clone sees that.
#[derive(Clone, Debug)]
pub(crate) struct Myself {
    now: Arc<RwLock<Incarnation>>,
}

impl Myself {
    /// A first life.
    pub(crate) fn new(incarnation: Incarnation) -> Self {
        Self { now: Arc::new(RwLock::new(incarnation)) }
    }

    /// The present life.
    pub(crate) fn incarnation(&self) -> Incarnation {
        self.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The uid of the present life.
    pub(crate) fn uid(&self) -> Uid {
        self.now.read().unwrap_or_else(PoisonError::into_inner).uid
    }

    /// Another life begins.
    pub(crate) fn begin(&self, uid: Uid) {
        self.now.write().unwrap_or_else(PoisonError::into_inner).uid = uid;
    }
}
