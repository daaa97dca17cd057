//! Hears what is logged on this thread.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Level, Metadata, Subscriber};

/// What was logged so far, warnings and errors unless more is asked for: one line each, which begins with the level.
#[derive(Clone, Default)]
pub(crate) struct Warnings(Arc<Mutex<Vec<String>>>);

impl Warnings {
    /// Listens as long as the guard is kept.
    pub(crate) fn listen() -> (Self, DefaultGuard) {
        Self::listen_to(Level::WARN)
    }

    /// The same, to everything of that level and above.
    pub(crate) fn listen_to(level: Level) -> (Self, DefaultGuard) {
        let warnings = Self::default();
        let guard = tracing::subscriber::set_default(warnings.ear(level));
        (warnings, guard)
    }

    /// What hears everything of that level and above.
    pub(crate) fn ear(&self, level: Level) -> impl Subscriber + use<> {
        Ear(self.clone(), level)
    }

    /// Those in which that is said.
    pub(crate) fn with(&self, words: &str) -> Vec<String> {
        self.0.lock().unwrap().iter().filter(|line| line.contains(words)).cloned().collect()
    }
}

struct Ear(Warnings, Level);

impl Subscriber for Ear {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.1
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(format!("{} ", event.metadata().level()));
        event.record(&mut line);
        self.0.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, "{field}={value:?} ");
    }
}
