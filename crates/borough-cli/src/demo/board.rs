//! What the demo tells whoever watches: on the screen, or line by line where there is none.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::output;

/// How many notices are kept in sight.
const NOTICES: usize = 4;

/// What is told.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// How far the demo is.
    pub(super) phase: String,
    /// What was sent, and how long answers take.
    pub(super) facts: String,
    /// What happened last.
    pub(super) notices: VecDeque<String>,
    /// The node processes, and whether they are paused.
    pub(super) nodes: Vec<(String, bool)>,
    /// The screen is to be given back.
    pub(super) is_over: bool,
}

/// Shared by the demo, which writes, and the screen, which reads.
#[derive(Clone, Debug)]
pub(super) struct Board {
    told: Arc<Mutex<Told>>,
    has_screen: bool,
}

impl Board {
    pub(super) fn new(has_screen: bool) -> Self {
        Self { told: Arc::default(), has_screen }
    }

    pub(super) fn has_screen(&self) -> bool {
        self.has_screen
    }

    /// All of it, to read or to write. Not held over an await.
    pub(super) fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something happened.
    pub(super) fn note(&self, what: String) {
        if !self.has_screen {
            output::remark(&what);
        }
        let mut told = self.told();
        if told.notices.len() == NOTICES {
            told.notices.pop_front();
        }
        told.notices.push_back(what);
    }

    /// The demo is so far now.
    pub(super) fn enter(&self, phase: String) {
        if !self.has_screen && !phase.is_empty() {
            output::remark(&phase);
        }
        self.told().phase = phase;
    }
}
