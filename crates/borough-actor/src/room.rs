//! Who waits in a turn for whose room, and whether they wait for each other.
//!
//! ```text
//! (a tell in a turn found no room) --a circle?--> refused, the message is given back
//!     |-- waits 3 s -----------> logged and listed
//!     |-- waits an ask's time --> refused, the message is given back
//!     +-- room ----------------> accepted
//! ```
//! Promise: a message that finds room at once never comes here, nor one that waits outside of any turn. Of actors of one process that wait for each other's
//! room, or for each other's answers, one is refused: whose tell closes the circle. A circle through an ask that no turn handles yet, or with more than
//! 256 turns behind the teller, ends with the time of the wait.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use crate::actor_ref::SystemRef;
use crate::ask::turn::Turn;
use crate::id::ActorId;
use crate::sync::{Mutex, lock};
use crate::system::Core;
use crate::time::later;

/// A wait as long as this is logged and listed.
const LONG: Duration = Duration::from_secs(3);

/// How many turns are looked at for a circle.
const LOOKED_AT: usize = 256;

/// Why a message found no room, and does not wait for it any longer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoRoom {
    /// The actor told waits for the teller, directly or through others: neither would ever go on.
    #[error(
        "{path} is full, and waiting for its room would never end: {}; use `try_tell`, tell from a task of its own, or give one of them a larger mailbox",
        in_words(circle)
    )]
    Circle {
        /// The actor that was told.
        path: String,
        /// The actors that wait for each other, beginning and ending with the one told.
        circle: Vec<String>,
    },
    /// A turn waited for as long as an ask may take.
    #[error("{path} had no room for {timeout:?}, and a turn waits no longer; see what keeps it busy")]
    Timeout {
        /// The actor that was told.
        path: String,
        /// How long the turn waited: the system's ask timeout.
        timeout: Duration,
    },
}

fn in_words(circle: &[String]) -> String {
    let mut words = String::new();
    for (place, name) in circle.iter().enumerate() {
        words += match place {
            0 => "",
            1 => " waits for ",
            _ => ", which waits for ",
        };
        words += name;
    }
    words
}

/// A turn that has waited for room for more than three seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LongWait {
    /// Whose turn it is.
    pub sender: String,
    /// Who has no room.
    pub recipient: String,
    /// For how long it has waited.
    pub waited: Duration,
}

/// For whose room a message stands in line.
pub struct Room {
    core: Arc<Core>,
    path: String,
    full: Option<Full>,
}

/// An actor of this process that has no room.
#[derive(Clone)]
struct Full {
    actor: ActorId,
    /// Whether the message still stands in line for it, and it has no room.
    holds: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl Room {
    /// Room somewhere else, or of somebody who waits for nobody.
    pub fn of(system: SystemRef<'_>, path: String) -> Self {
        Self { core: system.0.clone(), path, full: None }
    }

    /// Room of that actor of this process; `holds` says whether the message still stands in line, and there is no room.
    #[must_use]
    pub fn of_actor(mut self, actor: ActorId, holds: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.full = Some(Full { actor, holds: Arc::new(holds) });
        self
    }
}

impl NoRoom {
    /// Who is called so told itself.
    pub fn of_itself(path: String) -> Self {
        Self::Circle { circle: vec![path.clone(), path.clone()], path }
    }
}

impl fmt::Debug for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Room").field(&self.path).finish()
    }
}

/// The waits of a system's turns.
#[derive(Default)]
pub(crate) struct Waits {
    table: Mutex<Table>,
    /// How many there are now: an ask need not look further as long as there are none, which is nearly always.
    count: AtomicUsize,
    /// How many were long.
    long: AtomicU64,
}

#[derive(Default)]
struct Table {
    next: u64,
    waits: HashMap<u64, Entry>,
    /// Which of them are for the room of that actor.
    of: HashMap<ActorId, Vec<u64>>,
}

struct Entry {
    turn: Turn,
    path: Arc<str>,
    full: Option<Full>,
    /// Since when, once it is long.
    long_since: Option<Instant>,
}

/// One look back: a turn, who waits for it, and what that one waits for is called.
struct Step {
    turn: Turn,
    /// The step it was reached from.
    from: usize,
    /// What the actor it waits for is called, if it waits for room.
    for_room_of: Option<Arc<str>>,
}

impl Waits {
    /// Whether no turn waits for room.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// How many waits of turns were long.
    pub(crate) fn long_total(&self) -> u64 {
        self.long.load(Ordering::Relaxed)
    }

    /// The long ones that are under way, the longest first.
    pub(crate) fn long(core: &Core) -> Vec<LongWait> {
        let mut long: Vec<_> = lock(&core.waits.table)
            .waits
            .values()
            .filter_map(|entry| Some((entry.long_since?, entry.turn.actor, entry.path.clone())))
            .collect();
        long.sort_by_key(|(since, ..)| *since);
        let long = long.into_iter().map(|(since, sender, path)| LongWait {
            sender: core.registry.path(sender),
            recipient: path.to_string(),
            waited: since.elapsed(),
        });
        long.collect()
    }

    /// The actors that wait for each other if `target` answers, or has room, only after `turn`; begins and ends with `target`, which is called so.
    pub(crate) fn circle(core: &Core, turn: Turn, target: ActorId, path: &str) -> Option<Vec<String>> {
        lock(&core.waits.table).circle(core, turn, target, path)
    }
}

impl Table {
    fn enter(&mut self, entry: Entry) -> u64 {
        self.next += 1;
        if let Some(full) = &entry.full {
            self.of.entry(full.actor).or_default().push(self.next);
        }
        self.waits.insert(self.next, entry);
        self.next
    }

