//! The system: a tree of actors on the caller's runtime, and everything they share.

mod core;
mod registry;
pub(crate) mod spawn;

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;

pub(crate) use self::core::{Core, Settings};
use self::registry::Registry;
pub use self::spawn::{Spawn, SpawnError};
use crate::actor::Actor;
use crate::actor_ref::ActorRef;
use crate::ask::{AskTable, sweeper};
use crate::cell::{ActorCell, interrupt};
use crate::dead_letters::DeadLetters;
use crate::events::EventStream;
use crate::room::{LongWait, Waits};
use crate::shutdown::{PhaseError, Phases, Shutdown};

/// How long an ask waits for its answer unless it is said otherwise.
pub const DEFAULT_ASK_TIMEOUT: Duration = Duration::from_secs(5);

/// Owns a tree of actors.
///
/// It uses the tokio runtime it is made in and starts none of its own; multi-thread and
/// current-thread runtimes both do. One task sweeps the asks, one runs a shutdown, each actor has one.
///
/// [`SystemHandle::shutdown`] ends it in order. Dropping the system ends it without ceremony: every actor is killed at
/// its next await, no hook is called, what waits in mailboxes becomes dead letters. Refs and handles
/// that are left refuse everything then.
#[must_use = "dropping a system kills its actors"]
pub struct System {
    handle: SystemHandle,
}

/// A way to a [`System`] that does not own it; cheap to clone.
#[derive(Clone)]
pub struct SystemHandle {
    core: Arc<Core>,
}

/// Settings of a [`System`] to be.
#[derive(Debug)]
#[must_use = "a system is made by `start`"]
pub struct SystemBuilder {
    name: String,
    ask_timeout: Duration,
    phases: Phases,
}

/// Why a system was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// It was made outside of a tokio runtime.
    #[error("a system needs a tokio runtime: make it inside `#[tokio::main]`, or within `Runtime::enter`")]
    NoRuntime,
    /// The runtime has no timers.
    #[error("the tokio runtime has no timers: build it with `enable_time` or `enable_all`")]
    NoTimers,
    /// The phases of the shutdown are not as they should be.
    #[error(transparent)]
    Phase(#[from] PhaseError),
}

impl System {
    /// A system with default settings, on the runtime this is called in.
    pub fn new(name: impl Into<String>) -> Result<Self, StartError> {
        Self::builder(name).start()
    }

    /// A system with settings of its own.
    pub fn builder(name: impl Into<String>) -> SystemBuilder {
        SystemBuilder { name: name.into(), ask_timeout: DEFAULT_ASK_TIMEOUT, phases: Phases::default() }
    }

    /// A handle that does not keep the system alive.
    pub fn handle(&self) -> SystemHandle {
        self.handle.clone()
    }
}

impl SystemBuilder {
    /// How long an ask waits for its answer unless it says otherwise itself; 5 s unless set.
    pub fn ask_timeout(mut self, timeout: Duration) -> Self {
        self.ask_timeout = timeout;
        self
    }

    /// How long a phase of the shutdown may take; see [`SystemHandle::on_shutdown`] for the phases and their defaults.
    pub fn phase_timeout(mut self, phase: impl Into<String>, timeout: Duration) -> Self {
        self.phases.set_timeout(&phase.into(), timeout);
        self
    }

    /// Adds a phase of the shutdown after another one.
    pub fn phase_after(
        mut self,
        earlier: impl Into<String>,
        phase: impl Into<String>,
        timeout: Duration,
    ) -> Self {
        self.phases.insert_after(&earlier.into(), phase.into(), timeout);
        self
    }

