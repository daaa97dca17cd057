//! What keeps shards from moving off a node, and what was dropped because of it.
//!
//! ```text
//! lane: a turn that does not end, a state that cannot be written --> Hindrance, until the shard goes --+
//! watchdog: a worker that does not answer -------------------------------------------------------------+--> Stuck, the error of a leave or drain
//! lane: state that was dropped --> ERROR, counted --> DroppedState, the error of a leave or drain that was told to drop
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::watchdog::WedgedWorker;

/// So many hindrances are named in words; all of them are in the error.
const NAMED: usize = 5;

/// What keeps a shard from moving to another node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hindrance {
    /// A turn of an entity has not ended within [`handoff_timeout`](crate::ShardBuilder::handoff_timeout).
    Turn {
        /// The type.
        kind: String,
        /// The entity.
        entity: String,
    },
    /// The shard cannot be written, or is otherwise not ready to go.
    State {
        /// The type.
        kind: String,
        /// The shard.
        shard: u32,
        /// Why.
        why: String,
    },
    /// A worker does not answer: nothing that lives on it can move.
    Worker(WedgedWorker),
}

impl fmt::Display for Hindrance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turn { kind, entity } => write!(f, "a turn of {kind}/{entity} has not ended"),
            Self::State { kind, shard, why } => write!(f, "shard {shard} of {kind} cannot be sent: {why}"),
            Self::Worker(worker) => worker.fmt(f),
        }
    }
}

/// Shards that were to move off a node, and do not.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stuck {
    /// How many are still there.
    pub shards: usize,
    /// For how long none has gone, and nothing of one has arrived elsewhere.
    pub idle: Duration,
    /// What is known to be in their way.
    pub hindrances: Vec<Hindrance>,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shards, idle, hindrances } = self;
        write!(f, "{shards} shards are still on it, and none has gone for {} s", idle.as_secs())?;
        for (place, hindrance) in hindrances.iter().take(NAMED).enumerate() {
            write!(f, "{}{hindrance}", if place == 0 { ": " } else { "; " })?;
        }
        match hindrances.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

/// State of entities that a node dropped because it could not give it away in time, or to nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DroppedState {
    /// Shards that were dropped as a whole.
    pub shards: usize,
    /// Entities that lost their state: those of these shards, and those whose turn was ended by force.
    pub entities: usize,
}

impl DroppedState {
    fn minus(self, before: Self) -> Self {
        Self {
            shards: self.shards.saturating_sub(before.shards),
            entities: self.entities.saturating_sub(before.entities),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self { shards: self.shards + other.shards, entities: self.entities + other.entities }
    }

    /// Itself, if there is any.
    fn some(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }
}

impl fmt::Display for DroppedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the state of {} entities, {} shards as a whole", self.entities, self.shards)
    }
}

/// What is in the way on this node, and what was dropped, by type.
#[derive(Debug, Default)]
pub(crate) struct Hindrances {
    now: Mutex<BTreeMap<(String, u32), Vec<Hindrance>>>,
    dropped: Mutex<BTreeMap<String, DroppedState>>,
    /// What had been dropped as the node began to leave.
    before_leave: OnceLock<DroppedState>,
    drop_after: OnceLock<Duration>,
    /// How often something of a shard arrived elsewhere.
    progress: AtomicU64,
}

impl Hindrances {
    /// How long what is to move may take before it is dropped.
    pub(crate) fn drop_after(&self, time: Option<Duration>) {
        if let Some(time) = time {
            let _ = self.drop_after.set(time);
        }
    }

    pub(super) fn bound(&self) -> Option<Duration> {
        self.drop_after.get().copied()
    }

    pub(super) fn note_progress(&self) {
        self.progress.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn progress(&self) -> u64 {
        self.progress.load(Ordering::Relaxed)
    }

    /// The node begins to leave, unless it has begun before.
    pub(crate) fn begin_leave(&self) {
        self.before_leave.get_or_init(|| self.dropped(None));
    }

    /// What a leave has dropped so far.
    pub(crate) fn dropped_by_leave(&self) -> Option<DroppedState> {
        self.dropped_since(None, self.before_leave.get().copied().unwrap_or_default())
    }

    pub(super) fn note(&self, kind: &str, shard: u32, hindrance: Hindrance) {
        let mut now = lock(&self.now);
        let of_shard = now.entry((kind.to_owned(), shard)).or_default();
        if !of_shard.contains(&hindrance) {
            of_shard.push(hindrance);
        }
    }

    pub(super) fn forget(&self, kind: &str, shard: u32) {
        let mut now = lock(&self.now);
        if !now.is_empty() {
            now.remove(&(kind.to_owned(), shard));
        }
    }

    /// What keeps shards of these types.
    pub(super) fn of(&self, concerns: impl Fn(&str) -> bool) -> Vec<Hindrance> {
        let now = lock(&self.now);
        now.iter().filter(|((kind, _), _)| concerns(kind)).flat_map(|(_, why)| why.clone()).collect()
    }

    pub(super) fn note_dropped(&self, kind: &str, dropped: DroppedState) {
        let mut all = lock(&self.dropped);
        let of_kind = all.entry(kind.to_owned()).or_default();
        *of_kind = of_kind.plus(dropped);
    }

    /// What was dropped of that type, or of all.
    pub(super) fn dropped(&self, kind: Option<&str>) -> DroppedState {
        let all = lock(&self.dropped);
        let asked = all.iter().filter(|(name, _)| kind.is_none_or(|kind| kind == name.as_str()));
        asked.fold(DroppedState::default(), |sum, (_, dropped)| sum.plus(*dropped))
    }

    /// The same, since it was `before`.
    pub(super) fn dropped_since(&self, kind: Option<&str>, before: DroppedState) -> Option<DroppedState> {
        self.dropped(kind).minus(before).some()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_way_is_named_and_said_in_words() {
        let hindrances = Hindrances::default();
        let turn = Hindrance::Turn { kind: "books".to_owned(), entity: "x".to_owned() };
        hindrances.note("books", 3, turn.clone());
        hindrances.note("books", 3, turn.clone());
        let worker = WedgedWorker {
            kind: Some("carts".to_owned()),
            entity: Some("y".to_owned()),
            silent: Duration::from_secs(61),
        };
        let mut found = hindrances.of(|kind| kind == "books");
        assert_eq!(found, [turn]);
        found.push(Hindrance::Worker(worker));
        let stuck = Stuck { shards: 2, idle: Duration::from_secs(60), hindrances: found };
        assert_eq!(
            stuck.to_string(),
            "2 shards are still on it, and none has gone for 60 s: a turn of books/x has not ended; \
             a worker of carts has not answered for 61 s: the handler of carts/y blocks it"
        );
        hindrances.forget("books", 3);
        assert_eq!(hindrances.of(|_| true), []);
    }

    #[test]
    fn what_was_dropped_is_told_by_type_and_since_when() {
        let hindrances = Hindrances::default();
        hindrances.note_dropped("books", DroppedState { shards: 1, entities: 5 });
        let before = hindrances.dropped(None);
        hindrances.note_dropped("carts", DroppedState { shards: 0, entities: 1 });
        assert_eq!(hindrances.dropped_since(Some("books"), hindrances.dropped(Some("books"))), None);
        assert_eq!(hindrances.dropped_since(None, before), Some(DroppedState { shards: 0, entities: 1 }));
        assert_eq!(hindrances.dropped(None), DroppedState { shards: 1, entities: 6 });
    }
}