    fn leave(&mut self, ticket: u64) -> Option<Entry> {
        let entry = self.waits.remove(&ticket)?;
        if let Some(actor) = entry.full.as_ref().map(|full| full.actor)
            && let Some(tickets) = self.of.get_mut(&actor)
        {
            tickets.retain(|other| *other != ticket);
            if tickets.is_empty() {
                self.of.remove(&actor);
            }
        }
        Some(entry)
    }

    /// Goes back from the turn to those that wait for it, for its answer or its room, until it finds the target.
    fn circle(&self, core: &Core, turn: Turn, target: ActorId, path: &str) -> Option<Vec<String>> {
        let mut steps = vec![Step { turn, from: 0, for_room_of: None }];
        let mut at = 0;
        while at < steps.len() && steps.len() < LOOKED_AT {
            let here = steps[at].turn;
            if here.actor == target {
                return Some(names(core, &steps, at, path));
            }
            let asker = here.ask.and_then(|ask| core.asks.awaited_in(ask));
            // An ask that began in a turn may be awaited elsewhere by now.
            let asker = asker.filter(|turn| core.registry.is_awaiting(turn.actor)).map(|turn| (turn, None));
            let waiting = self.of.get(&here.actor).into_iter().flatten();
            let waiting = waiting.filter_map(|ticket| self.waits.get(ticket));
            let waiting = waiting
                .filter(|entry| entry.full.as_ref().is_some_and(|full| (full.holds)()))
                .map(|entry| (entry.turn, Some(entry.path.clone())));
            let before: Vec<_> = asker.into_iter().chain(waiting).collect();
            for (turn, for_room_of) in before {
                if steps.iter().all(|step| step.turn != turn) {
                    steps.push(Step { turn, from: at, for_room_of });
                }
            }
            at += 1;
        }
        None
    }
}

/// What those in the circle are called, from the target, which was found last, to the turn it began with, and the target again.
fn names(core: &Core, steps: &[Step], found: usize, path: &str) -> Vec<String> {
    let mut names = vec![path.to_owned()];
    let mut at = found;
    while at != 0 {
        let step = &steps[at];
        at = step.from;
        let known = step.for_room_of.as_ref().map(ToString::to_string);
        names.push(known.unwrap_or_else(|| core.registry.path(steps[at].turn.actor)));
    }
    names.push(path.to_owned());
    names
}

/// A turn that waits for room. Dropped, it waits no more.
pub(crate) struct TurnWait {
    core: Arc<Core>,
    ticket: u64,
    turn: Turn,
    path: Arc<str>,
    begun: Instant,
    /// When it waits no longer.
    until: Option<Instant>,
    timer: Pin<Box<Sleep>>,
    is_long: bool,
}

impl TurnWait {
    /// That turn waits for room, for as long as an ask may take if the wait `ends`. `None` if it is a turn of another system; refused if it would wait for
    /// itself.
    pub(crate) fn begin(turn: Turn, room: Room, ends: bool) -> Option<Result<Self, NoRoom>> {
        let Room { core, path, full } = room;
        if core.asks.number != turn.system {
            return None;
        }
        let path: Arc<str> = path.into();
        let mut table = lock(&core.waits.table);
        core.waits.count.fetch_add(1, Ordering::Relaxed);
        let ticket = table.enter(Entry { turn, path: path.clone(), full: full.clone(), long_since: None });
        let circle = full.filter(|full| (full.holds)());
        let circle = circle.and_then(|full| table.circle(&core, turn, full.actor, &path));
        if let Some(circle) = circle {
            let entry = table.leave(ticket);
            core.waits.count.fetch_sub(1, Ordering::Relaxed);
            drop(table);
            drop(entry);
            return Some(Err(NoRoom::Circle { path: path.to_string(), circle }));
        }
        drop(table);
        let begun = Instant::now();
        let until = ends.then(|| later(begun, core.settings.ask_timeout));
        let first = until.map_or(begun + LONG, |until| until.min(begun + LONG));
        let timer = Box::pin(sleep_until(first));
        Some(Ok(Self { core, ticket, turn, path, begun, until, timer, is_long: false }))
    }

    /// Whether that is the turn that waits.
    pub(crate) fn is_of(&self, turn: Turn) -> bool {
        (self.turn.system, self.turn.actor, self.turn.ask) == (turn.system, turn.actor, turn.ask)
    }

    /// Ready once it has waited for long enough.
    pub(crate) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<NoRoom> {
        while self.timer.as_mut().poll(cx).is_ready() {
            if let Some(until) = self.until.filter(|until| *until <= Instant::now()) {
                let timeout = until - self.begun;
                return Poll::Ready(NoRoom::Timeout { path: self.path.to_string(), timeout });
            }
            if self.is_long {
                // It has no end.
                return Poll::Pending;
            }
            self.note_long();
            let Some(until) = self.until else { return Poll::Pending };
            self.timer.as_mut().reset(until);
        }
        Poll::Pending
    }

    #[cold]
    fn note_long(&mut self) {
        self.is_long = true;
        self.core.waits.long.fetch_add(1, Ordering::Relaxed);
        let mut table = lock(&self.core.waits.table);
        if let Some(entry) = table.waits.get_mut(&self.ticket) {
            entry.long_since = Some(self.begun);
        }
        drop(table);
        let sender = self.core.registry.path(self.turn.actor);
        tracing::warn!(
            %sender,
            recipient = %self.path,
            waited = ?LONG,
            "a turn waits for room in the mailbox of another actor: see what keeps that one busy"
        );
    }
}

impl Drop for TurnWait {
    fn drop(&mut self) {
        let entry = lock(&self.core.waits.table).leave(self.ticket);
        self.core.waits.count.fetch_sub(1, Ordering::Relaxed);
        drop(entry);
    }
}