    /// Makes the system, on the runtime this is called in.
    pub fn start(self) -> Result<System, StartError> {
        let runtime = Handle::try_current().map_err(|_| StartError::NoRuntime)?;
        // A runtime without timers panics at the first sleep; better to be told now.
        std::panic::catch_unwind(|| drop(tokio::time::sleep(Duration::ZERO)))
            .map_err(|_| StartError::NoTimers)?;
        let phases = self.phases.checked()?;
        let core = Arc::new(Core {
            name: self.name,
            runtime,
            settings: Settings { ask_timeout: self.ask_timeout },
            registry: Registry::default(),
            asks: Arc::new(AskTable::new()),
            waits: Waits::default(),
            dead_letters: DeadLetters::default(),
            events: EventStream::default(),
            shutdown: Shutdown::new(phases),
        });
        core.runtime.spawn(sweeper::run(Arc::downgrade(&core)));
        Ok(System { handle: SystemHandle { core } })
    }
}

impl SystemHandle {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// What the system is called.
    pub fn name(&self) -> &str {
        &self.core.name
    }

    /// Starts an actor at the top of the tree, with the default mailbox and supervision.
    ///
    /// `make` makes the actor now, in its own task, and again at each restart. The actor lives until it
    /// is stopped, whether or not anybody keeps a ref. In a system that shuts down nothing is
    /// started, and the ref refuses every message.
    pub fn spawn<A: Actor>(&self, make: impl FnMut() -> A + Send + 'static) -> ActorRef<A::Msg> {
        spawn::nameless(&self.core, None, make)
    }

    /// Prepares an actor that has a name, a mailbox kind or a supervision of its own.
    pub fn actor<A: Actor, F: FnMut() -> A + Send + 'static>(&self, make: F) -> Spawn<A, F> {
        Spawn::new(self.core.clone(), None, make)
    }

    /// Finds a living actor that was given a name, by its path, as `/bank/alice`.
    pub fn lookup<M: Send + 'static>(&self, path: &str) -> Result<ActorRef<M>, LookupError> {
        let found =
            self.core.registry.find(path).ok_or_else(|| LookupError::NotFound { path: path.to_owned() })?;
        let takes = found.message_type();
        found.into_any().downcast::<ActorCell<M>>().map(ActorRef::here).map_err(|_| {
            let wanted = std::any::type_name::<M>();
            LookupError::OtherMessages { path: path.to_owned(), takes: takes.into(), wanted: wanted.into() }
        })
    }

    /// How many actors are alive.
    pub fn actors(&self) -> usize {
        self.core.registry.len()
    }

    /// The counts of messages that reached no handler.
    pub fn dead_letters(&self) -> &DeadLetters {
        &self.core.dead_letters
    }

    /// The turns that have waited for more than three seconds for room in somebody's mailbox, the longest first. Each is logged once.
    ///
    /// What waits outside of any turn is not among them: it holds up no actor.
    pub fn long_waits(&self) -> Vec<LongWait> {
        Waits::long(&self.core)
    }

    /// How many [long waits](Self::long_waits) there have been.
    pub fn long_waits_total(&self) -> u64 {
        self.core.waits.long_total()
    }

    /// The system's event stream.
    pub fn events(&self) -> &EventStream {
        &self.core.events
    }
}

/// Why a path led to no ref.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// Nobody alive has this path.
    #[error("there is no living actor named {path}")]
    NotFound {
        /// The path.
        path: String,
    },
    /// The actor takes messages of another type.
    #[error("the actor at {path} takes {takes}, not {wanted}")]
    OtherMessages {
        /// The path.
        path: String,
        /// The type it takes.
        takes: Cow<'static, str>,
        /// The type that was asked for.
        wanted: Cow<'static, str>,
    },
}

impl Deref for System {
    type Target = SystemHandle;

    fn deref(&self) -> &SystemHandle {
        &self.handle
    }
}

impl Drop for System {
    fn drop(&mut self) {
        let core = &self.handle.core;
        core.registry.close();
        core.registry.interrupt_all(interrupt::KILL);
        core.events.close();
        core.shutdown.abandon();
        core.asks.close();
    }
}

impl fmt::Debug for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("System").field(&self.name()).finish()
    }
}

impl fmt::Debug for SystemHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SystemHandle").field(&self.name()).finish()
    }
}
