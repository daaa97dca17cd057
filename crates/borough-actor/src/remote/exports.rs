//! Which actors other nodes may reach, and as which number.
//!
//! Promise: a number names one address for ever. It is forgotten when its actor is gone.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};

use super::carrier::Interruption;
use super::inlet::{self, Inlet};
use super::message::Message;
use crate::actor_ref::ActorRef;
use crate::id::ActorId;
use crate::sync::{Mutex, lock};
use crate::system::LookupError;
use crate::watch::{Terminated, WatchId, Watchable};

/// See the module.
#[derive(Default)]
pub struct Exports {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    last: u64,
    actors: HashMap<u64, Arc<dyn Export>>,
    numbers: HashMap<Key, u64>,
    names: HashMap<String, u64>,
}

/// Tells one address from every other: the system, the actor, and the way that leads to it.
type Key = (u32, ActorId, usize);

/// An actor that other nodes may reach.
pub trait Export: Send + Sync {
    /// A way in for messages from one other node.
    fn inlet(&self) -> Box<dyn Inlet>;
    /// Asks it to end.
    fn interrupt(&self, what: Interruption);
    /// Has `watcher` told once it is gone; gives the watch's name.
    fn watch(&self, watcher: Box<dyn FnOnce(Terminated) + Send>) -> u64;
    /// Ends a watch.
    fn unwatch(&self, watch: u64);
    /// Which actor of its system it is.
    fn id(&self) -> ActorId;
    /// The type of its messages.
    fn message_type(&self) -> &'static str;
    /// Its path.
    fn path(&self) -> String;
    /// Its `ActorRef`.
    fn actor(&self) -> &dyn Any;
}

/// Why an actor was not exposed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExposeError {
    /// It has no name to be looked up by.
    #[error("{path} has no name: give it one with `actor(..).name(..)` to expose it")]
    Nameless {
        /// Its path.
        path: String,
    },
    /// It lives on another node.
    #[error("{path} lives on another node: only its own node can expose it")]
    Elsewhere {
        /// Its path.
        path: String,
    },
    /// It is gone.
    #[error("{path} has stopped")]
    Stopped {
        /// Its path.
        path: String,
    },
}

impl Exports {
    /// The number by which other nodes reach this actor. The same again for the same address.
    pub fn export<M: Message>(self: &Arc<Self>, actor: &ActorRef<M>) -> u64 {
        let key = (actor.core().asks.number, actor.id(), actor.way());
        let mut table = lock(&self.table);
        if let Some(number) = table.numbers.get(&key) {
            return *number;
        }
        table.last += 1;
        let number = table.last;
        table.actors.insert(number, Arc::new(Exported(actor.clone())));
        table.numbers.insert(key, number);
        drop(table);
        let exports = Arc::downgrade(self);
        let forget = move |_| Self::forget(&exports, number, key);
        actor.watchable().watch(Watchable::next_watch_id(), None, Box::new(forget));
        number
    }

    /// Lets others find this actor by its path.
    pub fn expose<M: Message>(self: &Arc<Self>, actor: &ActorRef<M>) -> Result<(), ExposeError> {
        let path = actor.path();
        if actor.away().is_some() {
            return Err(ExposeError::Elsewhere { path });
        }
        if path.contains('$') {
            return Err(ExposeError::Nameless { path });
        }
        let number = self.export(actor);
        let mut table = lock(&self.table);
        if !table.actors.contains_key(&number) {
            return Err(ExposeError::Stopped { path });
        }
        table.names.insert(path, number);
        Ok(())
    }

    /// The number of the actor exposed at that path, if the type of its messages is the wanted one.
    pub fn named(&self, path: &str, is_wanted: impl FnOnce(&str) -> bool) -> Result<u64, LookupError> {
        let table = lock(&self.table);
        let not_found = || LookupError::NotFound { path: path.to_owned() };
        let number = *table.names.get(path).ok_or_else(not_found)?;
        let takes = table.actors.get(&number).ok_or_else(not_found)?.message_type();
        if is_wanted(takes) {
            return Ok(number);
        }
        Err(LookupError::OtherMessages { path: path.to_owned(), takes: takes.into(), wanted: "".into() })
    }

    /// The actor of that number.
    pub fn find(&self, number: u64) -> Option<Arc<dyn Export>> {
        lock(&self.table).actors.get(&number).cloned()
    }

    /// The address of that number, if it takes messages of that type.
    pub fn actor<M: Message>(&self, number: u64) -> Option<ActorRef<M>> {
        self.find(number)?.actor().downcast_ref::<ActorRef<M>>().cloned()
    }

    /// How many actors can be reached.
    pub fn len(&self) -> usize {
        lock(&self.table).actors.len()
    }

    /// Whether none can be reached.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn forget(exports: &Weak<Self>, number: u64, key: Key) {
        let Some(exports) = exports.upgrade() else { return };
        let mut table = lock(&exports.table);
        let gone = table.actors.remove(&number);
        table.numbers.remove(&key);
        table.names.retain(|_, named| *named != number);
        drop(table);
        drop(gone);
    }
}

impl fmt::Debug for Exports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exports").field("actors", &self.len()).finish_non_exhaustive()
    }
}

struct Exported<M>(ActorRef<M>);

impl<M: Message> Export for Exported<M> {
    fn inlet(&self) -> Box<dyn Inlet> {
        inlet::to(&self.0)
    }

    fn interrupt(&self, what: Interruption) {
        match what {
            Interruption::Stop => self.0.stop(),
            Interruption::StopWhenDrained => self.0.stop_when_drained(),
            Interruption::Kill => self.0.kill(),
        }
    }

    fn watch(&self, watcher: Box<dyn FnOnce(Terminated) + Send>) -> u64 {
        let watch = Watchable::next_watch_id();
        self.0.watchable().watch(watch, None, watcher);
        watch.0
    }

    fn unwatch(&self, watch: u64) {
        self.0.watchable().unwatch(WatchId(watch));
    }

    fn id(&self) -> ActorId {
        self.0.id()
    }

    fn message_type(&self) -> &'static str {
        std::any::type_name::<M>()
    }

    fn path(&self) -> String {
        self.0.path()
    }

    fn actor(&self) -> &dyn Any {
        &self.0
    }
}
